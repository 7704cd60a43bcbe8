"""Baseline: XProf's input_pipeline_analyzer from an XSpace to its answer. Usage: xprof_input_pipeline.py FILE"""

import os
import sys
import tempfile

from xprof.convert import raw_to_tool_data


def main(path):
    # XProf keeps what it found beside its input and would answer from there the next time.
    with tempfile.TemporaryDirectory() as directory:
        trace = os.path.join(directory, 'host.xplane.pb')
        os.symlink(os.path.abspath(path), trace)
        answer, _ = raw_to_tool_data.xspace_to_tool_data([trace], 'input_pipeline_analyzer', {})
    if not answer:
        sys.exit('XProf gave no answer')
    print('{"answer_bytes": %d}' % len(answer))


if __name__ == '__main__':
    main(sys.argv[1])
