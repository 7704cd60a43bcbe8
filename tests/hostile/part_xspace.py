"""XSpaces whose wire format is hostile, whose ids lead in circles, or that are of a shape that no program makes."""

from __future__ import annotations

import dataclasses
import pathlib
import random
from collections.abc import Iterator
from typing import Callable

from cases import Case, Cases, Settings, case_of_file, core_runs
from runs import Run, run
from traces import (
    BYTES,
    END_GROUP,
    FIXED32,
    FIXED64,
    GROUP,
    VARINT,
    Event,
    Process,
    Thread,
    event,
    event_metadata,
    line,
    message,
    named,
    number,
    number_stat,
    plane,
    stat_metadata,
    tag,
    text_stat,
    varint,
    waiting_pipeline,
    xspace,
)

HOST = b"/host:CPU"
ROOT_NAME = b"Iterator::Root"
IDS = stat_metadata(1, b"id") + stat_metadata(2, b"parent_id") + stat_metadata(3, b"long_name")
Writer = Callable[[], bytes]


def sound() -> bytes:
    return xspace([Process("/host:CPU", [Thread("main", waiting_pipeline(["Map"], 1, 20))])])


def iterator(key: int, offset_ps: int, duration_ps: int, identity: int, parent: int, long_name: bytes = b"") -> bytes:
    stats = number_stat(1, identity) + number_stat(2, parent) + (text_stat(3, long_name) if long_name else b"")
    return event(key, offset_ps, duration_ps, stats)


def host_plane(lines: bytes, names: bytes = event_metadata(1, ROOT_NAME)) -> bytes:
    return plane(HOST, lines + names + IDS)


# --- The wire format


def odd_fields() -> Iterator[bytes]:
    """Whatever may stand where a field is expected."""
    yield tag(9, GROUP) + number(1, 1) + tag(9, END_GROUP)
    yield tag(9, GROUP)
    yield tag(9, END_GROUP)
    yield tag(9, 6) + b"\x01"
    yield tag(9, 7) + b"\x01"
    yield tag(0, VARINT) + b"\x01"
    yield tag(0, BYTES) + b"\x03abc"
    yield tag((1 << 29) - 1, VARINT) + b"\x01"
    yield varint((1 << 64) - 8) + b"\x01"
    yield b"\xff" * 10 + b"\x01"
    yield tag(9, VARINT) + b"\x80" * 9 + b"\x01"
    yield tag(9, VARINT) + b"\x80" * 9 + b"\x7f"
    yield tag(9, VARINT) + b"\x81\x80\x80\x00"
    yield b"\x88\x80\x80\x00\x01"
    yield tag(9, FIXED64) + b"\x01"
    yield tag(9, FIXED32) + b"\x01"
    # Fields that are known, of other types.
    yield tag(1, VARINT) + b"\x01"
    yield tag(1, FIXED64) + bytes(8)
    yield tag(3, VARINT) + b"\x01"


def wherever(odd: bytes) -> bytes:
    """The bytes in each kind of message, and a sound trace around them."""
    in_event = event(1, 1, 1, odd) + event(1, 1, 1, message(4, odd))
    names = (
        event_metadata(1, ROOT_NAME) + message(4, odd) + message(4, number(1, 5) + message(2, odd)) + message(5, odd)
    )
    return sound() + host_plane(line(1, b"main", in_event + odd) + odd + message(3, odd), names) + sound() + odd


def lengths() -> dict[str, bytes]:
    """Messages that claim to be longer than all that follows."""
    found = {}
    for name, length in (
        ("2-31", 1 << 31),
        ("2-31-less-1", (1 << 31) - 1),
        ("2-32", 1 << 32),
        ("2-63", 1 << 63),
        ("2-64-less-1", (1 << 64) - 1),
        ("1-more", 4),
    ):
        claim = tag(1, BYTES) + varint(length) + b"abc"
        in_line = tag(3, BYTES) + varint(length) + b"abc"
        found[f"length-{name}"] = sound() + claim
        found[f"length-{name}-inside"] = sound() + message(1, message(2, HOST) + in_line) + sound()
    return found


def nested(depth: int, field: int) -> bytes:
    content = b""
    for _ in range(depth):
        content = message(field, content)
    return content


