"""A training loop that waits for its input: python -m tfdata_doctor examples/train.py says for which line, and why."""

import tensorflow as tf

BATCH = 32


def augment(image):
    """Work for each image: a blur, as a convolution, and some noise."""
    kernel = tf.fill([5, 5, 3, 3], 1.0 / 75)
    image = tf.nn.conv2d(image[tf.newaxis], kernel, strides=1, padding="SAME")[0]
    return image + tf.random.normal(tf.shape(image), stddev=0.05)


def make_dataset():
    """Images that are augmented one after another."""
    dataset = tf.data.Dataset.range(1_000_000)
    dataset = dataset.map(lambda seed: tf.random.stateless_uniform([64, 64, 3], [seed, 0]))
    dataset = dataset.map(augment)
    return dataset.batch(BATCH, drop_remainder=True)


def main():
    """Trains a little."""
    weights = tf.Variable(tf.zeros([64 * 64 * 3, 10]))

    @tf.function
    def train_step(images):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.reshape(images, [BATCH, -1]) @ weights - 1.0))
        weights.assign_sub(1e-5 * tape.gradient(loss, weights))
        return loss

    for step, images in enumerate(make_dataset().take(40)):
        loss = train_step(images)
        if step % 10 == 0:
            print(f"step {step}: loss {float(loss):.4f}")


if __name__ == "__main__":
    main()
