"""Records the programs of this folder and measures changes of them, in turns with the program as it is.

    python programs.py FOLDER [NAME ...]

Writes FOLDER/NAME/host.xplane.pb.gz, a trace of the program as it is, and FOLDER/NAME/truth.json, whose `effects` has
for each change the median of the factors by which it made the program faster, and in `effect_ranges` the lowest and the
highest of them. Neither is traced. What stands for reading and for a service sleeps, so that the rates depend little on
what else the machine does.
"""

import dataclasses
import gzip
import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from typing import Any, Callable

os.environ['TF_CPP_MIN_LOG_LEVEL'] = '3'

import numpy as np
import tensorflow as tf

TURNS = 3
SECONDS = 1
Dataset = tf.data.Dataset
AUTOTUNE = tf.data.AUTOTUNE


def waiting(milliseconds):
    """A function that waits for each element, as one that asks a service does."""

    def wait(value):
        time.sleep(milliseconds / 1000)
        return value

    return lambda x: tf.ensure_shape(tf.numpy_function(wait, [x], tf.int64), [])


def sorting(count):
    """A function that keeps one core busy."""
    return lambda x: tf.sort(tf.sin(tf.range(count, dtype=tf.float32) * tf.cast(x + 1, tf.float32)))[0]


def loop(make, step_ms):
    """Epochs of a dataset, with a step that runs elsewhere."""

    def run(change, is_over):
        dataset = make(change)
        number = 0
        while True:
            for _ in dataset:
                with tf.profiler.experimental.Trace('train', step_num=number, _r=1):
                    time.sleep(step_ms / 1000)
                number += 1
                if is_over():
                    return

    return run


@dataclasses.dataclass
class Program:
    run: Callable[[Any, Callable[[], bool]], None]  # the program with a change (None: as it is), until it is over
    changes: list  # in the words that scripts/advice-accuracy knows
    culprit: str  # a pattern of the culprit's long name
    note: str
    warmup: int = 8  # steps before it is traced or measured
    steps: int = 24  # steps that are traced


def parallel(change, *words):
    return AUTOTUNE if change in words else None


PARALLEL = 'num_parallel_calls=AUTOTUNE on the slow step'
FOUR = 'num_parallel_calls=4 and private_threadpool_size=4'
POOL = 'num_parallel_calls=8 and private_threadpool_size=8'
SAME_POOL = 'num_parallel_calls=8, pool as it is'
PREFETCH = 'prefetch(AUTOTUNE) at the end'
CACHE = 'cache() after the slow step'
EARLY_CACHE = 'cache() before the random map'
FILTER = 'filter() before the map'
SKIP = 'skip() before the map'
ONCE = 'one iterator, made before the loop'
PREDICATE = 'predicate in a parallel map before the filter'
DEEPER = 'a prefetch buffer of 13'
PREFETCH_BELOW = 'prefetch(AUTOTUNE) before the slow step'
INTERLEAVE = 'interleave(num_parallel_calls=AUTOTUNE) in place of flat_map'
BATCH_FIRST = 'batch() before the map, which parses whole batches'
INNER = 'num_parallel_calls=AUTOTUNE on the map inside of the interleave'
GENERATORS = 'two generators: interleave(num_parallel_calls=AUTOTUNE) in place of flat_map'
IN_TF = 'what the generator computes as ops in a map(num_parallel_calls=AUTOTUNE)'
YIELD_BATCHES = 'a generator that yields whole batches'
INDICES = 'indices shuffled and batched, then tf.gather'
SLICES = 'range().batch().map() that gathers windows, in place of window().flat_map()'
COPIES = 'num_parallel_calls=AUTOTUNE on the batch'


def with_pool(dataset, threads):
    options = tf.data.Options()
    options.threading.private_threadpool_size = threads
    return dataset.with_options(options)


def pooled(change, make):
    """`make` with the number of calls, on a pool that is large enough for POOL."""
    calls, threads = {PARALLEL: (AUTOTUNE, None), FOUR: (4, 4), POOL: (8, 8), SAME_POOL: (8, None)}.get(
        change, (None, None)
    )
    dataset = make(calls)
    return with_pool(dataset, threads) if threads else dataset


