"""Traces with any text in any place, as a Chrome trace and as an XSpace, whose wire format is written here by hand."""

from __future__ import annotations

import dataclasses
import json
from typing import Optional

VARINT, FIXED64, BYTES, GROUP, END_GROUP, FIXED32 = 0, 1, 2, 3, 4, 5


@dataclasses.dataclass(frozen=True)
class Event:
    name: str
    start_us: int
    duration_us: int
    args: dict[str, str] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class Thread:
    name: str
    events: list[Event] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Process:
    name: str
    threads: list[Thread] = dataclasses.field(default_factory=list)


def utf8(text: str) -> bytes:
    """Halves of pairs of surrogates become bytes that are not UTF-8."""
    return text.encode("utf-8", "surrogatepass")


# --- Chrome traces


def chrome_event(event: Event, pid: int, tid: int) -> dict[str, object]:
    timed = {"ph": "X", "pid": pid, "tid": tid, "ts": event.start_us, "dur": event.duration_us, "name": event.name}
    return {**timed, "args": event.args}


def chrome_trace(processes: list[Process]) -> bytes:
    events: list[dict[str, object]] = []
    for pid, process in enumerate(processes, 1):
        events.append({"ph": "M", "pid": pid, "name": "process_name", "args": {"name": process.name}})
        for tid, thread in enumerate(process.threads, 1):
            name = {"ph": "M", "pid": pid, "tid": tid, "name": "thread_name", "args": {"name": thread.name}}
            events += [name, *(chrome_event(event, pid, tid) for event in thread.events)]
    return json.dumps({"displayTimeUnit": "ns", "traceEvents": events}).encode()


# --- The wire format


def varint(value: int) -> bytes:
    """As ten bytes where it is negative."""
    value &= (1 << 64) - 1
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def tag(field: int, wire_type: int) -> bytes:
    return varint(field << 3 | wire_type)


def number(field: int, value: int) -> bytes:
    return tag(field, VARINT) + varint(value)


def message(field: int, content: bytes) -> bytes:
    return tag(field, BYTES) + varint(len(content)) + content


def named(field: int, key: int, name: bytes) -> bytes:
    """An entry of a map from ids to metadata."""
    return message(field, number(1, key) + message(2, number(1, key) + message(2, name)))


def event_metadata(key: int, name: bytes) -> bytes:
    return named(4, key, name)


def stat_metadata(key: int, name: bytes) -> bytes:
    return named(5, key, name)


def text_stat(key: int, text: bytes) -> bytes:
    return message(4, number(1, key) + message(5, text))


def number_stat(key: int, value: int) -> bytes:
    return message(4, number(1, key) + number(4, value))


def event(key: int, offset_ps: int, duration_ps: int, stats: bytes = b"") -> bytes:
    return message(4, number(1, key) + number(2, offset_ps) + number(3, duration_ps) + stats)


def line(key: int, name: bytes, events: bytes, timestamp_ns: int = 1) -> bytes:
    return message(3, number(1, key) + message(2, name) + number(3, timestamp_ns) + events)


def plane(name: bytes, content: bytes) -> bytes:
    return message(1, number(1, 1) + message(2, name) + content)


class Names:
    """The metadata of one plane: an id for each name."""

    def __init__(self) -> None:
        self.ids: dict[str, int] = {}

    def __getitem__(self, name: str) -> int:
        return self.ids.setdefault(name, len(self.ids) + 1)


def plane_of(process: Process) -> bytes:
    events, stats = Names(), Names()
    lines = b""
    for tid, thread in enumerate(process.threads, 1):
        content = b""
        for one in thread.events:
            texts = b"".join(text_stat(stats[key], utf8(value)) for key, value in one.args.items())
            content += event(events[one.name], one.start_us * 1_000_000, one.duration_us * 1_000_000, texts)
        lines += line(tid, utf8(thread.name), content)
    metadata = b"".join(event_metadata(key, utf8(name)) for name, key in events.ids.items())
    metadata += b"".join(stat_metadata(key, utf8(name)) for name, key in stats.ids.items())
    return plane(utf8(process.name), lines + metadata)


def xspace(processes: list[Process]) -> bytes:
    return b"".join(plane_of(process) for process in processes)


# --- Pipelines


def call(
    long_name: str, iterator: int, parent: int, start_us: int, duration_us: int, args: Optional[dict[str, str]] = None
) -> Event:
    short = long_name.split("::")
    name = f"{short[0]}::{short[-1]}" if len(short) > 1 else long_name
    ids = {"long_name": long_name, "id": str(iterator), "parent_id": str(parent)}
    return Event(name, start_us, duration_us, {**ids, **(args or {})})


def waiting_pipeline(
    stages: list[str], first_id: int, steps: int, args: Optional[dict[str, str]] = None, wait_us: int = 9_000
) -> list[Event]:
    """Calls of a pipeline whose consumer waits for its innermost stage, usually nine tenths of each step of 10 ms."""
    events = []
    for step in range(steps):
        begin = step * 10_000
        events.append(Event("IteratorGetNextOp::DoCompute", begin, wait_us))
        long_name = "Iterator::Root"
        events.append(call(long_name, first_id, 0, begin + 1, wait_us - 2))
        for depth, stage in enumerate(stages, 1):
            long_name += f"::{stage}"
            ids = (first_id + depth, first_id + depth - 1)
            events.append(call(long_name, *ids, begin + 1 + depth, wait_us - 2 - 2 * depth, args))
    return events
