"""Records batches of Model.fit, with Keras 2 and 3."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Optional

from ._commands import diagnose
from ._guard import Guard
from ._guarded_loop import GuardedLoop
from ._hooks import Hooks
from ._keras_steps import KerasSteps
from ._loop import FIT_SOMEWHERE
from ._program import DoctorError
from ._recorder import LineNames, LogDirectory, Recorder
from ._whole_run import Window
from .report import Report


def has_cache(report: Report) -> bool:
    """Whether a pipeline has a cache, which the first epoch fills."""
    return any(iterator.user_method == "cache" for pipeline in report.pipelines for iterator in pipeline.iterators)


class Callback(KerasSteps):
    """Records some batches of `fit` and prints what holds its input back at the end of their epoch.

    `batches` are the first and the last to record, counted from 1 over all epochs. Where the pipeline has a cache,
    choose them from the second epoch, `batches=(steps_per_epoch + 11, steps_per_epoch + 20)`: the first one fills it.
    It warns where it sees that. From the moment on at which the callback is made, transformations are named after their
    source lines: make it before the dataset. `lines=False` leaves their names alone. `report` is there once it has been
    printed; `show=False` prints nothing. A training never fails because of it: what goes wrong is a warning.

    With `guard=0.2` nothing is recorded but where the last 50 batches waited more than 20% of their time: then so many
    as `batches` has, at most once in an epoch and three times in all. Those before `batches` in each epoch do not
    count. `writer` gets the share of waiting as a scalar every 25 batches: a writer of tf.summary, a SummaryWriter, or
    wandb.
    """

    #: What the guard of a fit that failed left in place.
    _hooks: ClassVar[Optional[Hooks]] = None

    def __init__(
        self,
        logdir: LogDirectory,
        batches: tuple[int, int] = (11, 20),
        *,
        lines: bool = True,
        show: bool = True,
        guard: Optional[float] = None,
        writer: Any = None,
    ) -> None:
        self._names = LineNames(lines)
        self._guard = None if guard is None else Guard(logdir, Window(*batches), guard, writer, self._names, show)
        self._names.open()
        self._own: Optional[Recorder] = None
        if self._guard is None:
            self._own = Recorder(logdir, *batches, names=self._names)
            super().__init__(self._own)
        else:
            super().__init__(self._guard.begin_fit(FIT_SOMEWHERE))
        self._report: Optional[Report] = None
        self._show = show
        self._start_epoch: Optional[int] = None

    @property
    def report(self) -> Optional[Report]:
        """The last report."""
        return self._report if self._guard is None else self._guard.report

    def on_train_begin(self, *_: object, **__: object) -> None:
        """Keras: the training begins."""
        if self._guard is None:
            return
        if Callback._hooks is not None:
            Callback._hooks.remove()
        Callback._hooks = Hooks(self._guard)
        Callback._hooks.install()
        Callback._hooks.begin_fit(self._guard.begin_fit(FIT_SOMEWHERE))

    def on_epoch_begin(self, epoch: int, logs: object = None) -> None:
        """Keras: an epoch begins; they count from 0."""
        super().on_epoch_begin(epoch, logs)
        if isinstance(self.recorder, GuardedLoop):
            self.recorder.begin_epoch()

    def on_train_batch_begin(self, batch: int, logs: object = None) -> None:
        """Keras: a batch begins."""
        try:
            super().on_train_batch_begin(batch, logs)
        except DoctorError as error:
            warnings.warn(str(error), stacklevel=2)
        if self._own is not None and self._start_epoch is None and self._own.step >= self._own.first:
            self._start_epoch = self.epoch

    def on_epoch_end(self, epoch: int, logs: object = None) -> None:
        """Keras: an epoch is done."""
        super().on_epoch_end(epoch, logs)
        self._say()

    def on_train_end(self, logs: object = None) -> None:
        """Keras: the training is done; if batches are being recorded, that ends here."""
        super().on_train_end(logs)
        if self._guard is not None and Callback._hooks is not None:
            Callback._hooks.end_fit()
            Callback._hooks.remove()
            Callback._hooks = None
            self._guard.end()
        try:
            if self._own is not None:
                self._own.stop()
        except DoctorError as error:
            warnings.warn(str(error), stacklevel=2)
        self._names.close()
        self._say()
        if self._own is not None and self._own.step < self._own.first:
            warnings.warn(
                f"nothing was recorded: the training had {self._own.step} batches, "
                f"and batch {self._own.first} is the first to record",
                stacklevel=2,
            )

    def _say(self) -> None:
        if self._own is None or self._report is not None or self._own.run_directory is None:
            return
        try:
            self._report = diagnose(self._own.run_directory)
        except DoctorError as error:
            warnings.warn(f"{self._own.run_directory}: {error}", stacklevel=3)
            return
        if self._show:
            print("\n" + str(self._report), flush=True)
        if self._start_epoch == 0 and has_cache(self._report):
            self._warn_of_cache(self._own)

    def _warn_of_cache(self, own: Recorder) -> None:
        first, last = own.first, own.last
        steps = self.params.get("steps") or self._before_epoch
        warnings.warn(
            f"batches {first} to {last} are of the first epoch, which fills the cache of the pipeline: later ones wait "
            f"less. Record those, as with batches=({steps + first}, {steps + last})",
            stacklevel=4,
        )
