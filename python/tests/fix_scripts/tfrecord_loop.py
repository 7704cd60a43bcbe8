"""A loop of its own over TFRecord files."""

import time

import tensorflow as tf

import data

fetch = data.waiting(0.004)
FEATURES = {"x": tf.io.FixedLenFeature([16], tf.float32), "y": tf.io.FixedLenFeature([], tf.int64)}


def parse(record):
    example = tf.io.parse_single_example(record, FEATURES)
    return fetch(example["x"]), example["y"]


files = tf.data.Dataset.list_files(data.records(), shuffle=False)
train = files.interleave(tf.data.TFRecordDataset, cycle_length=2)
train = train.map(parse).shuffle(64, seed=1)
train = train.batch(8, drop_remainder=True)

weights = tf.Variable(tf.zeros([16, 3]))
for epoch in range(5):
    for x, y in train:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, x @ weights))
        weights.assign_sub(0.01 * tape.gradient(loss, weights))
        time.sleep(0.005)
