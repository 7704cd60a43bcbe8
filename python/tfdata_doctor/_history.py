"""What the last run of a script measured, so that the next one can say what has changed since."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Optional

from .report import Report

#: Set to 0, nothing is kept and nothing is said; so does --no-history.
VARIABLE = "TFDATA_DOCTOR_HISTORY"


def _folder() -> Path:
    """Where results are kept: a small file for each script and its arguments, no trace and no name of a dataset."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(cache, "tfdata-doctor", "runs")


def _path(command: Sequence[str]) -> Path:
    """The file of a script, by its absolute path, and of its arguments."""
    return _folder() / (hashlib.sha256("\0".join(command).encode("utf-8", "surrogateescape")).hexdigest() + ".json")


def _measured(report: Report) -> Optional[dict[str, Any]]:
    verdict = report.verdict
    if verdict.steps_per_s is None or verdict.input_share is None:
        return None
    return {
        "recorded": datetime.now().isoformat(sep=" ", timespec="minutes"),
        "steps_per_s": verdict.steps_per_s,
        "input_share": verdict.input_share,
    }


def _read(path: Path) -> Optional[dict[str, Any]]:
    """What was stored; None where nothing was, or nothing that can be read."""
    try:
        stored = json.loads(path.read_text("utf-8"))
        recorded, rate, share = str(stored["recorded"]), float(stored["steps_per_s"]), float(stored["input_share"])
    except (OSError, ValueError, TypeError, KeyError):
        return None
    is_sane = rate > 0 and 0 <= share <= 1 and recorded.isprintable() and len(recorded) < 40
    return {"recorded": recorded, "steps_per_s": rate, "input_share": share} if is_sane else None


def _write(path: Path, measured: dict[str, Any]) -> None:
    """Whole or not at all. Where it cannot be kept, the next run says nothing of this one."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=path.parent, encoding="utf-8", delete=False) as file:
            json.dump(measured, file)
        os.replace(file.name, path)
    except OSError:
        return


def _words(measured: dict[str, Any]) -> str:
    return f"{measured['steps_per_s']:.3g} steps/s, {measured['input_share']:.0%} of the time waiting for input"


def change_since_last_run(command: Sequence[str], report: Report) -> Optional[str]:
    """Keeps what this run measured, and says it beside what the run of the same `command` before it did.

    None where there was none, or one of them has no rate of steps.
    """
    now = _measured(report)
    if now is None or os.environ.get(VARIABLE) == "0":
        return None
    path = _path(command)
    before = _read(path)
    _write(path, now)
    if before is None:
        return None
    factor = now["steps_per_s"] / before["steps_per_s"]
    return (
        f"before    {_words(before)} ({before['recorded']})\nnow       {_words(now)}: x{factor:.3g}, one recording each"
    )
