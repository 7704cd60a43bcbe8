import time


class OwnedIterator:
    def __init__(self, count, slow=0):
        """`slow`: of the last elements, which take long."""
        self._left = count
        self._slow = slow

    def __iter__(self):
        return self

    def __next__(self):
        if self._left == 0:
            raise StopIteration
        if self._left <= self._slow:
            time.sleep(0.04)
        self._left -= 1
        return self._left

    def get_next(self):
        return next(self)
