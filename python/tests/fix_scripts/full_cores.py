"""A map that computes on all cores already: a parallel one has none to run on."""

import tensorflow as tf


def heavy(x):
    a = tf.random.stateless_uniform([700, 700], [x, 1])
    return tf.reduce_sum(a @ a)


ds = tf.data.Dataset.range(100_000).map(heavy).batch(2)

total = tf.Variable(0.0)
for number, batch in enumerate(ds):
    total.assign_add(tf.reduce_sum(batch))
    if number == 300:
        break
