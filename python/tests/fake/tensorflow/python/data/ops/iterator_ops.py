import time


class OwnedIterator:
    def __init__(self, count, slow=0, wait=lambda: time.sleep(0.04)):
        """`slow`: of the last elements, each of which calls `wait`."""
        self._left = count
        self._slow = slow
        self._wait = wait

    def __iter__(self):
        return self

    def __next__(self):
        if self._left == 0:
            raise StopIteration
        if self._left <= self._slow:
            self._wait()
        self._left -= 1
        return self._left

    def get_next(self):
        return next(self)
