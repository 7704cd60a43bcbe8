"""Programs of Grain whose slow stage is known by construction; each is measured without its slow stage, too.

Usage: python grain_programs.py KIND FOLDER
"""

import json
import sys
import time

import grain
import jax
import jax.numpy as jnp
import numpy as np

STEPS = 24
BATCH = 8


class Records:
    """The source: rows that are made at once, or late."""

    def __init__(self, late=0.0):
        self.late = late

    def __len__(self):
        return 100_000

    def __getitem__(self, index):
        if self.late:
            time.sleep(self.late)
        return np.full((64,), index, np.float32)


def decode(row):
    time.sleep(0.004)
    return row


def tokenize(row):
    total = 0.0
    for number in range(150_000):
        total += number
    return row + np.float32(total % 7)


def augment(row):
    return row * 2


def stack_slowly(rows):
    time.sleep(0.04)
    return np.stack(rows)


def is_wanted(row):
    time.sleep(0.003)
    return int(row[0]) % 2 == 0


def free(row):
    return row


def sequential_map(f):
    read = grain.ReadOptions(num_threads=0, prefetch_buffer_size=0)
    source = grain.MapDataset.source(Records()).repeat()
    return source.map(f or decode).batch(BATCH).to_iter_dataset(read)


def heavy_python(f):
    source = grain.MapDataset.source(Records()).repeat().map(augment)
    read = grain.ReadOptions(num_threads=4, prefetch_buffer_size=4)
    return source.map(f or tokenize).batch(BATCH).to_iter_dataset(read)


def worker_processes(f):
    source = grain.MapDataset.source(Records()).repeat()
    batches = source.map(f or tokenize).batch(BATCH).to_iter_dataset(grain.ReadOptions(1, 1))
    return batches.mp_prefetch(grain.MultiprocessingOptions(num_workers=2))


def read_threads(f):
    source = grain.MapDataset.source(Records(late=0 if f else 0.02)).repeat().map(augment)
    return source.batch(BATCH).to_iter_dataset(grain.ReadOptions(num_threads=2, prefetch_buffer_size=4))


def slow_batch(f):
    source = grain.MapDataset.source(Records()).repeat().map(augment)
    read = grain.ReadOptions(num_threads=0, prefetch_buffer_size=0)
    return source.batch(BATCH, batch_fn=np.stack if f else stack_slowly).to_iter_dataset(read)


def slow_filter(f):
    source = grain.MapDataset.source(Records()).shuffle(seed=1).repeat().map(augment)
    read = grain.ReadOptions(num_threads=1, prefetch_buffer_size=2)
    wanted = (lambda row: True) if f else is_wanted
    return source.filter(wanted).to_iter_dataset(read).batch(BATCH)


def healthy(f):
    source = grain.MapDataset.source(Records()).shuffle(seed=1).repeat().map(augment)
    return source.batch(BATCH).to_iter_dataset(grain.ReadOptions(num_threads=2, prefetch_buffer_size=16))


def drained(f):
    source = grain.MapDataset.source(Records()).repeat().map(f or decode)
    return source.batch(BATCH).to_iter_dataset(grain.ReadOptions(num_threads=1, prefetch_buffer_size=200))


#: kind: its pipeline, seconds of sleep of a step, seconds before the recording, and the label.
KINDS = {
    "sequential_map": (sequential_map, 0.005, 0, ("bound", "map", "decode", "loop")),
    "heavy_python": (heavy_python, 0.005, 0, ("bound", "map", "tokenize", "threads")),
    "worker_processes": (worker_processes, 0.002, 0, ("bound", None, None, "processes")),
    "read_threads": (read_threads, 0.005, 0, ("bound", "source", "__getitem__", "threads")),
    "slow_batch": (slow_batch, 0.005, 0, ("bound", "batch", "stack_slowly", "loop")),
    "slow_filter": (slow_filter, 0.005, 0, ("bound", "filter", "is_wanted", "threads")),
    "healthy": (healthy, 0.05, 1, ("healthy", None, None, "threads")),
    "drained": (drained, 0.01, 9, ("drained", None, None, "threads")),
}

W = jnp.ones((200, 200))


@jax.jit
def step(w, x):
    return jnp.tanh((w + jnp.mean(x)) @ w * 0.001)


def loop(iterator, sleep, w=W):
    waited = 0.0
    begun = time.perf_counter()
    for number in range(STEPS):
        with jax.profiler.StepTraceAnnotation("train", step_num=number):
            asked = time.perf_counter()
            x = next(iterator)
            waited += time.perf_counter() - asked
            w = step(w, x)
            time.sleep(sleep)
            w.block_until_ready()
    length = time.perf_counter() - begun
    return STEPS / length, waited / length


def started(pipeline, seconds):
    iterator = iter(pipeline)
    for _ in range(4):
        step(W, next(iterator)).block_until_ready()
    time.sleep(seconds)
    return iterator


def main(_):
    kind, folder = sys.argv[1], sys.argv[2]
    make, sleep, seconds, (verdict, stage, function, made_by) = KINDS[kind]
    rate, wait = loop(started(make(None), seconds), sleep)
    free_rate, free_wait = loop(started(make(free), 0), sleep)
    iterator = started(make(None), seconds)
    options = jax.profiler.ProfileOptions()
    options.python_tracer_level = 1
    jax.profiler.start_trace(folder, profiler_options=options)
    traced_rate, traced_wait = loop(iterator, sleep)
    jax.profiler.stop_trace()
    label = {
        "verdict": verdict, "stage": stage, "function": function, "made_by": made_by,
        "steps_per_s": round(rate, 1), "wait_share": round(wait, 2),
        "steps_per_s_without_the_stage": round(free_rate, 1), "wait_share_without_it": round(free_wait, 2),
        "recorded_wait_share": round(traced_wait, 2),
    }
    with open(folder + "/label.json", "w") as file:
        json.dump(label, file, indent=1)
        file.write("\n")
    print(kind, label, flush=True)


if __name__ == "__main__":
    from absl import app
    app.run(main)