def ended(dataset, change):
    """TensorFlow adds a prefetch by itself, if it may."""
    if change == PREFETCH:
        return dataset.prefetch(AUTOTUNE)
    options = tf.data.Options()
    options.experimental_optimization.inject_prefetch = False
    return dataset.with_options(options)


def sequential_map(change):
    return pooled(
        change, lambda calls: Dataset.range(10**9).map(waiting(4), num_parallel_calls=calls).batch(4).prefetch(2)
    )


def no_prefetch(change):
    return ended(Dataset.range(10**9).map(waiting(6)), change)


def two_maps(change):
    dataset = Dataset.range(10**9).map(waiting(1))
    dataset = dataset.prefetch(AUTOTUNE) if change == PREFETCH_BELOW else dataset
    return pooled(change, lambda calls: dataset.map(waiting(5), num_parallel_calls=calls).batch(2).prefetch(2))


def eight_at_once(shard, change):
    return pooled(
        change,
        lambda calls: Dataset.range(8).interleave(shard, cycle_length=8, num_parallel_calls=calls).batch(4).prefetch(2),
    )


def shards(change):
    return eight_at_once(lambda _: Dataset.range(10**6).map(waiting(4)), change)


def shards_of_generators(change):
    def one():
        for number in range(10**6):
            time.sleep(0.004)
            yield number

    def shard(_):
        return Dataset.from_generator(one, output_signature=tf.TensorSpec((), tf.int64))

    return eight_at_once(shard, change)


def generator(change):
    def elements():
        for number in range(10**6):
            time.sleep(0.007)
            yield number

    return ended(Dataset.from_generator(elements, output_signature=tf.TensorSpec((), tf.int64)), change)


def zipped(change):
    labels = Dataset.range(10**9).map(lambda x: x % 10)

    def make(calls):
        images = Dataset.range(10**9).map(waiting(5), num_parallel_calls=calls)
        return Dataset.zip((images, labels)).batch(2).prefetch(2)

    return pooled(change, make)


def filter_after_map(change):
    dataset = Dataset.range(10**9)
    keep = lambda x: x % 4 == 0
    dataset = dataset.filter(keep) if change == FILTER else dataset
    dataset = dataset.map(waiting(3), num_parallel_calls=parallel(change, PARALLEL))
    dataset = dataset if change == FILTER else dataset.filter(keep)
    return dataset.batch(2).prefetch(2)


def skip_after_map(change):
    dataset = Dataset.range(120)
    dataset = dataset.skip(60) if change == SKIP else dataset
    dataset = dataset.map(waiting(3), num_parallel_calls=4 if change == FOUR else 2)
    dataset = dataset if change == SKIP else dataset.skip(60)
    dataset = dataset.batch(4).prefetch(2)
    return with_pool(dataset, 4) if change == FOUR else dataset


def epochs_of_few(change):
    dataset = Dataset.range(48)
    dataset = dataset.map(waiting(4), num_parallel_calls=parallel(change, PARALLEL))
    dataset = dataset.cache() if change == CACHE else dataset
    return dataset.batch(4).prefetch(2)


def random_after_decode(change):
    calls = {PARALLEL: AUTOTUNE, FOUR: 4}.get(change, 2)
    dataset = Dataset.range(48).map(waiting(4), num_parallel_calls=calls)
    dataset = dataset.cache() if change == EARLY_CACHE else dataset
    dataset = dataset.map(lambda x: tf.cast(x, tf.float32) + tf.random.uniform(()), num_parallel_calls=2)
    dataset = dataset.batch(4).prefetch(2)
    return with_pool(dataset, 4) if change == FOUR else dataset


def compute_epochs(change):
    dataset = Dataset.range(48).map(sorting(30_000))
    dataset = dataset.cache() if change == CACHE else dataset
    return dataset.batch(4).prefetch(2)


def compute_random(change):
    """TensorFlow runs no random function in parallel by itself."""
    sort = sorting(30_000)
    dataset = Dataset.range(10**9)
    dataset = dataset.map(lambda x: sort(x) + tf.random.uniform(()), num_parallel_calls=parallel(change, PARALLEL))
    return dataset.batch(4).prefetch(2)


