"""Which of a program's loops is its training, and which of its steps are recorded.

A program takes elements in many loops: previews, statistics, `adapt()`, a loop that fills a cache, validation. Steps
are counted for each of them, and what happens between two elements tells what a loop is for.
"""

from __future__ import annotations

import sys
import time
import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Optional, cast

from ._loop import FIT_SOMEWHERE, FUNCTION, NOTHING, WORK, Frames, Loop, Path
from ._machine import MachineWatch
from ._recorder import Recorder
from ._whole_run import Window

#: Shorter than this, what happens between two elements is bookkeeping.
_LEAST_WORK_SECONDS = 50e-6
#: With JAX or PyTorch, whose functions nobody sees: more than a print().
_LEAST_STEP_SECONDS = 500e-6
#: A loop that does so much more between two elements than one that has ended is rather the training, if nothing else
#: tells them apart: statistics take less than what learns from them.
_HEAVIER = 2.0
#: A loop without gradients may be statistics or a validation. It is the training if it goes on for so many windows, or
#: for so many seconds after its own.
_PATIENCE = 3
_PATIENCE_SECONDS = 60.0
#: A window in which an epoch ends is extended to hold this many, in so many steps and seconds at most.
_EPOCHS = 2
_MOST_EXTENSION = 10
_MOST_SECONDS = 60.0
_MOST_BYTES = 1 << 30


class _Quiet:
    """What hears steps that nobody records."""

    def begin_step(self, step: Optional[int] = None) -> None:
        """Nothing."""

    def end_step(self) -> None:
        """Nothing."""

    def end_epoch(self, is_step: bool = True) -> None:
        """Nothing."""

    def frame(self, _name: str) -> AbstractContextManager[object]:
        """Nothing."""
        return nullcontext()


