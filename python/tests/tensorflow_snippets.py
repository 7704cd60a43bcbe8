"""Every piece of code that a rule advises, executed with real TensorFlow.

scripts/check-python runs it with the newest one; scripts/check-snippets with older ones, back to TF 1.15 in a graph and
Python 3.7, and hands over the code as advice spells it for that version: DOCTOR_SNIPPETS is a file of {code: path}.
"""

import contextlib
import importlib.util
import json
import os
import tempfile
import unittest
from pathlib import Path

import numpy as np
import tensorflow as tf

VERSION = tuple(map(int, tf.__version__.split(".")[:2]))
#: What has no counterpart in older versions, and the first version that has it: who runs an older one sees no such
#: thing in her trace, or reads which version it needs.
NEEDS = {
    "tf.profiler.experimental": (2, 2),
    "tf.summary.record_if": (2, 0),
    "mixed_precision": (2, 0),
    "mixed_precision.LossScaleOptimizer": (2, 4),
    "steps_per_execution": (2, 4),
    "autotune_ram_budget": (2, 4),
    "tf.data.experimental.service.distribute": (2, 3),
    "compression=": (2, 5),
    "experimental_per_replica_buffer_size": (2, 5),
    "experimental_enable_async_checkpoint": (2, 9),
    "batches.workers": (2, 16),
}
#: What no longer is there, and the first version without it: advice of traces that Keras 2 made.
GONE = {"fit(batches, workers=": (2, 16)}


def _snippets():
    given = os.environ.get("DOCTOR_SNIPPETS")
    if given:
        return json.loads(Path(given).read_text())
    from .snippets import all_snippets

    return all_snippets()


def _needs(code):
    """The version that the code needs beyond its spelling."""
    return max((since for name, since in NEEDS.items() if name in code), default=(1, 15))


def _fits(code):
    """Whether this version has all that the code uses."""
    return _needs(code) <= VERSION and all(gone > VERSION for name, gone in GONE.items() if name in code)


def _batches():
    """What Keras calls for a batch, by its number."""
    kind = tf.keras.utils.PyDataset if VERSION >= (2, 16) else tf.keras.utils.Sequence

    class Batches(kind):
        def __len__(self):
            return 4

        def __getitem__(self, index):
            return np.zeros([4, 2], np.float32), np.zeros([4, 1], np.float32)

    return Batches()


def _files(folder):
    """Names of files as a user has them: records, and CSV with a line of titles."""
    names = []
    for number in range(4):
        name = str(folder / f"part-{number}.tfrecord")
        with tf.io.TFRecordWriter(name) as writer:
            for _ in range(8):
                writer.write(tf.train.Example().SerializeToString())
        (folder / f"part-{number}.csv").write_text("a,b\n" + "1,2\n" * 8)
        names.append(name)
    return names


def _model():
    model = tf.keras.Sequential([tf.keras.layers.Input([2]), tf.keras.layers.Dense(1)])
    model.compile(loss="mse", optimizer="sgd")
    return model


def names_for(code, folder, service):
    """What the user's names in the code are: the simplest things that fit."""
    files = _files(folder)
    dataset = tf.data.Dataset.from_tensor_slices(tf.reshape(tf.range(64.0), [32, 2]))
    if "parse_example" in code:
        dataset = tf.data.Dataset.from_tensor_slices([tf.train.Example().SerializeToString()] * 32)
    same = lambda *values: values[0] if len(values) == 1 else values  # noqa: E731
    makes_dataset = lambda *values: tf.data.Dataset.from_tensors(values[0])  # noqa: E731
    first_length = lambda x: tf.shape(x)[0]  # noqa: E731
    has_dataset_of_files = "filenames.interleave" in code
    return {
        "tf": tf,
        "dataset": dataset,
        "source": lambda: dataset,
        "f": makes_dataset if "interleave(f" in code or "flat_map(f" in code else same,
        **dict.fromkeys(["function", "f_in_tf_ops", "f_on_batches", "f_of_batches", "load", "augment"], same),
        **dict.fromkeys(["decode", "parse", "time_consuming", "memory_consuming"], same),
        "predicate": lambda x: tf.reduce_all(x >= 0, axis=-1),
        "length": first_length,
        "element_length": first_length,
        "boundaries": [4],
        "bucket_boundaries": [4],
        "batch_sizes": [2, 2],
        "bucket_batch_sizes": [2, 2],
        "class_func": lambda x: tf.cast(x[0] / 2, tf.int32) % 2,
        "target_dist": [0.5, 0.5],
        "key_func": lambda _: tf.constant(0, tf.int64),
        "reduce_func": lambda _, window: window.batch(2),
        "filenames": tf.data.Dataset.from_tensor_slices(files) if has_dataset_of_files else files,
        "filename": str(folder / "cache" / "new"),
        "file_pattern": str(folder / ("*.csv" if "csv" in code else "*.tfrecord")),
        "filenames_to_dataset": lambda names: names.interleave(tf.data.TFRecordDataset),
        "manifest": str(folder / "manifest.txt"),
        "generate": lambda: [tf.train.Example()],
        **dict.fromkeys(["generate_batches", "generate_raw"], lambda: iter([np.zeros([4, 2], np.float32)])),
        "signature": tf.TensorSpec([4, 2], tf.float32),
        "types": tf.float32,
        "parts": [0, 1],
        "dataset_of_part": lambda _: dataset,
        "dataset_of_file": lambda _: dataset,
        "data": tf.range(100),
        "series": tf.range(100),
        "make": lambda: dataset,
        **dict.fromkeys(["x", "y"], tf.range(100)),
        "features": {"x": tf.io.FixedLenFeature([], tf.float32, 0.0)},
        "window_size": 5,
        "count": 40,
        **dict.fromkeys(["n", "batch_size", "calls", "cores", "NUM_SHARDS", "steps", "steps_per_epoch"], 4),
        "buffer_size": 16,
        "ram_bytes": 2**30,
        "step": 0,
        "batch": tf.zeros([4, 2]),
        "train_step": lambda *_: None,
        "batches": _batches(),
        "images": tf.zeros([2, 8, 8, 3], tf.uint8),
        "device": "/cpu:0",
        "strategy": tf.distribute.OneDeviceStrategy("/cpu:0"),
        "model": _model(),
        "optimizer": tf.keras.optimizers.SGD(),
        "checkpoint": tf.train.Checkpoint(),
        "path": str(folder / "checkpoint"),
        "service": service,
        **dict.fromkeys(["logdir", "log_dir"], str(folder / "logs")),
        "session": tf.compat.v1.Session() if VERSION < (2, 0) else None,
        "options": tf.data.Options(),
        "loss": 0.5,
        "num_hosts": 2,
        "host_index": 0,
        "os": os,
    }


