"""Says whether a TensorFlow job waits for its tf.data pipeline, which transformation is to blame, and what to change.

    report = tfdata_doctor.diagnose("logs/")           # a trace that is there
    with tfdata_doctor.profile("logs", steps=10): ...  # record a loop
    model.fit(dataset, callbacks=[tfdata_doctor.Callback("logs", batches=(11, 20))])
    report = tfdata_doctor.run("train.py")             # record an unchanged script
    outcome = tfdata_doctor.fix("train.py")            # try what would make it faster, as a patch

Only what records needs TensorFlow. The work is done by the program tfdata-doctor, which comes with this package.
"""

from __future__ import annotations

# Not typing's: importing typing would cost more than all the rest of this module. Type checkers know the name.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tfdata_doctor_fix.api import Outcome, fix

    from . import lines as lines
    from . import report as report
    from ._commands import Rows, compare, diagnose, explain, query, whatif
    from ._keras import Callback
    from ._profile import Profile, profile
    from ._program import DoctorError
    from ._script import run
    from .lines import name_datasets, start_naming, stop_naming
    from .report import Comparison, Report, WhatIf

__all__ = [
    "Callback",
    "Comparison",
    "DoctorError",
    "Outcome",
    "Profile",
    "Report",
    "Rows",
    "WhatIf",
    "compare",
    "diagnose",
    "explain",
    "fix",
    "name_datasets",
    "profile",
    "query",
    "run",
    "start_naming",
    "stop_naming",
    "whatif",
]

# Where the names above come from: each module is imported when one of its names is used, since `import tfdata_doctor`
# stands in scripts and notebooks that may never come to it.
_MODULES = {
    "tfdata_doctor._commands": ("Rows", "compare", "diagnose", "explain", "query", "whatif"),
    "tfdata_doctor_fix.api": ("Outcome", "fix"),
    "tfdata_doctor._keras": ("Callback",),
    "tfdata_doctor._profile": ("Profile", "profile"),
    "tfdata_doctor._program": ("DoctorError",),
    "tfdata_doctor._script": ("run",),
    "tfdata_doctor.lines": ("name_datasets", "start_naming", "stop_naming"),
    "tfdata_doctor.report": ("Comparison", "Report", "WhatIf"),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    # The program's, which is the one source: scripts/wheel takes the package's from there, too.
    if name == "__version__":
        from ._program import run_program

        return run_program(["--version"])[1].split()[-1]
    if name in ("lines", "report"):
        return __import__(f"{__name__}.{name}", fromlist=[name])
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(__import__(_MODULE_OF[name], fromlist=[name]), name)
    globals()[name] = value  # the next time it is found without this function
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULE_OF, "lines", "report", "__version__"})
