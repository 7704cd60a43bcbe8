"""Clocks the steps of a training, and records some of them where it begins to wait for its input."""

from __future__ import annotations

import functools
import os
import shutil
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, Optional, TypeVar, cast

from ._commands import diagnose
from ._guarded_loop import EVERY, STEPS, GuardedLoop
from ._loop import NOTHING, Loop
from ._loop import Path as LoopPath
from ._loops import Loops
from ._machine import MachineWatch, resident_bytes
from ._program import DoctorError
from ._recorder import LineNames, LogDirectory, Recorder
from ._whole_run import Window
from ._words import percent
from .report import Report

#: Of a run: recordings, and bytes of them all.
_MOST_RECORDINGS = 3
_MOST_BYTES = 1 << 30
#: Of one recording: how many windows it has, the seconds it goes on, and the memory that the process takes meanwhile,
#: where the profiler keeps its events. It ends with the step that comes to one of them.
_MOST_EXTENSION = 10
_MOST_SECONDS = 60.0
_MOST_GROWTH = 1 << 28
TAG = "tfdata_doctor/wait_share"

F = TypeVar("F", bound=Callable[..., Any])


def scalar_writer(writer: Any) -> Callable[[float, int], None]:
    """Writes a share and its step as a scalar to what the program logs with. Raises TypeError of what is none."""
    if hasattr(writer, "add_scalar"):  # SummaryWriter of torch and tensorboardX
        return lambda share, step: writer.add_scalar(TAG, share, step)
    if hasattr(writer, "as_default"):  # tf.summary.create_file_writer()
        return lambda share, step: _write_summary(writer, share, step)
    if hasattr(writer, "log"):  # wandb, and a run of it: with the next step that the program itself logs
        return lambda share, _: writer.log({TAG: share}, commit=False)
    raise TypeError(
        f"writer={writer!r}: a writer of tf.summary, a SummaryWriter with add_scalar(), or wandb with log()"
    )


def _write_summary(writer: Any, share: float, step: int) -> None:
    import tensorflow as tf

    with writer.as_default():
        tf.summary.scalar(TAG, share, step=step)


class Ahead:
    """Elements of the loop that goes on, clocked ahead of what is done with the times: most steps do no more.

    Of the iterator `leader()` in this thread, while there is `room`.
    """

    __slots__ = ("is_inside", "leader", "room", "thread", "times")

    def __init__(self) -> None:
        self.leader: Callable[[], Any] = lambda: None
        self.thread = 0
        self.room = 0
        #: Whether the element is being taken: what the iterator calls itself is part of it.
        self.is_inside = False
        #: When each was asked for, and when it was there: two numbers an element, which no garbage collector looks at.
        self.times: list[float] = []


def _harmless(method: F) -> F:
    """A method after whose errors the guard is off and the training goes on."""

    @functools.wraps(method)
    def call(self: Guard, *arguments: Any) -> Any:
        if self.is_off:
            return None
        try:
            return method(self, *arguments)
        except Exception as error:
            self.is_off = True
            warnings.warn(f"the guard is off: {error!r}", stacklevel=3)
            return None

    return call  # type: ignore[return-value]


