"""Records the steps of a loop in a with statement."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Any, Optional, TypeVar

from ._commands import diagnose
from ._guard import Guard
from ._hooks import Hooks
from ._program import DoctorError
from ._recorder import LineNames, LogDirectory, Recorder
from ._whole_run import Window
from .report import Report

P = TypeVar("P", bound="Profile")


class Profile:
    """What `profile` returns: `report` and `run_directory`, the folder of the trace, are there after the block."""

    def __init__(
        self,
        logdir: LogDirectory,
        steps: int,
        warmup: int,
        lines: bool,
        show: bool,
        guard: Optional[float],
        writer: Any,
    ) -> None:
        if steps < 1 or warmup < 0:
            raise ValueError(f"steps={steps}, warmup={warmup}: there is at least one step, and warmup is not negative")
        self.report: Optional[Report] = None
        self._steps = steps
        self._warmup = warmup
        self._show = show
        self._logdir = logdir
        self._names = LineNames(lines)
        window = Window(warmup + 1, warmup + steps)
        self._guard = None if guard is None else Guard(logdir, window, guard, writer, self._names, show)

    @property
    def run_directory(self) -> Optional[Path]:
        """The folder of the trace; the last one of a guard, None where it did not fire."""
        if self._guard is not None:
            return self._guard.runs[-1] if self._guard.runs else None
        return self._recorder.run_directory

    def __enter__(self: P) -> P:
        self._names.open()
        if self._guard is not None:
            self._hooks = Hooks(self._guard)
            self._hooks.install()
            return self
        self._recorder = Recorder(self._logdir, self._warmup + 1, self._warmup + self._steps, self._names)
        self._hooks = Hooks(self._recorder)
        self._hooks.install()
        if self._warmup == 0:
            self._recorder.start()
        return self

    def __exit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], traceback: Optional[TracebackType]
    ) -> None:
        self._hooks.remove()
        if self._guard is not None:
            self._guard.end()
            self._names.close()
            self.report = self._guard.report
            return
        self._recorder.end_step()
        try:
            self._recorder.stop()
        finally:
            self._names.close()
        if kind is None:
            self._diagnose()

    def _diagnose(self) -> None:
        run = self._recorder.run_directory
        if run is None:
            raise DoctorError(
                f"nothing was recorded: the block took {self._recorder.step} elements, and the first {self._warmup} "
                "are for warm-up. Take more, or pass a smaller warmup; with warmup=0 the whole block is recorded, also "
                "where a tf.function contains the loop"
            )
        self.report = diagnose(run)
        if self._show:
            print(self.report, flush=True)


def profile(
    logdir: LogDirectory,
    steps: int = 10,
    warmup: int = 10,
    *,
    lines: bool = True,
    show: bool = True,
    guard: Optional[float] = None,
    writer: Any = None,
) -> Profile:
    """Records some steps of the loop in its block, and at the end prints what holds their input back.

        with tfdata_doctor.profile("logs", steps=10) as recording:
            for batch in dataset:
                train_step(batch)
        recording.report.findings

    A step is what happens from one `next()` on an iterator of tf.data to the next one, or a batch of Keras; the first
    `warmup` of them are not recorded, and nothing is after `steps` more. With `warmup=0` the profiler runs from the
    begin of the block. The transformations of datasets that are made in the block are named after their source lines;
    `lines=False` leaves their names alone. `show=False` prints nothing. Raises DoctorError where nothing was recorded
    or another profiler runs.

    With `guard=0.2` nothing is recorded but where the last 50 steps of the loop that trains waited more than 20% of
    their time: then `steps` of them, at most once in an epoch and three times in all; the first `warmup` of each epoch
    do not count. `writer` gets the share of waiting as a scalar every 25 steps: a writer of tf.summary, a
    SummaryWriter, or wandb. What goes wrong then is a warning.
    """
    return Profile(logdir, steps, warmup, lines, show, guard, writer)
