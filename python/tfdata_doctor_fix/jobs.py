"""What a process of the program is to do, and what it says it did: JSON files between this process and that one."""

from __future__ import annotations

import dataclasses
import json
import os
from dataclasses import dataclass, field
from typing import Any, Optional


@dataclass(frozen=True)
class Program:
    """How the user runs her program: a script, a module (`is_module`) or a notebook, and its arguments."""

    name: str
    arguments: tuple[str, ...] = ()
    is_module: bool = False


@dataclass(frozen=True)
class Job:
    """`mode` is "record", "measure", "ready" (measure with an input that is) or "compare"; a step is a recorder's."""

    mode: str
    program: Program
    #: File of changed texts.
    texts: str
    #: File of the answer.
    answer: str
    #: Steps before the first that counts, and how many count.
    skip: int = 0
    steps: int = 0
    #: After which the process ends in any case.
    seconds: float = 600.0
    #: Where the trace goes, of "record".
    logdir: str = ""
    #: Of "compare": whether what has no seed gets one, and whether shuffles do anything.
    is_seeded: bool = True
    is_shuffled: bool = True
    #: The loop whose steps count, as Loop.key() has it; none yet of "record".
    loop: dict[str, Any] = field(default_factory=dict)
    #: Folders that the program may write to, and places that the user named for that.
    folders: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    #: Folders whose files are the program's.
    roots: tuple[str, ...] = ()


@dataclass
class Cache:
    """A cache() that the program made: how many elements it is of (-1: endless, -2: unknown), and bytes of one.

    `repeats`: whether the first elements are the same the second time over them; None where nobody looked.
    """

    file: str
    line: int
    elements: int
    bytes_each: Optional[int] = None
    repeats: Optional[bool] = None


@dataclass
class Elements:
    """The first elements of a dataset that the program iterates over, a hash each."""

    spec: str
    hashes: list[str]
    #: Of the next time over it.
    again: list[str]
    #: Whether these are all.
    is_complete: bool


@dataclass
class Answer:
    """What a process did. `begins`, `ends`: of each step, in seconds."""

    begins: list[float] = field(default_factory=list)
    ends: list[float] = field(default_factory=list)
    #: Steps that were done when an epoch ended.
    epochs: list[int] = field(default_factory=list)
    caches: list[Cache] = field(default_factory=list)
    elements: list[Elements] = field(default_factory=list)
    #: Whether an input was made ready, of "ready".
    is_ready: bool = False
    #: Steps that began of the loop that is the training, and the key of it, of "record".
    steps: int = 0
    loop: dict[str, Any] = field(default_factory=dict)
    #: Why the process ended: "enough", "time", "memory", "end" (of the program), "refused" (to write) or "error".
    ended: str = ""
    #: What the program was about to write, and what to do about it, where it was refused.
    refused: str = ""
    #: What was not done, such as saving a model, and where.
    left_out: list[str] = field(default_factory=list)
    #: Files of the program that were read, by their real paths, each with its time in ns and its size.
    files: dict[str, tuple[int, int]] = field(default_factory=dict)
    #: Folder of the trace, of "record".
    run_directory: str = ""
    #: Bytes of the largest set of pages in memory.
    peak_bytes: int = 0


def write(path: str, value: Any) -> None:
    """Writes a dataclass, whole or not at all."""
    partial = f"{path}.{os.getpid()}"
    with open(partial, "w", encoding="utf-8") as file:
        json.dump(dataclasses.asdict(value), file)
    os.replace(partial, path)


def read_job(path: str) -> Job:
    """The job of a file."""
    with open(path, encoding="utf-8") as file:
        raw = json.load(file)
    program = raw.pop("program")
    return Job(program=Program(program["name"], tuple(program["arguments"]), program["is_module"]), **raw)


def read_answer(path: str) -> Optional[Answer]:
    """The answer of a file, None where the process wrote none."""
    try:
        with open(path, encoding="utf-8") as file:
            raw = json.load(file)
    except FileNotFoundError:
        return None
    caches = [Cache(**entry) for entry in raw.pop("caches")]
    elements = [Elements(**entry) for entry in raw.pop("elements")]
    files = {path: (int(time), int(size)) for path, (time, size) in raw.pop("files").items()}
    return Answer(caches=caches, elements=elements, files=files, **raw)
