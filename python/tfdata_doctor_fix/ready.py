"""An input whose elements are ready: what the rest of the program could do, measured without the profiler."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .elements import elements_of, wrap_iterations
from .jobs import Answer, Job

#: Elements that are kept in memory, one after the other again and again.
_KEPT_ELEMENTS = 4
#: Of a dataset whose size nobody knows: more than a run measures, and an end for loops that wait for one.
_MANY = 2000
_ENDLESS = -1


class ReadyInput:
    """Lets a program iterate over a few elements of its datasets, from memory."""

    def __init__(self, answer: Answer, job: Job) -> None:
        self._answer = answer
        self._is_wanted = job.mode == "ready"
        #: With each what it was made of, whose id nothing else may get.
        self._made: dict[int, tuple[Any, Any]] = {}

    def open(self) -> None:
        """TensorFlow has been imported: from here on."""
        if self._is_wanted:
            wrap_iterations(self._from_memory)

    def _from_memory(self, iterate: Callable[[Any], Any]) -> Callable[[Any], Any]:
        @functools.wraps(iterate)
        def over(dataset: Any) -> Any:
            import tensorflow as tf

            if not tf.executing_eagerly():
                return iterate(dataset)
            if id(dataset) not in self._made:
                self._made[id(dataset)] = (self._ready(dataset), dataset)
            self._answer.is_ready = True
            return iterate(self._made[id(dataset)][0])

        return over

    @staticmethod
    def _ready(dataset: Any) -> Any:
        count = elements_of(dataset)
        kept = dataset.take(_KEPT_ELEMENTS).cache()
        # Complete from the first time on: a loop may make an iterator for each step.
        kept.reduce(0, lambda state, _: state)
        endless = kept.repeat()
        if count == _ENDLESS:
            return endless
        return endless.take(count if count >= 0 else _MANY)
