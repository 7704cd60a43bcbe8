"""Steps of the first epoch against those of a later one: python -m tfdata_doctor --epochs-compare SCRIPT.py."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from ._commands import diagnose
from ._hooks import Hooks
from ._keras import has_cache
from ._loop import Loop
from ._loops import Loops
from ._machine import MachineWatch
from ._program import INCONCLUSIVE, DoctorError
from ._recorder import LineNames, LogDirectory, Recorder
from ._savers import Savers
from ._script import chosen_by_line, execute, log_directory, nothing_recorded, window_of
from ._whole_run import Window
from ._words import percent, rate, times
from ._writes import Writes, environment, missing_landlock, what_may_be_written
from .report import Report

#: What differs by less may be chance.
_CHANGE = 0.1


@dataclass(frozen=True)
class Recording:
    """What was recorded of one epoch."""

    epoch: int
    steps: tuple[int, int]
    run_directory: Path
    report: Report
    steps_per_s: Optional[float]
    memory_bytes: Optional[int]
    #: Of which loop, for people.
    loop: str

    @property
    def culprit(self) -> str:
        """What the training waits for, as the user wrote it; empty where it does not wait."""
        verdict = self.report.verdict
        if verdict.status != "input_bound" or verdict.culprit is None:
            return ""
        culprit = verdict.culprit
        name = f"{culprit.user_method}()" if culprit.user_method else culprit.short_name
        return f"{name} ({Path(culprit.source.file).name}:{culprit.source.line})" if culprit.source else name

    def __str__(self) -> str:
        words = [f"epoch {self.epoch}, steps {self.steps[0]}-{self.steps[1]} of {self.loop}:"]
        if self.steps_per_s is not None:
            words.append(f"{rate(self.steps_per_s)} steps/s,")
        share = self.report.verdict.input_share
        words.append("waiting not known" if share is None else f"{percent(share)} of the time waiting for data")
        if self.culprit:
            words.append(f"of {self.culprit}")
        if self.memory_bytes is not None:
            words.append(f"({self.memory_bytes / 1e9:.2f} GB in memory)")
        return " ".join(words)


def changes(first: Recording, later: Recording) -> list[str]:
    """What changed from one to the other, a sentence each."""
    said = []
    if first.steps_per_s and later.steps_per_s:
        factor = later.steps_per_s / first.steps_per_s
        if abs(factor - 1) < _CHANGE:
            said.append(f"epoch {later.epoch} is as fast as epoch {first.epoch}")
        else:
            said.append(f"epoch {later.epoch} is {'faster' if factor > 1 else 'slower'}: {times(factor)}")
    if first.culprit != later.culprit:
        said.append(f"what it waits for: {first.culprit or 'nothing'}, then {later.culprit or 'nothing'}")
    if has_cache(first.report):
        said.append(f"a cache is filled in epoch {first.epoch}: the later epochs are those that count")
    if first.memory_bytes and later.memory_bytes and later.memory_bytes > first.memory_bytes * (1 + _CHANGE):
        grown = (later.memory_bytes - first.memory_bytes) / 1e9
        said.append(f"the process grew by {grown:.2f} GB: tfdata-doctor show memory says what holds it")
    return said


class EpochsCompare:
    """Records some steps of the first epoch of the loop that trains, and the same steps of the epoch `later`.

    Where the training shows as such only later, a later epoch takes its place. `loop` is as in `run`.
    """

    def __init__(
        self, logdir: LogDirectory, window: Window, later: int, names: LineNames, savers: Savers, loop: str
    ) -> None:
        self.recordings: list[Recording] = []
        self._logdir = logdir
        self._window = window
        self._later = later
        self._names = names
        self._savers = savers
        self._has_ended = False
        self.loops = Loops(self._new_recorder, window, self._keep, chosen_by_line(loop))
        self.loops.on_epoch_end = self._begin_later
        self.hooks = Hooks(self.loops, self._on_tensorflow, savers.open_keras)

    def _on_tensorflow(self) -> None:
        self._savers.open_tensorflow()
        self._names.open()

    def _new_recorder(self, first: int, last: int, watch: MachineWatch) -> Recorder:
        recorder = Recorder(self._logdir, first, last, self._names, watch)
        # An epoch that is shorter than the steps to record ends their recording.
        recorder.on_epoch_end = recorder.stop
        return recorder

    def _keep(self, loop: Loop, recorder: Recorder) -> None:
        assert recorder.run_directory is not None
        steps = recorder.first, min(recorder.last, recorder.step)
        epoch = loop.epoch_of(recorder.first)
        # TensorFlow names a run after the second in which it ends, so that the later one could be in its place.
        run = recorder.run_directory
        run = run.rename(run.with_name(f"{run.name}_epoch{epoch}"))
        self.recordings.append(
            Recording(epoch, steps, run, diagnose(run), recorder.steps_per_s, recorder.memory_bytes, loop.words)
        )
        if len(self.recordings) == 2 or epoch > 1:
            self.hooks.remove()
            if not self._has_ended:
                raise SystemExit(0)
        elif loop.step < loop.epoch_begin + self._window.first:
            self._begin_later(loop)

    def _begin_later(self, loop: Loop) -> None:
        """The current epoch of the loop has not come to the first step to record: it may be the later one."""
        if loop.epoch_of(loop.step + 1) >= self._later and len(self.recordings) == 1:
            begin = loop.epoch_begin
            self.loops.record_again(begin + self._window.first, begin + self._window.last)

    def end(self) -> None:
        """The script has ended."""
        self._has_ended = True
        self.hooks.remove()
        self.loops.end()

    def why_incomplete(self) -> DoctorError:
        """Why there are no two recordings."""
        loop, first = self.loops.recorded, self._window.first
        if loop is None or not self.recordings:
            return nothing_recorded(self.loops, self._window)
        why = f"the script ended before step {first} of epoch {self._later} of {loop.words}"
        if self.recordings[0].epoch > 1:
            why = (
                f"the first epoch of {loop.words} took {loop.epoch_ends[0]} steps, and step {first} is the first to "
                "record; choose other --batches"
            )
        elif not loop.epoch_ends:
            why = f"the first epoch of {loop.words} did not end: a dataset that repeats for ever has only one"
        return DoctorError(f"no two epochs were recorded: {why}")


def compare_epochs(
    script: str,
    arguments: Sequence[str],
    *,
    batches: Optional[tuple[int, int]],
    later: int,
    logdir: Optional[LogDirectory],
    lines: bool,
    is_module: bool,
    loop: str = "",
    writes: Sequence[str] = (),
) -> None:
    """Runs the script until both epochs are recorded, and prints what they say.

    It may write to the log directory and to `writes` alone. Raises DoctorError where there are no two
    recordings, and the script's errors.
    """
    if missing := missing_landlock(writes):
        raise DoctorError(missing)
    may_write = what_may_be_written(writes)
    print(f"tfdata-doctor: {script} runs until both epochs are recorded, and {may_write}", file=sys.stderr)
    folder = os.fspath(log_directory(logdir))
    temporary = tempfile.mkdtemp(prefix=".run-", dir=_made(folder))
    os.environ.update(environment(temporary, temporary))
    tempfile.tempdir = None
    names = LineNames(lines)

    def refuse(what: str, cure: str) -> int:
        if len(this.recordings) == 2:
            show(this.recordings)
            return 0
        print(f"tfdata-doctor: {what}: {cure}", file=sys.stderr)
        return INCONCLUSIVE

    guard = Writes([folder], writes, refuse)
    this = EpochsCompare(folder, window_of(batches), later, names, Savers(guard, temporary), loop)
    guard.begin()
    this.hooks.install()
    try:
        _run(this, guard, lambda: execute(script, arguments, is_module))
    finally:
        names.close()
        shutil.rmtree(temporary, ignore_errors=True)
    show(this.recordings)


def _made(folder: str) -> str:
    os.makedirs(folder, exist_ok=True)
    return folder


def _run(this: EpochsCompare, guard: Writes, run: Callable[[], object]) -> None:
    """Raises DoctorError where there are no two recordings at the end, and the script's errors."""
    try:
        run()
    except SystemExit as ended:
        if ended.code not in (None, 0):
            raise
    except Exception as error:
        if len(this.recordings) != 2:
            refused = guard.refused_by(error)
            if refused:
                raise DoctorError(refused) from None
            raise
    finally:
        this.end()
    if len(this.recordings) != 2:
        raise this.why_incomplete()


def show(recordings: Sequence[Recording]) -> None:
    """Prints the report of the later epoch, both recordings, and what changed."""
    first, later = recordings
    print(later.report)
    print(first, later, *(f"  - {words}" for words in changes(first, later)), sep="\n")
    print(f"  more: tfdata-doctor compare {first.run_directory} -- {later.run_directory}", flush=True)
    sys.stdout.flush()
