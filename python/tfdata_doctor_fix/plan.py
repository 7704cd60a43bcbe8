"""What to try: the changes of a report, each as an edit of a line of the user's."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional, Union

from tfdata_doctor.report import Change, ChangedIterator, Pipeline, Report, SourceLine
from tfdata_doctor.report import Iterator as TreeIterator

from .caches import CachePlaces
from .edits import EDITS, Edit, Place, splices_of
from .forecast import Forecast, Prediction, prediction_of
from .iterators import remade_lines
from .made import MadeAt, dataset_names, lines_of
from .notebook import SUFFIX, cell_of
from .source import Refused, Source
from .tree import IteratorTree
from .workspace import Workspace

#: What a kind of fix is called where it is told of.
WORDS = {
    "parallel_map": "map in parallel",
    "parallel_batch": "batch in parallel",
    "parallel_interleave": "files in parallel",
    "prefetch": "prefetch",
    "prefetch_below": "prefetch before it",
    "cache": "cache",
    "split_cache": "cache before it",
    "cache_below": "cache before shuffle or repeat",
    "cache_shuffle": "cache, then shuffle",
    "filter_first": "filter first",
    "skip_first": "skip first",
    "map_after": "map after the filter",
    "parallel_filter": "predicate in parallel",
    "iterate_once": "one iterator",
    "threadpool": "thread pool",
    "buffer": "larger buffer",
    "unordered": "any order",
}

#: What a kind needs --allow for, since it changes more than the speed of the one dataset.
ALLOWED_BY = {"unordered": "order", "threadpool": "threads", "buffer": "buffers"}
#: Kinds after which elements may come in another order.
REORDERS = frozenset({"unordered", "parallel_interleave"})
#: Kinds with which elements are kept from the first epoch on.
CACHES = frozenset({"cache", "split_cache", "cache_below", "cache_shuffle"})
#: What the user is to know of a change after which the first elements are the same.
BATCHES_STAY = "each batch keeps the elements of the first epoch, and the batches come in another order each time"

#: A change of which less is predicted is tried after all others; input-bound.min_gain.
_LEAST_GAIN = 1.03

_METHODS = {
    "parallel_map": ("map",),
    "parallel_batch": ("batch", "padded_batch"),
    "parallel_filter": ("filter",),
    "cache_below": ("map",),
}


@dataclass(frozen=True)
class Candidate:
    """A change to try: edits of files. `elements_per_step`: of the iterator that is cached.

    `told`: what the report predicts, of the program with the profiler.
    """

    words: str
    kinds: tuple[str, ...]
    edits: tuple[tuple[str, Edit], ...]
    predicted: Optional[Prediction]
    told: Optional[Prediction]
    code: str
    elements_per_step: float = 0.0
    #: As whatif --fix takes them.
    fixes: tuple[str, ...] = ()
    #: The place of the first edit, for people.
    where: str = ""
    #: What it changes of the data although the first elements are the same, for people; empty: nothing.
    note: str = ""

    @property
    def file(self) -> str:
        """Of the first edit."""
        return self.edits[0][0]

    @property
    def line(self) -> int:
        """Of the first edit."""
        return self.edits[0][1].place.line

    @property
    def key(self) -> tuple[Any, ...]:
        """The same for a change that is proposed again after another one moved its line."""
        return (
            self.kinds,
            self.file,
            self.code,
            tuple((edit.place.method, edit.place.index) for _, edit in self.edits),
        )


@dataclass(frozen=True)
class _Made:
    """A fix as an edit of a file; of a cache how many of its elements make a step, and Candidate.note."""

    fix: ChangedIterator
    file: str
    edit: Edit
    elements_per_step: float = 0.0
    note: str = ""


#: Of a cache: the kind of fix, the iterator whose call is edited, and that whose elements are kept.
_Way = tuple[str, TreeIterator, TreeIterator]


@dataclass(frozen=True)
class NotTried:
    """A change that is left to the user, and why."""

    words: str
    reason: str
    file: str = ""
    line: int = 0
    predicted: Optional[Prediction] = None
    where: str = ""


Planned = Union[Candidate, NotTried]


def in_order(planned: Iterable[Planned]) -> list[Planned]:
    """What promises nothing comes last, where the budget may be spent."""
    return sorted(
        planned,
        key=lambda one: (
            not isinstance(one, NotTried) and one.predicted is not None and one.predicted.gain < _LEAST_GAIN
        ),
    )


def remakes_iterators(report: Report) -> bool:
    """Whether steps make iterators, as they would with an input that is ready, too."""
    return any(fix.kind == "iterate_once" for change in report.changes for fix in change.fixes)


def reason_of(error: Exception) -> str:
    """Why a change is not tried; an error of this package is one change's reason, and none to lose the others."""
    if isinstance(error, Refused):
        return str(error)
    said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return f"internal error ({said}), please report it"