def one_slow_source(change):
    def make(calls):
        slow = Dataset.range(10**9).map(waiting(12), num_parallel_calls=calls)
        fast = Dataset.range(10**9).map(lambda x: x + 1)
        return Dataset.sample_from_datasets([fast, slow], [0.7, 0.3], seed=1).batch(4).prefetch(2)

    return pooled(change, make)


def slow_predicate(change):
    ask = waiting(3)
    dataset = Dataset.range(10**9)
    if change == PREDICATE:
        dataset = dataset.map(lambda x: (x, ask(x) % 3 != 0), num_parallel_calls=AUTOTUNE)
        dataset = dataset.filter(lambda x, keeps: keeps).map(lambda x, keeps: x)
    else:
        dataset = dataset.filter(lambda x: ask(x) % 3 != 0)
    return dataset.batch(2).prefetch(2)


def small_pool(change):
    dataset = Dataset.range(10**9).map(waiting(6), num_parallel_calls={FOUR: 4, POOL: 8, SAME_POOL: 8}.get(change, 2))
    return with_pool(dataset.batch(4).prefetch(2), {FOUR: 4, POOL: 8}.get(change, 2))


def rare_slow(change):
    def wait(value):
        time.sleep(0.060 if value % 16 == 15 else 0.002)
        return value

    dataset = Dataset.range(10**9)
    dataset = dataset.map(
        lambda x: tf.ensure_shape(tf.numpy_function(wait, [x], tf.int64), []),
        num_parallel_calls=parallel(change, PARALLEL),
    )
    return dataset.prefetch(13 if change == DEEPER else 2)


def made_for_each_step(change, is_over):
    dataset = Dataset.range(10**6).map(waiting(2)).batch(2).prefetch(2)
    iterator = iter(dataset)
    for number in range(10**6):
        with tf.profiler.experimental.Trace('train', step_num=number, _r=1):
            next(iterator if change == ONCE else iter(dataset))
            time.sleep(0.006)
        if is_over():
            return


class EndOfTurn(tf.keras.callbacks.Callback):
    def __init__(self, is_over):
        super().__init__()
        self._is_over = is_over

    def on_train_batch_end(self, batch, logs=None):
        if self._is_over():
            self.model.stop_training = True
            raise StopIteration


def fit(make):
    """Keras trains a model that takes next to no time."""

    def run(change, is_over):
        model = tf.keras.Sequential([tf.keras.layers.Dense(4), tf.keras.layers.Dense(1)])
        model.compile('sgd', 'mse')
        try:
            model.fit(make(change), epochs=10**4, verbose=0, callbacks=[EndOfTurn(is_over)])
        except StopIteration:
            pass

    return run


def as_example(x):
    value = tf.cast(x, tf.float32)
    return tf.stack([value, value + 1]), tf.reshape(value, [1])


def keras_map(change):
    return pooled(
        change,
        lambda calls: (
            Dataset.range(4000).map(waiting(3), num_parallel_calls=calls).map(as_example).batch(8).prefetch(2)
        ),
    )


def keras_epochs(change):
    dataset = Dataset.range(64).map(waiting(2), num_parallel_calls=parallel(change, PARALLEL)).map(as_example)
    dataset = dataset.cache() if change == CACHE else dataset
    return dataset.shuffle(32).batch(8).prefetch(2)


def files_in_turn(change):
    folder = os.path.join(tempfile.gettempdir(), f'advice-lines-{os.getpid()}')
    os.makedirs(folder, exist_ok=True)
    paths = [os.path.join(folder, f'{number}.txt') for number in range(4)]
    for path in paths:
        if not os.path.exists(path):
            with open(path, 'w', encoding='utf-8') as file:
                file.write('\n'.join(map(str, range(200))))
    numbers = Dataset.from_tensor_slices(paths).repeat().flat_map(tf.data.TextLineDataset)
    parse = lambda line: waiting(4)(tf.strings.to_number(line, tf.int64))
    return pooled(change, lambda calls: numbers.map(parse, num_parallel_calls=calls).shuffle(16).batch(4).prefetch(2))


