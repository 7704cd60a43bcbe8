"""A pipeline as the guide has it."""

import time

import tensorflow as tf

ds = tf.data.Dataset.range(4096).map(lambda x: x + 1, num_parallel_calls=tf.data.AUTOTUNE)
ds = ds.batch(8).prefetch(tf.data.AUTOTUNE)

total = tf.Variable(0, dtype=tf.int64)
for batch in ds:
    total.assign_add(tf.reduce_sum(batch))
    time.sleep(0.010)
