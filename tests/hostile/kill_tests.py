#!/usr/bin/env python3
"""Kills the program while it changes files, and checks that nothing is lost.

Each command is started, and killed with SIGKILL after a random time of at most about what it takes; then what was there
before must still be there, the file must be readable, nothing may be in it twice or by half, and the same command must
end well afterwards. The times follow from --seed and from how long the commands take here.

Exit status: 0 nothing was lost, 1 something was, or too few were killed before their end; 2 wrong usage.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import json
import os
import pathlib
import random
import shutil
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import Any, Callable, Protocol

ROOT = pathlib.Path(__file__).resolve().parents[2]
TRACES = ROOT / "testdata" / "traces"
KNOWN = [str(TRACES / f"guide_{name}.xplane.pb") for name in ("naive", "prefetch", "cache")]
ADDED = [str(TRACES / f"guide_{name}.xplane.pb") for name in ("parallel_map", "sequential_map", "parallel_interleave")]
LARGE = str(TRACES / "seed_example1.xplane.pb")
COPIES = 7
# A fifth of the tries must have been killed, else they show little.
LEAST_KILLED = 0.2
MEASURED_RUNS = 5


class Damage(Exception):
    """A file lost something, or cannot be read."""


class Loss(Damage):
    """What was there before is not there any more."""


def expect(holds: bool, what: str, kind: type[Damage] = Damage) -> None:
    if not holds:
        raise kind(what)


class Target(Protocol):
    """A command that changes a file, and what must be true of the file whenever it is killed."""

    name: str

    def reset(self) -> None:
        """Puts the files into the state before the command."""

    def command(self) -> list[str]: ...

    def check(self, is_done: bool) -> None:
        """Raises Damage. `is_done`: the command has run to its end."""


@dataclasses.dataclass
class Tool:
    program: str

    def run(self, *arguments: str) -> bytes:
        """What it prints. Raises Damage where it fails."""
        ended = subprocess.run([self.program, *arguments], capture_output=True, check=False)
        expect(ended.returncode in (0, 1), f"{arguments[:3]}: {ended.stderr.decode('utf-8', 'replace')[:300]}")
        return ended.stdout

    def json(self, *arguments: str) -> Any:
        return json.loads(self.run(*arguments, "--format", "json"))


def is_emptied_journal(file: pathlib.Path) -> bool:
    """Stays beside a database that was changed."""
    return file.name.endswith("-journal") and file.stat().st_size == 0


def check_names(folder: pathlib.Path, allowed: set[str]) -> None:
    """Only files of these names are there."""
    left = {file.name for file in folder.iterdir() if not is_emptied_journal(file)} - allowed
    expect(not left, f"left over: {sorted(left)}")


def check_integrity(path: pathlib.Path) -> None:
    with contextlib.closing(sqlite3.connect(path)) as database:
        expect(database.execute("PRAGMA integrity_check").fetchall() == [("ok",)], f"{path.name} is damaged")


def restore(folder: pathlib.Path, path: pathlib.Path, content: bytes) -> None:
    """Nothing but this file is in the folder."""
    shutil.rmtree(folder)
    folder.mkdir()
    path.write_bytes(content)


class Baseline:
    """`baseline add`: all of the added runs are in it or none, and the old ones are in it always."""

    name = "baseline add"

    def __init__(self, tool: Tool, folder: pathlib.Path) -> None:
        self.tool = tool
        self.folder = folder
        self.path = folder / "baseline.json"
        tool.run("baseline", "add", str(self.path), *KNOWN)
        self.content = self.path.read_bytes()
        self.old = self.ids()

    def ids(self) -> list[str]:
        return [run["id"] for run in self.tool.json("baseline", "show", str(self.path))["runs"]]

    def reset(self) -> None:
        restore(self.folder, self.path, self.content)

    def command(self) -> list[str]:
        return ["baseline", "add", str(self.path), *ADDED]

    def check(self, is_done: bool) -> None:
        check_names(self.folder, {self.path.name})
        json.loads(self.path.read_bytes())
        found = self.ids()
        expect(found[: len(self.old)] == self.old, f"of {self.old} there is {found}", Loss)
        whole = len(self.old) + len(ADDED)
        expect(len(set(found)) == len(found), f"a run twice: {found}")
        expect(len(found) == whole or (not is_done and len(found) == len(self.old)), f"{len(found)} runs of {whole}")


class Database:
    """`query --db`: each trace is in it as a whole or not at all."""

    name = "query --db"
    sql = "SELECT f.path, f.events, (SELECT count(*) FROM events e WHERE e.file = f.path) AS rows FROM files f"

    def __init__(self, tool: Tool, folder: pathlib.Path) -> None:
        self.tool = tool
        self.folder = folder
        self.path = folder / "traces.db"
        tool.run("query", self.sql, "--db", str(self.path), *KNOWN)
        self.content = self.path.read_bytes()

    def reset(self) -> None:
        restore(self.folder, self.path, self.content)

    def command(self) -> list[str]:
        return ["query", self.sql, "--db", str(self.path), *ADDED, LARGE]

    def check(self, is_done: bool) -> None:
        check_names(self.folder, {self.path.name, f"{self.path.name}-journal"})
        check_integrity(self.path)
        files = self.tool.json("query", self.sql, "--db", str(self.path))["rows"]
        paths = [row["path"] for row in files]
        expect(set(paths) >= set(KNOWN), f"of {KNOWN} there is {paths}", Loss)
        expect(len(set(paths)) == len(paths), f"a file twice: {paths}")
        expect(not is_done or len(paths) == len(KNOWN) + len(ADDED) + 1, f"not all files: {paths}")
        for row in files:
            expect(row["events"] == row["rows"] > 0, f"{row['rows']} of {row['events']} events of {row['path']}")
        if is_done:
            check_names(self.folder, {self.path.name})


class Rows:
    """`batch -o --resume`: goes on where it was killed, until every trace has a row; then it begins anew."""

    name = "batch -o --resume"

    def __init__(self, tool: Tool, folder: pathlib.Path) -> None:
        self.tool = tool
        self.folder = folder
        self.traces = folder.with_name("copies")
        self.path = folder / "rows.ndjson"
        self.rows: list[bytes] = []
        self.rounds = 0
        for copy in range(COPIES):
            shutil.copytree(TRACES, self.traces / str(copy), ignore=shutil.ignore_patterns("*.expected.*", "tf1_steps"))
        tool.run("batch", "--exit-zero", str(self.traces), "-o", str(self.path))
        self.paths = sorted(json.loads(row)["path"] for row in self.path.read_bytes().splitlines())
        self.path.unlink()

    def reset(self) -> None:
        if len(self.rows) < len(self.paths):
            return
        self.rows = []
        self.rounds += 1
        self.path.unlink()

    def command(self) -> list[str]:
        return ["batch", "--exit-zero", "--quiet", "--resume", str(self.traces), "-o", str(self.path)]

    def check(self, is_done: bool) -> None:
        check_names(self.folder, {self.path.name})
        content = self.path.read_bytes() if self.path.exists() else b""
        expect(not content or content.endswith(b"\n"), "half a row")
        rows = content.splitlines()
        expect(rows[: len(self.rows)] == self.rows, "a row that was there is not there any more", Loss)
        paths = sorted(json.loads(row)["path"] for row in rows)
        expect(len(set(paths)) == len(paths), "a trace has two rows")
        expect(not is_done or paths == self.paths, f"{len(paths)} rows instead of {len(self.paths)}")
        self.rows = rows


class WatchedRows(Rows):
    """`watch --once -o`: the same for a folder that is followed."""

    name = "watch --once -o"

    def command(self) -> list[str]:
        once = ["watch", "--once", "--every", "1s", "--exit-zero", "--quiet"]
        return [*once, str(self.traces), "-o", str(self.path)]


class Converted:
    """`convert -o`: the old file, or the new one."""

    name = "convert -o"

    def __init__(self, tool: Tool, folder: pathlib.Path) -> None:
        self.tool = tool
        self.folder = folder
        self.path = folder / "events.ndjson"
        tool.run(*self.command())
        self.new = self.path.read_bytes()
        self.old = b'{"old": true}\n'

    def reset(self) -> None:
        restore(self.folder, self.path, self.old)

    def command(self) -> list[str]:
        return ["convert", LARGE, *ADDED, "-o", str(self.path)]

    def check(self, is_done: bool) -> None:
        # Its bytes lie in a file without a name until they are whole.
        check_names(self.folder, {self.path.name})
        expect(self.path.exists(), "the file is gone", Loss)
        content = self.path.read_bytes()
        expect(content == self.new or (not is_done and content == self.old), f"{len(content)} bytes of neither file")


@dataclasses.dataclass
class Tally:
    tries: int = 0
    killed: int = 0
    lost: int = 0
    damaged: int = 0


def killed_after(command: list[str], seconds: float) -> bool:
    """Whether it was, before it ended."""
    child = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, start_new_session=True
    )
    time.sleep(seconds)
    # Not waited for yet, so its number is still its own; workers of batch are in its group.
    os.killpg(child.pid, signal.SIGKILL)
    return child.wait() == -signal.SIGKILL


def usual_seconds(target: Target, tool: Tool) -> float:
    times = []
    for _ in range(MEASURED_RUNS):
        target.reset()
        begin = time.monotonic()
        tool.run(*target.command())
        times.append(time.monotonic() - begin)
        target.check(is_done=True)
    return statistics.median(times)


def try_once(target: Target, tool: Tool, seconds: float, tally: Tally) -> bool:
    """Kills the command after so many seconds, and looks at what is left; then runs it to its end."""
    target.reset()
    was_killed = killed_after([tool.program, *target.command()], seconds)
    tally.tries += 1
    tally.killed += was_killed
    try:
        target.check(is_done=not was_killed)
        # A batch goes on in the next try.
        if not isinstance(target, Rows):
            tool.run(*target.command())
            target.check(is_done=True)
    except (Damage, ValueError, KeyError, sqlite3.Error) as fault:
        tally.lost += isinstance(fault, Loss)
        tally.damaged += not isinstance(fault, Loss)
        print(f"FAILED {target.name}, killed after {seconds * 1000:.1f} ms: {type(fault).__name__}: {fault}")
    return was_killed


def kill_often(target: Target, tool: Tool, tries: int, source: random.Random) -> Tally:
    tally = Tally()
    longest = usual_seconds(target, tool)
    for _ in range(tries):
        was_killed = try_once(target, tool, source.uniform(0, longest), tally)
        # A machine that is busy, or less so than before, changes how long the command takes.
        longest *= 1.02 if was_killed else 0.97
    return tally


def targets(tool: Tool, folder: pathlib.Path) -> Iterator[Callable[[], Target]]:
    def place(name: str) -> pathlib.Path:
        made = folder / name / "files"
        made.mkdir(parents=True)
        return made

    yield lambda: Baseline(tool, place("json"))
    yield lambda: Database(tool, place("query"))
    yield lambda: Rows(tool, place("batch"))
    yield lambda: Converted(tool, place("convert"))
    yield lambda: WatchedRows(tool, place("watch"))


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/kill-tests", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    default = str(ROOT / "build" / "release" / "tfdata-doctor")
    parser.add_argument("--binary", default=default, help="the program (default: that of preset release)")
    parser.add_argument("--tries", type=int, default=200, help="of each command (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the times (default: %(default)s)")
    options = parser.parse_args()
    if shutil.which(options.binary) is None:
        parser.error(f"{options.binary} is not a program; --binary names it")
    return options


def main() -> int:
    options = parse_arguments()
    source = random.Random(options.seed)
    is_well = True
    print("| command | killed / tries | lost | unreadable or by half |\n|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        tool = Tool(str(pathlib.Path(str(shutil.which(options.binary))).resolve()))
        for make in targets(tool, pathlib.Path(folder)):
            target = make()
            tally = kill_often(target, tool, options.tries, source)
            print(f"| {target.name} | {tally.killed} / {tally.tries} | {tally.lost} | {tally.damaged} |", flush=True)
            is_well = is_well and tally.lost == tally.damaged == 0
            if tally.killed <= LEAST_KILLED * tally.tries:
                print(f"FAILED {target.name}: too few were killed before their end")
                is_well = False
    return 0 if is_well else 1


if __name__ == "__main__":
    sys.exit(main())
