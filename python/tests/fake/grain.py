"""As much of Grain as takes elements: iterators of stages, each with one below it, and a thread that works ahead."""

import threading


class DatasetIterator:
    def __init__(self, parent=None):
        self._parent = parent

    def __iter__(self):
        return self


class Source(DatasetIterator):
    def __init__(self, count):
        super().__init__()
        self._left = count

    def __next__(self):
        if self._left == 0:
            raise StopIteration
        self._left -= 1
        return self._left


class Map(DatasetIterator):
    def __next__(self):
        return next(self._parent)


class Prefetch(DatasetIterator):
    """Has all elements before the first is asked for."""

    def __init__(self, parent):
        super().__init__(parent)
        self._elements = []
        thread = threading.Thread(target=self._take_all)
        thread.start()
        thread.join()

    def _take_all(self):
        for element in self._parent:
            self._elements.append(sum(range(20000)) and element)

    def __next__(self):
        if not self._elements:
            raise StopIteration
        return self._elements.pop(0)


class DataLoaderIterator:
    def __init__(self, iterator):
        self._iterator = iterator

    def __iter__(self):
        return self

    def __next__(self):
        return next(self._iterator)
