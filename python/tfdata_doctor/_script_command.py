"""python -m tfdata_doctor SCRIPT.py: its options, what it prints, and how it ends."""

from __future__ import annotations

import argparse
import difflib
import os
import platform
import runpy
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Optional

from . import _epochs, _history
from ._commands import terminal_report
from ._libraries import OWN_FOLDERS
from ._program import DoctorError
from ._script import BATCHES, record
from ._writes import named_places
from .report import Report


def _batches(text: str) -> tuple[int, int]:
    first, separator, last = text.partition("-")
    try:
        bounds = int(first), int(last if separator else first)
    except ValueError:
        bounds = 0, 0
    if not 1 <= bounds[0] <= bounds[1]:
        raise argparse.ArgumentTypeError(f"{text} is not FIRST-LAST, such as 11-30")
    return bounds


def _later_epoch(text: str) -> int:
    if not text.isdecimal() or int(text) < 2:
        raise argparse.ArgumentTypeError(f"{text} is not the number of an epoch after the first")
    return int(text)


#: Options that are followed by a value, and those that are not.
_WITH_VALUE = ("--batches", "--logdir", "--later-epoch", "--loop", "--writes")
_FLAGS = ("--no-lines", "--no-history", "--epochs-compare")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tfdata_doctor",
        description="Runs a script of yours as it is, records some steps of its training under TensorFlow's profiler, "
        "and prints what holds its input back. Everything else, such as 'python -m tfdata_doctor logs/', is what the "
        "program tfdata-doctor does; 'python -m tfdata_doctor help' lists that.",
        usage="%(prog)s [OPTION...] SCRIPT.py [ARGUMENT...]\n"
        "       %(prog)s [OPTION...] -m MODULE [ARGUMENT...]\n"
        "       %(prog)s COMMAND...",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--batches",
        type=_batches,
        metavar="FIRST-LAST",
        help="the steps to record, counted from 1 in the loop that trains: calls of next() on an iterator of tf.data, "
        "batches of Model.fit (default: {}-{}, more where epochs are short). Where the pipeline has a cache, choose "
        "those of a later epoch".format(*BATCHES),
    )
    parser.add_argument(
        "--loop",
        metavar="FILE:LINE",
        default="",
        help="the line of the loop to record, such as train.py:33 (default: that of the loop that trains)",
    )
    parser.add_argument("--logdir", metavar="DIR", help="where the trace goes (default: a new temporary folder)")
    parser.add_argument("--no-lines", action="store_true", help="do not name transformations after their source lines")
    parser.add_argument(
        "--no-history",
        action="store_true",
        help="neither keep what this run measured nor say what has changed since the one before "
        f"(nor where {_history.VARIABLE} is 0)",
    )
    parser.add_argument(
        "--epochs-compare",
        action="store_true",
        help="record the steps of --batches in the first epoch and in a later one, and say what changed",
    )
    parser.add_argument(
        "--later-epoch", type=_later_epoch, metavar="N", default=2, help="which one (default: %(default)s)"
    )
    parser.add_argument(
        "--writes",
        action="append",
        default=[],
        metavar="DIR",
        help="with --epochs-compare, whose run is none of the training: a folder or file that the script may write",
    )
    parser.add_argument("-m", dest="module", action="store_true", help="run a module by its name")
    parser.add_argument("script", metavar="SCRIPT.py", help="the script")
    return parser


def _script_index(words: Sequence[str]) -> Optional[int]:
    """Where the script or the module is in a command line that runs one."""
    index = 0
    is_module = False
    while index < len(words):
        word = words[index]
        if word in _WITH_VALUE:
            index += 2
        elif word == "-m":
            is_module = True
            index += 1
        elif word in _FLAGS or word.startswith(tuple(f"{option}=" for option in _WITH_VALUE)):
            index += 1
        elif is_module or word.endswith(".py"):
            return index
        else:
            return None
    return None


def _misspelt(words: Sequence[str]) -> Optional[tuple[str, str]]:
    """The first word that is like an option of this module and none, before the script, and what it was meant to be."""
    options = _WITH_VALUE + _FLAGS
    if words and not words[0].startswith("--"):
        return None
    for word in words:
        name = word.partition("=")[0]
        if word.endswith(".py") or word == "-m":
            return None
        if name.startswith("--") and name not in options:
            meant = difflib.get_close_matches(name, options, n=1, cutoff=0.8)
            return (name, meant[0]) if meant else None
    return None


def _with_next_command(page: str, report: Report, options: argparse.Namespace, arguments: Sequence[str]) -> str:
    """The page of a report; where something can be tried, its last line is the command that does."""
    if report.verdict.status != "input_bound":
        return f"{page}\n"
    script = ["-m", options.script] if options.module else [options.script]
    command = shlex.join(["python", "-m", "tfdata_doctor", "fix", *script, *arguments])
    return f"{page}\n  Try it  {command}\n"


