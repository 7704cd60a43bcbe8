"""The first elements of the datasets of a program, to tell whether a change left the data as they are."""

from __future__ import annotations

import collections
import functools
import hashlib
import itertools
import random
import sys
import time
from collections.abc import Callable, Iterable
from typing import Any

from .jobs import Answer, Cache, Elements, Job

#: Datasets that are looked at, elements of each, and seconds that a look takes at most.
MOST_DATASETS = 4
MOST_ELEMENTS = 64
_MOST_SECONDS = 8.0
#: Of what is cached: enough to know how large one is, and whether they are random.
_CACHED_ELEMENTS = 4
_SEED = 20
#: TensorFlow's number for how many elements there are where that is not known.
_UNKNOWN = -2


def _bytes_of(value: Any) -> Iterable[bytes]:
    """A tensor's type, shape and content."""
    import numpy as np

    array = np.asarray(value.numpy() if hasattr(value, "numpy") else value)
    yield f"{array.dtype}{array.shape}".encode()
    if array.dtype == object:
        for item in array.reshape(-1):
            content = item if isinstance(item, bytes) else repr(item).encode()
            yield b"%d:" % len(content) + content
    else:
        yield np.ascontiguousarray(array).tobytes()


def _hash_of(element: Any) -> str:
    import tensorflow as tf

    digest = hashlib.blake2b(digest_size=12)
    digest.update(repr(tf.nest.map_structure(lambda _: 0, element)).encode())
    for value in tf.nest.flatten(element, expand_composites=True):
        for part in _bytes_of(value):
            digest.update(part)
    return digest.hexdigest()


def _size_of(element: Any) -> int:
    import tensorflow as tf

    return sum(len(part) for value in tf.nest.flatten(element, expand_composites=True) for part in _bytes_of(value))


def _first(dataset: Any, iterate: Callable[[Any], Any]) -> tuple[list[str], bool]:
    """Hashes of the first elements, and whether these are all."""
    until = time.monotonic() + _MOST_SECONDS
    hashes: list[str] = []
    for element in iterate(dataset):
        if len(hashes) == MOST_ELEMENTS or time.monotonic() > until:
            return hashes, False
        hashes.append(_hash_of(element))
    return hashes, True


class Looker:
    """Looks at datasets as the program begins to iterate over them."""

    def __init__(self, answer: Answer, job: Job) -> None:
        self._answer = answer
        self._is_wanted = job.mode == "compare"
        self._is_seeded = job.is_seeded
        self._is_shuffled = job.is_shuffled
        self._seen: set[int] = set()
        self._kept: list[Any] = []
        #: Whether elements are taken that the program did not ask for.
        self.is_inside = False

    def open(self) -> None:
        """TensorFlow has been imported: from here on."""
        import tensorflow as tf

        owner = tf.data.Dataset
        owner.cache = self._told(owner.cache)
        if not self._is_wanted:
            return
        if self._is_seeded:
            # What has no seed of its own is the same in both programs.
            random.seed(_SEED)
            if "numpy" in sys.modules:
                sys.modules["numpy"].random.seed(_SEED)
            tf.random.set_seed(_SEED)
        if not self._is_shuffled:
            owner.shuffle = _unshuffled(owner.shuffle)
        wrap_iterations(self._looked_at)

    def _told(self, cache: Callable[..., Any]) -> Callable[..., Any]:
        """Dataset.cache, which says what it is of."""

        # By this name, lines.py knows that it is not what the user called.
        @functools.wraps(cache)
        def wrapper(dataset: Any, filename: Any = "", *arguments: Any, **options: Any) -> Any:
            frame = sys._getframe(1)
            entry = Cache(frame.f_code.co_filename, frame.f_lineno, elements_of(dataset))
            self._answer.caches.append(entry)
            # Not where elements are compared: a shuffle counts the times over it.
            if self._is_wanted and not self._is_seeded and not self.is_inside:
                self._look_at_cached(dataset, entry)
            return cache(dataset, filename, *arguments, **options)

        return wrapper

    def _look_at_cached(self, dataset: Any, entry: Cache) -> None:
        """How large the first elements are, and whether they are the same the second time."""
        import tensorflow as tf

        if not tf.executing_eagerly():
            return
        self.is_inside = True
        try:
            twice = [list(itertools.islice(iter(dataset), _CACHED_ELEMENTS)) for _ in range(2)]
            entry.bytes_each = max(map(_size_of, twice[0]), default=0)
            if entry.elements == _UNKNOWN:
                entry.elements = _counted(dataset)
            entry.repeats = list(map(_hash_of, twice[0])) == list(map(_hash_of, twice[1]))
        except Exception:  # whatever the pipeline raises, the program will find out itself
            return
        finally:
            self.is_inside = False

    def _looked_at(self, iterate: Callable[[Any], Any]) -> Callable[[Any], Any]:
        @functools.wraps(iterate)
        def look(dataset: Any) -> Any:
            import tensorflow as tf

            is_new = id(dataset) not in self._seen and len(self._kept) < MOST_DATASETS
            if is_new and not self.is_inside and tf.executing_eagerly():
                self._seen.add(id(dataset))
                self._kept.append(dataset)  # another one must not get its id
                self.is_inside = True
                try:
                    hashes, is_complete = _first(dataset, iterate)
                    again = _first(dataset, iterate)[0] if is_complete else []
                    self._answer.elements.append(Elements(repr(dataset.element_spec), hashes, again, is_complete))
                finally:
                    self.is_inside = False
            return iterate(dataset)

        return look


