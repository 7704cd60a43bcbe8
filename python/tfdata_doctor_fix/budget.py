"""What the user allows a search, and what is left of its time."""

from __future__ import annotations

import time
from dataclasses import dataclass

#: Of the budget: the longest that one run may take.
_RUN_SHARE = 0.125
_LEAST_RUN_SECONDS = 20.0
#: A run hardly takes less: importing TensorFlow.
_START_SECONDS = 8.0


@dataclass(frozen=True)
class Choices:
    """What the user chose. `steps`: measured in each run; `runs`: of each side; `budget`: seconds of all."""

    steps: int = 60
    runs: int = 3
    budget: float = 600.0
    allowed: frozenset[str] = frozenset()
    environment: tuple[tuple[str, str], ...] = ()
    #: Files and folders that the program may write, by their real paths.
    writes: tuple[str, ...] = ()


class Spent(Exception):  # noqa: N818
    """The budget is spent."""


class Budget:
    """Seconds for all runs of a search, from now on."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._begun = time.monotonic()

    def used(self) -> float:
        """Since it began."""
        return time.monotonic() - self._begun

    def left(self) -> float:
        """Below 0 once it is spent."""
        return self._seconds - self.used()

    def longest_run(self) -> float:
        """Of any one run."""
        return min(self._seconds, max(_LEAST_RUN_SECONDS, self._seconds * _RUN_SHARE))

    def seconds_of_run(self, last: float) -> float:
        """The longest that the next run may take, where the last one took `last`. Raises Spent."""
        left = self.left()
        if left < max(_START_SECONDS, last):
            raise Spent
        return min(left, self.longest_run())
