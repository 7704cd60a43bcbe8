"""Makes the small data sets that the scripts read, below a temporary folder."""

import os
import tempfile
import time

import tensorflow as tf

FOLDER = os.path.join(tempfile.gettempdir(), "tfdata-doctor-fix-scripts")


def _made(name, make):
    """The path of what `make` writes, once."""
    path = os.path.join(FOLDER, name)
    if not os.path.exists(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        partial = f"{path}.{os.getpid()}"
        make(partial)
        os.rename(partial, path)
    return path


def images(count=64, size=64):
    """PNG files."""

    def make(path):
        os.makedirs(path)
        for number in range(count):
            image = tf.cast(tf.random.stateless_uniform((size, size, 3), (number, 1), 0, 255, tf.int32), tf.uint8)
            tf.io.write_file(os.path.join(path, f"{number:03}.png"), tf.io.encode_png(image))

    return os.path.join(_made("png", make), "*.png")


def records(shards=4, each=64):
    """TFRecord files of examples with x and y."""

    def make(path):
        os.makedirs(path)
        for shard in range(shards):
            with tf.io.TFRecordWriter(os.path.join(path, f"{shard}.tfrecord")) as writer:
                for number in range(each):
                    x = tf.train.Feature(float_list=tf.train.FloatList(value=[number / each + i for i in range(16)]))
                    y = tf.train.Feature(int64_list=tf.train.Int64List(value=[number % 3]))
                    writer.write(
                        tf.train.Example(features=tf.train.Features(feature={"x": x, "y": y})).SerializeToString()
                    )

    return os.path.join(_made("records", make), "*.tfrecord")


def lines(files=4, each=64):
    """Text files of numbers with commas between them."""

    def make(path):
        os.makedirs(path)
        for number in range(files):
            with open(os.path.join(path, f"{number}.csv"), "w", encoding="ascii") as file:
                file.writelines(f"{number},{line},{line % 2}\n" for line in range(each))

    return os.path.join(_made("lines", make), "*.csv")


def waiting(seconds):
    """A function of one tensor that waits, as a request to a store does."""

    def wait(value):
        time.sleep(seconds)
        return value

    def function(value):
        same = tf.numpy_function(wait, [value], value.dtype)
        same.set_shape(value.shape)
        return same

    return function
