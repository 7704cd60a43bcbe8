"""What records, with real TensorFlow: scripts/check-python runs it."""

import importlib.metadata
import json
import tempfile
import unittest
from pathlib import Path

import tfdata_doctor

from . import support

PIPELINE = """
import sys, time, warnings
import tensorflow as tf
import tfdata_doctor

def slow(x):
    return tf.linalg.matmul(tf.random.normal([400, 400]), tf.random.normal([400, 400]))[0, :4] + tf.cast(x, tf.float32)

def make_dataset(count=10_000):
    return tf.data.Dataset.range(count).map(slow).batch(8)
"""

#: Needs Keras 2 or 3 as `keras`.
MODEL = """
model = keras.Sequential([keras.layers.Input([4]), keras.layers.Dense(1)])
model.compile(loss="mse", optimizer="sgd")
def labelled(dataset):
    return dataset.map(lambda x: (x, x[:, :1]), num_parallel_calls=2)
"""


#: Keras 2 marks its steps itself, numbered from 0 in each epoch. A marker begins before the callbacks are asked, so the
#: first recorded step has none.
HAS_KERAS_2 = importlib.metadata.version("keras").startswith("2.")


class TensorFlowTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.logs = str(self.folder / "logs")

    def run_code(self, code):
        """Runs code after PIPELINE; `logs` is a folder for it. From a file: AutoGraph reads the source."""
        script = self.folder / "recorded.py"
        script.write_text(f"{PIPELINE}\nlogs = {self.logs!r}\n{code}")
        done = support.python(script)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def report(self):
        """The diagnosis of what was recorded."""
        return tfdata_doctor.diagnose(self.logs)

    def steps(self):
        """The numbers of the steps that the trace has markers for, without repetition, in order."""
        sql = "select distinct args ->> '$.step_num' as step from events where name like 'train%' order by start_us"
        return [int(row["step"]) for row in tfdata_doctor.query(sql, self.logs) if row["step"] is not None]

    def assert_map_is_the_culprit(self):
        report = self.report()
        self.assertTrue(report.is_input_bound, str(report))
        self.assertIn("Map", report.verdict.culprit.short_name)
        return report

    def test_profile(self):
        done = self.run_code(
            "with tfdata_doctor.profile(logs, steps=6, warmup=3) as recording:\n"
            "    for step, batch in enumerate(make_dataset()):\n"
            "        if step == 20: break\n"
            "assert recording.report.is_input_bound"
        )
        self.assertRegex(done.stdout, r"^(PROBABLY )?INPUT-BOUND")
        self.assertEqual(self.steps(), [4, 5, 6, 7, 8, 9])
        report = self.assert_map_is_the_culprit()
        self.assertEqual(report.pipelines[0].get_next.count, 6)

    def test_profile_of_an_explicit_iterator(self):
        self.run_code(
            "iterator = iter(make_dataset())\n"
            "with tfdata_doctor.profile(logs, steps=4, warmup=0, show=False):\n"
            "    for step in range(4): iterator.get_next()\n"
            "    optional = iterator.get_next_as_optional()"
        )
        self.assertEqual(self.steps(), [1, 2, 3, 4])

    def test_profile_of_a_loop_inside_of_a_function(self):
        self.run_code(
            "@tf.function\n"
            "def loop(dataset):\n"
            "    total = 0.0\n"
            "    for batch in dataset: total += tf.reduce_sum(batch)\n"
            "    return total\n"
            "loop(make_dataset(16))\n"
            "with tfdata_doctor.profile(logs, warmup=0, show=False): loop(make_dataset(160))"
        )
        self.assertGreaterEqual(self.report().pipelines[0].get_next.count, 20)

    def test_profile_of_a_distributed_dataset(self):
        self.run_code(
            "strategy = tf.distribute.MirroredStrategy(['/cpu:0'])\n"
            "dataset = strategy.experimental_distribute_dataset(make_dataset())\n"
            "with tfdata_doctor.profile(logs, steps=5, warmup=2, show=False):\n"
            "    for step, batch in enumerate(dataset):\n"
            "        if step == 9: break"
        )
        self.assertEqual(self.steps(), [3, 4, 5, 6, 7])

    def test_callback(self):
        done = self.run_code(
            f"import keras\n{MODEL}"
            "callback = tfdata_doctor.Callback(logs, batches=(14, 18))\n"
            "with warnings.catch_warnings():\n"
            "    warnings.simplefilter('error', UserWarning)\n"
            "    model.fit(labelled(make_dataset(96)), epochs=3, verbose=0, shuffle=False, callbacks=[callback],\n"
            "              validation_data=labelled(make_dataset(16)))\n"
            "assert callback.report.is_input_bound"
        )
        self.assertIn("INPUT-BOUND", done.stdout)
        # Epochs of 12 batches.
        self.assertEqual(self.steps(), [2, 3, 4, 5] if HAS_KERAS_2 else [14, 15, 16, 17, 18])
        self.assert_map_is_the_culprit()

    def test_callback_warns_of_a_cache(self):
        code = (
            f"import keras\n{MODEL}"
            "model.fit(labelled(make_dataset(256).cache()), epochs=2, verbose=0,\n"
            "          callbacks=[tfdata_doctor.Callback(logs, batches=%s, show=False)])"
        )
        self.assertIn("fills the cache", self.run_code(code % "(11, 20)").stderr)
        self.assertNotIn("fills the cache", self.run_code(code % "(43, 52)").stderr)

    def test_callback_of_keras_2(self):
        code = (
            "try: import tf_keras as keras\n"
            "except ImportError: import keras\n"
            "if int(keras.__version__.split('.')[0]) != 2: print('no Keras 2'); sys.exit()\n"
            f"{MODEL}"
            "model.fit(labelled(make_dataset()), epochs=1, steps_per_epoch=30, verbose=0,\n"
            "          callbacks=[tfdata_doctor.Callback(logs, batches=(11, 15), show=False)])"
        )
        if "no Keras 2" in self.run_code(code).stdout:
            self.skipTest("no Keras 2: neither tf_keras nor a TensorFlow before 2.16")
        self.assert_map_is_the_culprit()
        self.assertGreaterEqual(len(self.steps()), 4)

    def test_script(self):
        """examples/train.py, as the README has it."""
        done = support.python("-m", "tfdata_doctor", "--logdir", self.logs, support.ROOT / "examples" / "train.py")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("INPUT-BOUND", done.stdout)
        self.assertIn("num_parallel_calls=tf.data.AUTOTUNE", done.stdout)
        self.assertEqual(self.steps(), list(range(11, 31)))
        (sidecar,) = Path(self.logs).glob("plugins/profile/*/dataset-lines.json")
        names = json.loads(sidecar.read_text())["names"]
        code = [entry["code"] for name, entry in names.items() if name.startswith("at_train_py_L")]
        self.assertIn("dataset = dataset.map(augment)", code)

    def test_script_with_keras(self):
        script = self.folder / "train.py"
        script.write_text(
            f"{PIPELINE}import keras\n{MODEL}"
            "next(iter(make_dataset()))\n"
            "model.fit(labelled(make_dataset()), steps_per_epoch=12, epochs=3, verbose=0)"
        )
        done = support.python("-m", "tfdata_doctor", "--logdir", self.logs, "--batches", "15-20", script)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout.lstrip(), r"^(PROBABLY )?INPUT-BOUND")
        # The element before the training counts.
        self.assertEqual(self.steps(), list(range(2, 7)) if HAS_KERAS_2 else list(range(15, 21)))


if __name__ == "__main__":
    unittest.main()
