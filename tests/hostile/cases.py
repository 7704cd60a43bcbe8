"""A case: files made in a folder of its own, and what is run over them."""

from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Iterator, Sequence
from typing import Callable, Optional

from runs import Run, run

# Asks for every event and for what is made of them.
SQL = "SELECT (SELECT count(*) FROM events), (SELECT count(*) FROM iterators), (SELECT count(*) FROM calls)"


@dataclasses.dataclass(frozen=True)
class Case:
    """`make` writes its files into a folder that exists, and returns the runs over them."""

    name: str
    make: Callable[[pathlib.Path], Sequence[Run]]
    # Looked at after the runs: what is wrong with the folder; empty: nothing.
    look: Optional[Callable[[pathlib.Path], list[str]]] = None


@dataclasses.dataclass(frozen=True)
class Settings:
    program: str
    json_test_suite: Optional[pathlib.Path]
    naughty_strings: Optional[pathlib.Path]


Cases = Iterator[Case]


def core_runs(program: str, trace: str) -> list[Run]:
    """The ways that a trace of any size and shape must survive."""
    return [
        run(program, "diagnose", trace, "--format", "json", document="json"),
        run(program, "diagnose", trace, "-v"),
        run(program, "diagnose", trace, "--format", "html", document="html"),
        run(program, "show", "tree", trace),
        run(program, "convert", trace, "--format", "ndjson", document="ndjson"),
        run(program, "query", SQL, trace, "--format", "json", document="json"),
        run(program, "batch", trace, document="ndjson"),
    ]


def case_of_file(program: str, name: str, ending: str, write: Callable[[pathlib.Path], object]) -> Case:
    """One file, written by `write`, and the core runs over it."""

    def make(folder: pathlib.Path) -> list[Run]:
        trace = folder / (name + ending)
        write(trace)
        return core_runs(program, str(trace))

    return Case(name, make)
