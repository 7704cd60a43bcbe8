"""Predicted and measured gains, a row each, for scripts/whatif-accuracy."""

from __future__ import annotations

import json
import os
import time
from typing import Any

from .outcome import Outcome, Trial

SCHEMA = "tfdata-doctor.gain/1"


def _row(outcome: Outcome, trial: Trial) -> dict[str, Any]:
    assert trial.predicted is not None
    assert trial.measured is not None
    return {
        "schema": SCHEMA,
        "command": outcome.command,
        "fix": " + ".join(trial.fixes),
        "place": trial.where,
        "predicted": trial.predicted.document(),
        "told": trial.told.document() if trial.told else None,
        "measured": {"gain": trial.measured.gain, "low": trial.measured.low, "high": trial.measured.high},
        "before": list(trial.base),
        "after": list(trial.changed),
        "kept": trial.is_kept,
        "cores": len(os.sched_getaffinity(0)),
        "time": int(time.time()),
    }


def append_rows(path: str, outcome: Outcome) -> None:
    """Adds a line of JSON for each change with both. Raises OSError."""
    rows = [_row(outcome, trial) for trial in outcome.trials if trial.predicted and trial.measured]
    with open(path, "a", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
