"""A Python generator that waits."""

import time

import numpy as np
import tensorflow as tf


def elements():
    for number in range(400):
        time.sleep(0.002)
        yield np.full([8], number, np.float32)


ds = tf.data.Dataset.from_generator(elements, output_signature=tf.TensorSpec([8], tf.float32)).batch(4)
options = tf.data.Options()
options.experimental_optimization.inject_prefetch = False
ds = ds.with_options(options)

total = tf.Variable(0.0)
for epoch in range(3):
    for batch in ds:
        total.assign_add(tf.reduce_sum(batch))
        time.sleep(0.008)