def is_help(words: Sequence[str]) -> bool:
    """Whether these arguments ask for the help of this module."""
    return list(words) in (["-h"], ["--help"])


def runs_script(words: Sequence[str]) -> bool:
    """Whether these arguments run a script, or were meant to; else they are the program's."""
    return not words or is_help(words) or _misspelt(words) is not None or _script_index(words) is not None


def _without_own_frames(error: BaseException) -> BaseException:
    """The error with the frames of its traceback that are the script's, as it would have them without this package."""
    own = (*OWN_FOLDERS, "<frozen runpy>", runpy.__file__)
    kept: Optional[TracebackType] = None
    entries = []
    entry = error.__traceback__
    while entry is not None:
        entries.append(entry)
        entry = entry.tb_next
    for entry in reversed(entries):
        if not entry.tb_frame.f_code.co_filename.startswith(own):
            kept = TracebackType(kept, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    for other in (error.__cause__, error.__context__):
        if other is not None and other.__traceback__ is not None:
            _without_own_frames(other)
    return error.with_traceback(kept)


def _show_frames_of_the_script_alone() -> None:
    """Has uncaught errors printed without the frames of this package."""
    show = sys.excepthook

    def show_less(kind: type[BaseException], error: BaseException, traceback: Any) -> None:
        show(kind, _without_own_frames(error.with_traceback(traceback)), error.__traceback__)

    sys.excepthook = show_less


def main(words: Sequence[str]) -> int:
    """The exit status: 0 where the script was recorded, whatever was found; 2 after a wrong use; 3 where nothing was.

    Raises the script's errors.
    """
    if is_help(words):
        _parser().print_help()
        return 0
    meant = _misspelt(words)
    if meant is not None:
        print(f"tfdata-doctor: {meant[0]}: unknown option; did you mean {meant[1]}?", file=sys.stderr)
        print("'python -m tfdata_doctor --help' lists the options", file=sys.stderr)
        return 2
    index = _script_index(words)
    if index is None:
        _parser().print_help(sys.stderr)
        return 2
    return _record(_parser().parse_args(words[: index + 1]), words[index + 1 :])


def _record(options: argparse.Namespace, arguments: Sequence[str]) -> int:
    if not options.module and not os.path.isfile(options.script):
        print(f"tfdata-doctor: {options.script}: no such file", file=sys.stderr)
        return 2
    name = [os.getcwd(), options.script] if options.module else [os.path.abspath(options.script)]
    command = [platform.node(), *name, *arguments]

    def show(report: Report, steps_per_s: Optional[float], which: str, run_directory: Path) -> None:
        print(
            _with_next_command(
                f"{terminal_report(run_directory).rstrip()}\n  Steps   {which}", report, options, arguments
            ),
            flush=True,
        )
        batches = "{}-{}".format(*options.batches or BATCHES)
        run = _history.Run.now(batches, steps_per_s, report.verdict.input_share)
        change = None if options.no_history else _history.change_since_last_run(command, options.logdir, run)
        if change is not None:
            print(change, flush=True)

    def suggest(batches: tuple[int, int]) -> None:
        words = ["-m", options.script] if options.module else [options.script]
        line = shlex.join(["python", "-m", "tfdata_doctor", "--batches", "{}-{}".format(*batches), *words, *arguments])
        print(
            f"\ntfdata-doctor: these steps filled a cache; those of a second epoch read from it:\n  {line}\n"
            "--epochs-compare in place of --batches records both and says what changed",
            file=sys.stderr,
        )

    if options.writes and not options.epochs_compare:
        print(
            "tfdata-doctor: --writes goes with --epochs-compare: else the script writes what it likes", file=sys.stderr
        )
        return 2
    try:
        writes = named_places(options.writes)
    except ValueError as error:
        print(f"tfdata-doctor: {error}", file=sys.stderr)
        return 2
    _show_frames_of_the_script_alone()
    try:
        if options.epochs_compare:
            _epochs.compare_epochs(
                options.script,
                arguments,
                batches=options.batches,
                later=options.later_epoch,
                logdir=options.logdir,
                lines=not options.no_lines,
                is_module=options.module,
                loop=options.loop,
                writes=writes,
            )
            return 0
        record(
            options.script,
            arguments,
            batches=options.batches,
            logdir=options.logdir,
            lines=not options.no_lines,
            is_module=options.module,
            loop=options.loop,
            on_report=show,
            on_later_batches=suggest,
        )
    except DoctorError as error:
        print(f"tfdata-doctor: {error}", file=sys.stderr)
        return 3
    return 0
