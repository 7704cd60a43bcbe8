class OwnedIterator:
    def __init__(self, count):
        self._left = count

    def __iter__(self):
        return self

    def __next__(self):
        if self._left == 0:
            raise StopIteration
        self._left -= 1
        return self._left

    def get_next(self):
        return next(self)
