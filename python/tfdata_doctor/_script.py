"""Records some steps of a script that knows nothing about it: python -m tfdata_doctor SCRIPT.py."""

from __future__ import annotations

import os
import runpy
import sys
import tempfile
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Optional

from ._commands import diagnose
from ._hooks import Hooks
from ._keras import has_cache
from ._loop import NOTHING, Loop
from ._loops import Loops
from ._machine import MachineWatch, add_fact
from ._program import DoctorError
from ._recorder import LineNames, LogDirectory, Recorder
from ._script_options import BATCHES
from ._whole_run import Window
from .report import Report

#: A share of waiting in the whole run that differs by so much from that of the recorded steps is told.
_CHANGED_SHARE = 0.1

#: Takes a report, how many steps a second the recorded ones were, where that is known, and which they were.
OnReport = Callable[[Report, Optional[float], str, Path], None]
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


def window_of(batches: Optional[tuple[int, int]]) -> Window:
    """The steps that the user chose, else the usual ones."""
    return Window(*BATCHES) if batches is None else Window(*batches, True)


def chosen_by_line(line: str) -> Optional[Callable[[Loop], bool]]:
    """Tells the loop that the user chose by its line, "train.py:33"; None where she did not."""
    return (lambda one: one.is_at(line)) if line else None


def nothing_recorded(loops: Loops, window: Window) -> DoctorError:
    """Why there is no recording, and what to do."""
    if "tensorflow" not in sys.modules:
        return DoctorError("nothing was recorded: the script did not import TensorFlow")
    seen = loops.seen
    if not seen or loops.trains_elsewhere:
        who = "what trains" if seen else "the script"
        return DoctorError(
            f"nothing was recorded: {who} took no element from a dataset of tf.data or Grain in eager Python; where a "
            "tf.function contains the loop, or the elements are those of another library such as PyTorch, put the loop "
            "into 'with tfdata_doctor.profile(logdir, warmup=0):'"
        )
    if any(loop.rank > NOTHING for loop in seen):
        longest = max((loop for loop in seen if loop.rank > NOTHING), key=lambda loop: loop.step)
        last = max(2, longest.step)
        return DoctorError(
            f"nothing was recorded: step {window.first} is the first to record, and the longest loop, {longest.words}, "
            f"took {longest.step}; choose earlier ones with --batches {max(2, last // 2)}-{last}"
        )
    named = ", ".join(f"{loop.where} ({loop.step} elements)" for loop in seen if loop.where)
    return DoctorError(
        "nothing was recorded: no loop of the script trains. These loops only take elements: "
        f"{named}; to see what holds one of them back, name its line with --loop {seen[-1].where or 'FILE:LINE'}"
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
        make_recorder: Callable[[int, int, MachineWatch], Recorder],
        window: Window,
        loop: str,
        names: LineNames,
        on_report: Optional[OnReport],
        on_later_batches: Optional[OnLaterBatches],
    ) -> None:
        self.report: Optional[Report] = None
        self.loops = Loops(make_recorder, window, self._diagnose, chosen_by_line(loop))
        self.hooks = Hooks(self.loops, names.open)
        self._window = window
        self._on_report = on_report
        self._on_later_batches = on_later_batches

    def _diagnose(self, loop: Loop, recorder: Recorder) -> None:
        assert recorder.run_directory is not None
        try:
            self.report = diagnose(recorder.run_directory)
        except DoctorError as error:
            # It would end the script in the middle of its loop.
            print(f"tfdata-doctor: {error}", file=sys.stderr)
            self.hooks.remove()
            return
        if not loop.epoch_ends and self._on_later_batches is not None and has_cache(self.report):
            self.loops.on_epoch_end = self._suggest_later_batches  # how long an epoch is shows where the first one ends
        self._tell(loop, recorder)

    def _tell(self, loop: Loop, recorder: Recorder) -> None:
        if self._on_report is None:
            return
        assert self.report is not None
        _starts_a_line(self.hooks)
        assert recorder.run_directory is not None
        which = f"{recorder.first} to {min(recorder.last, recorder.step)} of {loop.words}"
        self._on_report(self.report, recorder.steps_per_s, which, recorder.run_directory)

    def _suggest_later_batches(self, loop: Loop) -> None:
        assert self._on_later_batches is not None
        self.loops.on_epoch_end = lambda _: None
        self._on_later_batches((loop.step + self._window.first, loop.step + self._window.last))

    def end(self, error: Optional[BaseException]) -> None:
        """The script has ended: what was recorded of it is diagnosed, and held against all of its steps."""
        self.hooks.remove()
        self._say_how_it_ended(error)
        self.loops.end()
        recorded, recorder = self.loops.recorded, self.loops.recorder
        if self.report is None or recorded is None or recorder is None or recorder.run_directory is None:
            return
        recorder.end_samples()
        try:
            for name, facts in recorded.whole_run(self._window).items():
                add_fact(recorder.run_directory, name, facts)
                if not _differs(facts):
                    continue
                said, self.report = self.report, diagnose(recorder.run_directory)
                if self.report.verdict.status != said.verdict.status:
                    self._tell(recorded, recorder)
        except (OSError, ValueError, DoctorError) as problem:
            warnings.warn(f"the facts of the whole run are not beside the trace: {problem}", stacklevel=2)

    def _say_how_it_ended(self, error: Optional[BaseException]) -> None:
        """Before the report of a script that ended before the last step to record."""
        recorder = self.loops.recorder
        if recorder is None or self.loops.is_done or recorder.is_done or recorder.step >= recorder.last:
            return
        how = "was interrupted" if isinstance(error, KeyboardInterrupt) else "failed"
        print(
            f"tfdata-doctor: the script {'ended' if error is None else how} in step {recorder.step}: "
            f"the report is of steps {recorder.first} to {recorder.step}, not to {recorder.last}",
            file=sys.stderr,
        )


