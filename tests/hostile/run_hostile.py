#!/usr/bin/env python3
"""Runs the program over hostile inputs and checks that every run ends well.

Each run must end within 5 seconds of CPU time (it hangs if it takes 60 on the clock) and 256 MB, with an exit status
from 0 to 3, with a message where that is 2, by no signal, and what it printed must be a valid document of its kind.
SECURITY.md describes the parts and has the results of the last run.

Exit status: 0 every run ended well, 1 some did not, 2 wrong usage, 3 all that ran ended well but a part was left out.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import pathlib
import shutil
import sys
import time
from typing import Callable, Optional

import part_files
import part_gzip
import part_json
import part_shapes
import part_strings
import part_xspace
from cases import Case, Cases, Settings
from runs import (
    HANGS_AFTER_SECONDS,
    LOG_OF_A_JOB,
    MOST_CPU_SECONDS,
    MOST_MEGABYTES,
    Ended,
    Run,
    Workers,
    shown,
)
from sinks import Fault, check_document, check_log, check_text

ROOT = pathlib.Path(__file__).resolve().parents[2]
PARTS: dict[str, Callable[[Settings], Cases]] = {
    "json": part_json.cases,
    "strings": part_strings.cases,
    "gzip": part_gzip.cases,
    "xspace": part_xspace.cases,
    "json-shapes": part_shapes.cases,
    "files": part_files.cases,
}
MOST_KEPT_BYTES = 1 << 30
MOST_SHOWN = 5
MOST_READ_BYTES = 200 << 20


@dataclasses.dataclass
class Tally:
    """What the runs of a part took."""

    runs: int = 0
    failed: int = 0
    worst_cpu: float = 0
    worst_megabytes: float = 0

    def count(self, ended: Ended, is_well: bool) -> None:
        self.runs += 1
        self.failed += not is_well
        self.worst_cpu = max(self.worst_cpu, ended.cpu_seconds)
        self.worst_megabytes = max(self.worst_megabytes, ended.megabytes)


def content_of(path: pathlib.Path, kind: str) -> bytes:
    """All of it; of more lines than can be read in a minute the first."""
    with open(path, "rb") as file:
        content = file.read(MOST_READ_BYTES if kind in ("ndjson", "csv") else -1)
    is_cut = path.stat().st_size > len(content)
    return content[: content.rindex(b"\n") + 1] if is_cut else content


def faults_of_documents(one: Run, ended: Ended, stdout: pathlib.Path, stderr: pathlib.Path) -> list[str]:
    """What is wrong with what was printed and written."""
    printed = content_of(stdout, one.document) if one.stdout is None else b""
    errors = stderr.read_bytes()
    faults = []

    def check(what: str, checked: Callable[[], object]) -> None:
        try:
            checked()
        except Fault as fault:
            faults.append(f"{what}: {fault}")

    check("standard error", lambda: check_text(errors))
    # After a failure rows are there up to it, and of a document nothing or the beginning.
    if one.stdout is None and (ended.code != 2 or one.document == "ndjson"):
        check(one.document, lambda: check_document(one.document, printed))
    for kind, path in one.outputs if ended.code != 2 else ():
        check(f"{kind} in {path}", lambda kind=kind, path=path: check_document(kind, path.read_bytes()))  # type: ignore[misc]
    if all(variable in one.environment for variable in LOG_OF_A_JOB.items()):
        check("the job's log", lambda: check_log(printed if one.document != "github" else b""))
        check("the job's log", lambda: check_log(errors))
    if one.says not in errors.decode("utf-8", "replace"):
        faults.append(f"standard error does not say {one.says!r}: {errors[:300]!r}")
    if one.prints not in printed.decode("utf-8", "replace"):
        faults.append(f"standard output does not hold {one.prints!r}")
    if ended.code == 2 and not errors.strip():
        faults.append("exit status 2 without a message")
    return faults


def faults_of(one: Run, ended: Ended, stdout: pathlib.Path, stderr: pathlib.Path, scale: float) -> list[str]:
    if ended.was_killed:
        return [
            f"did not end: {ended.cpu_seconds:.1f} s of CPU time, {ended.wall_seconds:.0f} s, {ended.megabytes:.0f} MB"
        ]
    if ended.signal:
        return [f"ended by signal {ended.signal}"]
    faults = []
    if ended.code not in one.codes:
        faults.append(f"exit status {ended.code}")
    if ended.cpu_seconds > MOST_CPU_SECONDS * scale:
        faults.append(f"{ended.cpu_seconds:.1f} s of CPU time")
    if ended.megabytes > MOST_MEGABYTES:
        faults.append(f"{ended.megabytes:.0f} MB")
    return faults + faults_of_documents(one, ended, stdout, stderr)


class Session:
    """Runs cases, keeps the files of those that fail, and counts."""

    def __init__(self, settings: Settings, folder: pathlib.Path, jobs: int, scale: float, only: Optional[str]) -> None:
        self.settings = settings
        self.folder = folder
        self.scale = scale
        self.only = only
        self.workers = Workers(jobs)
        self.tallies: dict[str, Tally] = {}

    def run_case(self, part: str, case: Case, tally: Tally) -> None:
        folder = self.folder / part / case.name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        printed = self.folder / f"printed-{os.getpid()}"
        printed.mkdir(exist_ok=True)
        is_well = True
        wall_limit = HANGS_AFTER_SECONDS * self.scale
        for one, ended, stdout, stderr in self.workers.measured(case.make(folder), printed, wall_limit):
            faults = faults_of(one, ended, stdout, stderr, self.scale)
            tally.count(ended, not faults)
            for fault in faults[:MOST_SHOWN]:
                print(f"FAILED {part}/{case.name}: {fault}\n  {shown(one)}", flush=True)
            is_well = is_well and not faults
        for fault in case.look(folder) if case.look is not None else []:
            print(f"FAILED {part}/{case.name}: {fault}", flush=True)
            tally.failed += 1
            is_well = False
        shutil.rmtree(printed)
        kept = sum(file.lstat().st_blocks * 512 for file in folder.rglob("*"))
        if is_well or kept > MOST_KEPT_BYTES:
            shutil.rmtree(folder)

    def run_part(self, part: str) -> None:
        tally = self.tallies.setdefault(part, Tally())
        begin = time.monotonic()
        for case in PARTS[part](self.settings):
            if self.only is None or self.only in case.name:
                self.run_case(part, case, tally)
        print(f"{part}: {tally.runs} runs in {time.monotonic() - begin:.0f} s, {tally.failed} failed", flush=True)

    def print_table(self) -> None:
        print("\n| part | runs | ended well | most CPU time | most memory |\n|---|---|---|---|---|")
        for part, tally in self.tallies.items():
            well = f"{tally.runs - tally.failed:,}"
            print(f"| `{part}` | {tally.runs:,} | {well} | {tally.worst_cpu:.1f} s | {tally.worst_megabytes:.0f} MB |")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/hostile", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--binary",
        default=str(ROOT / "build" / "release" / "tfdata-doctor"),
        help="the program (default: that of preset release)",
    )
    parser.add_argument("--json-test-suite", metavar="DIR", type=pathlib.Path, help="a clone of JSONTestSuite")
    parser.add_argument("--naughty-strings", metavar="FILE", type=pathlib.Path, help="blns.json")
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "build" / "hostile", help="of the files")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="runs at the same time")
    parser.add_argument("--scale", type=float, default=1.0, help="allow so many times as long")
    parser.add_argument("--only", metavar="WORD", help="only cases whose names hold it")
    parser.add_argument("parts", metavar="PART", nargs="*", help=f"of: {', '.join(PARTS)} (default: all)")
    options = parser.parse_args()
    unknown = [part for part in options.parts if part not in PARTS]
    if unknown:
        parser.error(f"no part {', '.join(unknown)}; there are {', '.join(PARTS)}")
    if shutil.which(options.binary) is None:
        parser.error(f"{options.binary} is not a program; --binary names it")
    if options.jobs < 1 or options.scale <= 0:
        parser.error("--jobs and --scale are more than 0")
    return options


def missing_sets(settings: Settings, parts: list[str]) -> list[str]:
    """What is left out of these parts, and where it is from."""
    missing = []
    if "json" in parts and settings.json_test_suite is None:
        missing.append("json: git clone https://github.com/nst/JSONTestSuite, then --json-test-suite JSONTestSuite")
    if "strings" in parts and settings.naughty_strings is None:
        missing.append(
            "the big list of naughty strings in strings: git clone "
            "https://github.com/minimaxir/big-list-of-naughty-strings, then --naughty-strings .../blns.json"
        )
    return missing


def main() -> int:
    options = parse_arguments()
    program = str(pathlib.Path(str(shutil.which(options.binary))).resolve())
    settings = Settings(program, options.json_test_suite, options.naughty_strings)
    parts = options.parts or list(PARTS)
    missing = missing_sets(settings, parts)
    if settings.json_test_suite is None:
        parts = [part for part in parts if part != "json"]
    session = Session(settings, options.folder.resolve(), options.jobs, options.scale, options.only)
    for part in parts:
        session.run_part(part)
    session.workers.stop()
    session.print_table()
    failed = sum(tally.failed for tally in session.tallies.values())
    if failed > 0:
        print(f"\n{failed} failed; their files are below {session.folder}")
    for what in missing + (part_files.left_out() if "files" in parts else []):
        print(f"\nLEFT OUT: {what}")
        failed = failed or -1
    return 1 if failed > 0 else 3 if failed < 0 else 0


if __name__ == "__main__":
    sys.exit(main())
