"""A loop that makes an iterator for every step."""

import time

import tensorflow as tf

import data

fetch = data.waiting(0.004)


def train(steps):
    ds = tf.data.Dataset.range(64).map(fetch, num_parallel_calls=2).batch(4)
    total = tf.Variable(0, dtype=tf.int64)
    for _ in range(steps):
        batch = next(iter(ds))
        total.assign_add(tf.reduce_sum(batch))
        time.sleep(0.010)


train(200)
