"""Where a cache can stand: it keeps what every epoch has in common, and comes to an end."""

from __future__ import annotations

import ast
import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Optional

from tfdata_doctor.report import Iterator as TreeIterator
from tfdata_doctor.report import Pipeline, Report

from .clock import memory
from .edits import Edit, Place, call_at, lines_of_call
from .jobs import Cache
from .made import MadeAt, dataset_names
from .random_calls import is_stateless, random_name
from .source import Refused, Source
from .tree import IteratorTree

#: Of the work before the place that was advised: a place further down that keeps less is not worth a try.
_LEAST_WORK = 0.3

#: Begin of the short names of iterators, as the profiler has them.
_MAPS = ("Map", "ParallelMap")
_ENDLESS = ("ForeverRepeat", "ShuffleAndRepeat")
_ENDS = ("Take", "FiniteTake", "EmptyTake", "TakeWhile")
_ORDERS = ("ForeverRepeat", "Shuffle")

#: What gives the same elements of an epoch, or the same ones again, in whatever order they come.
_TAKES_ANY_ORDER = (
    *("Root", "Prefetch", "Map", "ParallelMap", "Filter", "Batch", "ParallelBatch", "PaddedBatch"),
    *("Repeat", "FiniteRepeat", "ForeverRepeat", "Options", "PrivateThreadPool", "MaxIntraOpParallelism"),
)

#: Of the memory that is available: a cache that is estimated larger does not fit.
_MOST_OF_MEMORY = 0.5
#: Elements in a cache; TensorFlow's number.
_NO_END = -1

Read = Callable[[str], Optional[Source]]


class CachePlaces:
    """The places of one pipeline. `made` says where datasets were made, `read` gives files that can be read."""

    def __init__(self, pipeline: Pipeline, made: Mapping[str, MadeAt], read: Read, may_keep_order: bool) -> None:
        self._pipeline = pipeline
        self._tree = IteratorTree(pipeline.iterators)
        self._made = made
        self._read = read
        self._may_keep_order = may_keep_order

    def place(self, iterator: TreeIterator, is_before: bool, may_keep_order: bool = False) -> TreeIterator:
        """After which iterator to cache: this one, or one that comes before it where a cache here would not do.

        `is_before`: the iterator itself is known to be random. Raises Refused with what is wrong at the first place.
        """
        iterator = self._last_of_call(iterator)
        refused = None if not is_before else Refused("it is random, and nothing that could be cached comes before it")
        work = self._work(iterator)
        place: Optional[TreeIterator] = self._child(iterator) if is_before else iterator
        while place is not None:
            if self._work(place) < _LEAST_WORK * work:
                break
            try:
                self._check(place, may_keep_order or self._may_keep_order)
            except Refused as found:
                refused = refused or found
            else:
                if any(name in self._made for name in dataset_names(place)):
                    return self._last_of_call(place)
            place = self._child(place)
        raise refused or Refused("no line of the program is known to make it")

    def shuffled_place(self, iterator: TreeIterator, is_before: bool) -> TreeIterator:
        """After which iterator to cache where a shuffle follows, which makes up for the order that the cache keeps.

        Raises Refused as `place` does, and where the new order would be more than one: of a zip() it would tear pairs
        apart, of a take() it would change which elements are taken, and what is evaluated may have to keep its order.
        """
        place = self.place(iterator, is_before, may_keep_order=True)
        for below in self._tree.below(place):
            if "Shuffle" in below.short_name:
                self._check_always_shuffled(below, place)
        for above in self._tree.above(place):
            if not above.short_name.startswith(_TAKES_ANY_ORDER):
                raise Refused(f"what comes after it, {above.short_name}, depends on the order of the elements")
        return place

    def _check_always_shuffled(self, shuffle: TreeIterator, place: TreeIterator) -> None:
        """Raises Refused where another dataset that the lines make may not be shuffled."""
        around: set[int] = set()
        for source, made in self._calls(place):
            around.update(map(id, call_at(source, made)[1]))
        for source, made in self._calls(shuffle):
            call, parents = call_at(source, made)
            is_conditional = any(isinstance(one, (ast.If, ast.IfExp)) and id(one) not in around for one in parents)
            asked = [keyword.value for keyword in call.keywords if keyword.arg == "shuffle"]
            if is_conditional or any(not isinstance(value, ast.Constant) for value in asked):
                raise Refused(f"line {made.line} does not always shuffle, and after the cache all would be")

    def _calls(self, iterator: TreeIterator) -> list[tuple[Source, Place]]:
        """The calls that made it, in files that can be read."""
        made = [self._made[name] for name in dataset_names(iterator) if name in self._made]
        return [(source, one.place) for one in made if (source := self._read(one.file)) is not None]

    def has_batch(self, iterator: TreeIterator) -> bool:
        """Whether its elements are batches, as far as the recording shows."""
        return any("Batch" in one.short_name for one in self._tree.below(iterator))

    def _last_of_call(self, iterator: TreeIterator) -> TreeIterator:
        """The last of the iterators that one call of a helper makes: what is new comes after the call."""
        above = next(iter(self._tree.above(iterator)), None)
        names = set(dataset_names(iterator))
        if above is None or above.short_name == "Root" or not names.intersection(dataset_names(above)):
            return iterator
        return self._last_of_call(above)

    def below_order(self, iterator: TreeIterator) -> Optional[tuple[TreeIterator, TreeIterator]]:
        """The last of the maps that follow a shuffle() or an endless repeat(), and the last of those.

        With maps and those swapped, a cache can stand between them: maps give the same elements in any order. None
        where that is not so, or for too little of the work before `iterator`. Raises Refused as `place` does.
        """
        top, place = self._maps(iterator)
        source = place
        while source is not None and source.short_name.startswith(_ORDERS):
            source = self._child(source)
        if top is None or place is None:
            return None
        if self._work(top) < _LEAST_WORK * self._work(iterator):
            return None
        if source is not None:
            self._check(source, self._may_keep_order)
        self._check_random(self._tree.below(top))
        return top, place

    def _maps(self, iterator: TreeIterator) -> tuple[Optional[TreeIterator], Optional[TreeIterator]]:
        """The last of the maps before an iterator, it too, that follow what is about order, and the last of that."""
        top: Optional[TreeIterator] = None
        place: Optional[TreeIterator] = iterator
        while place is not None and not place.short_name.startswith(_ORDERS):
            is_map = place.short_name.startswith(_MAPS) and self._is_map_of_user(place)
            top = (top or place) if is_map else None
            place = self._child(place)
        return top, place

    def _is_map_of_user(self, iterator: TreeIterator) -> bool:
        """False for one that is inside of a helper."""
        made = [self._made[name] for name in dataset_names(iterator) if name in self._made]
        return not made or any(one.place.method == "map" for one in made)

    def is_stateless(self, iterator: TreeIterator) -> bool:
        """Whether its function, which a recording shows as random, gives the same for the same element."""
        made = [self._made[name] for name in dataset_names(iterator) if name in self._made]
        sources = [(self._read(one.file), one.place) for one in made if one.place.method == "map"]
        return bool(sources) and all(source is not None and is_stateless(source, place) for source, place in sources)

    def elements_per_step(self, iterator: TreeIterator) -> float:
        """How many elements of an iterator make a step."""
        return iterator.calls / max(self._pipeline.get_next.count, 1)

    def _child(self, iterator: TreeIterator) -> Optional[TreeIterator]:
        children = self._tree.inputs(iterator)
        return children[0] if len(children) == 1 else None

    def _work(self, iterator: TreeIterator) -> float:
        return sum(one.self_us + one.function_us for one in self._tree.below(iterator))

    def _check(self, iterator: TreeIterator, may_keep_order: bool) -> None:
        """Raises Refused where a cache after an iterator would never be complete, or change what is learned from."""
        below = self._tree.below(iterator)
        if self._is_endless(iterator):
            raise Refused("an endless repeat() comes before it, so the cache would never be complete")
        is_shuffled_after = any("Shuffle" in one.short_name for one in self._tree.above(iterator))
        is_shuffled_before = any("Shuffle" in one.short_name for one in below)
        if is_shuffled_before and not is_shuffled_after and not may_keep_order:
            raise Refused("a shuffle comes before it: every epoch would have the order of the first; --allow order")
        self._check_random(below)

    def _is_endless(self, iterator: TreeIterator) -> bool:
        """Whether what comes out of it has no end: a zip() ends with its shortest input, and a take() ends."""
        if iterator.short_name.startswith(_ENDLESS):
            return True
        inputs = self._tree.inputs(iterator)
        if iterator.short_name.startswith("Zip"):
            return len(inputs) > 1 and all(map(self._is_endless, inputs))
        return iterator.short_name not in _ENDS and any(map(self._is_endless, inputs))

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


