"""Chrome traces that are JSON, mostly, and of a shape that no program makes."""

from __future__ import annotations

import itertools
import pathlib
from collections.abc import Iterable, Iterator
from typing import Callable

from cases import Cases, Settings, case_of_file

Lines = Callable[[], Iterable[str]]
NUMBERS = (
    "0", "-0", "-0.0", "1", "-1", "1e308", "-1e308", "1e309", "1e-320", "NaN", "Infinity", "-Infinity", "null", "true",
    '"1"', '"NaN"', '""', "[]", "{}", "9223372036854775807", "-9223372036854775808", "18446744073709551616", "1e18",
    "0.1234567890123456789", "1" * 400, "1.5e3", "0x10", "+1", ".5", "5.", "01",
)  # fmt: skip


def event(
    name: str, start: object = 1, duration: object = 1, pid: object = 1, tid: object = 1, args: str = "{}"
) -> str:
    return f'{{"ph":"X","pid":{pid},"tid":{tid},"ts":{start},"dur":{duration},"name":"{name}","args":{args}}}'


def call(identity: object, parent: object, start: int = 1, duration: int = 1, name: str = "Iterator::Root") -> str:
    args = f'{{"id":"{identity}","parent_id":"{parent}","long_name":"{name}"}}'
    return event("Iterator::Root", start, duration, args=args)


def numbered(form: str, count: int) -> Iterator[str]:
    return (form.replace("#", str(key)) for key in range(count))


def hostile_times() -> Iterator[str]:
    for start, duration in itertools.product(NUMBERS, NUMBERS):
        yield event("Iterator::Root", start, duration, args='{"id":"1"}')


def hostile_ids() -> Iterator[str]:
    for one in NUMBERS:
        yield event("Iterator::Map", pid=one, tid=1)
        yield event("Iterator::Map", pid=1, tid=one)
        yield event("Iterator::Map", args=f'{{"id":{one},"parent_id":{one},"long_name":{one},"step_num":{one}}}')
        yield f'{{"ph":{one},"name":{one},"ts":1,"dur":1,"args":{one}}}'


def several_pipelines(count: int) -> Iterator[str]:
    return (call(2 * key + 1, 0, key, 1, f"Iterator::Root::Map{key}") for key in range(count))


def crossing_spans(count: int) -> Iterator[str]:
    """Each begins in the one before it and ends after it."""
    return (call(key + 1, key, 10 * key, 10 * count) for key in range(count))


def events_of(lines: Lines) -> Callable[[pathlib.Path], None]:
    def write(path: pathlib.Path) -> None:
        with open(path, "w", encoding="utf-8") as file:
            file.write('{"displayTimeUnit":"ns","traceEvents":[\n')
            for line in lines():
                file.write(line + ",\n")
            file.write("{}]}\n")

    return write


