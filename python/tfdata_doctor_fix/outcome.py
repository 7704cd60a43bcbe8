"""What a search for changes found: plain data, which the pages print."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Optional

from .forecast import Prediction
from .judge import Verdict
from .plan import NotTried


@dataclass(frozen=True)
class Trial:
    """A change that was tried. `base`, `changed`: steps per second of each run; `reason`: why it was not kept."""

    words: str
    fixes: tuple[str, ...]
    file: str
    line: int
    predicted: Optional[Prediction]
    measured: Optional[Verdict]
    base: tuple[float, ...]
    changed: tuple[float, ...]
    is_kept: bool
    reason: str
    where: str
    #: Whether the data are the same: "same", or why that is not known, or how they differ.
    data: str
    #: What the report predicted, of the program with the profiler; `predicted` is of it without.
    told: Optional[Prediction] = None

    @property
    def is_as_predicted(self) -> Optional[bool]:
        """Whether the measured gain lies in the predicted range; None where one of them is missing."""
        if self.predicted is None or self.measured is None:
            return None
        return self.predicted.low <= self.measured.gain <= self.predicted.high


@dataclass
class Outcome:
    """The whole search. `before`, `after`: steps per second of the program as it was and with the patch."""

    command: str
    trials: list[Trial] = field(default_factory=list)
    not_tried: list[NotTried] = field(default_factory=list)
    before: Optional[float] = None
    after: Optional[float] = None
    #: The same of the program as it is now, with an input whose elements are ready.
    ready: Optional[float] = None
    total: Optional[Verdict] = None
    #: What limits at the end, and why the search ended there; for people.
    limit: str = ""
    stopped: str = ""
    patch: str = ""
    seconds: float = 0.0
    is_interrupted: bool = False
    #: What the runs did not do, such as saving a model, and where.
    left_out: list[str] = field(default_factory=list)
    #: Files that --apply wrote.
    applied: list[str] = field(default_factory=list)

    @property
    def kept(self) -> list[Trial]:
        """The changes that are in the patch."""
        return [trial for trial in self.trials if trial.is_kept]