def epoch_steps(caches: Sequence[Cache], elements_per_step: float) -> int:
    """Steps until the caches are complete, as far as their sizes are known."""
    known = [cache.elements for cache in caches if cache.elements > 0]
    return math.ceil(max(known, default=0) / max(elements_per_step, 1e-9)) + 1 if known and elements_per_step else 0


def with_counts(
    edits: Sequence[tuple[str, Edit]], caches: Sequence[Cache], read: Callable[[str], Source]
) -> list[tuple[str, Edit]]:
    """Edits in which a shuffle has room for all that the cache before it keeps, which takes no more memory.

    `caches` are those of the changed program, `read` gives its files as they were. Raises Refused where that number is
    not known, and where the line makes several datasets: one that is evaluated may have to keep its order.
    """
    counted = []
    for file, edit in edits:
        if edit.kind == "cache_shuffle":
            lines = lines_of_call(read(file), edit.place)
            own = [one for one in caches if os.path.realpath(one.file) == os.path.realpath(file) and one.line in lines]
            if len(own) > 1:
                raise Refused("its line makes several datasets, and not all of them may be shuffled; --allow order")
            if not own or own[0].elements <= 0:
                raise Refused("how many elements the cache would keep is not known, so no shuffle can follow it")
            edit = replace(edit, number=own[0].elements)
        counted.append((file, edit))
    return counted


def steps_to_fill(caches: Sequence[Cache], report: Report) -> int:
    """The same for the caches that the program has already."""
    if not caches or not report.pipelines:
        return 0
    pipeline = report.pipelines[0]
    calls = [iterator.calls for iterator in pipeline.iterators if "Cache" in iterator.short_name]
    return epoch_steps(caches, max(calls, default=0) / max(pipeline.get_next.count, 1))


def check_random(caches: Sequence[Cache]) -> None:
    """Raises Refused where a cache would keep what is another each time."""
    if any(cache.repeats is False for cache in caches):
        raise Refused("what would be cached is random: every epoch would be like the first; --allow order")


def check_size(caches: Sequence[Cache]) -> None:
    """Raises Refused where a cache cannot be complete or is too large."""
    available = memory()[0]
    for cache in caches:
        if cache.elements == _NO_END:
            raise Refused("what comes before the cache has no end, so it would never be complete")
        size = cache.elements * (cache.bytes_each or 0)
        if cache.elements > 0 and available and size > _MOST_OF_MEMORY * available:
            raise Refused(f"the cache would take {size / 2**30:.1f} GiB, and {available / 2**30:.1f} GiB are free")