def event_shapes() -> dict[str, Lines]:
    count = 100_000
    long_name = "Iterator" + "::a" * 160_000
    root = "Iterator::Root"
    return {
        "times": hostile_times,
        "ids-and-types": hostile_ids,
        "cycle-of-100000-ids": lambda: (call(key + 1, (key + 1) % count + 1, key) for key in range(count)),
        "cycles-of-2-ids": lambda: (call(key ^ 1, key, key) for key in range(2, count)),
        "chain-of-100000-ids": lambda: (call(key + 1, key, key) for key in range(count)),
        "chain-of-100000-ids-reversed": lambda: (call(key + 1, key, count - key) for key in reversed(range(count))),
        "nested-calls-16000": lambda: (call(key + 1, key, key, 40_000 - 2 * key) for key in range(16_000)),
        "nested-calls-100000-of-an-iterator": lambda: (call(1, 0, key, 300_000 - 2 * key) for key in range(count)),
        "crossing-spans": lambda: crossing_spans(count),
        "equal-spans": lambda: itertools.repeat(call(1, 0), 500_000),
        "equal-spans-of-many": lambda: (call(key + 1, 0) for key in range(count)),
        "threads-1000000": lambda: numbered(event(root, 1, 1, 1, "#", '{"id":"#"}'), 1_000_000),
        "threads-1000000-named": lambda: numbered(
            '{"ph":"M","pid":1,"tid":#,"name":"thread_name","args":{"name":"thread #"}}', 1_000_000
        ),
        "names-1000000": lambda: numbered(event("name #"), 1_000_000),
        "iterator-names-1000000": lambda: numbered(
            event("Iterator::Map", args='{"id":"#","long_name":"Iterator::Map#"}'), 1_000_000
        ),
        "processes-300000": lambda: numbered(event(root, 1, 1, "#", 1, '{"id":"1"}'), 300_000),
        "pipelines-100000": lambda: several_pipelines(count),
        "name-of-160000-parts": lambda: [event(long_name, args=f'{{"id":"1","long_name":"{long_name}"}}')],
        "names-of-1000-parts": lambda: (
            call(key, 0, key, 1, "Iterator" + "".join(f"::a{part}" for part in range(key))) for key in range(1, 1_000)
        ),
        "name-of-12-mb": lambda: [event("Iterator::" + "a" * 12_000_000)],
        "names-of-1-mb-48": lambda: (event(f"Iterator::{key}" + "a" * 1_000_000) for key in range(48)),
        "arguments-100000": lambda: [
            event(root, args="{" + ",".join(f'"key{key}":"{key}"' for key in range(count)) + "}")
        ],
        "argument-twice": lambda: [event(root, args='{"a":"1","a":"2","id":"1","id":"2"}')] * 100,
        "event-keys-twice": lambda: (
            ['{"ph":"X","ph":"M","name":"a","name":"b","ts":1,"ts":2,"dur":1,"args":{},"args":1}'] * 100
        ),
        "deep-arguments": lambda: [event(root, args='{"a":' * 5_000 + "1" + "}" * 5_000)],
        "begin-without-end": lambda: numbered('{"ph":"B","pid":1,"tid":1,"ts":#,"name":"a"}', 500_000),
        "end-without-begin": lambda: numbered('{"ph":"E","pid":1,"tid":1,"ts":#,"name":"a"}', 500_000),
        "flows-and-counters": lambda: numbered(
            '{"ph":"C","pid":1,"ts":#,"id":#,"name":"a#"},{"ph":"s","id":#}', 300_000
        ),
        "empty-events": lambda: itertools.repeat("{}", 3_000_000),
        "gpu-lanes-100000": lambda: [
            '{"ph":"M","pid":1,"name":"process_name","args":{"name":"/device:GPU:0"}}',
            *numbered(event("kernel #", "#", 1, 1, "#"), count),
        ],
        "steps-200000": lambda: numbered(event("train", "#", 1, args='{"step_num":"#"}'), 200_000),
    }


def whole_files() -> dict[str, Callable[[], bytes]]:
    sound = '{"traceEvents":[' + ",".join(call(1, 0, 10 * step, 9) for step in range(100)) + "]}"
    whole = sound.encode()
    return {
        "empty": lambda: b"",
        "blank": lambda: b" " * 1000,
        "null": lambda: b"null",
        "brackets-100-mb": lambda: b"[" * 100_000_000,
        "objects-100-mb": lambda: b'{"a":' * 20_000_000,
        "brackets-in-events": lambda: b'{"traceEvents":[' + b"[" * 10_000_000,
        "byte-order-mark": lambda: b"\xef\xbb\xbf" + whole,
        "utf-16": lambda: sound.encode("utf-16"),
        "utf-16-be": lambda: sound.encode("utf-16-be"),
        "utf-32": lambda: sound.encode("utf-32"),
        "latin-1": lambda: whole.replace(b"Root", b"R\xf6\xff\xc0t"),
        "zeros-within": lambda: whole.replace(b"Root", b"R\x00ot"),
        "cut": lambda: whole[:-1000],
        "twice": lambda: whole * 2,
        "events-twice": lambda: whole[:-1] + b',"traceEvents":' + whole[15:],
        "garbage-after": lambda: whole + b"garbage" * 100,
        "array-alone": lambda: whole[15:-1],
        "array-without-end": lambda: whole[15:-2],
        "keys-1000000": lambda: b"{" + b"".join(b'"k%d":1,' % key for key in range(1_000_000)) + whole[1:],
        "string-200-mb": lambda: b'{"a":"' + b"a" * 200_000_000 + b'",' + whole[1:],
        "escapes": lambda: whole.replace(b"Root", b"\\ud800\\udc00\\u0000\\udfff\\u001b[31m"),
    }


def cases(settings: Settings) -> Cases:
    for name, lines in event_shapes().items():
        yield case_of_file(settings.program, name, ".trace.json", events_of(lines))
    for name, content in whole_files().items():

        def write(path: pathlib.Path, content: Callable[[], bytes] = content) -> None:
            path.write_bytes(content())

        yield case_of_file(settings.program, name, ".trace.json", write)