def _differs(facts: Mapping[str, Any]) -> bool:
    """Whether the steps that were recorded are unlike the others."""
    if "times_as_long" in facts:
        return float(facts["times_as_long"]) >= 1 + _CHANGED_SHARE
    return abs(float(facts["wait_share"]) - float(facts["recorded_wait_share"])) >= _CHANGED_SHARE


def run(
    script: LogDirectory,
    arguments: Sequence[str] = (),
    *,
    batches: Optional[tuple[int, int]] = None,
    logdir: Optional[LogDirectory] = None,
    lines: bool = True,
    is_module: bool = False,
    loop: str = "",
    on_report: Optional[Callable[[Report], None]] = None,
    on_later_batches: Optional[OnLaterBatches] = None,
) -> Report:
    """Runs an unchanged script in this process and records some of its steps.

    `batches` are the first and the last step to record, counted from 1 in the loop that trains: `fit`, or the loop
    between whose elements a compiled function is called, a gradient is taken or something takes time. By default they
    are 11 to 30, and more where epochs are short. `loop` names the line of another loop, "train.py:33". The trace goes
    to `logdir`, by default a new folder below that of temporary files. `lines=True` names transformations after their
    source lines. `is_module`: `script` is the name of a module. `on_report` is called as soon as the trace is complete,
    while the script goes on, and again at its end where its other steps were unlike those that were recorded.
    `on_later_batches` is called with the same steps of the second epoch where these were of the first one and filled a
    cache, as soon as that epoch ends. Raises DoctorError where nothing was recorded, and whatever the script raises,
    SystemExit(0) apart; the report is made all the same.
    """
    heard = None if on_report is None else lambda report, *_: on_report(report)
    return record(script, arguments, batches, logdir, lines, is_module, loop, heard, on_later_batches)


def record(
    script: LogDirectory,
    arguments: Sequence[str],
    batches: Optional[tuple[int, int]],
    logdir: Optional[LogDirectory],
    lines: bool,
    is_module: bool,
    loop: str,
    on_report: Optional[OnReport],
    on_later_batches: Optional[OnLaterBatches],
) -> Report:
    """What `run` does; `on_report` hears how fast the recorded steps were, which they were and where, too."""
    names = LineNames(lines)
    folder = log_directory(logdir)
    window = window_of(batches)
    name = f"-m {os.fspath(script)}" if is_module else os.fspath(script)

    def make_recorder(first: int, last: int, watch: MachineWatch) -> Recorder:
        recorder = Recorder(folder, first, last, names, watch)
        recorder.loop["script"], recorder.samples_on = name, True
        return recorder

    this = _Run(
        make_recorder,
        window,
        loop,
        names,
        on_report,
        on_later_batches,
    )
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
        this.end(failure)
        names.close()
    if this.report is not None:
        return this.report
    recorder = this.loops.recorder
    if recorder is None or recorder.run_directory is None:
        raise nothing_recorded(this.loops, window)
    raise DoctorError("the trace cannot be read")
