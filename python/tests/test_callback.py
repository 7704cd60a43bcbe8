"""The callback, and recording of whole scripts, with the stand-ins of fake/ for TensorFlow and Keras."""

import textwrap
import unittest
from pathlib import Path

from . import support
from .recording_support import RecordingTest, steps_of


class CallbackTest(RecordingTest):
    FIT = "import tensorflow, keras, tfdata_doctor\n"

    def test_batches_count_over_epochs(self):
        result, log, stderr = self.record(
            self.FIT + "callback = tfdata_doctor.Callback(logs, batches=(10, 12), show=False)\n"
            "keras.Model().fit(epochs=2, callbacks=[callback])\n"
            "result = callback.report.verdict.status"
        )
        self.assertEqual(result, "input_bound")
        self.assertEqual(steps_of(log), [10, 11, 12])
        self.assertNotIn("Warning", stderr)

    def test_evaluation_is_in_no_step(self):
        _, log, _ = self.record(
            self.FIT
            + "keras.Model().fit(epochs=2, steps=2, callbacks=[tfdata_doctor.Callback(logs, (2, 3), show=False)])\n"
            "result = None"
        )
        self.assertEqual([entry for entry in log if entry[0] != "start"][:2], [["begin", "train", 2], ["end", 2]])

    def test_several_batches_at_once(self):
        _, log, _ = self.record(
            self.FIT + "callback = tfdata_doctor.Callback(logs, (11, 20), show=False)\n"
            "keras.Model().fit(steps=80, at_once=20, callbacks=[callback])\n"
            "result = None"
        )
        # The second execution begins with batch 21: better that one than none.
        self.assertEqual(steps_of(log), [21])

    def test_warns_where_the_cache_is_being_filled(self):
        code = (
            self.FIT
            + "keras.Model().fit(epochs=2, steps=30, callbacks=[tfdata_doctor.Callback(logs, %s, show=False)])\n"
            "result = None"
        )
        _, _, stderr = self.record(code % "(11, 20)", support.WITH_CACHE)
        self.assertIn("fills the cache", stderr)
        self.assertIn("batches=(41, 50)", stderr)
        _, _, stderr = self.record(code % "(41, 50)", support.WITH_CACHE)
        self.assertNotIn("fills the cache", stderr)
        _, _, stderr = self.record(code % "(11, 20)", support.INPUT_BOUND)
        self.assertNotIn("fills the cache", stderr)

    def test_warns_where_the_training_was_too_short(self):
        _, log, stderr = self.record(
            self.FIT + "keras.Model().fit(callbacks=[tfdata_doctor.Callback(logs)])\nresult = None"
        )
        self.assertIn("the training had 8 batches, and batch 11 is the first to record", stderr)
        self.assertEqual(log, [])

    def test_training_goes_on_where_another_profiler_runs(self):
        result, _, stderr = self.record(
            self.FIT + "tensorflow.profiler.experimental.start(logs)\n"
            "result = keras.Model().fit(callbacks=[tfdata_doctor.Callback(logs, (2, 3))])"
        )
        self.assertEqual(result, 1)
        self.assertIn("another profiler", stderr)

    def test_keras_2_has_markers_of_its_own(self):
        _, log, _ = self.record(
            self.FIT + "keras.__version__ = '2.15.0'\n"
            "keras.Model().fit(callbacks=[tfdata_doctor.Callback(logs, (2, 3), show=False)])\nresult = None"
        )
        self.assertEqual([entry[0] for entry in log], ["start", "stop"])

    def test_last_batch_may_be_missing(self):
        result, log, _ = self.record(
            self.FIT + "callback = tfdata_doctor.Callback(logs, batches=(6, 90), show=False)\n"
            "keras.Model().fit(callbacks=[callback])\nresult = callback.report.verdict.status"
        )
        self.assertEqual(result, "input_bound")
        self.assertEqual(steps_of(log), [6, 7, 8])


EPOCHS = "import tensorflow\nfor epoch in range(4):\n    for _ in tensorflow.dataset(20): tensorflow.train()"