def _unshuffled(shuffle: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(shuffle)
    def wrapper(dataset: Any, *_: Any, **__: Any) -> Any:
        return dataset

    return wrapper


def wrap_iterations(wrap: Callable[[Callable[[Any], Any]], Callable[[Any], Any]]) -> None:
    """Puts a function around iter() of datasets."""
    import tensorflow as tf

    owner = tf.data.Dataset
    for kind in (owner, *owner.__subclasses__()):
        if "__iter__" in vars(kind):
            kind.__iter__ = wrap(kind.__iter__)


def elements_of(dataset: Any) -> int:
    """How many a dataset has: -1 without an end, -2 unknown."""
    try:
        return int(dataset.cardinality())
    except (AttributeError, TypeError, ValueError):
        return _UNKNOWN


def _counted(dataset: Any) -> int:
    """How many a dataset has, where it comes to an end soon."""
    until = time.monotonic() + _MOST_SECONDS
    count = 0
    for _ in dataset:
        count += 1
        if time.monotonic() > until:
            return _UNKNOWN
    return count


def difference(base: list[Elements], changed: list[Elements], may_reorder: bool) -> str:
    """What is different, as a clause; empty where the data are the same."""
    for number, (one, other) in enumerate(zip(base, changed), start=1):
        which = f"of the {number}. dataset" if len(base) > 1 else "of the dataset"
        if one.spec != other.spec:
            return f"the elements {which} are of another type"
        for before, after in ((one.hashes, other.hashes), (one.again, other.again)):
            count = min(len(before), len(after))
            is_all = one.is_complete and other.is_complete
            if is_all and len(before) != len(after):
                return f"{which}, {len(before)} elements have become {len(after)}"
            if is_all and may_reorder:
                if collections.Counter(before) != collections.Counter(after):
                    return f"the elements {which} differ"
            elif not may_reorder and before[:count] != after[:count]:
                at = next(index for index in range(count) if before[index] != after[index])
                time_over = "" if before is one.hashes else " the second time over it"
                return f"element {at + 1} {which} differs{time_over}"
    return ""


def is_compared(base: list[Elements], changed: list[Elements], may_reorder: bool) -> bool:
    """Whether `difference` can tell: where the order may change, only of datasets that were read to the end."""
    pairs = list(zip(base, changed))
    if may_reorder:
        return bool(pairs) and all(one.is_complete and other.is_complete for one, other in pairs)
    return any(one.hashes and other.hashes for one, other in pairs)
