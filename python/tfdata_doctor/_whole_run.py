"""All steps of a loop by the clock, of which a few are recorded: whether these are like the others."""

from __future__ import annotations

import statistics
from array import array
from dataclasses import dataclass
from typing import Any, NamedTuple, Optional

#: Of fewer seconds, the share of waiting is mostly what a call costs.
_LEAST_SECONDS = 1.0
_MOST_BLOCKS = _MOST_LENGTHS = 1 << 16
#: The shape of an epoch's last batch is compiled once, and a second epoch begins once, which are at most so many
#: blocks: what holds steps up in more of them recurs.
_ONCE = 3
_FEWEST_BLOCKS = _ONCE + 2
#: The rate of a job differs by less from run to run, as programs come and go beside it: of 43 labelled programs that
#: were timed several times, the fastest time is less than this times as fast as the slowest in 38.
_SHIFT = 1.5
#: Stalls in a recording that show that they recur, and the most steps to ask for on their account.
_STALLS = 3
_MOST_STEPS = 500


class Window(NamedTuple):
    """The first and the last step to record, counted from 1 in their loop; `is_fixed`: the user chose them."""

    first: int
    last: int
    is_fixed: bool = False

    @property
    def length(self) -> int:
        """How many steps."""
        return self.last - self.first + 1


@dataclass
class Steps:
    """Some steps by the clock: how many, their seconds, and those of waiting for an element."""

    count: int = 0
    seconds: float = 0.0
    waited: float = 0.0

    @property
    def wait_share(self) -> float:
        """0 before there is a step."""
        return self.waited / self.seconds if self.seconds > 0 else 0.0

    @property
    def mean(self) -> float:
        """Seconds of a step; 0 before there is one."""
        return self.seconds / self.count if self.count > 0 else 0.0

    def add(self, seconds: float, waited: float) -> None:
        """One more step."""
        self.count += 1
        self.seconds += seconds
        self.waited += waited


class WholeRun:
    """All steps of a loop from the first of a window on, in blocks of as many as a window has."""

    def __init__(self) -> None:
        self._all, self._recorded = Steps(), Steps()
        #: Steps that were not recorded, by the number of their block.
        self._blocks: dict[int, Steps] = {}
        #: Seconds of each step.
        self._recorded_lengths, self._other_lengths = array("d"), array("d")

    def add(self, block: int, seconds: float, waited: float, is_recorded: bool) -> None:
        """One more step."""
        self._all.add(seconds, waited)
        lengths = self._recorded_lengths if is_recorded else self._other_lengths
        if len(lengths) < _MOST_LENGTHS:
            lengths.append(seconds)
        if is_recorded:
            self._recorded.add(seconds, waited)
        elif block < _MOST_BLOCKS:
            self._blocks.setdefault(block, Steps()).add(seconds, waited)

    @property
    def _is_short(self) -> bool:
        """Whether there are few other steps, or few recorded ones."""
        recorded = self._recorded
        return recorded.seconds <= 0 or self._all.count < 2 * recorded.count or self._all.seconds < _LEAST_SECONDS

    def waits(self, window: Window) -> Optional[dict[str, Any]]:
        """What all steps waited; None where there are few. `worst` are those to record, which waited longest."""
        if self._is_short:
            return None
        waited = {number: block.waited for number, block in self._blocks.items()}
        return {
            "steps": self._all.count,
            "steps_per_s": round(self._all.count / self._all.seconds, 3),
            "wait_share": round(self._all.wait_share, 4),
            "recorded_wait_share": round(self._recorded.wait_share, 4),
            "worst": _worst(waited, max(waited.values()) / 2, window),
        }

    def lengths(self, window: Window) -> Optional[dict[str, Any]]:
        """How long the other steps are, where nobody sees what they wait for; None where there are few.

        No block counts for more than the worst of those that are left without stalls that came once. All steps may be
        somewhat longer than the recorded ones because of other programs: then only stalls count.
        """
        if self._is_short or len(self._blocks) < _FEWEST_BLOCKS:
            return None
        shift = statistics.median(self._other_lengths) / statistics.median(self._recorded_lengths)
        usual = self._recorded.mean * (max(1.0, shift) if shift < _SHIFT else 1.0)
        extra = {number: block.seconds - usual * block.count for number, block in self._blocks.items()}
        most = sorted(extra.values())[-1 - _ONCE]
        count = sum(block.count for block in self._blocks.values())
        return {
            "steps": self._all.count - self._recorded.count,
            "times_as_long": round(1 + sum(min(most, seconds) for seconds in extra.values()) / (usual * count), 3),
            "worst": _worst(extra, most / 2, window),
        }


def _worst(values: dict[int, float], least: float, window: Window) -> list[int]:
    """The first and the last step to record, of a run whose blocks have these values.

    They are those of the nearest blocks with at least `least`, so that the recording shows that it recurs, or those of
    the largest block where these are far apart.
    """
    largest = max(values, key=lambda number: values[number])
    large = sorted(number for number, value in values.items() if value >= least)
    stretches = zip(large, large[_STALLS - 1 :])
    first, last = min(stretches, key=lambda stretch: stretch[1] - stretch[0], default=(largest, largest))
    if (last - first + 1) * window.length > _MOST_STEPS:
        first = last = largest
    return [window.first + window.length * first, window.first + window.length * (last + 1) - 1]
