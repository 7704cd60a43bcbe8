"""When steps begin and end, in a process that is measured without the profiler."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Optional

from tfdata_doctor._recorder import LineNames, Recorder

from .jobs import Answer, Job

_MEMORY = "/proc/meminfo"
#: Of all memory: with less than this left, the program is ended before the machine swaps.
LEAST_MEMORY_LEFT = 0.08
_STEPS_BETWEEN_LOOKS = 20
#: Of what is measured: a few steps of microseconds say nothing.
LEAST_SECONDS = 2.0


def memory() -> tuple[int, int]:
    """Bytes that are available, and all; zeros where the machine does not say."""
    found = {}
    try:
        with open(_MEMORY, encoding="ascii") as file:
            for line in file:
                name, _, rest = line.partition(":")
                found[name] = int(rest.split()[0]) * 1024
    except OSError:
        return 0, 0
    return found.get("MemAvailable", 0), found.get("MemTotal", 0)


class Clock(Recorder):
    """Takes the times of steps in place of recording them, and calls `on_enough` with the reason to end."""

    def __init__(self, job: Job, answer: Answer, on_enough: Callable[[str], None]) -> None:
        super().__init__(job.logdir, 1, 1, LineNames(False))
        # The program has markers, or does without.
        self.has_markers = True
        self._answer = answer
        self._job = job
        self._on_enough = on_enough
        self._until = 0.0
        self._is_open = False

    def begin_step(self, step: Optional[int] = None) -> None:
        """A step ends where the next one begins."""
        now = time.perf_counter()
        self._end(now)
        self.step = self.step + 1 if step is None else step
        done = len(self._answer.ends)
        self._until = self._until or now + self._job.seconds
        if done >= self._job.skip + self._job.steps and self._is_long_enough(now):
            self._on_enough("enough")
        elif now > self._until:
            self._on_enough("time")
        elif done % _STEPS_BETWEEN_LOOKS == 0 and self._is_memory_short():
            self._on_enough("memory")
        self._answer.begins.append(time.perf_counter())
        self._is_open = True

    def end_step(self) -> None:
        """What follows is in no step."""
        self._end(time.perf_counter())

    def end_epoch(self, is_step: bool = True) -> None:
        """Also where the step that began was told that there are no more elements."""
        if not is_step and self._is_open:
            self._answer.begins.pop()
            self._is_open = False
            self.step -= 1
        self.end_step()
        if not self._answer.epochs or self._answer.epochs[-1] != len(self._answer.ends):
            self._answer.epochs.append(len(self._answer.ends))

    def _end(self, now: float) -> None:
        if self._is_open:
            self._answer.ends.append(now)
            self._is_open = False

    def _is_long_enough(self, now: float) -> bool:
        begins = self._answer.begins
        return self._job.mode not in ("measure", "ready") or now - begins[self._job.skip] >= LEAST_SECONDS

    @staticmethod
    def _is_memory_short() -> bool:
        available, total = memory()
        return available < LEAST_MEMORY_LEFT * total
