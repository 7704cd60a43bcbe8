"""Where a cache can stand: it keeps what every epoch has in common, and comes to an end."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Optional

from tfdata_doctor.report import Iterator as TreeIterator
from tfdata_doctor.report import Pipeline

from .made import MadeAt, dataset_names
from .random_calls import random_name
from .source import Refused, Source

#: Of the work before the place that was advised: a place further down that keeps less is not worth a try.
_LEAST_WORK = 0.3

Read = Callable[[str], Optional[Source]]


class CachePlaces:
    """The places of one pipeline. `made` says where datasets were made, `read` gives files that can be read."""

    def __init__(self, pipeline: Pipeline, made: Mapping[str, MadeAt], read: Read, may_keep_order: bool) -> None:
        self._pipeline = pipeline
        self._made = made
        self._read = read
        self._may_keep_order = may_keep_order

    def place(self, iterator: TreeIterator, is_before: bool) -> TreeIterator:
        """After which iterator to cache: this one, or one that comes before it where a cache here would not do.

        `is_before`: the iterator itself is known to be random. Raises Refused with what is wrong at the first place.
        """
        refused = None if not is_before else Refused("it is random, and nothing that could be cached comes before it")
        work = self._work(iterator)
        place: Optional[TreeIterator] = self._child(iterator) if is_before else iterator
        while place is not None:
            if self._work(place) < _LEAST_WORK * work:
                break
            try:
                self._check(place)
            except Refused as found:
                refused = refused or found
            else:
                if any(name in self._made for name in dataset_names(place)):
                    return place
            place = self._child(place)
        raise refused or Refused("no line of the program is known to make it")

    def elements_per_step(self, iterator: TreeIterator) -> float:
        """How many elements of an iterator make a step."""
        return iterator.calls / max(self._pipeline.get_next.count, 1)

    def _child(self, iterator: TreeIterator) -> Optional[TreeIterator]:
        children = [one for one in self._pipeline.iterators if one.parent_id == iterator.id]
        return children[0] if len(children) == 1 else None

    def _below(self, iterator: TreeIterator) -> list[TreeIterator]:
        """It and what comes before it."""
        found, ids = [iterator], {iterator.id}
        for one in self._pipeline.iterators:  # parents come before their children
            if one.parent_id in ids:
                ids.add(one.id)
                found.append(one)
        return found

    def _above(self, iterator: TreeIterator) -> list[TreeIterator]:
        by_id = {one.id: one for one in self._pipeline.iterators if one.id is not None}
        found, parent = [], by_id.get(iterator.parent_id or "")
        while parent is not None:
            found.append(parent)
            parent = by_id.get(parent.parent_id or "")
        return found

    def _work(self, iterator: TreeIterator) -> float:
        return sum(one.self_us + one.function_us for one in self._below(iterator))

    def _check(self, iterator: TreeIterator) -> None:
        """Raises Refused where a cache after an iterator would never be complete, or change what is learned from."""
        below = self._below(iterator)
        for one in below:
            if one.short_name.startswith(("ForeverRepeat", "ShuffleAndRepeat")):
                raise Refused("an endless repeat() comes before it, so the cache would never be complete")
        is_shuffled_after = any("Shuffle" in one.short_name for one in self._above(iterator))
        is_shuffled_before = any("Shuffle" in one.short_name for one in below)
        if is_shuffled_before and not is_shuffled_after and not self._may_keep_order:
            raise Refused("a shuffle comes before it: every epoch would have the order of the first; --allow order")
        self._check_random(below)

    def _check_random(self, below: Sequence[TreeIterator]) -> None:
        for one in below:
            for name in dataset_names(one):
                made = self._made.get(name)
                if made is None or made.place.method not in ("map", "interleave", "flat_map"):
                    continue
                source = self._read(made.file)
                found = random_name(source, made.place) if source is not None else ""
                if found:
                    raise Refused(f"line {made.place.line} is random ({found}): every epoch would see the same")