class Guard(Loops):
    """Hears of the steps of all loops, and records some of the training's where the last ones waited too much.

    At most once in an epoch, in steps that are not among its first ones, and within the bounds above. Recordings are
    made in a folder of their own, and get their place in the log directory, under a new name, once they are complete.
    What goes wrong is a warning.
    """

    def __init__(
        self, logdir: LogDirectory, window: Window, share: float, writer: Any, names: LineNames, show: bool
    ) -> None:
        if not 0 < share < 1:
            raise ValueError(f"guard={share}: the share of the time that steps may wait, above 0 and below 1")
        self._write = None if writer is None else scalar_writer(writer)
        super().__init__(self._new_recorder, window, lambda *_: None)
        self._watch.is_over = True
        self.is_off = False
        self.ahead = Ahead()
        #: What was recorded: the folders, of which the first `_said` were diagnosed, and the last report.
        self.runs: list[Path] = []
        self.report: Optional[Report] = None
        self._said = 0
        self._logdir = Path(logdir)
        self._share = share
        self._names = names
        self._show = show
        self._folder = ""
        self._take_back: Callable[[], None] = lambda: None
        self._bytes = 0
        self._resident_before = 0
        self._measured = 0.0

    def begin_fit(self, path: Optional[LoopPath] = None) -> GuardedLoop:
        """Keras begins to train; the loop hears of its steps."""
        self._catch_up()
        return cast("GuardedLoop", super().begin_fit(path))

    # --- What the hooks tell ---

    @_harmless
    def begin_take(self, iterator: object) -> Optional[Loop]:
        """Somebody asks for an element. Returns the loop that does."""
        self._catch_up()
        return super().begin_take(iterator)

    @_harmless
    def end_take(self, loop: Optional[Loop], waited: float) -> None:
        """The element is there, after so many seconds."""
        super().end_take(loop, waited)
        if loop is None or loop is self.recorded or loop.leader is None or loop.begun is None:
            return
        if loop.step - loop.epoch_begin > self._window.first:
            self.ahead.leader, self.ahead.thread, self.ahead.room = loop.leader, threading.get_ident(), EVERY - 1

    def _catch_up(self) -> None:
        """Does with the times of elements what follows from them."""
        times, self.ahead.times, self.ahead.room = self.ahead.times, [], 0
        loop = self._current
        if times and isinstance(loop, GuardedLoop):
            loop.clock_ahead(times[::2], times[1::2], self._window)

    @_harmless
    def end_ahead(self) -> None:
        """There are no more elements of what was clocked ahead."""
        self._catch_up()
        if self._current is not None:
            self._current.begin_step()
            super().end_iterator(self._current)

    @_harmless
    def end_iterator(self, loop: Optional[Loop]) -> None:
        """There are no more elements."""
        super().end_iterator(loop)

    def _known(self, iterator: object) -> Optional[Loop]:
        loop = self._current
        return loop if loop is not None and loop.leader is not None and loop.leader() is iterator else None

    def _new_loop(self, path: LoopPath, is_fit: bool) -> Loop:
        return GuardedLoop(self, path, is_fit)

    def _enter(self, loop: Loop) -> None:
        """A loop of its own begins: it is in no step of the one that is recorded."""
        if self.recorded is not None and loop is not self.recorded:
            self.recorded.end_step()

    def _leads(self, loop: Loop, iterator: object) -> bool:
        """As of all loops; another iterator is another epoch, also where the one before was left."""
        before = loop.leader() if loop.leader is not None else None
        is_leader = super()._leads(loop, iterator)
        if is_leader and before is not iterator and loop.step > loop.epoch_begin:
            loop.begun = None
            self.end_epoch(cast("GuardedLoop", loop), True)
        return is_leader

    @_harmless
    def begin_step(self, loop: GuardedLoop, step: int) -> None:  # type: ignore[override]
        """A step of a loop begins, whose number is `step`."""
        is_recorded = loop is self.recorded
        loop.clock(time.perf_counter(), self._window, is_recorded)
        loop.step = step
        if is_recorded:
            self._go_on(loop, step)
        elif loop.new_steps >= EVERY and len(loop.last_steps) == STEPS:
            self._look(loop)
        loop.begun = time.perf_counter()

    @_harmless
    def end_epoch(self, loop: GuardedLoop, is_step: bool) -> None:  # type: ignore[override]
        """An epoch of a loop ends, and with it what is recorded of it."""
        super().end_epoch(loop, is_step)
        # Only short epochs are judged together, and none with one that was recorded.
        if loop.is_spent or len(loop.last_steps) == STEPS:
            loop.forget()
        loop.is_spent = False
        if self._is_full:
            self._keep()
        self._say()

    @_harmless
    def end(self) -> None:
        """The program has ended, or the block in which it trains."""
        self._catch_up()
        if self.recorder is not None:
            self.recorder.stop()
            self._keep()
        self._say()
        if any(loop.is_hidden and not loop.last_steps for loop in self.seen if isinstance(loop, GuardedLoop)):
            warnings.warn(
                "the guard did not see what fit waited for: TensorFlow's graph takes its elements, and it did not tell "
                "their times (tf.data.experimental.get_model_proto), as without autotune and with several GPUs",
                stacklevel=3,
            )

    # --- What is recorded ---

    def _look(self, loop: GuardedLoop) -> None:
        """Tells the share of waiting, and begins to record where it is too large."""
        loop.new_steps = 0
        share = loop.share()
        if self._write is not None:
            try:
                self._write(share, loop.step)
            except Exception as error:
                self._write = None
                warnings.warn(f"the share of waiting is not logged: {error!r}", stacklevel=4)
        is_training = loop.rank > NOTHING and all(other.rank <= loop.rank for other in self.seen)
        is_possible = self.recorder is None and len(self.runs) < _MOST_RECORDINGS and self._bytes < _MOST_BYTES
        if share > self._share and is_training and is_possible and not loop.is_spent:
            self._measured = share
            self._begin(loop)

    def _new_recorder(self, first: int, last: int, watch: MachineWatch) -> Recorder:
        recorder = Recorder(self._folder, first, last, self._names, watch)
        recorder.on_epoch_end = recorder.stop
        return recorder

    def _begin(self, loop: GuardedLoop) -> None:
        loop.is_spent = True
        if not loop.is_fit:
            # The iterator was followed without a look at the stack.
            loop.path = self._frames.path() or loop.path
        os.makedirs(self._logdir, exist_ok=True)
        self._folder = tempfile.mkdtemp(prefix=".guard-", dir=self._logdir)
        self._watch = MachineWatch()
        seconds = [seconds for seconds, _ in loop.last_steps]
        self._resident_before = resident_bytes() or 0
        loop.forget()
        try:
            self._record(loop, loop.step, loop.step + self._window.length - 1)
            assert self.recorder is not None
            self.recorder.seconds_before = seconds
            self.recorder.has_markers = loop.has_markers
            self.recorder.begin_step(loop.step)
            self._give_way()
        except DoctorError as error:
            self._drop()
            warnings.warn(f"the guard recorded nothing: {error}", stacklevel=5)

    def _give_way(self) -> None:
        """Lets the program begin a recording of its own, which would fail while this one goes on."""
        import tensorflow as tf

        profiler, start = tf.profiler.experimental, tf.profiler.experimental.start

        def start_instead(*arguments: Any, **options: Any) -> Any:
            if self.recorder is not None:
                self._discard()
                self._drop()
            return start(*arguments, **options)

        profiler.start = start_instead
        self._take_back = lambda: setattr(profiler, "start", start)

    def _go_on(self, loop: GuardedLoop, step: int) -> None:
        """One more step of the loop that is recorded, or the end of it.

        Buffers fill up while the profiler starts, so it goes on until the recorded steps show the waiting.
        """
        assert self.recorder is not None
        is_short = step - self.recorder.first < _MOST_EXTENSION * self._window.length
        if step > self.recorder.last and is_short and loop.share() <= self._share:
            self.recorder.last = step
        is_large = (resident_bytes() or 0) - self._resident_before > _MOST_GROWTH
        if is_large or time.perf_counter() - self._begun_recording > _MOST_SECONDS:
            self.recorder.last = step - 1
        self.recorder.begin_step(step)
        if self._is_full:
            self._keep()

    def _keep(self) -> None:
        """Gives a recording its place."""
        loop, recorder = self.recorded, self.recorder
        assert isinstance(loop, GuardedLoop)
        assert recorder is not None
        loop.forget()
        if recorder.run_directory is not None:
            profiles = self._logdir / "plugins" / "profile"
            run = _new_folder(profiles / f"{recorder.run_directory.name}_step{recorder.first}")
            recorder.run_directory.rename(run)
            self.runs.append(run)
            self._bytes += sum(path.stat().st_size for path in run.iterdir())
            if self._show:
                print(
                    f"tfdata-doctor: {loop.words} waited for data in {percent(self._measured)} of the time of {STEPS} "
                    f"steps: from step {recorder.first} on, some are recorded in {run}",
                    file=sys.stderr,
                    flush=True,
                )
        self._drop()

    def _drop(self) -> None:
        self._take_back()
        self.recorder, self.recorded, self._is_full = None, None, False
        self._watch.is_over = True
        shutil.rmtree(self._folder, ignore_errors=True)

    def _say(self) -> None:
        """Prints the reports that are due."""
        for run in self.runs[self._said :]:
            self._said += 1
            try:
                self.report = diagnose(run)
            except DoctorError as error:
                warnings.warn(f"{run}: {error}", stacklevel=4)
                continue
            if self._show:
                print("\n" + str(self.report), flush=True)


def _new_folder(path: Path) -> Path:
    """Makes a folder, under another name where there is one."""
    for number in range(1, 1000):
        free = path if number == 1 else path.with_name(f"{path.name}_{number}")
        try:
            free.mkdir(parents=True)
        except FileExistsError:
            continue
        return free
    raise OSError(f"{path}: there are too many of that name")