def nested_groups(depth: int) -> bytes:
    return sound() + tag(9, GROUP) * depth + tag(9, END_GROUP) * depth


def wire_cases() -> dict[str, Writer]:
    found: dict[str, Writer] = {}
    for index, odd in enumerate(odd_fields()):
        found[f"odd-field-{index}"] = lambda odd=odd: wherever(odd)  # type: ignore[misc]
    for name, content in lengths().items():
        found[name] = lambda content=content: content  # type: ignore[misc]
    found["nested-5000"] = lambda: sound() + nested(5_000, 1)
    found["nested-5000-unknown"] = lambda: sound() + nested(5_000, 9)
    found["nested-groups-5000"] = lambda: nested_groups(5_000)
    found["nested-groups-1000000"] = lambda: nested_groups(1_000_000)
    found["empty-planes-3000000"] = lambda: message(1, b"") * 3_000_000
    found["unknown-fields-5000000"] = lambda: sound() + number(9, 1) * 5_000_000
    found["cut"] = lambda: sound()[:-100]
    found["doubled"] = lambda: sound() * 2
    found["random"] = lambda: random.Random(1).randbytes(1 << 20)
    found["random-tail"] = lambda: sound() + random.Random(2).randbytes(1 << 20)
    return found


# --- What is said


def cycle_of_ids(count: int) -> bytes:
    calls = (iterator(1, 10 * key, 5, key + 1, (key + 1) % count + 1) for key in range(count))
    return host_plane(line(1, b"main", b"".join(calls)))


def chain_of_ids(count: int, is_reversed: bool) -> bytes:
    order = range(count, 0, -1) if is_reversed else range(1, count + 1)
    calls = (iterator(1, 10 * place, 5, key, key - 1) for place, key in enumerate(order))
    return host_plane(line(1, b"main", b"".join(calls)))


def equal_calls(count: int, identity: int) -> bytes:
    return host_plane(line(1, b"main", iterator(1, 10, 5, identity, 0) * count))


def nested_calls(count: int) -> bytes:
    """Each call in the one before it, each of an iterator of its own."""
    calls = (iterator(1, key, 2 * (count - key), key + 1, key) for key in range(count))
    return host_plane(line(1, b"main", b"".join(calls)))


def many_lines(count: int, has_event: bool) -> bytes:
    content = iterator(1, 10, 5, 1, 0) if has_event else b""
    return host_plane(b"".join(line(key, b"", content) for key in range(count)))


def many_planes(count: int) -> bytes:
    content = line(1, b"a", event(1, 1, 1)) + event_metadata(1, b"a")
    return b"".join(plane(b"/host:%d" % key, content) for key in range(count))


def many_names(count: int) -> bytes:
    names = b"".join(event_metadata(key, b"Iterator::Root::Map%d" % key) for key in range(1, count + 1))
    return host_plane(line(1, b"main", b"".join(event(key, key, 1) for key in range(1, count + 1))), names)


def many_stats(count: int) -> bytes:
    names = b"".join(stat_metadata(key, b"attribute%d" % key) for key in range(10, count + 10))
    stats = b"".join(number_stat(key, key) for key in range(10, count + 10))
    return plane(
        HOST, line(1, b"main", event(1, 1, 5, number_stat(1, 1) + stats)) + event_metadata(1, ROOT_NAME) + IDS + names
    )


def hostile_times() -> bytes:
    extremes = (0, 1, -1, (1 << 63) - 1, -(1 << 63), (1 << 62), -(1 << 62), 10**18)
    events = b"".join(iterator(1, begin, length, 1, 0) for begin in extremes for length in extremes)
    return host_plane(b"".join(line(key, b"main", events, begin) for key, begin in enumerate(extremes)))


def references_in_circles() -> bytes:
    """Statistics whose text is the name of a statistic that is not there, or of itself; ids of metadata twice."""
    reference = message(4, number(1, 3) + number(7, 3)) + message(4, number(1, 3) + number(7, 99))
    both = named(4, 1, b"a") + named(4, 1, b"Iterator::Root::Map") + named(4, (1 << 64) - 1, b"b")
    return plane(HOST, line(1, b"main", event(1, 1, 1, reference) + event(99, 1, 1) + event(-1, 1, 1)) + both + IDS)