class Loops:
    """Hears who takes elements and what happens between them, and records the window of the training.

    `make_recorder` makes a recorder of steps `first` to `last`; `on_done` is called once the trace of the training is
    complete. `is_chosen` tells the loop to record, whatever it does; without it, that is found out.
    """

    def __init__(
        self,
        make_recorder: Callable[[int, int, MachineWatch], Recorder],
        window: Window,
        on_done: Callable[[Loop, Recorder], None],
        is_chosen: Optional[Callable[[Loop], bool]] = None,
    ) -> None:
        self._make_recorder = make_recorder
        self._window = window
        self.on_done = on_done
        self._is_chosen = is_chosen
        self._frames = Frames()
        self._loops: dict[Path, Loop] = {}
        self._quiet = _Quiet()
        #: The loop whose body is at work.
        self._current: Optional[Loop] = None
        self._watch = MachineWatch()
        #: The loop whose steps the watch counts.
        self._watched: Optional[Loop] = None
        #: The loop that is recorded, or was, and its recorder.
        self.recorded: Optional[Loop] = None
        self.recorder: Optional[Recorder] = None
        #: Whether the trace of it is complete, and whether it was told.
        self._is_full = False
        self._filled = 0.0
        self.is_done = False
        self._begun_recording = 0.0
        #: The last step of the window, which may be extended.
        self._least_last = 0
        #: Calls outside of all loops, as where elements are those of another library; not those of adapt().
        self._calls_outside = 0
        self._rank_outside = NOTHING
        #: Whether elements are taken that the program did not ask for.
        self.is_paused: Callable[[], bool] = lambda: False
        #: Called where an epoch of the loop ends that was recorded and told.
        self.on_epoch_end: Callable[[Loop], None] = lambda _: None

    @property
    def seen(self) -> list[Loop]:
        """The loops of the program, in the order of their begin."""
        return [loop for loop in self._loops.values() if loop.step > 0]

    @property
    def trains_elsewhere(self) -> bool:
        """Whether what trains takes no elements here: functions are called again and again, in none of the loops."""
        is_called = self._calls_outside >= self._window.last and self._is_chosen is None
        return is_called and all(loop.rank < self._rank_outside for loop in self.seen)

    def recorder_of(self, loop: Loop) -> Any:
        """What hears the steps of a loop."""
        return self.recorder if loop is self.recorded and not self._is_full and self.recorder else self._quiet

    # --- What the hooks tell ---

    def begin_take(self, iterator: object) -> Optional[Loop]:
        """Somebody asks for an element. Returns the loop that does."""
        if self.is_paused():
            return None
        now = time.perf_counter()
        loop = self._known(iterator)
        if loop is None:
            path = self._frames.path()
            if path is None:
                self._current = None
                return None
            loop = self._loops.get(path) or self._loops.setdefault(path, self._new_loop(path, False))
        is_same = self._current is loop
        loop.in_a_row = loop.in_a_row + 1 if is_same else 1
        if loop.in_a_row == 2:
            self._enter(loop)
        if not self._leads(loop, iterator):
            return loop
        if is_same and loop.begun is not None:
            loop.bodies.append(now - loop.begun - loop.waited)
            if loop.rank < FUNCTION:
                loop.rank = max(loop.rank, self._rank_of(loop))
        loop.is_open = True
        loop.begin_step()
        return loop

    def _known(self, iterator: object) -> Optional[Loop]:
        """The loop that takes an iterator's elements, where no look at the stack is needed: it is only clocked."""
        done = self.recorded if self.is_done else None
        return done if done is not None and done.leader is not None and done.leader() is iterator else None

    def _new_loop(self, path: Path, is_fit: bool) -> Loop:
        return Loop(self, path, is_fit)

    def _enter(self, loop: Loop) -> None:
        """A loop of its own begins: it is in no step of another one."""
        if self.recorded is not None and loop is not self.recorded and not self.is_done:
            self.recorded.end_step()
        if loop is not self._watched and (self.recorder is None or self._is_full):
            self._watched, self._watch = loop, MachineWatch()

    def _leads(self, loop: Loop, iterator: object) -> bool:
        """Whether an iterator's elements are the steps: of zip() and the like only those of the first one."""
        leader = loop.leader() if loop.leader is not None else None
        is_leader = leader is None or leader is iterator or loop.last_iterator == id(iterator)
        if is_leader and leader is not iterator:
            loop.leader = weakref.ref(iterator)
        loop.last_iterator = id(iterator)
        return is_leader

    def frame(self, name: str) -> AbstractContextManager[object]:
        """A call of the loop that is recorded, in its trace."""
        recorder: Any = self._quiet if self._is_full or self.recorder is None else self.recorder
        return cast("AbstractContextManager[object]", recorder.frame(name))

    def end_take(self, loop: Optional[Loop], waited: float) -> None:
        """The element is there, after so many seconds."""
        if loop is not None:
            loop.take(waited)
            self._current = loop

    def end_iterator(self, loop: Optional[Loop]) -> None:
        """There are no more elements."""
        if loop is not None:
            loop.leader, loop.is_open = None, False
            loop.end_epoch(False)

    def begin_fit(self, path: Optional[Path] = None) -> Loop:
        """Keras begins to train, by the lines on the stack unless they are given; the loop hears of its steps."""
        path = path or self._frames.path() or FIT_SOMEWHERE
        loop = self._loops.get(path)
        if loop is None or not loop.is_fit:
            loop = self._loops[path] = self._new_loop(path, True)
        loop.is_open = True
        self._current = loop
        self._enter(loop)
        return loop

    def saw(self, rank: int) -> None:
        """A function was called, or a gradient taken: by the loop that goes on, else by none that is seen."""
        if self._current is not None and self._current.is_open:
            self._current.rank = max(self._current.rank, rank)
        elif self._calls_outside < self._window.last and self._frames.path() is not None:
            self._calls_outside += 1
            self._rank_outside = max(self._rank_outside, rank)

    @staticmethod
    def _rank_of(loop: Loop) -> int:
        """What the time between elements says."""
        typical = loop.typical_body
        if typical >= _LEAST_STEP_SECONDS and ("jax" in sys.modules or "torch" in sys.modules):
            return FUNCTION
        return WORK if typical >= _LEAST_WORK_SECONDS else NOTHING

    # --- What is recorded ---

    def begin_step(self, loop: Loop, step: int) -> None:
        """A step of a loop begins, whose number is `step`."""
        now = time.perf_counter()
        loop.clock(now, self._window, self.recorder_of(loop) is not self._quiet)
        loop.step = step
        if loop is self._watched:
            self._watch.begin_step(step)
        if not self.is_done:
            self._choose(loop)
            self._extend(loop)
            recorder = self.recorder_of(loop)
            recorder.has_markers = loop.has_markers
            recorder.begin_step(step)
            self._settle(loop)
        loop.begun = time.perf_counter()

    def _choose(self, loop: Loop) -> None:
        """Begins to record this loop where it is the training as far as that is known."""
        recorded = self.recorded
        if (
            loop is recorded
            or loop.step < self._window.first
            or (self._window.is_fixed and loop.step > self._window.last)
        ):
            return
        if self._is_chosen is not None:
            if not self._is_chosen(loop):
                return
        elif loop.rank == NOTHING:
            return
        if recorded is not None:
            is_alike = loop.rank == recorded.rank and not recorded.is_open
            is_heavier = loop.rank == WORK and loop.typical_body >= _HEAVIER * recorded.typical_body
            if loop.rank <= recorded.rank and not (is_alike and (is_heavier or not self._is_full)):
                return
            self._discard()
        last = self._window.last if self._window.is_fixed else loop.step + self._window.length - 1
        self._record(loop, loop.step, last)
        assert self.recorder is not None
        self.recorder.seconds_before = list(loop.step_seconds)

    def _record(self, loop: Loop, first: int, last: int) -> None:
        """Makes the recorder of steps of a loop, the first of which has not begun."""
        self._least_last = last
        self.recorder = self._make_recorder(first, last, self._watch)
        self.recorder.loop.update(loop.facts)
        self.recorder.on_stopped = self._fill
        self.recorded, self._is_full, self._begun_recording = loop, False, time.perf_counter()

    def record_again(self, first: int, last: int) -> None:
        """Records other steps of the loop that was told of, and tells of those; the first of them is yet to begin."""
        assert self.recorded is not None
        self._watched, self._watch = self.recorded, MachineWatch()
        self._is_chosen = lambda loop: loop is self.recorded
        self.is_done = False
        self._record(self.recorded, first, last)

    def _discard(self) -> None:
        """Another loop is the training."""
        assert self.recorder is not None
        self.recorder.on_stopped = lambda: None
        self.recorder.discard()
        self.recorder, self._watch = None, MachineWatch()

    def _extend(self, loop: Loop) -> None:
        """Records longer where an epoch ended in the window, so that it shows what epochs do."""
        recorder = self.recorder
        if recorder is None or self._window.is_fixed or self._is_chosen is not None:
            return
        if loop is not self.recorded or self._is_full or loop.step <= recorder.last:
            return
        ended = [step for step in loop.epoch_ends if step >= recorder.first]
        is_enough = not ended or len(ended) > _EPOCHS
        is_long = loop.step - recorder.first >= _MOST_EXTENSION * self._window.length
        is_late = time.perf_counter() - self._begun_recording > _MOST_SECONDS
        if not is_enough and not is_long and not is_late and (recorder.grown_bytes or 0) < _MOST_BYTES:
            recorder.last = loop.step

    def _fill(self) -> None:
        """The recorder has written its trace."""
        self._is_full, self._filled = True, time.perf_counter()

    def _settle(self, loop: Loop) -> None:
        """Tells what was recorded, where it is the training for certain."""
        if not self._is_full or loop is not self.recorded:
            return
        assert self.recorder is not None
        is_certain = loop.rank > FUNCTION or self._is_chosen is not None or self._window.is_fixed
        is_late = time.perf_counter() - self._filled > _PATIENCE_SECONDS
        if is_certain or is_late or loop.step >= _PATIENCE * self.recorder.last:
            self._tell()

    def _tell(self) -> None:
        assert self.recorded is not None
        assert self.recorder is not None
        self.is_done = True
        self.on_done(self.recorded, self.recorder)

    def end_epoch(self, loop: Loop, is_step: bool) -> None:
        """An epoch of a loop ends."""
        if not is_step and loop.step > 0:
            loop.step -= 1
            loop.begun = None
        else:
            loop.clock(time.perf_counter(), self._window, self.recorder_of(loop) is not self._quiet)
        if not loop.epoch_ends or loop.epoch_ends[-1] != loop.step:
            loop.epoch_ends.append(loop.step)
        if self.recorder_of(loop) is self.recorder and self.recorder is not None:
            self.recorder.last = max(self._least_last, min(self.recorder.last, loop.step))
        self.recorder_of(loop).end_epoch(is_step)
        if self.is_done and loop is self.recorded:
            self.on_epoch_end(loop)

    def end(self) -> None:
        """The program has ended: what was recorded is all there will be."""
        if self.recorder is None or self.is_done:
            return
        if not self._is_full:
            self.recorder.stop()
        if self.trains_elsewhere:
            self._discard()
            self.recorded = None
        elif self._is_full:
            self._tell()
