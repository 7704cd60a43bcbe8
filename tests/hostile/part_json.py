"""JSONTestSuite: each text as a whole file, as an element of the events, and as the arguments of an event."""

from __future__ import annotations

import pathlib
from typing import Callable

from cases import Case, Cases, Settings
from runs import Run, run

GOOD = b'{"ph":"X","pid":1,"tid":1,"ts":%d,"dur":1,"name":"good %d"}'
PLACES: dict[str, Callable[[bytes], bytes]] = {
    "whole": lambda text: text,
    "element": lambda text: b'{"traceEvents":[' + GOOD % (1, 1) + b"," + text + b"," + GOOD % (2, 2) + b"]}",
    "args": lambda text: b'{"traceEvents":[' + GOOD[:-1] % (1, 1) + b',"args":' + text + b"}," + GOOD % (2, 2) + b"]}",
}


def case_of(program: str, source: pathlib.Path, place: str) -> Case:
    def make(folder: pathlib.Path) -> list[Run]:
        trace = folder / "a.trace.json"
        trace.write_bytes(PLACES[place](source.read_bytes()))
        # JSON that is right costs no event beside it.
        found = "good 2" if place != "whole" and source.name.startswith("y_") else ""
        return [
            run(program, "diagnose", str(trace), "--format", "json", document="json"),
            run(program, "convert", str(trace), "--format", "ndjson", document="ndjson", prints=found),
            run(program, "convert", str(trace), "--format", "chrome", document="chrome", prints=found),
        ]

    return Case(f"{source.stem}-{place}", make)


def cases(settings: Settings) -> Cases:
    assert settings.json_test_suite is not None
    folder = settings.json_test_suite / "test_parsing"
    sources = sorted((folder if folder.is_dir() else settings.json_test_suite).glob("*.json"))
    if not sources:
        raise SystemExit(f"no *.json in {folder}")
    for source in sources:
        for place in PLACES:
            yield case_of(settings.program, source, place)