def shapes() -> dict[str, Writer]:
    long_name = b"Iterator" + b"::a" * 160_000
    return {
        "cycle-of-100000-ids": lambda: cycle_of_ids(100_000),
        "cycle-of-1-id": lambda: host_plane(line(1, b"main", iterator(1, 1, 1, 7, 7) * 1000)),
        "chain-of-100000-ids": lambda: chain_of_ids(100_000, is_reversed=False),
        "chain-of-100000-ids-reversed": lambda: chain_of_ids(100_000, is_reversed=True),
        "equal-calls-500000": lambda: equal_calls(500_000, 1),
        "nested-calls-100000": lambda: nested_calls(100_000),
        "lines-1000000-empty": lambda: many_lines(1_000_000, has_event=False),
        "lines-500000": lambda: many_lines(500_000, has_event=True),
        "planes-100000": lambda: many_planes(100_000),
        "names-500000": lambda: many_names(500_000),
        "stats-500000-of-an-event": lambda: many_stats(500_000),
        "times": hostile_times,
        "references": references_in_circles,
        "long-name-of-parts": lambda: host_plane(line(1, b"main", event(1, 1, 5)), event_metadata(1, long_name)),
        "long-name-of-a-statistic": lambda: host_plane(line(1, b"main", iterator(1, 1, 5, 1, 0, long_name) * 20)),
        "name-of-12-mb": lambda: host_plane(
            line(1, b"main", event(1, 1, 5)), event_metadata(1, ROOT_NAME + b"a" * 12_000_000)
        ),
        "names-of-1-mb-48": lambda: host_plane(
            line(1, b"main", b"".join(event(key, key, 5) for key in range(48))),
            b"".join(event_metadata(key, b"%dIterator::" % key + b"a" * 1_000_000) for key in range(48)),
        ),
        "name-of-a-plane-10-mb": lambda: plane(
            b"/host:" + b"a" * 10_000_000, line(1, b"x", event(1, 1, 1)) + event_metadata(1, b"a")
        ),
        "name-of-a-line-10-mb": lambda: host_plane(line(1, b"a" * 10_000_000, iterator(1, 1, 5, 1, 0) * 100)),
    }


# --- Times that no program makes, of a job that keeps to its budgets


def thousandfold(events: list[Event], index: int) -> list[Event]:
    longer = dataclasses.replace(events[index], duration_us=1000 * events[index].duration_us)
    return [*events[:index], longer, *events[index + 1 :]]


IMPOSSIBLE: dict[str, Callable[[list[Event]], list[Event]]] = {
    "calls-of-no-length": lambda events: [dataclasses.replace(one, duration_us=0) for one in events],
    "calls-twice": lambda events: [one for one in events for _ in range(2)],
    "call-a-thousand-times-as-long": lambda events: thousandfold(events, len(events) // 2),
    "last-call-a-thousand-times-as-long": lambda events: thousandfold(events, -3),
}


def budget_case(settings: Settings, name: str, edit: Callable[[list[Event]], list[Event]], code: int) -> Case:
    """Budgets end with `code`."""

    def make(folder: pathlib.Path) -> list[Run]:
        trace = folder / f"{name}.xplane.pb"
        events = edit(waiting_pipeline(["Map"], 1, 20, wait_us=60))
        trace.write_bytes(xspace([Process("/host:CPU", [Thread("main", events)])]))
        budgets = (("--max-input-share", "10%"), ("--max-get-next-p95", "5000"), ("--forbid-rule", "slow-source"))
        return core_runs(settings.program, str(trace)) + [
            run(settings.program, "diagnose", "--no-config", "--fail-on", "never", *budget, str(trace), codes=(code,))
            for budget in budgets
        ]

    return Case(name, make)


def cases(settings: Settings) -> Cases:
    yield budget_case(settings, "calls-as-recorded", lambda events: events, 0)
    for name, edit in IMPOSSIBLE.items():
        yield budget_case(settings, name, edit, 3)
    for name, writer in {**wire_cases(), **shapes()}.items():

        def write(path: pathlib.Path, writer: Writer = writer) -> None:
            path.write_bytes(writer())

        yield case_of_file(settings.program, name, ".xplane.pb", write)
