"""Baseline: the overview of xprof-rs from an XSpace to its answer. Usage: xprof_rs_overview.py FILE"""

import os
import subprocess
import sys
import tempfile


def main(path):
    # It reads log directories, and may keep what it found beside its input.
    with tempfile.TemporaryDirectory() as directory:
        run = os.path.join(directory, 'plugins', 'profile', 'run')
        os.makedirs(run)
        os.symlink(os.path.abspath(path), os.path.join(run, 'host.xplane.pb'))
        program = os.path.join(os.path.dirname(sys.executable), 'xprof-rs')
        answer = subprocess.run([program, 'get_overview', directory], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                check=True).stdout
    if not answer:
        sys.exit('xprof-rs gave no answer')
    print('{"answer_bytes": %d}' % len(answer))


if __name__ == '__main__':
    main(sys.argv[1])
