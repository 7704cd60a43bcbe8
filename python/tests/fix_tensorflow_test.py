"""The whole of `python -m tfdata_doctor fix` with real TensorFlow, on programs whose input waits.

Run by scripts/check-python: a Python with TensorFlow is needed. scripts/fix-accuracy measures more of them.
"""

import json
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from tfdata_doctor_fix.jobs import Program
from tfdata_doctor_fix.rates import rate_of
from tfdata_doctor_fix.runner import Runner

from . import support

SCRIPTS = Path(__file__).resolve().parent / "fix_scripts"

#: A function that AutoGraph changes, which needs the text of the changed file.
AUTOGRAPH = '''\
"""A map with an if, in a chain over several lines."""

import time

import tensorflow as tf

import data

fetch = data.waiting(0.006)


def step(x):
    if x % 2 == 0:
        x = x + 1
    return fetch(x)


ds = (
    tf.data.Dataset.range(100_000)
    # where the time goes
    .map(step)  # one by one
    .repeat()
    .batch(4)
)
total = tf.Variable(0, dtype=tf.int64)
for number, batch in enumerate(ds):
    total.assign_add(tf.reduce_sum(batch))
    time.sleep(0.004)
    if number == 200:
        break
'''


class FixTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(os.path.realpath(folder.name))
        for path in SCRIPTS.glob("*.py"):
            shutil.copy(path, self.folder)
        here = os.getcwd()
        self.addCleanup(os.chdir, here)
        os.chdir(self.folder)
        subprocess.run(["git", "init", "-q"], check=True)

    def fixed(self, *words):
        done = support.python("-m", "tfdata_doctor", "fix", "--format=json", "--steps=20", *words, seconds=1200)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_map_that_autograph_changes_in_a_chain_over_lines(self):
        script = self.folder / "autograph.py"
        script.write_text(AUTOGRAPH)
        found = self.fixed("--output=fix.patch", "autograph.py")
        self.assertEqual(script.read_text(), AUTOGRAPH)
        kept = [trial for trial in found["trials"] if trial["kept"]]
        self.assertEqual([trial["fixes"] for trial in kept], [["parallel_map:Map"]], found)
        self.assertEqual(kept[0]["data"], "same")
        self.assertGreater(kept[0]["measured"]["gain"], 1.3)
        # Nothing but the argument, and the patch is one that git takes.
        subprocess.run(["git", "apply", "fix.patch"], check=True)
        expected = AUTOGRAPH.replace(".map(step)", ".map(step, num_parallel_calls=tf.data.AUTOTUNE)")
        self.assertEqual(script.read_text(), expected)
        self.assertEqual(support.python("autograph.py").returncode, 0)

    def test_pipeline_that_is_fine(self):
        found = self.fixed("fine.py")
        self.assertEqual((found["trials"], found["patch"]), ([], ""))
        self.assertEqual(found["stopped"], "the input does not limit")

    def test_input_that_is_ready(self):
        # One whose size is known, one whose size is not, one that Keras iterates over, and an iterator for each step.
        for name in ("iter_in_loop.py", "two_maps.py", "text_lines.py", "keras_png.py"):
            with self.subTest(name=name), Runner(Program(name), {"PYTHONPATH": str(support.ROOT / "python")}) as runner:
                as_it_is, ready = runner.measure({}, 10, 20, 60.0), runner.measure_ready({}, 10, 20, 60.0)
                self.assertTrue(ready.is_ready)
                self.assertGreater(rate_of(ready, 10), 1.3 * rate_of(as_it_is, 10))

    def test_file_of_a_cache_is_one_of_the_run(self):
        Path("cached.py").write_text(
            "import tensorflow as tf\n"
            "ds = tf.data.Dataset.range(30).cache('kept').batch(1).cache(filename='kept_batches')\n"
            "for epoch in range(10**6):\n    for _ in ds:\n        pass\n"
        )
        with Runner(Program("cached.py"), {"PYTHONPATH": str(support.ROOT / "python")}) as runner:
            self.assertEqual(runner.measure({}, 10, 50, 60.0).ended, "enough")
        self.assertEqual(list(self.folder.glob("kept*")), [])

    def test_cache_of_what_is_random(self):
        program = (
            "import tensorflow as tf\nds = tf.data.Dataset.range(99).shuffle(50).map({}).cache()\nnext(iter(ds))\n"
        )
        for function, repeats in (
            ("lambda x: x + 1", True),  # only the order is another one, which a shuffle after the cache makes up for
            ("lambda x: tf.cast(x, tf.float32) + tf.random.uniform([])", False),
        ):
            (self.folder / "random_or_not.py").write_text(program.format(function))
            with Runner(Program("random_or_not.py"), {"PYTHONPATH": str(support.ROOT / "python")}) as runner:
                (cache,) = runner.look({}, 60.0, is_seeded=False, is_shuffled=False).caches
            self.assertEqual((cache.repeats, cache.elements), (repeats, 99))


if __name__ == "__main__":
    unittest.main()