def _take_one(dataset):
    if VERSION >= (2, 0):
        next(iter(dataset))
        return
    iterator = tf.compat.v1.data.make_initializable_iterator(dataset)
    element = iterator.get_next()
    # The advice may name a GPU.
    with tf.compat.v1.Session(config=tf.compat.v1.ConfigProto(allow_soft_placement=True)) as session:
        session.run([tf.compat.v1.tables_initializer(), iterator.initializer])
        session.run(element)


def _policy(name):
    policies = tf.keras.mixed_precision
    (policies.set_global_policy if VERSION >= (2, 4) else policies.experimental.set_policy)(name)


def _service():
    """A dispatcher and its worker; the second is kept alive by the first."""
    if VERSION < (2, 4):
        return None
    service = tf.data.experimental.service
    dispatcher = service.DispatchServer()
    address = dispatcher.target.split("://")[1]
    dispatcher.its_worker = service.WorkerServer(service.WorkerConfig(dispatcher_address=address))
    return dispatcher


def execute(code, folder, service):
    """Runs the code, and takes an element of the dataset that it makes."""
    (folder / "cache").mkdir()
    names = names_for(code, folder, service)
    before = names["dataset"]
    try:
        if "grain." in code:
            import grain

            names["grain"], names["dataset"] = grain, grain.MapDataset.range(8).to_iter_dataset()
            return exec(compile(code, "advice", "exec"), names)
        if "jax." in code:
            import jax

            exec(compile(code, "advice", "exec"), {**names, "jax": jax})
            return jax.profiler.stop_trace()
        exec(compile(code, "advice", "exec"), names)
        if "batches.workers" in code:
            if VERSION < (2, 16):
                raise AttributeError("Keras 2 takes the number of workers in fit")
            names["model"].fit(names["batches"], verbose=0)
        made = names["dataset"]
        if made is not before:
            _take_one(made)
    finally:
        if "mixed_precision" in code:
            _policy("float32")
        if "profiler.experimental.start" in code:
            with contextlib.suppress(tf.errors.UnavailableError):  # stopped by the code itself
                tf.profiler.experimental.stop(save=False)


class SnippetsTest(unittest.TestCase):
    def test_every_snippet_runs(self):
        snippets = _snippets()
        self.assertGreater(len(snippets), 80)
        dispatcher = _service()
        executed = 0
        for code, path in snippets.items():
            if any(name in code and importlib.util.find_spec(name[:-1]) is None for name in ("jax.", "grain.")):
                continue  # of other libraries
            if "tf.summary.scalar" in code and importlib.util.find_spec("tensorboard") is None:
                continue  # it is TensorBoard's
            graph = tf.Graph().as_default() if VERSION < (2, 0) else contextlib.ExitStack()
            with self.subTest(path=str(path), code=code), tempfile.TemporaryDirectory() as folder, graph:
                service = dispatcher.target if dispatcher else ""
                if not _fits(code):
                    # It is not there, or this table is wrong.
                    with self.assertRaises((AttributeError, TypeError, ValueError, RuntimeError)):
                        execute(code, Path(folder), service)
                    continue
                execute(code, Path(folder), service)
                executed += 1
        print(f"TensorFlow {tf.__version__}: {executed} of {len(snippets)} executed")


if __name__ == "__main__":
    unittest.main()
