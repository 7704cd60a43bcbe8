"""Two maps, of which the second is slow, and a validation of the same function."""

import time

import tensorflow as tf

import data

fetch = data.waiting(0.005)


def make(count):
    ds = tf.data.Dataset.range(count)
    ds = ds.map(lambda x: tf.cast(x, tf.float32))
    ds = ds.map(lambda x: fetch(x) * 2.0)
    return ds.batch(4).prefetch(2)


total = tf.Variable(0.0)
for batch in make(1200):
    total.assign_add(tf.reduce_sum(batch))
    time.sleep(0.004)
