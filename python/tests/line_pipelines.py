# ruff: noqa: ARG001
"""Pipelines of many kinds. `#:` marks a line that makes datasets, with what it calls for them."""

import functools
import pathlib

import tensorflow as tf

AUTOTUNE = tf.data.AUTOTUNE


def increment(x):
    return x + 1


def augmented(dataset):
    return dataset.map(increment)  #: map


def chain(folder):
    dataset = tf.data.Dataset.range(20)  #: range
    dataset = dataset.filter(lambda x: x > 2)  #: filter
    dataset = dataset.map(increment, num_parallel_calls=2)  #: map
    dataset = dataset.batch(4)  #: batch
    return dataset.prefetch(2)  #: prefetch


def one_line(folder):
    return tf.data.Dataset.range(9).map(increment).map(lambda x: 2 * x).batch(3)  #: range map batch


def chain_in_brackets(folder):
    return (
        tf.data.Dataset.range(20)  #: range
        .map(increment)  #: map
        .skip(1)  #: skip
        .shard(2, 0)  #: shard
        .take(8)  #: take
        .enumerate()  #: enumerate
    )


def arguments_on_lines_of_their_own(folder):
    dataset = tf.data.Dataset.from_tensor_slices(  #: from_tensor_slices
        [1, 2, 3],
    )
    return dataset.map(  #: map
        increment,
        num_parallel_calls=AUTOTUNE,
    )


def lambda_that_makes_datasets(folder):
    dataset = tf.data.Dataset.range(3)  #: range
    return dataset.flat_map(lambda x: tf.data.Dataset.range(x).map(increment))  #: range map flat_map


def lambda_of_several_lines(folder):
    dataset = tf.data.Dataset.range(3)  #: range
    return dataset.interleave(  #: interleave
        lambda x: (
            tf.data.Dataset.from_tensors(x)  #: from_tensors
            .repeat(2)  #: repeat
            .map(lambda y: y * 2)  #: map
        ),
        cycle_length=2,
        num_parallel_calls=2,
    )


def function_with_branches(folder):
    def inner(x):
        if x > 1:
            x = x + 1
        dataset = tf.data.Dataset.from_tensors(x)  #: from_tensors
        return dataset.map(increment)  #: map

    return tf.data.Dataset.range(3).flat_map(inner)  #: range flat_map


def helper_called_twice(folder):
    first = augmented(tf.data.Dataset.range(3))  #: range
    second = augmented(tf.data.Dataset.range(4))  #: range
    return first.concatenate(second)  #: concatenate


def loop(folder):
    dataset = tf.data.Dataset.range(3)  #: range
    for factor in (2, 3):
        dataset = dataset.map(functools.partial(tf.math.multiply, tf.constant(factor, tf.int64)))  #: map
    return dataset


def comprehension(folder):
    parts = [tf.data.Dataset.range(count) for count in (3, 4)]  #: range
    return tf.data.Dataset.zip(tuple(parts))  #: zip


def records(folder):
    paths = []
    for number in range(2):
        paths.append(str(folder / f"{number}.tfrecord"))
        with tf.io.TFRecordWriter(paths[-1]) as writer:
            writer.write(b"record")
    return tf.data.TFRecordDataset(paths, num_parallel_reads=2)  #: TFRecordDataset


def files(folder):
    for number in range(2):
        (folder / f"{number}.txt").write_text("a\nb\n")
    dataset = tf.data.Dataset.list_files(str(folder / "*.txt"), shuffle=False)  #: list_files
    return dataset.interleave(tf.data.TextLineDataset, num_parallel_calls=2)  #: interleave


def generator(folder):
    def numbers():
        yield from range(3)

    dataset = tf.data.Dataset.from_generator(numbers, output_types=tf.int32)  #: from_generator
    return dataset.map(increment)  #: map


def mixture(folder):
    parts = [tf.data.Dataset.range(3), tf.data.Dataset.range(4)]  #: range
    return tf.data.Dataset.sample_from_datasets(parts, seed=1)  #: sample_from_datasets


def windows(folder):
    dataset = tf.data.Dataset.range(6)  #: range
    dataset = dataset.window(2)  #: window
    return dataset.flat_map(lambda window: window.batch(2))  #: batch flat_map


def buckets(folder):
    dataset = tf.data.Dataset.range(1, 7).map(lambda x: tf.ones([x]))  #: range map
    dataset = dataset.bucket_by_sequence_length(lambda x: tf.shape(x)[0], [3], [2, 2])  #: bucket_by_sequence_length
    return dataset.unbatch()  #: unbatch


def epochs(folder):
    dataset = tf.data.Dataset.range(5).cache()  #: range cache
    dataset = dataset.shuffle(5, seed=1).repeat(2)  #: shuffle repeat
    return dataset.padded_batch(2)  #: padded_batch


def transformations_of_the_user(folder):
    def transformation(dataset):
        return dataset.scan(0 * tf.ones([], tf.int64), lambda s, x: (s + x, s + x))  #: scan

    dataset = tf.data.Dataset.range(5).apply(transformation)  #: range
    return dataset.take_while(lambda x: x < 9)  #: take_while


class Input:
    def __init__(self, count):
        self.dataset = tf.data.Dataset.range(count)  #: range

    def batches(self):
        return self.dataset.batch(2)  #: batch


def method_of_a_class(folder):
    return Input(4).batches()


@tf.function
def total():
    dataset = tf.data.Dataset.range(4)  #: range
    dataset = dataset.map(increment)  #: map
    return dataset.reduce(tf.constant(0, tf.int64), lambda a, b: a + b)


def inside_of_a_function(folder):
    return tf.data.Dataset.from_tensors(total())  #: from_tensors


def images(folder):
    for kind in ("cat", "dog"):
        (folder / kind).mkdir()
        pixels = tf.zeros([4, 4, 3], tf.uint8)
        tf.io.write_file(str(folder / kind / "1.png"), tf.io.encode_png(pixels))
    make = tf.keras.utils.image_dataset_from_directory
    dataset = make(str(folder), image_size=(4, 4), batch_size=2, shuffle=False)  #: image_dataset_from_directory
    return dataset.map(lambda image, _: image)  #: map


def series(folder):
    make = tf.keras.utils.timeseries_dataset_from_array
    return make(list(range(9)), None, sequence_length=3, batch_size=2)  #: timeseries_dataset_from_array


def table(folder):
    path = pathlib.Path(folder, "table.csv")
    path.write_text("a,b\n1,2\n3,4\n")
    make = tf.data.experimental.make_csv_dataset
    dataset = make(str(path), 2, num_epochs=1, shuffle=False)  #: make_csv_dataset
    return dataset.map(lambda row: row["a"])  #: map


#: Each with the function in whose lines its datasets are made, where that is not the pipeline itself.
PIPELINES = {
    chain: [],
    one_line: [],
    chain_in_brackets: [],
    arguments_on_lines_of_their_own: [],
    lambda_that_makes_datasets: [],
    lambda_of_several_lines: [],
    function_with_branches: [],
    helper_called_twice: [augmented],
    loop: [],
    comprehension: [],
    records: [],
    files: [],
    generator: [],
    mixture: [],
    windows: [],
    buckets: [],
    epochs: [],
    transformations_of_the_user: [],
    method_of_a_class: [Input],
    inside_of_a_function: [total.python_function],
    images: [],
    series: [],
    table: [],
}
