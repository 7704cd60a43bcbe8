"""Which iterator of a pipeline calls which.

By their depths, not by their ids: each epoch has iterators of its own, and the ids are those of the first one seen.
"""

from __future__ import annotations

from collections.abc import Sequence

from tfdata_doctor.report import Iterator as TreeIterator


class IteratorTree:
    """The iterators of a pipeline in the order of a report, each before those it calls."""

    def __init__(self, iterators: Sequence[TreeIterator]) -> None:
        self._iterators = iterators

    def below(self, iterator: TreeIterator) -> list[TreeIterator]:
        """It and what comes before it in the pipeline."""
        found = [iterator]
        for one in self._iterators[self._place(iterator) + 1 :]:
            if one.depth <= iterator.depth:
                break
            found.append(one)
        return found

    def inputs(self, iterator: TreeIterator) -> list[TreeIterator]:
        """What it calls."""
        return [one for one in self.below(iterator) if one.depth == iterator.depth + 1]

    def above(self, iterator: TreeIterator) -> list[TreeIterator]:
        """What calls it, and so on to the root."""
        found: list[TreeIterator] = []
        for one in reversed(self._iterators[: self._place(iterator)]):
            if one.depth < (found[-1] if found else iterator).depth:
                found.append(one)
        return found

    def _place(self, iterator: TreeIterator) -> int:
        return next(number for number, one in enumerate(self._iterators) if one is iterator)