def where_of(source: Optional[Source], file: str, line: int) -> str:
    """train.py:33, from the working directory where it is below it; of a notebook, the cell as Jupyter numbers it."""
    path = os.path.relpath(file)
    name = os.path.basename(file) if path.startswith("..") else path
    if source is not None and file.endswith(SUFFIX):
        cell, line = cell_of(source, line)
        name = f"{name} In[{cell}]"
    return f"{name}:{line}"


class Planner:
    """Turns the changes of a report into candidates."""

    def __init__(
        self,
        report: Report,
        run_directory: str,
        script: str,
        roots: Sequence[str],
        allowed: frozenset[str],
        forecast: Forecast,
    ) -> None:
        self._report = report
        self._made = lines_of(run_directory)
        self._script = script
        self._roots = roots
        self._allowed = allowed
        self._forecast = forecast

    def plan(self, sources: Workspace) -> Iterator[Candidate | NotTried]:
        """What to try, best first, and what not."""
        for change in (*self._report.changes, *self._report.unproven_changes):
            if change.suppressed:
                continue
            words = " + ".join(WORDS.get(fix.kind, fix.kind) for fix in change.fixes)
            try:
                yield self._candidate(change, sources)
            except Exception as error:
                made = self._place_of(change)
                text = words or change.text.partition(": ")[0].rstrip(".")
                file, line = (made.file, made.place.line) if made else ("", 0)
                where = where_of(self._readable(sources, file), file, line) if file else ""
                yield NotTried(text, reason_of(error), file, line, self._left_to_user(change), where)

    def _candidate(self, change: Change, sources: Workspace) -> Candidate:
        asked = change.fixes or self._fixes_of_refill(change)
        if not asked:
            # What is to be done is what the change is called by.
            why = change.text.partition(": ")[2]
            raise Refused("it needs a person" + (f": {why}" if why else ""))
        made: list[_Made] = []
        for fix in asked:
            needed = ALLOWED_BY.get(fix.kind)
            if needed and needed not in self._allowed:
                raise Refused(f"only with --allow {needed}")
            if fix.kind in CACHES:
                made.append(self._cache_of(change, fix, sources))
            elif fix.kind in EDITS:
                made.append(_Made(fix, *self._edit_of(change, fix, sources)))
            else:
                raise Refused(f"it needs a person: {change.text}")
        edits = tuple((one.file, one.edit) for one in made)
        kinds = tuple(one.fix.kind for one in made)
        specs = tuple(one.fix.fix for one in made)
        file, line = made[0].file, made[0].edit.place.line
        source = sources.read(file)
        predicted = self._forecast.prediction(change, specs)
        # What the report says may be of another place.
        told = prediction_of(change) if specs == tuple(fix.fix for fix in change.fixes) else None
        words = " + ".join(WORDS[kind] for kind in kinds)
        ratio = max(one.elements_per_step for one in made)
        note = "; ".join(filter(None, (one.note for one in made)))
        where = where_of(source, file, line)
        return Candidate(words, kinds, edits, predicted, told, _line_of(source, line), ratio, specs, where, note)

    def _edit_of(self, change: Change, fix: ChangedIterator, sources: Workspace) -> tuple[str, Edit]:
        """The file and the edit of it. Raises Refused."""
        made = self._made_at(change, fix, sources)
        self._check_file(made.file)
        return made.file, Edit(fix.kind, made.place, fix.number, fix.cycle_length)

    def _fixes_of_refill(self, change: Change) -> list[ChangedIterator]:
        """A buffer that each epoch fills anew is filled fast from a cache; what the report says needs a person."""
        if change.rule != "shuffle-refilled":
            return []
        subject = self._report.findings[change.finding].subject
        iterators = self._pipeline_of(change, None).iterators
        inputs = [IteratorTree(iterators).inputs(one) for one in iterators if one.long_name == subject]
        return [ChangedIterator(f"cache:{one.long_name}", "cache", one.long_name, None, None) for one in inputs[0][:1]]

    def _left_to_user(self, change: Change) -> Optional[Prediction]:
        fixes = [fix.fix for fix in change.fixes]
        return self._forecast.prediction(change, fixes) if fixes else prediction_of(change)

    def _cache_of(self, change: Change, fix: ChangedIterator, sources: Workspace) -> _Made:
        """The cache at a place where it can stand, in the first way that the source allows. Raises Refused."""
        places = CachePlaces(
            self._pipeline_of(change, fix.iterator),
            self._made,
            lambda file: self._readable(sources, file),
            "order" in self._allowed,
        )
        iterator = self._iterator_of(change, fix)
        is_before = fix.kind == "split_cache" and not places.is_stateless(iterator)
        refused: Optional[Refused] = None
        for way in (self._cached, self._cached_below_order, self._cached_and_shuffled):
            try:
                kind, at, kept = way(places, iterator, is_before)
                is_there = at is iterator and kind == fix.kind == "cache"
                spec = fix.fix if is_there else f"cache:{at.long_name}"
                moved = ChangedIterator(spec, kind, at.long_name, fix.number, fix.cycle_length)
                file, edit = self._edit_of(change, moved, sources)
                splices_of(sources.read(file), edit)
            except Refused as error:
                refused = refused or error
            else:
                note = BATCHES_STAY if kind == "cache_shuffle" and places.has_batch(kept) else ""
                return _Made(moved, file, edit, places.elements_per_step(kept), note)
        assert refused is not None
        raise refused

    @staticmethod
    def _cached(places: CachePlaces, iterator: TreeIterator, is_before: bool) -> _Way:
        place = places.place(iterator, is_before)
        return "cache", place, place

    @staticmethod
    def _cached_below_order(places: CachePlaces, iterator: TreeIterator, _: bool) -> _Way:
        found = places.below_order(iterator)
        if found is None:
            raise Refused("no shuffle or repeat() can be moved after it")
        return "cache_below", found[0], found[1]

    @staticmethod
    def _cached_and_shuffled(places: CachePlaces, iterator: TreeIterator, is_before: bool) -> _Way:
        place = places.shuffled_place(iterator, is_before)
        return "cache_shuffle", place, place

    @staticmethod
    def _readable(sources: Workspace, file: str) -> Optional[Source]:
        try:
            return sources.read(file)
        except (OSError, Refused):
            return None

    def _check_file(self, file: str) -> None:
        path = os.path.realpath(file)
        if not os.path.isfile(path):
            raise Refused(f"{file} is not a file")
        if not self._is_own(path):
            raise Refused(f"{file} is not in your repository")

    def _is_own(self, path: str) -> bool:
        is_below = any(path.startswith(os.path.join(root, "")) for root in self._roots)
        return is_below and not {"site-packages", "dist-packages"}.intersection(Path(path).parts)

    def _pipeline_of(self, change: Change, long_name: Optional[str]) -> Pipeline:
        """The pipeline of an iterator; of those with the same steps the one whose line the change says."""
        subject = long_name or self._report.findings[change.finding].subject
        found = [
            (pipeline, iterator)
            for pipeline in self._report.pipelines
            for iterator in pipeline.iterators
            if iterator.long_name == subject
        ]
        for pipeline, iterator in found:
            if iterator.source is not None and _says_line(change, iterator.source):
                return pipeline
        if not self._report.pipelines:
            raise Refused("the report has no pipeline")
        return found[0][0] if found else self._report.pipelines[0]

    def _iterator_of(self, change: Change, fix: ChangedIterator) -> TreeIterator:
        pipeline = self._pipeline_of(change, fix.iterator)
        if fix.iterator is not None:
            return next(iterator for iterator in pipeline.iterators if iterator.long_name == fix.iterator)
        # The pipeline as a whole: its last transformation that is in the program.
        for iterator in pipeline.iterators:
            if any(name in self._made for name in dataset_names(iterator)):
                return iterator
        raise Refused("no line of the program is known to make it")

    def _made_at(self, change: Change, fix: ChangedIterator, sources: Workspace) -> MadeAt:
        if fix.kind == "iterate_once":
            return self._remade(sources)
        iterator = self._iterator_of(change, fix)
        known = [self._made[name] for name in dataset_names(iterator) if name in self._made]
        wanted = _METHODS.get(fix.kind)
        fitting = [made for made in known if wanted is None or made.place.method in wanted]
        if not fitting:
            if iterator.source is not None and iterator.user_method:
                return MadeAt(iterator.source.file, Place(iterator.source.line, iterator.user_method.split(".")[-1]))
            raise Refused("no line of the program is known to make it")
        # Of those that TensorFlow fused, the first gets an argument, and what is new comes after the last.
        return fitting[0] if fix.kind in ("parallel_map", "prefetch_below", "split_cache") else fitting[-1]

    def _remade(self, sources: Workspace) -> MadeAt:
        found = []
        files = {os.path.realpath(made.file) for made in self._made.values()} | {self._script}
        for file in sorted(file for file in files if self._is_own(file)):
            found += [MadeAt(file, Place(line, "iter")) for line in remade_lines(sources.read(file))]
        if len(found) != 1:
            raise Refused(
                "it is not clear which iter() makes an iterator for every step" if found else "no next(iter())"
            )
        return found[0]

    def _place_of(self, change: Change) -> Optional[MadeAt]:
        for fix in change.fixes:
            try:
                iterator = self._iterator_of(change, fix)
            except Refused:
                continue
            for name in dataset_names(iterator):
                if name in self._made:
                    return self._made[name]
        source = self._report.findings[change.finding].source
        return MadeAt(source.file, Place(source.line, "")) if source is not None else None


def _says_line(change: Change, source: SourceLine) -> bool:
    """Whether the words of a change name a line, as train.py:67."""
    line = re.escape(f"{os.path.basename(source.file)}:{source.line}")
    return re.search(rf"(?<![\w.]){line}(?!\d)", f"{change.text} {change.code}") is not None


def _line_of(source: Source, line: int) -> str:
    lines = re.split(r"\r\n|\r|\n", source.text.decode("utf-8"))
    return lines[line - 1].strip() if 0 < line <= len(lines) else ""
