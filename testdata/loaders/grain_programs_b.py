"""A second set of programs of Grain, of which the slow stage is known by construction: other stages, order and API.

Usage: python grain_programs_b.py KIND FOLDER
"""

import sys
import time

import grain
import numpy as np
from grain import python as pygrain

import grain_programs

LOOKUP = {}


class Parquet:
    def __init__(self, seek=0.0):
        self.seek = seek

    def __len__(self):
        return 50_000

    def __getitem__(self, row):
        if self.seek:
            time.sleep(self.seek)
        return {"x": np.arange(48, dtype=np.float32) + row, "y": np.float32(row)}


def crop(example):
    image = example["x"]
    for _ in range(700):
        image = np.roll(image, 1)
    return {"x": image, "y": example["y"]}


def flip(example, rng):
    time.sleep(0.005)
    return {"x": example["x"] * rng.random(), "y": example["y"]}


def only_x(batch):
    return batch["x"]


def normalize_batch(batch):
    time.sleep(0.045)
    return batch["x"] - batch["x"].mean()


def long_enough(example):
    total = 0
    for number in range(45_000):
        total ^= number
    return total >= 0 and example["y"] % 3 != 0


class Crop(pygrain.MapTransform):
    def map(self, example):
        return crop(example)


class Jitter(pygrain.RandomMapTransform):
    def random_map(self, example, rng):
        return flip(example, rng)


class OnlyX(pygrain.MapTransform):
    def map(self, batch):
        return batch["x"]


def loader(source, operations, read=None, workers=0):
    sampler = pygrain.IndexSampler(
        num_records=50_000, shuffle=True, seed=3, num_epochs=None, shard_options=pygrain.NoSharding())
    return pygrain.DataLoader(data_source=source, sampler=sampler, operations=operations, worker_count=workers,
                              read_options=read)


def data_loader_crop(f):
    operations = [pygrain.Batch(6), OnlyX()]
    return loader(Parquet(), operations if f else [Crop(), *operations], pygrain.ReadOptions(3, 6))


def data_loader_workers(f):
    operations = [pygrain.Batch(6), OnlyX()]
    return loader(Parquet(), operations if f else [Jitter(), *operations], pygrain.ReadOptions(1, 2), workers=2)


def data_loader_seeks(f):
    return loader(Parquet(0 if f else 0.006), [pygrain.Batch(6), OnlyX()], pygrain.ReadOptions(1, 2))


def random_map_alone(f):
    source = grain.MapDataset.source(Parquet()).seed(5).shuffle().repeat()
    mapped = source if f else source.random_map(flip)
    return mapped.to_iter_dataset(grain.ReadOptions(0, 0)).batch(6).map(only_x)


def map_after_batch(f):
    source = grain.MapDataset.source(Parquet()).seed(5).shuffle().repeat()
    batches = source.to_iter_dataset(grain.ReadOptions(2, 32)).batch(6)
    return batches.map(only_x if f else normalize_batch)


def filter_python(f):
    source = grain.MapDataset.source(Parquet()).repeat()
    kept = source if f else source.filter(long_enough)
    return kept.to_iter_dataset(grain.ReadOptions(2, 8)).batch(6).map(only_x)


def healthy_loader(f):
    return loader(Parquet(), [pygrain.Batch(6), OnlyX()], pygrain.ReadOptions(2, 60))


def drained_examples(f):
    source = grain.MapDataset.source(Parquet(0 if f else 0.012)).repeat()
    return source.to_iter_dataset(grain.ReadOptions(1, 400)).batch(6).map(only_x)


KINDS = {
    "data_loader_crop": (data_loader_crop, 0.004, 0, ("bound", "map", "map", "threads")),
    "data_loader_workers": (data_loader_workers, 0.004, 0, ("bound", None, None, "processes")),
    "data_loader_seeks": (data_loader_seeks, 0.004, 0, ("bound", "source", "__getitem__", "threads")),
    "random_map_alone": (random_map_alone, 0.004, 0, ("bound", "map", "flip", "loop")),
    "map_after_batch": (map_after_batch, 0.004, 0, ("bound", "map", "normalize_batch", "loop")),
    "filter_python": (filter_python, 0.004, 0, ("bound", "filter", "long_enough", "threads")),
    "healthy_loader": (healthy_loader, 0.04, 1, ("healthy", None, None, "threads")),
    "drained_examples": (drained_examples, 0.01, 7, ("drained", None, None, "threads")),
}
grain_programs.KINDS = KINDS
grain_programs.free = lambda batch: batch

if __name__ == "__main__":
    from absl import app
    app.run(grain_programs.main)
