"""What the last run of a script measured, so that the next one can say what has changed since."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Optional

from ._script_options import HISTORY_VARIABLE
from ._words import percent, rate, times


@dataclass(frozen=True)
class Run:
    """What is kept of a run: no trace, and no name of a dataset."""

    recorded: str
    #: The first and the last of the recorded steps: those of a first epoch may fill a cache.
    batches: str
    steps_per_s: float
    #: The part of the time in which the training waits for its input.
    input_share: float

    @classmethod
    def now(cls, batches: str, steps_per_s: Optional[float], input_share: Optional[float]) -> Optional[Run]:
        """A run that was recorded at this moment; None where not all of it is known."""
        if steps_per_s is None or input_share is None:
            return None
        return cls(datetime.now().isoformat(sep=" ", timespec="minutes"), batches, steps_per_s, input_share)

    @classmethod
    def read(cls, path: Path) -> Optional[Run]:
        """What was stored; None where nothing was, or nothing that can be read."""
        try:
            stored = json.loads(path.read_text("utf-8"))
            recorded, batches = str(stored["recorded"]), str(stored["batches"])
            rate, share = float(stored["steps_per_s"]), float(stored["input_share"])
        except (OSError, ValueError, TypeError, KeyError):
            return None
        is_sane = rate > 0 and 0 <= share <= 1 and recorded.isprintable() and len(recorded) < 40
        return cls(recorded, batches, rate, share) if is_sane and re.fullmatch(r"\d{1,9}-\d{1,9}", batches) else None

    def write(self, path: Path) -> None:
        """Whole or not at all. Where it cannot be kept, the next run says nothing of this one."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile("w", dir=path.parent, encoding="utf-8", delete=False) as file:
                json.dump(dataclasses.asdict(self), file)
            os.replace(file.name, path)
        except OSError:
            return

    def __str__(self) -> str:
        return f"{rate(self.steps_per_s)} steps/s, {percent(self.input_share)} of the time waiting for data"


def _path(command: Sequence[str], logdir: Optional[str]) -> Path:
    """The file of a script and its arguments on a machine: beside the traces, where these do not go to a new folder."""
    if logdir is not None:
        folder = Path(logdir)
    else:
        folder = Path(os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache"))
    name = hashlib.sha256("\0".join(command).encode("utf-8", "surrogateescape")).hexdigest()
    return folder / "tfdata-doctor" / "runs" / f"{name}.json"


def change_since_last_run(command: Sequence[str], logdir: Optional[str], now: Optional[Run]) -> Optional[str]:
    """Keeps what this run measured, and says it beside what the run of the same `command` before it did.

    None where there was none.
    """
    if now is None or os.environ.get(HISTORY_VARIABLE) == "0":
        return None
    path = _path(command, logdir)
    before = Run.read(path)
    now.write(path)
    if before is None:
        return None
    steps = "" if before.batches == now.batches else f", steps {before.batches}"
    factor = now.steps_per_s / before.steps_per_s
    return f"  Before  {before} ({before.recorded}{steps})\n  Now     {now}: {times(factor)}, one recording each"
