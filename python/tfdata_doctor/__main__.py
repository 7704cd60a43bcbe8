"""python -m tfdata_doctor: records a script, or with `record` a pipeline for a gate; else the program tfdata-doctor."""

from __future__ import annotations

import os
import sys

from . import _script_options
from ._program import DoctorError, program


def main() -> int:
    """Runs a script under the profiler, or becomes the program."""
    words = sys.argv[1:]
    if words[:1] == ["fix"]:
        from tfdata_doctor_fix import cli

        return cli.main(words[1:])
    if words[:1] == ["record"]:
        from . import _record

        return _record.main(words[1:], "python -m tfdata_doctor record")
    if _script_options.runs_script(words):
        options, arguments = _script_options.parse(words)
        from . import _script_command

        return _script_command.run(options, arguments)
    try:
        path = program()
        os.execv(path, [path, *words])
    except (DoctorError, OSError) as error:
        print(f"tfdata-doctor: {error}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
