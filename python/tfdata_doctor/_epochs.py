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
from ._program import INCONCLUSIVE, DoctorError
from ._recorder import LineNames, LogDirectory, Recorder
from ._savers import Savers
from ._script import execute, log_directory
from ._writes import Writes, environment, missing_landlock, what_may_be_written
from .report import Report

#: What differs by less may be chance.
_CHANGE = 0.1


@dataclass(frozen=True)
class Window:
    """What was recorded of one epoch."""

    epoch: int
    steps: tuple[int, int]
    run_directory: Path
    report: Report
    steps_per_s: Optional[float]
    memory_bytes: Optional[int]

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
        words = [f"epoch {self.epoch}, steps {self.steps[0]}-{self.steps[1]}:"]
        if self.steps_per_s is not None:
            words.append(f"{self.steps_per_s:.3g} steps/s,")
        share = self.report.verdict.input_share
        words.append("waiting not known" if share is None else f"{share * 100:.2g} % of the time waiting for input")
        if self.culprit:
            words.append(f"of {self.culprit}")
        if self.memory_bytes is not None:
            words.append(f"({self.memory_bytes / 1e9:.2f} GB in memory)")
        return " ".join(words)


def changes(first: Window, later: Window) -> list[str]:
    """What changed from one to the other, a sentence each."""
    said = []
    if first.steps_per_s and later.steps_per_s:
        factor = later.steps_per_s / first.steps_per_s
        if abs(factor - 1) < _CHANGE:
            said.append(f"epoch {later.epoch} is as fast as epoch {first.epoch}")
        else:
            said.append(f"epoch {later.epoch} is {'faster' if factor > 1 else 'slower'}: x{factor:.3g}")
    if first.culprit != later.culprit:
        said.append(f"what it waits for: {first.culprit or 'nothing'}, then {later.culprit or 'nothing'}")
    if has_cache(first.report):
        said.append(f"a cache is filled in epoch {first.epoch}: the later epochs are those that count")
    if first.memory_bytes and later.memory_bytes and later.memory_bytes > first.memory_bytes * (1 + _CHANGE):
        grown = (later.memory_bytes - first.memory_bytes) / 1e9
        said.append(f"the process grew by {grown:.2f} GB: tfdata-doctor show memory says what holds it")
    return said


class EpochsCompare:
    """Records some steps of the first epoch, and the same steps of the epoch `later`."""

    def __init__(
        self, logdir: LogDirectory, batches: tuple[int, int], later: int, names: LineNames, savers: Savers
    ) -> None:
        self.windows: list[Window] = []
        #: Steps of the first epoch, where it has ended.
        self.first_epoch_steps: Optional[int] = None
        self._logdir = logdir
        self._batches = batches
        self._later = later
        self._names = names
        self._epoch = 1
        self._savers = savers
        self._recorder = self._new_recorder(0)
        self.hooks = Hooks(self._recorder, self._on_tensorflow, savers.open_keras)

    def _on_tensorflow(self) -> None:
        self._savers.open_tensorflow()
        self._names.open()

    def _new_recorder(self, steps_before: int) -> Recorder:
        first, last = self._batches
        recorder = Recorder(self._logdir, steps_before + first, steps_before + last, self._names)
        recorder.step = steps_before
        recorder.on_stopped = self._keep
        recorder.on_epoch_end = self._end_epoch
        return recorder

    def _keep(self) -> None:
        recorder = self._recorder
        assert recorder.run_directory is not None
        steps = recorder.first, min(recorder.last, recorder.step)
        # TensorFlow names a run after the second in which it ends, so that the later one could be in its place.
        run = recorder.run_directory
        run = run.rename(run.with_name(f"{run.name}_epoch{self._epoch}"))
        report = diagnose(run)
        rate, memory = recorder.steps_per_s, recorder.memory_bytes
        self.windows.append(Window(self._epoch, steps, run, report, rate, memory))
        if len(self.windows) == 2:
            self.hooks.remove()
            raise SystemExit(0)

    def _end_epoch(self) -> None:
        # An epoch that is shorter than the steps to record ends their recording.
        self._recorder.stop()
        if self.first_epoch_steps is None:
            self.first_epoch_steps = self._recorder.step
            if not self.windows:
                self.hooks.remove()
        self._epoch += 1
        if self._epoch == self._later and self.windows:
            self._recorder = self._new_recorder(self._recorder.step)
            self.hooks.count_on(self._recorder)

    def end(self) -> None:
        """The script has ended."""
        self.hooks.remove()
        self._recorder.stop()

    def why_incomplete(self) -> str:
        """Why there are no two windows."""
        if self._recorder.step == 0:
            return "the script took no element from a dataset in eager Python"
        if not self.windows:
            steps = self.first_epoch_steps or self._recorder.step
            first = self._batches[0]
            return (
                f"the first epoch took {steps} steps, and step {first} is the first to record; choose other --batches"
            )
        if self.first_epoch_steps is None:
            return "the first epoch did not end: a dataset that repeats for ever has only one"
        return f"the script ended in epoch {self._epoch}, before step {self._batches[0]} of epoch {self._later}"


def compare_epochs(
    script: str,
    arguments: Sequence[str],
    *,
    batches: tuple[int, int],
    later: int,
    logdir: Optional[LogDirectory],
    lines: bool,
    is_module: bool,
    writes: Sequence[str] = (),
) -> None:
    """Runs the script until both windows are recorded, and prints what they say.

    It may write to the log directory and to `writes` alone. Raises DoctorError where there are no two windows, and the
    script's errors.
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
        if len(this.windows) == 2:
            show(this.windows)
            return 0
        print(f"tfdata-doctor: {what}: {cure}", file=sys.stderr)
        return INCONCLUSIVE

    guard = Writes([folder], writes, refuse)
    this = EpochsCompare(folder, batches, later, names, Savers(guard, temporary))
    guard.begin()
    this.hooks.install()
    try:
        _run(this, guard, lambda: execute(script, arguments, is_module))
    finally:
        names.close()
        shutil.rmtree(temporary, ignore_errors=True)
    show(this.windows)


def _made(folder: str) -> str:
    os.makedirs(folder, exist_ok=True)
    return folder


def _run(this: EpochsCompare, guard: Writes, run: Callable[[], object]) -> None:
    """Raises DoctorError where there are no two windows at the end, and the script's errors."""
    try:
        run()
    except SystemExit as ended:
        if ended.code not in (None, 0):
            raise
    except Exception as error:
        if len(this.windows) != 2:
            refused = guard.refused_by(error)
            if refused:
                raise DoctorError(refused) from None
            raise
    finally:
        this.end()
    if len(this.windows) != 2:
        raise DoctorError(f"no two epochs were recorded: {this.why_incomplete()}")


def show(windows: Sequence[Window]) -> None:
    """Prints the report of the later epoch, both windows, and what changed."""
    first, later = windows
    print(later.report)
    print(first, later, *(f"  - {words}" for words in changes(first, later)), sep="\n")
    print(f"  more: tfdata-doctor compare {first.run_directory} -- {later.run_directory}", flush=True)
    sys.stdout.flush()
