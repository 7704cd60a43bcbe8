"""Keras fit from PNG files."""

import keras
import tensorflow as tf

import data

fetch = data.waiting(0.004)


def load(path):
    image = tf.io.decode_png(tf.io.read_file(fetch(path)), channels=3)
    return tf.image.resize(image, (32, 32)) / 255.0, tf.strings.length(path) % 2


train = tf.data.Dataset.list_files(data.images(), shuffle=False)
train = train.map(load)
train = train.shuffle(32, seed=1)
train = train.batch(8)

model = keras.Sequential([keras.Input((32, 32, 3)), keras.layers.Flatten(), keras.layers.Dense(2)])
model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(train, epochs=12, verbose=0)
