"""What records, with the stand-ins of fake/ for TensorFlow and Keras: each test is a process of its own."""

import json
import os
import tempfile
import textwrap
import unittest
from pathlib import Path

from tfdata_doctor._recorder import settled_rate

from . import support

#: Prints, as the last line, what the fake TensorFlow logged and what the code put into `result`.
EPILOGUE = "\nimport json\nprint(json.dumps([result, tensorflow.log]))"
LOOP = "import tensorflow, tfdata_doctor\n"


def steps_of(log):
    """The numbers of the steps that have a marker."""
    return [entry[2] for entry in log if entry[0] == "begin"]


class RecordingTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.logs = str(self.folder / "logs")

    def record(self, code, trace=support.INPUT_BOUND):
        """`result`, the fake's log and the warnings of some code."""
        (result, log), stderr = support.recorded(f"logs = {self.logs!r}\n{code}{EPILOGUE}", trace)
        return result, log, stderr


class ProfileTest(RecordingTest):
    def test_steps_after_the_warm_up_have_markers(self):
        result, log, _ = self.record(
            LOOP + "with tfdata_doctor.profile(logs, steps=3, warmup=2, show=False) as recording:\n"
            "    for _ in tensorflow.dataset(9): tensorflow.log.append(('work',))\n"
            "result = [recording.report.verdict.status, str(recording.run_directory)]"
        )
        self.assertEqual(result[0], "input_bound")
        self.assertTrue(result[1].startswith(self.logs))
        options = {"host_tracer_level": 2, "python_tracer_level": 0, "device_tracer_level": 1}
        work = ["work"]
        step = [[["begin", "train", number], work, ["end", number]] for number in (3, 4, 5)]
        self.assertEqual(log, [work, work, ["start", options], *step[0], *step[1], *step[2], ["stop"], *[work] * 4])

    def test_both_profilers_record_where_jax_is_used(self):
        result, log, _ = self.record(
            "import jax\n" + LOOP + "with tfdata_doctor.profile(logs, steps=2, warmup=1, show=False) as recording:\n"
            "    for _ in tensorflow.dataset(5): pass\n"
            "result = sorted(path.name for path in recording.run_directory.glob('*.xplane.pb'))"
        )
        self.assertEqual(result, ["host.jax.xplane.pb", "host.xplane.pb"])
        options = {"host_tracer_level": 2, "python_tracer_level": 0, "device_tracer_level": 0}
        step = [
            [["begin", "train", number], ["begin jax", number], ["end jax", number], ["end", number]]
            for number in (2, 3)
        ]
        self.assertEqual(log, [["start", options], ["start jax", 0], *step[0], *step[1], ["stop jax"], ["stop"]])
        self.assertEqual([path.name for path in Path(self.logs).iterdir()], ["plugins"])

    def test_calls_of_python_are_recorded_where_a_loader_is_written_in_it(self):
        grain = (
            "import sys, types\n"
            "sys.modules['grain'] = types.ModuleType('grain')\n"
            "sys.modules['grain'].DatasetIterator = type('DatasetIterator', (), {})\n"
        )
        loop = LOOP + (
            "with tfdata_doctor.profile(logs, steps=2, warmup=1, show=False) as recording:\n"
            "    for _ in tensorflow.dataset(5): pass\n"
            "result = None"
        )
        for with_jax in (False, True):
            _, log, _ = self.record(grain + ("import jax\n" if with_jax else "") + loop)
            started = {event[0]: event[1] for event in log if event[0].startswith("start")}
            self.assertEqual(started["start"]["python_tracer_level"], 0 if with_jax else 1)
            self.assertEqual(started.get("start jax"), 1 if with_jax else None)

    def test_facts_of_the_machine_are_beside_the_trace(self):
        result, _, _ = self.record(
            LOOP + "with tfdata_doctor.profile(logs, steps=3, warmup=2, show=False) as recording:\n"
            "    for _ in tensorflow.dataset(9): pass\n"
            "result = str(recording.run_directory)"
        )
        facts = json.loads(Path(result, "recording.json").read_text())
        self.assertEqual(facts["schema"], "tfdata-doctor.recording/1")
        self.assertEqual(facts["host"], os.uname().nodename)
        self.assertGreaterEqual(facts["cores"], 1)
        self.assertTrue(facts["process"])
        self.assertLessEqual(set(facts["other_load"]), {"before", "during", "after"})
        self.assertEqual(list(facts["steps_per_s"]), ["during"])  # two steps before it are too few

    def test_steps_before_the_recording_are_clocked(self):
        result, _, _ = self.record(
            LOOP + "with tfdata_doctor.profile(logs, steps=3, warmup=10, show=False) as recording:\n"
            "    for _ in tensorflow.dataset(15): pass\n"
            "result = str(recording.run_directory)"
        )
        rates = json.loads(Path(result, "recording.json").read_text())["steps_per_s"]
        self.assertGreater(rates["before"], 0)
        self.assertGreater(rates["during"], 0)

    def test_only_settled_steps_count(self):
        self.assertEqual(settled_rate([9.0] * 5 + [0.5] * 5), 2)
        self.assertIsNone(settled_rate([9.0] * 4 + [0.5] * 4))
        self.assertIsNone(settled_rate([]))

    def test_memory_of_the_process_is_beside_the_trace(self):
        result, _, _ = self.record(
            LOOP + "import time\n"
            "kept = []\n"
            "with tfdata_doctor.profile(logs, steps=3, warmup=2, show=False) as recording:\n"
            "    for _ in tensorflow.dataset(9): kept.append(bytearray(20_000_000)); time.sleep(0.15)\n"
            "result = str(recording.run_directory)"
        )
        lines = Path(result, "memory.csv").read_text().splitlines()
        self.assertEqual(lines[0], "time_ns,step,rss_bytes,available_bytes,total_bytes,other_cores")
        rows = [[float(word or 0) for word in line.split(",")] for line in lines[1:]]
        # How many samples there are is a matter of how busy the machine is.
        self.assertLessEqual(max(row[1] for row in rows), 6)
        self.assertGreater(rows[-1][1], rows[0][1])
        self.assertGreater(rows[-1][2] - rows[0][2], 15_000_000)
        self.assertTrue(all(0 < row[2] < row[4] and row[3] < row[4] for row in rows))

    def test_samples_of_a_long_run_are_thinned_out(self):
        samples = support.recorded(
            "import json\nfrom tfdata_doctor._machine import MemorySamples\n"
            "samples = MemorySamples(); samples.is_over = True; samples.MOST = 40\n"
            "for step in range(1000): samples.step = step; samples.add()\n"
            "print(json.dumps([int(row.split(',')[1]) for row in samples.rows]))"
        )[0]
        self.assertLess(len(samples), 40)
        self.assertGreater(len(samples), 15)
        self.assertGreater(samples[-1], 900)

    def test_report_is_printed_at_the_end(self):
        done = support.python(
            "-c",
            f"{LOOP}with tfdata_doctor.profile({self.logs!r}, warmup=0):\n    pass",
            path=[support.FAKE],
            FAKE_TRACE=str(support.INPUT_BOUND),
        )
        self.assertTrue(done.stdout.startswith("INPUT-BOUND"), done.stderr)

    def test_loop_that_ends_early_keeps_its_steps(self):
        result, log, _ = self.record(
            LOOP + "with tfdata_doctor.profile(logs, steps=50, warmup=1, show=False) as recording:\n"
            "    for _ in tensorflow.dataset(3): pass\n"
            "    tensorflow.log.append(('after',))\n"
            "result = recording.report.verdict.status"
        )
        self.assertEqual(result, "input_bound")
        self.assertEqual(steps_of(log), [2, 3, 4])
        # The last next() finds that there are no more elements: nothing after it is in a step.
        self.assertEqual(log[-3:], [["end", 4], ["after"], ["stop"]])

    def test_nothing_recorded_is_an_error(self):
        result, _, _ = self.record(
            LOOP + "try:\n"
            "    with tfdata_doctor.profile(logs):\n"
            "        for _ in tensorflow.dataset(3): pass\n"
            "except tfdata_doctor.DoctorError as error: result = str(error)"
        )
        self.assertIn("the block took 3 elements, and the first 10 are for warm-up", result)

    def test_error_of_the_block_is_kept_and_everything_restored(self):
        result, log, _ = self.record(
            LOOP + "before = dict(vars(tensorflow.dataset))\n"
            "try:\n"
            "    with tfdata_doctor.profile(logs, warmup=0):\n"
            "        next(tensorflow.dataset(3)); assert dict(vars(tensorflow.dataset)) != before; 1 / 0\n"
            "except ZeroDivisionError: result = dict(vars(tensorflow.dataset)) == before"
        )
        self.assertTrue(result)
        self.assertEqual(log[-1], ["stop"])

    def test_another_profiler_is_an_error(self):
        result, _, _ = self.record(
            LOOP + "tensorflow.profiler.experimental.start(logs)\n"
            "try:\n"
            "    with tfdata_doctor.profile(logs, warmup=0): pass\n"
            "except tfdata_doctor.DoctorError as error: result = str(error)"
        )
        self.assertIn("another profiler", result)

    def test_get_next_within_next_is_one_step(self):
        _, log, _ = self.record(
            LOOP + "with tfdata_doctor.profile(logs, warmup=0, show=False):\n"
            "    elements = tensorflow.dataset(9)\n"
            "    elements.get_next(), elements.get_next()\n"
            "result = None"
        )
        self.assertEqual(steps_of(log), [1, 2])

    def test_steps_of_other_threads_do_not_count(self):
        _, log, _ = self.record(
            LOOP + "import threading\n"
            "with tfdata_doctor.profile(logs, warmup=0, show=False):\n"
            "    elements = tensorflow.dataset(9)\n"
            "    next(elements)\n"
            "    other = threading.Thread(target=lambda: next(elements)); other.start(); other.join()\n"
            "    next(elements)\n"
            "result = None"
        )
        self.assertEqual(steps_of(log), [1, 2])

    def test_batches_of_keras_are_steps(self):
        result, log, _ = self.record(
            LOOP + "import keras\n"
            "with tfdata_doctor.profile(logs, steps=3, warmup=6, show=False):\n"
            "    result = [keras.Model().fit(epochs=2, steps=8), keras.Model().fit(callbacks=[])]\n"
            "result.append(keras.Model().fit())"
        )
        self.assertEqual(steps_of(log), [7, 8, 9])
        self.assertEqual(result, [1, 1, 0])


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
