"""Records some steps of a script that knows nothing about it: python -m tfdata_doctor SCRIPT.py."""

from __future__ import annotations

import argparse
import os
import runpy
import shlex
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Optional

from ._commands import diagnose
from ._hooks import Hooks
from ._program import DoctorError
from ._recorder import LineNames, LogDirectory, Recorder
from .report import Report

BATCHES = (11, 30)


def execute(script: str, arguments: Sequence[str], is_module: bool) -> None:
    """Runs it as Python would, in this process."""
    before = sys.argv[:], sys.path[:]
    sys.argv = [script, *arguments]
    try:
        if is_module:
            sys.path.insert(0, os.getcwd())
            runpy.run_module(script, run_name="__main__", alter_sys=True)
        else:
            sys.path.insert(0, str(Path(script).resolve().parent))
            runpy.run_path(script, run_name="__main__")
    finally:
        sys.argv, sys.path = before


def _nothing_recorded(recorder: Recorder) -> DoctorError:
    if "tensorflow" not in sys.modules:
        return DoctorError("nothing was recorded: the script did not import TensorFlow")
    advice = (
        "choose earlier ones with --batches 2-4"
        if recorder.step
        else "where a tf.function contains the loop, put its call into 'with tfdata_doctor.profile(logdir, warmup=0):'"
    )
    return DoctorError(
        f"nothing was recorded: the script took {recorder.step} elements from datasets, and element {recorder.first} "
        f"is the first to record; {advice}"
    )


def run(
    script: LogDirectory,
    arguments: Sequence[str] = (),
    *,
    batches: tuple[int, int] = BATCHES,
    logdir: Optional[LogDirectory] = None,
    lines: bool = True,
    is_module: bool = False,
    on_report: Optional[Callable[[Report], None]] = None,
) -> Report:
    """Runs an unchanged script in this process and records some of its steps.

    `batches` are the first and the last step to record, counted from 1: calls of `next()` on iterators of tf.data and
    batches of Keras. The trace goes to `logdir`, by default a new folder below that of temporary files. `lines=True`
    names transformations after their source lines. `is_module`: `script` is the name of a module. `on_report` is called
    as soon as the trace is complete, while the script goes on. Raises DoctorError where nothing was recorded, and
    whatever the script raises, SystemExit(0) apart; the report is made all the same.
    """
    names = LineNames(lines)
    directory = tempfile.mkdtemp(prefix="tfdata-doctor-") if logdir is None else logdir
    recorder = Recorder(directory, *batches, names=names)
    hooks = Hooks(recorder, names.open)
    reports: list[Report] = []

    def report() -> None:
        hooks.remove()
        assert recorder.run_directory is not None
        try:
            reports.append(diagnose(recorder.run_directory))
        except DoctorError as error:
            # It would end the script in the middle of its loop.
            print(f"tfdata-doctor: {error}", file=sys.stderr)
            return
        if on_report is not None:
            on_report(reports[0])

    recorder.on_stopped = report
    hooks.install()
    try:
        execute(os.fspath(script), arguments, is_module)
    except SystemExit as ended:
        if ended.code not in (None, 0):
            raise
    finally:
        hooks.remove()
        recorder.stop()
        names.close()
    if reports:
        return reports[0]
    raise _nothing_recorded(recorder) if recorder.run_directory is None else DoctorError("the trace cannot be read")


def _batches(text: str) -> tuple[int, int]:
    first, separator, last = text.partition("-")
    try:
        bounds = int(first), int(last if separator else first)
    except ValueError:
        bounds = 0, 0
    if not 1 <= bounds[0] <= bounds[1]:
        raise argparse.ArgumentTypeError(f"{text} is not FIRST-LAST, such as 11-30")
    return bounds


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
        default=BATCHES,
        help="the steps to record, counted from 1 (default: {}-{}): calls of next() on an iterator of tf.data, batches "
        "of Model.fit. Where the pipeline has a cache, choose those of a later epoch".format(*BATCHES),
    )
    parser.add_argument("--logdir", metavar="DIR", help="where the trace goes (default: a new temporary folder)")
    parser.add_argument("--no-lines", action="store_true", help="do not name transformations after their source lines")
    parser.add_argument("-m", dest="module", action="store_true", help="run a module by its name")
    parser.add_argument("script", metavar="SCRIPT.py", help="the script")
    return parser


def _script_index(words: Sequence[str]) -> Optional[int]:
    """Where the script or the module is in a command line that runs one."""
    index = 0
    is_module = False
    while index < len(words):
        word = words[index]
        if word in ("--batches", "--logdir"):
            index += 2
        elif word == "-m":
            is_module = True
            index += 1
        elif word == "--no-lines" or word.startswith(("--batches=", "--logdir=")):
            index += 1
        elif is_module or word.endswith(".py"):
            return index
        else:
            return None
    return None


def is_help(words: Sequence[str]) -> bool:
    """Whether these arguments ask for the help of this module."""
    return list(words) in (["-h"], ["--help"])


def runs_script(words: Sequence[str]) -> bool:
    """Whether these arguments run a script; else they are the program's."""
    return is_help(words) or _script_index(words) is not None


def _with_next_command(report: Report, options: argparse.Namespace, arguments: Sequence[str]) -> str:
    """The report; where something can be tried, its last line is the command that does."""
    if report.verdict.status != "input_bound":
        return str(report)
    script = ["-m", options.script] if options.module else [options.script]
    command = shlex.join(["python", "-m", "tfdata_doctor", "fix", *script, *arguments])
    return f"{str(report).rstrip()}\n  try it    {command}\n"


def main(words: Sequence[str]) -> int:
    """The exit status: 0 where the script was recorded, whatever was found; 3 where nothing was.

    Raises the script's errors.
    """
    if is_help(words):
        _parser().print_help()
        return 0
    index = _script_index(words)
    assert index is not None
    options = _parser().parse_args(words[: index + 1])
    if not options.module and not os.path.isfile(options.script):
        print(f"tfdata-doctor: {options.script}: no such file", file=sys.stderr)
        return 2
    try:
        run(
            options.script,
            words[index + 1 :],
            batches=options.batches,
            logdir=options.logdir,
            lines=not options.no_lines,
            is_module=options.module,
            on_report=lambda report: print(_with_next_command(report, options, words[index + 1 :]), flush=True),
        )
    except DoctorError as error:
        print(f"tfdata-doctor: {error}", file=sys.stderr)
        return 3
    return 0
