"""A filter that asks a service."""

import time

import tensorflow as tf

import data

ask = data.waiting(0.005)

ds = tf.data.Dataset.range(1_000_000).filter(lambda x: ask(x) % 4 != 0)
ds = ds.batch(4)

total = tf.Variable(0, dtype=tf.int64)
for number, batch in enumerate(ds):
    total.assign_add(tf.reduce_sum(batch))
    time.sleep(0.004)
    if number == 250:
        break