def windows(change):
    dataset = Dataset.range(10**9).map(waiting(2), num_parallel_calls=parallel(change, PARALLEL))
    dataset = dataset.window(4, shift=2, drop_remainder=True)
    if change == INTERLEAVE:
        dataset = dataset.interleave(lambda part: part.batch(4), num_parallel_calls=AUTOTUNE)
    else:
        dataset = dataset.flat_map(lambda part: part.batch(4))
    return dataset.batch(2).prefetch(2)


def refilled_shuffle(change):
    dataset = Dataset.range(60).map(waiting(3), num_parallel_calls=parallel(change, PARALLEL))
    dataset = dataset.cache() if change == CACHE else dataset
    return dataset.shuffle(40).batch(4).prefetch(2)


def parse_each(change):
    """A batch of records that each parse for themselves, or all at once."""
    features = {f'feature{number}': tf.io.FixedLenFeature([], tf.float32) for number in range(16)}
    values = {name: tf.train.Feature(float_list=tf.train.FloatList(value=[0.5])) for name in features}
    record = tf.train.Example(features=tf.train.Features(feature=values)).SerializeToString()
    records = Dataset.from_tensor_slices([record] * 128).repeat()
    if change == BATCH_FIRST:
        return records.batch(64).map(lambda batch: tf.io.parse_example(batch, features)).prefetch(2)
    calls = parallel(change, PARALLEL)
    return records.map(lambda one: tf.io.parse_single_example(one, features), num_parallel_calls=calls).batch(64).prefetch(2)


def slow_opening(change):
    """Files that take long to open: what is inside of the interleave makes one element of each."""

    def read(number):
        opened = Dataset.from_tensors(number).map(waiting(16), num_parallel_calls=parallel(change, INNER))
        return opened.flat_map(lambda first: Dataset.range(first, first + 4))

    calls = parallel(change, PARALLEL)
    return Dataset.range(10**6).interleave(read, cycle_length=4, num_parallel_calls=calls).batch(4).prefetch(2)


IMAGE = np.random.default_rng(0).random((192, 192, 3), dtype=np.float32)
IMAGE_SPEC = tf.TensorSpec(IMAGE.shape, tf.float32)


def computing_generator(change):
    """A generator that augments in Python and numpy, which keeps Python's lock."""

    def load():
        for _ in range(10**6):
            yield IMAGE

    def augment():
        for image in load():
            for shift in range(6):
                image = np.clip(image[::-1, ::-1] * 1.01 - 0.001 * shift, 0, 1)
                sum(number * shift for number in range(4000))
            yield image

    if change == GENERATORS:
        dataset = Dataset.range(2).interleave(
            lambda _: Dataset.from_generator(augment, output_signature=IMAGE_SPEC),
            cycle_length=2,
            num_parallel_calls=AUTOTUNE,
        )
    elif change == IN_TF:
        flip = lambda image, shift: tf.clip_by_value(image[::-1, ::-1] * 1.01 - 0.001 * shift, 0, 1)

        def augmented(image):
            for shift in range(6):
                image = flip(image, shift)
            return image

        dataset = Dataset.from_generator(load, output_signature=IMAGE_SPEC).map(augmented, num_parallel_calls=AUTOTUNE)
    else:
        dataset = Dataset.from_generator(augment, output_signature=IMAGE_SPEC)
    return dataset.batch(4).prefetch(2)


def tiny_generator(change):
    """Rows of an array, each of which costs a call into Python."""
    rows = np.random.default_rng(0).random((4096, 8), dtype=np.float32)

    def one_by_one():
        for number in range(10**9):
            yield rows[number % 4096]

    def batches():
        for first in range(0, 10**9, 32):
            yield rows[first % 4096 : first % 4096 + 32]

    if change == YIELD_BATCHES:
        spec = tf.TensorSpec((32, 8), tf.float32)
        return Dataset.from_generator(batches, output_signature=spec).prefetch(2)
    spec = tf.TensorSpec((8,), tf.float32)
    return Dataset.from_generator(one_by_one, output_signature=spec).batch(32).prefetch(2)


