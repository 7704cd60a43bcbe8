"""python -m tfdata_doctor SCRIPT.py: what it prints, and how it ends."""

from __future__ import annotations

import os
import platform
import runpy
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Optional

from . import _epochs, _history
from ._commands import terminal_report
from ._libraries import OWN_FOLDERS
from ._program import DoctorError
from ._script import record
from ._script_options import BATCHES
from ._writes import named_places
from .report import Report

if TYPE_CHECKING:
    import argparse


def _with_next_command(page: str, report: Report, options: argparse.Namespace, arguments: Sequence[str]) -> str:
    """The page of a report; where something can be tried, its last line is the command that does."""
    if report.verdict.status != "input_bound":
        return f"{page}\n"
    script = ["-m", options.script] if options.module else [options.script]
    command = shlex.join(["python", "-m", "tfdata_doctor", "fix", *script, *arguments])
    return f"{page}\n  Try it  {command}\n"


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


def run(options: argparse.Namespace, arguments: Sequence[str]) -> int:
    """The exit status: 0 where the script was recorded, whatever was found; 2 after a wrong use; 3 where nothing was.

    Raises the script's errors.
    """
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
