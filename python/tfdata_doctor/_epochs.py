"""Steps of the first epoch against those of a later one: python -m tfdata_doctor --epochs-compare SCRIPT.py."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from ._commands import diagnose
from ._hooks import Hooks
from ._keras import has_cache
from ._program import DoctorError
from ._recorder import LineNames, LogDirectory, Recorder
from ._script import execute, log_directory
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

    def __init__(self, logdir: LogDirectory, batches: tuple[int, int], later: int, names: LineNames) -> None:
        self.windows: list[Window] = []
        #: Steps of the first epoch, where it has ended.
        self.first_epoch_steps: Optional[int] = None
        self._logdir = logdir
        self._batches = batches
        self._later = later
        self._names = names
        self._epoch = 1
        self._recorder = self._new_recorder(0)
        self.hooks = Hooks(self._recorder, names.open)

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
        report = diagnose(recorder.run_directory)
        rate, memory = recorder.steps_per_s, recorder.memory_bytes
        self.windows.append(Window(self._epoch, steps, recorder.run_directory, report, rate, memory))
        if len(self.windows) == 2:
            self.hooks.remove()

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
) -> list[Window]:
    """Runs the script, and returns both windows. Raises DoctorError where there are no two, and the script's errors."""
    names = LineNames(lines)
    this = EpochsCompare(log_directory(logdir), batches, later, names)
    this.hooks.install()
    try:
        execute(os.fspath(script), arguments, is_module)
    except SystemExit as ended:
        if ended.code not in (None, 0):
            raise
    finally:
        this.end()
        names.close()
    if len(this.windows) != 2:
        raise DoctorError(f"no two epochs were recorded: {this.why_incomplete()}")
    return this.windows


def show(windows: Sequence[Window]) -> None:
    """Prints the report of the later epoch, both windows, and what changed."""
    first, later = windows
    print(later.report)
    print(first, later, *(f"  - {words}" for words in changes(first, later)), sep="\n")
    print(f"  more: tfdata-doctor compare {first.run_directory} -- {later.run_directory}", flush=True)
    sys.stdout.flush()