def array_rows(change):
    """An array in memory, cut into rows, shuffled and put together again."""
    count = 50_000
    data, labels = tf.random.uniform((count, 16)), tf.random.uniform((count,))
    if change == INDICES:
        pick = lambda rows: (tf.gather(data, rows), tf.gather(labels, rows))
        rows = Dataset.range(count).shuffle(count).repeat().batch(512)
        return rows.map(pick, num_parallel_calls=AUTOTUNE).prefetch(2)
    dataset = Dataset.from_tensor_slices((data, labels)).shuffle(count).repeat()
    return dataset.batch(512, num_parallel_calls=parallel(change, COPIES)).prefetch(2)


def sliding_windows(change):
    """All windows of a series, each a dataset of its own or a slice."""
    series = tf.random.uniform((10**5, 4))
    if change == SLICES:
        rows = Dataset.range(10**5 - 24).batch(16)
        pick = lambda first: tf.gather(series, first[:, None] + tf.range(24, dtype=tf.int64))
        return rows.map(pick, num_parallel_calls=AUTOTUNE).prefetch(2)
    windows = Dataset.from_tensor_slices(series).window(24, shift=1, drop_remainder=True)
    if change == INTERLEAVE:
        windows = windows.interleave(lambda part: part.batch(24), num_parallel_calls=AUTOTUNE)
    else:
        windows = windows.flat_map(lambda part: part.batch(24))
    return windows.batch(16).prefetch(2)


PROGRAMS = {
    'sequential_map': Program(loop(sequential_map, 5), [PARALLEL, POOL], 'Map(AndBatch)?$', 'a map that asks a service'),
    'no_prefetch': Program(loop(no_prefetch, 7), [PREFETCH], 'Map', 'loading and training in turn'),
    'two_maps': Program(loop(two_maps, 3), [PARALLEL, PREFETCH_BELOW], 'Map(AndBatch)?$', 'the second of two maps is slow'),
    'shards': Program(loop(shards, 5), [PARALLEL, POOL], 'Map', 'an interleave over shards, one after the other'),
    'generators': Program(
        loop(shards_of_generators, 4), [PARALLEL, POOL], 'Generator|FlatMap|Interleave', 'an interleave over generators'
    ),
    'generator': Program(loop(generator, 6), [PREFETCH], 'Generator|FlatMap', 'a generator in Python that waits'),
    'zipped': Program(loop(zipped, 4), [PARALLEL, POOL], 'Zip.0.::Map', 'slow images beside fast labels'),
    'filter_after_map': Program(loop(filter_after_map, 4), [FILTER, PARALLEL], 'Map', 'a map of what is then dropped'),
    'skip_after_map': Program(
        loop(skip_after_map, 2), [SKIP, FOUR], 'Map', 'a validation split made after the map', steps=34
    ),
    'epochs_of_few': Program(loop(epochs_of_few, 2), [PARALLEL, CACHE], 'Map', 'short epochs', 14, 30),
    'random_after_decode': Program(
        loop(random_after_decode, 1),
        [EARLY_CACHE, FOUR],
        'Map',
        'short epochs, with a random map after the slow one',
        14,
        30,
    ),
    'compute_epochs': Program(loop(compute_epochs, 1), [CACHE], 'Map', 'sorting, in short epochs', 14, 30),
    'compute_random': Program(loop(compute_random, 1), [PARALLEL], 'Map', 'sorting, on one core'),
    'one_slow_source': Program(
        loop(one_slow_source, 3), [PARALLEL, POOL], r'\[1\]::Map', 'one of two sources is slow'
    ),
    'slow_predicate': Program(loop(slow_predicate, 3), [PREDICATE], 'Filter', 'a filter that asks a service'),
    'small_pool': Program(loop(small_pool, 3), [FOUR, SAME_POOL], 'Map', 'two threads of its own'),
    'rare_slow': Program(loop(rare_slow, 4), [DEEPER, PARALLEL], 'Map', 'one of 16 elements takes 60 ms', 20, 64),
    'made_for_each_step': Program(made_for_each_step, [ONCE], 'Map', 'next(iter(dataset)) in the loop'),
    'keras_map': Program(fit(keras_map), [PARALLEL, POOL], 'Map', 'Keras fit', steps=8),
    'keras_epochs': Program(fit(keras_epochs), [PARALLEL, CACHE], 'Map', 'Keras fit, short epochs', 18, 20),
    'files_in_turn': Program(loop(files_in_turn, 4), [PARALLEL, POOL], 'Map', 'files of text, a slow parser'),
    'windows': Program(loop(windows, 3), [PARALLEL, INTERLEAVE], 'Map', 'a sliding window'),
    'parse_each': Program(loop(parse_each, 0.2), [BATCH_FIRST, PARALLEL], 'Map', 'records parsed one by one', 8, 8),
    'slow_opening': Program(
        loop(slow_opening, 2), [PARALLEL, INNER], 'Map', 'an interleave of files that take long to open'
    ),
    'computing_generator': Program(
        loop(computing_generator, 2), [IN_TF, GENERATORS], 'Generator', 'a generator in Python that computes'
    ),
    'tiny_generator': Program(
        loop(tiny_generator, 0.5), [YIELD_BATCHES], 'Generator', 'a generator of small elements', 8, 12
    ),
    'array_rows': Program(
        loop(array_rows, 0.2),
        [INDICES, COPIES],
        'TensorSlice|Shuffle|Batch',
        'rows of an array in memory',
        8,
        10,
    ),
    'sliding_windows': Program(
        loop(sliding_windows, 0.2), [SLICES, INTERLEAVE], 'FlatMap|Window|Batch', 'windows of a series', 8, 12
    ),
    'refilled_shuffle': Program(
        loop(refilled_shuffle, 1), [PARALLEL, CACHE], 'Map', 'a shuffle buffer in short epochs', 16, 32
    ),
}


