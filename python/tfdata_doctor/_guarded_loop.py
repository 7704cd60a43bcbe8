"""A loop whose last steps are kept, for a guard."""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Sequence
from typing import Any, Optional

from ._loop import Loop, Path
from ._loops import Loops
from ._whole_run import Window

#: The share of waiting is that of so many steps. The longest wait of them is set aside, since one decides nothing; so
#: there are enough for a stall that comes every 25 steps to be left. TensorFlow keeps the last 100 times between
#: elements, which is the most that there could be.
STEPS = 50
#: After so many steps it is looked at: reading TensorFlow's times takes some 30 us.
EVERY = 25


def wait_share(steps: Sequence[tuple[float, float]]) -> float:
    """The share of waiting in steps of so many seconds, of which so many waited, without the longest wait."""
    lengths, waits = zip(*steps)
    longest = max(waits)
    seconds = sum(lengths) - longest
    return (sum(waits) - longest) / seconds if seconds > 0 else 0.0


def seconds_between_elements(iterator: object) -> list[float]:
    """The time from each element to the call for the next one, at most the last 100, as TensorFlow clocks it itself.

    Without autotune, and before TensorFlow tells it, there is none.
    """
    import tensorflow as tf

    try:
        return [micros * 1e-6 for micros in tf.data.experimental.get_model_proto(iterator).gap_times]
    except (AttributeError, TypeError, ValueError, tf.errors.OpError):
        return []


class GuardedLoop(Loop):
    """A loop whose last steps are kept: their seconds, and those of waiting."""

    def __init__(self, loops: Loops, path: Path, is_fit: bool) -> None:
        super().__init__(loops, path, is_fit)
        self.last_steps: deque[tuple[float, float]] = deque(maxlen=STEPS)
        #: Steps that were added since the share was looked at.
        self.new_steps = 0
        #: Whether steps of this epoch were recorded.
        self.is_spent = False
        #: What fit takes its elements of, where only TensorFlow sees it.
        self._iterator: Optional[weakref.ref[Any]] = None
        #: Whether an iterator that fit makes is of its training.
        self._is_training = False
        #: Whether steps went by of which nobody saw what they waited for.
        self.is_hidden = False
        #: Seconds of the steps in a row that only TensorFlow sees, and the number of the first.
        self._unseen: list[float] = []
        self._first_unseen = 0

    def begin_epoch(self) -> None:
        """Keras begins an epoch."""
        self._is_training = True

    def begin_iterator(self, iterator: object) -> None:
        """Keras makes an iterator, of its training or of a validation."""
        if self._is_training:
            self._iterator = weakref.ref(iterator)

    def end_step(self) -> None:
        """What follows is in no step: a validation, or the end of an epoch."""
        self._is_training = False
        self._unseen.clear()
        super().end_step()

    def clock(self, now: float, window: Window, is_recorded: bool) -> None:
        """The step that began last is done; it counts where it is not one of the first of its epoch."""
        if self.begun is None:
            return
        seconds, waited, is_seen = now - self.begun, self.waited, self._taken > 0
        self.begun, self.waited, self._taken = None, 0.0, 0
        if not is_recorded and self.step - self.epoch_begin < window.first:
            self._unseen.clear()
        elif is_seen:
            self.last_steps.append((seconds, waited))
            self.new_steps += 1
        else:
            if not self._unseen:
                self._first_unseen = self.step
            self._unseen.append(seconds)
            if len(self._unseen) > EVERY:
                self._ask_tensorflow()

    def clock_ahead(self, begins: Sequence[float], ends: Sequence[float], window: Window) -> None:
        """Steps in a row, past the first ones of an epoch: when the element of each was asked for, and was there."""
        self.clock(begins[0], window, False)
        for begun, end, after in zip(begins, ends, begins[1:]):
            self.last_steps.append((after - begun, end - begun))
        self.new_steps += len(begins) - 1
        self.step += len(begins)
        self.begun, self.waited, self._taken = begins[-1], ends[-1] - begins[-1], 1

    def forget(self) -> None:
        """The steps before a recording are not told from those in it, nor these from those after it."""
        self.last_steps.clear()
        self._unseen.clear()
        self.new_steps = 0

    def share(self) -> float:
        """The share of waiting in the last steps."""
        if len(self._unseen) > 1:
            self._ask_tensorflow()
        return wait_share(self.last_steps) if self.last_steps else 0.0

    def _ask_tensorflow(self) -> None:
        """Adds the steps that only TensorFlow sees, but for the last: its time after the element is not known yet."""
        last = self._unseen.pop()
        batches = (self.step - self._first_unseen) // len(self._unseen)
        iterator = self._iterator() if self._iterator is not None else None
        between = seconds_between_elements(iterator) if iterator is not None else []
        del between[len(between) - (batches - 1) :]
        known = min(len(self._unseen), len(between) // batches)
        self.is_hidden = self.is_hidden or known == 0
        for number in range(known, 0, -1):
            seconds, end = self._unseen[-number], len(between) - (number - 1) * batches
            self.last_steps.append((seconds, max(0.0, seconds - sum(between[end - batches : end]))))
        self.new_steps += known
        self._unseen, self._first_unseen = [last], self.step
