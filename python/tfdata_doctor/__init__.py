"""Says whether a TensorFlow job waits for its tf.data pipeline, which transformation is to blame, and what to change.

    report = tfdata_doctor.diagnose("logs/")           # a trace that is there
    with tfdata_doctor.profile("logs", steps=10): ...  # record a loop
    model.fit(dataset, callbacks=[tfdata_doctor.Callback("logs", batches=(11, 20))])
    report = tfdata_doctor.run("train.py")             # record an unchanged script
    outcome = tfdata_doctor.fix("train.py")            # try what would make it faster, as a patch

Only what records needs TensorFlow. The work is done by the program tfdata-doctor, which comes with this package.
"""

from typing import TYPE_CHECKING, Any

from ._commands import Rows, compare, diagnose, explain, query, whatif
from ._keras import Callback
from ._profile import Profile, profile
from ._program import DoctorError
from ._script import run
from .lines import name_datasets, start_naming, stop_naming
from .report import Comparison, Report, WhatIf

if TYPE_CHECKING:
    from ._fix.api import fix
    from ._fix.outcome import Outcome

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


def __getattr__(name: str) -> Any:
    # Nobody who only reads or records needs what these import.
    if name == "fix":
        from ._fix.api import fix

        return fix
    if name == "Outcome":
        from ._fix.outcome import Outcome

        return Outcome
    # The program's, which is the one source: scripts/wheel takes the package's from there, too.
    if name == "__version__":
        from ._program import run_program

        return run_program(["--version"])[1].split()[-1]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
