"""Baseline: the overview of xprof-rs from an XSpace to its answer. Usage: xprof_rs_overview.py FILE

Exits with 77 for a trace of which it has none: one without steps, as JAX's.
"""

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
        process = subprocess.run([program, 'get_overview', directory], stdin=subprocess.DEVNULL, capture_output=True,
                                 check=False)
    answer = process.stdout
    if b'No overview data' in answer:
        print('it has no overview of this trace', file=sys.stderr)
        sys.exit(77)
    process.check_returncode()
    if not answer:
        sys.exit('xprof-rs gave no answer')
    print('{"answer_bytes": %d}' % len(answer))


if __name__ == '__main__':
    main(sys.argv[1])
