"""Says whether a TensorFlow job waits for its tf.data pipeline, which transformation is to blame, and what to change.

    report = tfdata_doctor.diagnose("logs/")           # a trace that is there
    with tfdata_doctor.profile("logs", steps=10): ...  # record a loop
    model.fit(dataset, callbacks=[tfdata_doctor.Callback("logs", batches=(11, 20))])
    report = tfdata_doctor.run("train.py")             # record an unchanged script

Only what records needs TensorFlow. The work is done by the program tfdata-doctor, which comes with this package.
"""

from typing import Any

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
    "Profile",
    "Report",
    "Rows",
    "WhatIf",
    "compare",
    "diagnose",
    "explain",
    "name_datasets",
    "profile",
    "query",
    "run",
    "start_naming",
    "stop_naming",
    "whatif",
]


def __getattr__(name: str) -> Any:
    # The program's, which is the one source: scripts/wheel takes the package's from there, too.
    if name == "__version__":
        from ._program import run_program

        return run_program(["--version"])[1].split()[-1]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