def rate_of(program, change):
    """Steps/s after the warm-up."""
    begin, count = None, 0

    def is_over():
        nonlocal begin, count
        count += 1
        if count == program.warmup:
            begin = time.perf_counter()
        return begin is not None and count > program.warmup and time.perf_counter() - begin > SECONDS

    program.run(change, is_over)
    return (count - program.warmup) / (time.perf_counter() - begin)


def record(program, path):
    folder = tempfile.mkdtemp()
    count = 0

    def is_over():
        nonlocal count
        count += 1
        if count == program.warmup:
            tf.profiler.experimental.start(
                folder, tf.profiler.experimental.ProfilerOptions(host_tracer_level=2, python_tracer_level=0)
            )
        if count == program.warmup + program.steps:
            tf.profiler.experimental.stop()
        return count >= program.warmup + program.steps

    program.run(None, is_over)
    trace = next(
        os.path.join(root, name) for root, _, names in os.walk(folder) for name in names if name.endswith('.xplane.pb')
    )
    with open(trace, 'rb') as source, gzip.GzipFile(path, 'wb', mtime=0) as target:
        shutil.copyfileobj(source, target)
    shutil.rmtree(folder)


def measure(program):
    rates = {change: [] for change in [None, *program.changes]}
    for _ in range(TURNS):
        for change, found in rates.items():
            found.append(rate_of(program, change))
    base = rates.pop(None)
    factors = {change: [after / before for after, before in zip(found, base)] for change, found in rates.items()}
    return base, factors


def main():
    folder, names = sys.argv[1], sys.argv[2:] or list(PROGRAMS)
    for name in names:
        program = PROGRAMS[name]
        case = os.path.join(folder, name)
        os.makedirs(case, exist_ok=True)
        record(program, os.path.join(case, 'host.xplane.pb.gz'))
        base, factors = measure(program)
        truth = {
            'scenario': name,
            'tf_version': tf.__version__,
            'label': 'input_bound',
            'expect_regex': program.culprit,
            'notes': program.note,
            'steps_per_s': [round(rate, 2) for rate in base],
            'effects': {change: round(statistics.median(found), 3) for change, found in factors.items()},
            'effect_ranges': {
                change: [round(min(found), 3), round(max(found), 3)] for change, found in factors.items()
            },
        }
        with open(os.path.join(case, 'truth.json'), 'w', encoding='utf-8') as file:
            json.dump(truth, file, indent=1)
            file.write('\n')
        print(
            name,
            truth['steps_per_s'],
            truth['effects'],
            os.path.getsize(os.path.join(case, 'host.xplane.pb.gz')),
            flush=True,
        )


if __name__ == '__main__':
    main()
