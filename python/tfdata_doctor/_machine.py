"""Where, when and beside what a recording is made: `recording.json` and `memory.csv` beside the trace.

Needs nothing but the standard library.
"""

from __future__ import annotations

import json
import os
import pathlib
import sys
import threading
import time
import weakref
from typing import Any, Optional

FILE_NAME = "recording.json"
SAMPLES_NAME = "memory.csv"
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


def _first_number(path: str) -> Optional[int]:
    try:
        with open(path, encoding="ascii") as file:
            return int(file.readline().split()[0])
    except (OSError, ValueError, IndexError):
        return None


def _keyed_number(path: str, wanted: str) -> Optional[int]:
    """The number after a key at the start of a line."""
    try:
        with open(path, encoding="ascii") as file:
            for line in file:
                words = line.split()
                if len(words) > 1 and words[0] == wanted:
                    return int(words[1])
    except (OSError, ValueError):
        pass
    return None


def resident_bytes() -> Optional[int]:
    """Memory of this process that is in RAM; None where the kernel does not say."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.readline().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return None


#: The limit of a container, what it uses, and what of that is files that the kernel can drop: of cgroup 2, then of 1.
_CONTAINER = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current", "/sys/fs/cgroup/memory.stat", "inactive_file"),
    (
        "/sys/fs/cgroup/memory/memory.limit_in_bytes",
        "/sys/fs/cgroup/memory/memory.usage_in_bytes",
        "/sys/fs/cgroup/memory/memory.stat",
        "total_inactive_file",
    ),
)


def _machine_memory() -> Optional[tuple[int, int]]:
    """Bytes that are available and bytes that there are, to the container where it has a limit."""
    kilobytes = [_keyed_number("/proc/meminfo", key) for key in ("MemAvailable:", "MemTotal:")]
    if kilobytes[0] is None or kilobytes[1] is None:
        return None
    available, total = kilobytes[0] * 1024, kilobytes[1] * 1024
    for limit_file, usage_file, stat_file, droppable in _CONTAINER:
        limit, usage = _first_number(limit_file), _first_number(usage_file)
        if limit is not None and usage is not None and limit < total:
            used = usage - (_keyed_number(stat_file, droppable) or 0)
            return min(available, max(0, limit - used)), limit
    return available, total


class MemorySamples:
    """Notes from a thread of its own, ten times a second, how much memory the process has and the machine has left.

    Of a long run the samples are thinned out, evenly. Where the kernel does not say these numbers there are none.
    """

    #: First line of the file: the schema.
    HEADER = "time_ns,step,rss_bytes,available_bytes,total_bytes,other_cores"
    MOST = 2000

    def __init__(self) -> None:
        self.rows: list[str] = []
        #: The step that began last.
        self.step = 0
        self.is_over = False
        self._every = 1
        self._count = 0
        self._load: Optional[tuple[float, float, float]] = None
        if resident_bytes() is not None and _machine_memory() is not None:
            threading.Thread(target=_sample, args=(weakref.ref(self),), daemon=True).start()

    def add(self) -> None:
        """One more sample."""
        self._count += 1
        if self._count % self._every != 0:
            return
        resident, machine = resident_bytes(), _machine_memory()
        if resident is None or machine is None:
            return
        others = self._other_cores()
        load = "" if others is None else f"{others:.2f}"
        self.rows.append(f"{time.time_ns()},{self.step},{resident},{machine[0]},{machine[1]},{load}")
        if len(self.rows) >= self.MOST:
            del self.rows[::2]
            self._every *= 2

    def _other_cores(self) -> Optional[float]:
        """Cores that others kept busy since the last sample; None where that was just now."""
        busy = _busy_s()
        if busy is None:
            return None
        now = time.monotonic(), busy, _own_s()
        before, self._load = self._load, now
        passed = 0.0 if before is None else now[0] - before[0]
        if before is None or passed < _SHORTEST_S:
            return None
        return max(0.0, (now[1] - before[1] - (now[2] - before[2])) / passed)


def _sample(samples: weakref.ref[MemorySamples]) -> None:
    """Adds samples until nobody wants them: a recording may never come to its end."""
    while True:
        wanted = samples()
        if wanted is None or wanted.is_over:
            return
        wanted.add()
        del wanted
        time.sleep(0.1)


class MachineWatch:
    """Watches what other programs do before, during and after a recording, and the memory meanwhile."""

    def __init__(self) -> None:
        self._loads: dict[str, float] = {}
        self._phase = "before"
        #: Steps a second "before" the recording and "during" it, as far as they were clocked.
        self.steps_per_s: dict[str, float] = {}
        #: The loop that was recorded, and which of its steps.
        self.loop: dict[str, Any] = {}
        self._samples = MemorySamples()
        self._begin()

    def begin_step(self, step: int) -> None:
        """A step of the loop begins; they count from 1."""
        self._samples.step = step

    def enter(self, phase: str) -> None:
        """The next phase begins: "during", then "after"."""
        self._end()
        self._phase = phase
        self._begin()

    @property
    def is_over(self) -> bool:
        """Whether no more samples are taken."""
        return self._samples.is_over

    @is_over.setter
    def is_over(self, is_over: bool) -> None:
        self._samples.is_over = is_over

    @property
    def resident_bytes(self) -> Optional[int]:
        """Memory of this process in the last sample; None where there is none."""
        rows = self._samples.rows
        return int(rows[-1].split(",")[2]) if rows else None

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
            "steps_per_s": {phase: round(rate, 3) for phase, rate in self.steps_per_s.items()},
            **({"loop": self.loop} if self.loop else {}),
            "other_load": {phase: round(load, 3) for phase, load in self._loads.items()},
        }

    def write(self, directory: str | os.PathLike[str]) -> None:
        """Puts the facts and the samples so far beside the trace in `directory`. Raises OSError."""
        _write_whole(pathlib.Path(directory) / FILE_NAME, json.dumps(self.facts(), indent=1) + "\n")
        self.write_samples(directory)

    def write_samples(self, directory: str | os.PathLike[str]) -> None:
        """The samples alone. Raises OSError."""
        if self._samples.rows:
            lines = [MemorySamples.HEADER, *self._samples.rows]
            _write_whole(pathlib.Path(directory) / SAMPLES_NAME, "\n".join(lines) + "\n")

    def _begin(self) -> None:
        self._start = (time.monotonic(), _busy_s(), _own_s())

    def _end(self) -> None:
        start, busy, own = self._start
        passed = time.monotonic() - start
        busy_now = _busy_s()
        if busy is None or busy_now is None or passed < _SHORTEST_S:
            return
        self._loads[self._phase] = max(0.0, (busy_now - busy - (_own_s() - own)) / passed)


def add_fact(directory: str | os.PathLike[str], name: str, value: Any) -> None:
    """Adds what is known later to the facts beside a trace. Raises OSError, ValueError."""
    path = pathlib.Path(directory) / FILE_NAME
    facts = json.loads(path.read_text(encoding="utf-8"))
    _write_whole(path, json.dumps({**facts, name: value}, indent=1) + "\n")


def _write_whole(path: pathlib.Path, text: str) -> None:
    partial = path.with_name(f"{path.name}.{os.getpid()}")
    partial.write_text(text, encoding="utf-8")
    os.replace(partial, path)