class ScriptTest(RecordingTest):
    def run_script(self, code, *options, arguments=(), trace=support.INPUT_BOUND, **environment):
        script = self.folder / "train.py"
        script.write_text(code)
        return support.python(
            "-m", "tfdata_doctor", *options, script, *arguments,
            path=[support.FAKE], FAKE_TRACE=str(trace), **environment,
        )  # fmt: skip

    def test_report_of_an_unchanged_script(self):
        (self.folder / "helper.py").write_text("count = 40")
        done = self.run_script(
            "import sys, helper, tensorflow\n"
            "assert __name__ == '__main__'\n"
            "for _ in tensorflow.dataset(helper.count): tensorflow.train()\n"
            "print(sys.argv[1:], [entry[2] for entry in tensorflow.log if entry[0] == 'begin'])",
            "--batches=4-6",
            "--logdir",
            self.logs,
            arguments=["--batches", "7"],
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(done.stdout.startswith("INPUT-BOUND"))
        # The script goes on after the report.
        self.assertTrue(done.stdout.endswith("['--batches', '7'] [4, 5, 6]\n"), done.stdout)
        self.assertEqual(len(list(Path(self.logs, "plugins", "profile").iterdir())), 1)

    def test_script_with_keras(self):
        # Keras's progress bar stands in the line.
        done = self.run_script(
            "import tensorflow, keras\nprint('20/20 ===', end='')\nkeras.Model().fit(steps=20)", "--batches", "4-6"
        )
        self.assertTrue(done.stdout.startswith("20/20 ===\nINPUT-BOUND"), done.stderr)

    def test_last_line_is_the_command_that_tries_changes(self):
        code = "import tensorflow\nfor _ in tensorflow.dataset(20): tensorflow.train()"
        for trace, is_tried in ((support.INPUT_BOUND, True), (support.HEALTHY, False)):
            done = self.run_script(code, "--batches=4-6", arguments=["--size", "a b"], trace=trace)
            *_, last = done.stdout.rstrip().splitlines()
            command = f"python -m tfdata_doctor fix {self.folder / 'train.py'} --size 'a b'"
            self.assertEqual(last == f"  Try it  {command}", is_tried, done.stdout)
            self.assertEqual(command in done.stdout, is_tried)

    def test_later_batches_where_the_cache_is_being_filled(self):
        fit = "import tensorflow, keras\nkeras.Model().fit(epochs=2, steps=30)"
        loop = "import tensorflow\nfor _ in range(2):\n    for _ in tensorflow.dataset(30): tensorflow.train()"
        for code in (fit, loop):
            done = self.run_script(code, "--batches=4-6", arguments=["--size", "a b"], trace=support.WITH_CACHE)
            line = f"  python -m tfdata_doctor --batches 34-36 {self.folder / 'train.py'} --size 'a b'\n"
            self.assertIn("read from it:\n" + line, done.stderr)
            self.assertEqual(done.stderr.count("tfdata_doctor --batches"), 1)
            done = self.run_script(code, "--batches=34-36", trace=support.WITH_CACHE)
            self.assertEqual(done.stderr, "")
        self.assertEqual(self.run_script(fit, "--batches=4-6").stderr, "")

    def test_script_that_ends_early(self):
        done = self.run_script(
            "import tensorflow\nfor _ in tensorflow.dataset(7): tensorflow.train()", "--batches=3-20"
        )
        self.assertIn("the script ended in step 7: the report is of steps 3 to 7, not to 20\n", done.stderr)
        done = self.run_script(
            "import tensorflow\nfor _ in tensorflow.dataset(7): tensorflow.train()\n1 / 0", "--batches=3-20"
        )
        self.assertIn("the script failed in step 7: ", done.stderr)
        interrupted = "import tensorflow\nfor _ in tensorflow.dataset(7): tensorflow.train()\nraise KeyboardInterrupt"
        self.assertIn("the script was interrupted in step 7: ", self.run_script(interrupted, "--batches=3-20").stderr)

    def test_traceback_is_that_of_the_script(self):
        loop = "import tensorflow, keras\nfor _ in tensorflow.dataset(9): tensorflow.train()\n"
        code = loop + "try:\n    keras.Model().fit(steps='a')\nexcept TypeError:\n    {}['mine']"
        done = self.run_script(code, "--batches=2-3")
        lines = [line for line in done.stderr.splitlines() if line.startswith("  File ")]
        self.assertEqual(len(lines), 3, done.stderr)
        self.assertTrue(all("train.py" in line or "fake/keras" in line for line in lines), done.stderr)
        self.assertEqual(done.returncode, 1)

    def test_second_run_says_what_has_changed(self):
        code = "import tensorflow\nfor _ in tensorflow.dataset(20): tensorflow.train()"
        home = {"XDG_CACHE_HOME": str(self.folder / "cache"), "TFDATA_DOCTOR_HISTORY": "1"}
        first = self.run_script(code, "--batches=2-3", **home)
        self.assertNotIn("Before  ", first.stdout)
        second = self.run_script(code, "--batches=2-3", trace=support.WITH_CACHE, **home)
        self.assertRegex(second.stdout, r"\n  Before  [\d.,]+ steps/s, [\d.]+% of the time waiting for data \(2\d{3}-")
        self.assertRegex(second.stdout, r"\n  Now     [\d.,]+ steps/s, .*: [\d.]+x, one recording each\n")
        for options, arguments in (
            (["--batches=2-3", "--no-history"], []),
            (["--batches=2-3"], ["x"]),
        ):
            other = self.run_script(code, *options, arguments=arguments, **home)
            self.assertNotIn("Before  ", other.stdout)
        stored = list((self.folder / "cache" / "tfdata-doctor" / "runs").iterdir())
        self.assertEqual(len(stored), 2)
        # Of other steps, since those of a first epoch may fill a cache; and what no longer waits has a rate, too.
        other = self.run_script(code, "--batches=2-4", trace=support.HEALTHY, **home)
        self.assertRegex(other.stdout, r"\n  Before .*, steps 2-3\)\n  Now     [\d.,]+ steps/s, 4\.5% .*: [\d.]+x")
        for file in stored:
            file.write_text("{")
        self.assertNotIn("Before  ", self.run_script(code, "--batches=2-3", **home).stdout)

    def test_module(self):
        (self.folder / "package").mkdir()
        (self.folder / "package" / "train.py").write_text(
            "import tensorflow\nfor _ in tensorflow.dataset(20): tensorflow.train()\nprint(__name__)"
        )
        done = support.python(
            "-m", "tfdata_doctor", "--batches", "2-3", "-m", "package.train",
            path=[support.FAKE, self.folder], FAKE_TRACE=str(support.INPUT_BOUND),
        )  # fmt: skip
        self.assertTrue(done.stdout.endswith("__main__\n"), done.stderr)

    def test_epochs_are_compared(self):
        done = self.run_script(EPOCHS, "--epochs-compare", "--batches=2-5", "--later-epoch", "3")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(done.stdout.startswith("INPUT-BOUND"))
        self.assertRegex(
            done.stdout,
            r"epoch 1, steps 2-5 of the loop at train.py:3: \S+ steps/s, 99% of the time waiting for data of ",
        )
        self.assertRegex(done.stdout, r"epoch 3, steps 42-45 of the loop at train.py:3: ")
        self.assertRegex(done.stdout, r"- epoch 3 is (as fast as epoch 1|faster: [\d.]+x|slower: [\d.]+x)")
        self.assertIn("more: tfdata-doctor compare ", done.stdout)

    def test_epochs_of_keras_are_compared(self):
        fit = "import tensorflow, keras\nkeras.Model().fit(epochs=3, steps=8)"
        done = self.run_script(fit, "--epochs-compare", "--batches=2-5")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"epoch 2, steps 10-13 of fit at train.py:2: ")

    def test_epochs_of_the_training_are_compared(self):
        script = """\
            import tensorflow
            for _ in tensorflow.dataset(3): print("preview")
            for _ in tensorflow.dataset(90): pass
            def evaluate():
                for _ in tensorflow.dataset(7): tensorflow.train()
            for epoch in range(3):
                for _ in tensorflow.dataset(20): tensorflow.GradientTape().gradient()
                evaluate()
            """
        done = self.run_script(textwrap.dedent(script), "--epochs-compare")
        self.assertRegex(done.stdout, r"epoch 1, steps 11-20 of the loop at train.py:7: ", done.stderr)
        self.assertRegex(done.stdout, r"epoch 2, steps 31-40 of the loop at train.py:7: ")
        # Functions without gradients may be an evaluation, until they go on.
        done = self.run_script(EPOCHS.replace("range(4)", "range(9)"), "--epochs-compare")
        self.assertRegex(done.stdout, r"epoch 1, steps 11-20 of the loop at train.py:3: ", done.stderr)
        self.assertRegex(done.stdout, r"epoch 5, steps 91-100 of the loop at train.py:3: ")
        chosen = self.run_script(textwrap.dedent(script), "--epochs-compare", "--loop=train.py:5", "--batches=2-5")
        self.assertRegex(chosen.stdout, r"epoch 2, steps 9-12 of the loop at train.py:5: ", chosen.stderr)

    def test_recording_of_two_epochs_leaves_files_as_they_are(self):
        kept = self.folder / "model.txt"
        kept.write_text("kept")
        epochs = "import os, tensorflow\nos.chdir(os.path.dirname(__file__))\nfor epoch in range(3):\n"
        steps = "    for _ in tensorflow.dataset(20): tensorflow.train()\n"
        save = "open('model.txt', 'w').write('spoilt')\n"
        for script, status in ((epochs + steps + save, 0), (epochs + steps + "    " + save, 3)):
            done = self.run_script(script, "--epochs-compare", "--batches=2-5")
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertIn("saves no model", done.stderr)
            self.assertEqual(kept.read_text(), "kept")
            if status:
                self.assertRegex(done.stderr, r":5 writes \S*model.txt: .*turn it off when TFDATA_DOCTOR_RUN is set")
            else:
                first, later = done.stdout.strip().splitlines()[-1].split("compare ")[1].split(" -- ")
                self.assertTrue(first.endswith("_epoch1") and later.endswith("_epoch2"))
        done = self.run_script(epochs + steps, "--batches=2-5", "--writes=.")
        self.assertEqual((done.returncode, kept.read_text()), (2, "kept"))

    def test_why_no_two_epochs_were_recorded(self):
        loop = "import tensorflow\nfor epoch in range({}):\n    for _ in tensorflow.dataset({}): tensorflow.train()"
        for epochs, steps, why in (
            (1, 9, "the script ended before step 2 of epoch 2 of the loop at train.py:3"),
            (0, 9, "the script took no element"),
            (9, 1, "the first epoch of the loop at train.py:3 took 1 steps, and step 2 is the first"),
        ):
            done = self.run_script(loop.format(epochs, steps), "--epochs-compare", "--batches=2-5")
            self.assertEqual(done.returncode, 3)
            self.assertIn(why, done.stderr)

    def test_script_decides_how_tensorflow_starts(self):
        done = self.run_script(
            "import sys\nassert 'tensorflow' not in sys.modules\n"
            "import tensorflow\nfor _ in tensorflow.dataset(20): tensorflow.train()",
            "--batches=2-3",
        )
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_nothing_recorded(self):
        done = self.run_script("import tensorflow\nfor _ in tensorflow.dataset(5): tensorflow.train()")
        self.assertEqual(done.returncode, 3)
        self.assertIn(
            "step 11 is the first to record, and the longest loop, the loop at train.py:2, took 5; choose", done.stderr
        )
        done = self.run_script("print('no training here')")
        self.assertEqual(done.returncode, 3)
        self.assertIn("did not import TensorFlow", done.stderr)

    def test_failure_of_the_script_is_the_status(self):
        loop = "import sys, tensorflow\nfor _ in tensorflow.dataset(20): tensorflow.train()\n"
        done = self.run_script(loop + "sys.exit(7)", "--batches=2-3")
        self.assertEqual(done.returncode, 7)
        self.assertTrue(done.stdout.startswith("INPUT-BOUND"))
        done = self.run_script(loop + "raise KeyError('mine')", "--batches=2-90")
        self.assertEqual(done.returncode, 1)
        self.assertIn("KeyError: 'mine'", done.stderr)
        self.assertTrue(done.stdout.startswith("INPUT-BOUND"))

    def test_wrong_use(self):
        self.assertEqual(support.python("-m", "tfdata_doctor", "missing.py").returncode, 2)
        done = self.run_script("", "--batches=9-3")
        self.assertEqual(done.returncode, 2)
        self.assertIn("9-3 is not FIRST-LAST", done.stderr)
        for options in (["--bathces=1-2"], ["--bathces", "1-2"], ["--no-lines", "--bathces", "1-2"]):
            done = self.run_script("", *options)
            self.assertEqual(done.returncode, 2)
            self.assertIn("tfdata-doctor: --bathces: unknown option; did you mean --batches?\n", done.stderr)
            self.assertIn("'python -m tfdata_doctor --help'", done.stderr)
        done = support.python("-m", "tfdata_doctor")
        self.assertEqual(done.returncode, 2)
        self.assertIn("[OPTION...] SCRIPT.py [ARGUMENT...]", done.stderr)

    def test_function(self):
        script = self.folder / "train.py"
        script.write_text(
            "import sys, tensorflow\nfor _ in tensorflow.dataset(int(sys.argv[1])): tensorflow.train()\nsys.exit(0)"
        )
        result, _, _ = self.record(
            "import sys, tfdata_doctor\n"
            f"report = tfdata_doctor.run({str(script)!r}, ['9'], batches=(2, 3), logdir=logs)\n"
            "import tensorflow\nresult = [report.verdict.status, len(sys.argv)]"
        )
        self.assertEqual(result, ["input_bound", 1])


if __name__ == "__main__":
    unittest.main()
