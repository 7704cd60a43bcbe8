"""As much of Keras 3 as makes the batches of a PyDataset."""


class PyDatasetAdapter:
    def __init__(self, dataset):
        self._dataset = dataset

    def get_numpy_iterator(self):
        yield from self._dataset
