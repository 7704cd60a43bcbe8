"""Records some steps of a script that knows nothing about it: python -m tfdata_doctor SCRIPT.py."""

from __future__ import annotations

import os
import runpy
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Optional

from ._commands import diagnose
from ._hooks import Hooks
from ._keras import has_cache
from ._program import DoctorError
from ._recorder import LineNames, LogDirectory, Recorder
from .report import Report

BATCHES = (11, 30)

#: Takes a report and how many steps a second the recorded ones were, where that is known.
OnReport = Callable[[Report, Optional[float]], None]
OnLaterBatches = Callable[[tuple[int, int]], None]


def execute(script: str, arguments: Sequence[str], is_module: bool) -> object:
    """Runs it as Python would, in this process. Returns what it made, which lives as long as the caller keeps it."""
    before = sys.argv[:], sys.path[:]
    sys.argv = [script, *arguments]
    try:
        if is_module:
            sys.path.insert(0, os.getcwd())
            return runpy.run_module(script, run_name="__main__", alter_sys=True)
        sys.path.insert(0, str(Path(script).resolve().parent))
        return runpy.run_path(script, run_name="__main__")
    finally:
        sys.argv, sys.path = before


def log_directory(given: Optional[LogDirectory]) -> LogDirectory:
    """The one that was given, else a new folder."""
    return tempfile.mkdtemp(prefix="tfdata-doctor-") if given is None else given


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


def _starts_a_line(hooks: Hooks) -> None:
    """Ends the line of a progress bar, in which the report would begin."""
    bars = getattr(getattr(sys.modules.get("tqdm"), "tqdm", None), "_instances", ())
    if hooks.is_in_fit or bars:
        print(flush=True)


class _Run:
    """One run of a script: when it is diagnosed, and what is said of how it ended."""

    def __init__(
        self,
        recorder: Recorder,
        names: LineNames,
        on_report: Optional[OnReport],
        on_later_batches: Optional[OnLaterBatches],
    ) -> None:
        self.report: Optional[Report] = None
        self.hooks = Hooks(recorder, names.open)
        self._recorder = recorder
        self._on_report = on_report
        self._on_later_batches = on_later_batches
        recorder.on_stopped = self._diagnose

    def _diagnose(self) -> None:
        recorder = self._recorder
        assert recorder.run_directory is not None
        try:
            self.report = diagnose(recorder.run_directory)
        except DoctorError as error:
            # It would end the script in the middle of its loop.
            print(f"tfdata-doctor: {error}", file=sys.stderr)
            self.hooks.remove()
            return
        if recorder.epochs == 0 and self._on_later_batches is not None and has_cache(self.report):
            recorder.on_epoch_end = self._suggest_later_batches  # how long an epoch is shows where the first one ends
        else:
            self.hooks.remove()
        if self._on_report is not None:
            _starts_a_line(self.hooks)
            self._on_report(self.report, recorder.steps_per_s)

    def _suggest_later_batches(self) -> None:
        assert self._on_later_batches is not None
        self._recorder.on_epoch_end = lambda: None
        self._on_later_batches((self._recorder.step + self._recorder.first, self._recorder.step + self._recorder.last))

    def say_how_it_ended(self, error: Optional[BaseException]) -> None:
        """Before the report of a script that ended before the last step to record."""
        recorder = self._recorder
        if recorder.first <= recorder.step < recorder.last and not recorder.is_done:
            how = "was interrupted" if isinstance(error, KeyboardInterrupt) else "failed"
            print(
                f"tfdata-doctor: the script {'ended' if error is None else how} in step {recorder.step}: "
                f"the report is of steps {recorder.first} to "
                f"{recorder.step}, not to {recorder.last}",
                file=sys.stderr,
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
    on_later_batches: Optional[OnLaterBatches] = None,
) -> Report:
    """Runs an unchanged script in this process and records some of its steps.

    `batches` are the first and the last step to record, counted from 1: calls of `next()` on iterators of tf.data and
    batches of Keras. The trace goes to `logdir`, by default a new folder below that of temporary files. `lines=True`
    names transformations after their source lines. `is_module`: `script` is the name of a module. `on_report` is called
    as soon as the trace is complete, while the script goes on. `on_later_batches` is called with the same steps of the
    second epoch where these were of the first one and filled a cache, as soon as that epoch ends. Raises DoctorError
    where nothing was recorded, and whatever the script raises, SystemExit(0) apart; the report is made all the same.
    """
    heard = None if on_report is None else lambda report, _: on_report(report)
    return record(script, arguments, batches, logdir, lines, is_module, heard, on_later_batches)


def record(
    script: LogDirectory,
    arguments: Sequence[str],
    batches: tuple[int, int],
    logdir: Optional[LogDirectory],
    lines: bool,
    is_module: bool,
    on_report: Optional[OnReport],
    on_later_batches: Optional[OnLaterBatches],
) -> Report:
    """What `run` does; `on_report` hears how fast the recorded steps were, too."""
    names = LineNames(lines)
    recorder = Recorder(log_directory(logdir), *batches, names=names)
    this = _Run(recorder, names, on_report, on_later_batches)
    this.hooks.install()
    failure: Optional[BaseException] = None
    try:
        execute(os.fspath(script), arguments, is_module)
    except SystemExit as ended:
        if ended.code not in (None, 0):
            raise
    except BaseException as error:
        failure = error
        raise
    finally:
        this.hooks.remove()
        this.say_how_it_ended(failure)
        recorder.stop()
        names.close()
    if this.report is not None:
        return this.report
    raise _nothing_recorded(recorder) if recorder.run_directory is None else DoctorError("the trace cannot be read")
