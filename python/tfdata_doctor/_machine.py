"""Where, when and beside what a recording is made: `recording.json` beside the trace, for `tfdata-doctor compare`.

Needs nothing but the standard library: scripts/record loads this file by itself.
"""

from __future__ import annotations

import json
import os
import pathlib
import sys
import time
from typing import Any, Optional

FILE_NAME = "recording.json"
SCHEMA = "tfdata-doctor.recording/1"

#: Shorter than this, the ticks of the kernel's clock (10 ms) decide what is measured.
_SHORTEST_S = 0.05

#: The same for all recordings of this process, and of no other one.
_PROCESS = f"{os.getpid()}-{time.time_ns()}"


def _busy_s() -> Optional[float]:
    """Seconds for which the cores of the machine were busy since it started; None where the kernel does not say."""
    try:
        with open("/proc/stat", encoding="ascii") as file:
            ticks = [int(word) for word in file.readline().split()[1:]]
        # user, nice, system, idle, iowait, irq, softirq; what guests take is in user, what others stole is not ours.
        return (sum(ticks[:3]) + sum(ticks[5:7])) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return None


def _own_s() -> float:
    """Seconds of CPU that this process and the children that it waited for took."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def cpu_model() -> str:
    """Model of the CPU; empty where the kernel does not say."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            for line in file:
                key, _, value = line.partition(":")
                if key.strip() == "model name":
                    return value.strip()
    except OSError:
        pass
    return ""


def cores() -> int:
    """Cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 0


class MachineWatch:
    """Watches what other programs do before, during and after a recording."""

    def __init__(self) -> None:
        self._loads: dict[str, float] = {}
        self._phase = "before"
        self._begin()

    def enter(self, phase: str) -> None:
        """The next phase begins: "during", then "after"."""
        self._end()
        self._phase = phase
        self._begin()

    def facts(self) -> dict[str, Any]:
        """The document `tfdata-doctor.recording/1`."""
        self._end()
        tensorflow = sys.modules.get("tensorflow")
        return {
            "schema": SCHEMA,
            "host": os.uname().nodename if hasattr(os, "uname") else "",
            "cpu": cpu_model(),
            "cores": cores(),
            "tensorflow": str(getattr(tensorflow, "__version__", "")),
            "process": _PROCESS,
            "other_load": {phase: round(load, 3) for phase, load in self._loads.items()},
        }

    def write(self, directory: str | os.PathLike[str]) -> None:
        """Puts the facts beside the trace in `directory`. Raises OSError."""
        path = pathlib.Path(directory) / FILE_NAME
        partial = path.with_name(f"{path.name}.{os.getpid()}")
        partial.write_text(json.dumps(self.facts(), indent=1) + "\n", encoding="utf-8")
        os.replace(partial, path)

    def _begin(self) -> None:
        self._start = (time.monotonic(), _busy_s(), _own_s())

    def _end(self) -> None:
        start, busy, own = self._start
        passed = time.monotonic() - start
        busy_now = _busy_s()
        if busy is None or busy_now is None or passed < _SHORTEST_S:
            return
        self._loads[self._phase] = max(0.0, (busy_now - busy - (_own_s() - own)) / passed)
