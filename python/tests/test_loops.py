"""Which loop of a script is its training, with the stand-ins of fake/ for TensorFlow and Keras."""

import json
import os
import tempfile
import textwrap
import unittest
from pathlib import Path

from . import support

#: Prints the numbers of the steps that have a marker in the trace that was kept.
EPILOGUE = """
import tensorflow
starts = [number for number, entry in enumerate(tensorflow.log) if entry[0] == "start"]
steps = [entry[2] for entry in tensorflow.log[starts[-1]:] if entry[0] == "begin"] if starts else []
print("steps", steps[:1])
"""
WORK = "[x for x in range(20000)]"
#: A clock that goes on where it is told to.
CLOCK = """\
import time, tensorflow, keras
seconds = 0.0
time.perf_counter = lambda: seconds
def spend(more):
    global seconds
    seconds += more
"""
#: Nine epochs of so many steps.
EPOCHS = """\
import tensorflow
for epoch in range(9):
    for _ in tensorflow.dataset({}): tensorflow.train()
"""


class LoopsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(os.path.realpath(folder.name))

    def run_script(self, code, *options, trace=support.INPUT_BOUND):
        (self.folder / "train.py").write_text(textwrap.dedent(code) + EPILOGUE)
        return support.python(
            "-m", "tfdata_doctor", f"--logdir={self.folder / 'logs'}", *options, self.folder / "train.py",
            path=[support.FAKE], FAKE_TRACE=str(trace),
        )  # fmt: skip

    def check(self, code, which, *options, trace=support.INPUT_BOUND):
        """The report says that it is of these steps, which have a marker, and of nothing else there is a trace."""
        done = self.run_script(code, *options, trace=trace)
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        self.assertIn(f"  Steps   {which}\n", done.stdout)
        self.assertIn(f"steps [{which.split()[0]}]", done.stdout)
        self.assertEqual(len(list((self.folder / "logs" / "plugins" / "profile").iterdir())), 1)
        return done

    def test_fit_counts_its_own_steps(self):
        self.check(
            """\
            import tensorflow, keras
            for _ in tensorflow.dataset(3): print("preview")
            keras.adapt(tensorflow.dataset(90))
            for _ in tensorflow.dataset(90): pass
            keras.Model().fit(steps=40)
            """,
            "11 to 30 of fit at train.py:5",
        )

    def test_fit_wins_over_a_loop_that_only_takes_time(self):
        self.check(
            f"""\
            import tensorflow, keras
            for _ in tensorflow.dataset(50): {WORK}
            keras.Model().fit(steps=40)
            """,
            "11 to 30 of fit at train.py:3",
        )

    def test_training_after_loops_that_take_elements_alone(self):
        self.check(
            """\
            import tensorflow
            for _ in tensorflow.dataset(90): pass
            count = sum(1 for _ in tensorflow.dataset(90))
            for _ in tensorflow.dataset(40):
                tensorflow.train()
            """,
            "11 to 30 of the loop at train.py:4",
        )

    def test_training_after_statistics_that_take_time(self):
        self.check(
            f"""\
            import tensorflow
            for _ in tensorflow.dataset(60): {WORK}
            for _ in tensorflow.dataset(40):
                tensorflow.train()
            """,
            "11 to 30 of the loop at train.py:3",
        )

    def test_loop_that_only_takes_time_is_the_training_where_nothing_else_is(self):
        for steps in (40, 200):
            self.check(
                f"""\
                import tensorflow
                for _ in tensorflow.dataset({steps}): {WORK}
                """,
                "11 to 30 of the loop at train.py:2",
            )

    def test_step_that_nobody_knows_takes_longer_than_statistics(self):
        step = WORK.replace("20000", "800000")
        for first, second, line in ((WORK, step, 3), (step, WORK, 2)):
            self.check(
                f"""\
                import tensorflow
                for _ in tensorflow.dataset(40): {first}
                for _ in tensorflow.dataset(40): {second}
                """,
                f"11 to 30 of the loop at train.py:{line}",
            )

    def test_validation_that_comes_first_has_no_gradients(self):
        self.check(
            """\
            import tensorflow
            def evaluate():
                for _ in tensorflow.dataset(45): tensorflow.train()
            evaluate()
            for epoch in range(3):
                for _ in tensorflow.dataset(50):
                    tensorflow.GradientTape().gradient()
                evaluate()
            """,
            "11 to 30 of the loop at train.py:6",
        )

    def test_functions_without_gradients_are_the_training_where_they_go_on(self):
        done = self.run_script(
            """\
            import tensorflow
            for _ in tensorflow.dataset(200):
                tensorflow.train()
                if len([entry for entry in tensorflow.log if entry[0] == "stop"]): print("recorded", flush=True)
            """
        )
        # The report comes while the loop goes on, after three windows.
        self.assertEqual(done.stdout.split("INPUT-BOUND")[0].count("recorded"), 60 - 1)

    def test_gradients_of_jax(self):
        self.check(
            """\
            import tensorflow, jax
            for _ in tensorflow.dataset(45): tensorflow.train()
            step = jax.value_and_grad(lambda: None)
            for _ in tensorflow.dataset(40): step()
            """,
            "11 to 30 of the loop at train.py:4",
        )

    def test_one_function_that_trains_and_evaluates_has_two_loops(self):
        self.check(
            """\
            import tensorflow
            def run(count, step):
                for _ in tensorflow.dataset(count): step()
            run(5, tensorflow.train)
            run(40, tensorflow.GradientTape().gradient)
            """,
            "11 to 30 of the loop at train.py:3",
        )

    def test_elements_of_two_datasets_are_one_step(self):
        for loop in (
            "for _, _ in zip(tensorflow.dataset(40), tensorflow.dataset(40)): tensorflow.train()",
            "a, b = tensorflow.dataset(40), tensorflow.dataset(40)\n"
            "for _ in range(40): next(a), next(b), tensorflow.train()",
        ):
            self.check(f"import tensorflow\n{loop}\n", f"11 to 30 of the loop at train.py:{2 + loop.count(chr(10))}")

    def test_elements_of_two_lines_are_one_step(self):
        self.check(
            """\
            import tensorflow
            a, b = tensorflow.dataset(40), tensorflow.dataset(40)
            for _ in range(40):
                next(a)
                next(b)
                tensorflow.train()
            """,
            "11 to 30 of the loop at train.py:5",
        )

    def test_generator_of_the_user(self):
        self.check(
            """\
            import tensorflow
            def batches():
                for x in tensorflow.dataset(50): yield x
            for _ in batches():
                tensorflow.train()
            """,
            "11 to 30 of the loop at train.py:3",
        )

    def test_window_is_extended_over_short_epochs(self):
        for length, last in ((12, 36), (25, 75)):
            self.check(EPOCHS.format(length), f"11 to {last} of the loop at train.py:3")

    def test_steps_that_the_user_chose_are_not_extended(self):
        self.check(EPOCHS.format(12), "11 to 20 of the loop at train.py:3", "--batches=11-20")

    def test_loop_that_the_user_chose(self):
        self.check(
            """\
            import tensorflow
            for _ in tensorflow.dataset(60): pass
            for _ in tensorflow.dataset(60): tensorflow.train()
            """,
            "11 to 30 of the loop at train.py:2",
            "--loop=train.py:2",
        )

    def test_loops_are_named_where_none_trains(self):
        done = self.run_script(
            """\
            import tensorflow
            for _ in tensorflow.dataset(50): pass
            n = sum(1 for _ in tensorflow.dataset(60))
            """
        )
        self.assertEqual(done.returncode, 3)
        self.assertIn("no loop of the script trains", done.stderr)
        self.assertIn("train.py:2 (50 elements), train.py:3 (60 elements)", done.stderr)
        self.assertIn("--loop train.py:3", done.stderr)

    def test_training_whose_elements_are_not_of_a_dataset(self):
        done = self.run_script(
            f"""\
            import tensorflow
            for _ in tensorflow.dataset(40): {WORK}
            for _ in range(40): tensorflow.train()
            """
        )
        self.assertEqual((done.returncode, done.stdout), (3, "steps [11]\n"))
        self.assertIn("what trains took no element from a dataset of tf.data or Grain in eager Python", done.stderr)
        self.assertEqual(list((self.folder / "logs" / "plugins" / "profile").iterdir()), [])

    def test_functions_of_others_are_no_training_elsewhere(self):
        for before in (
            "keras.adapt(tensorflow.dataset(90))",
            "tensorflow.GradientTape().gradient(), tensorflow.train()",
        ):
            self.check(
                f"""\
                import tensorflow, keras
                {before}
                for _ in tensorflow.dataset(40): {WORK}
                """,
                "11 to 30 of the loop at train.py:3",
            )

    def test_whole_run_is_beside_the_trace(self):
        self.check(
            CLOCK + "for _ in tensorflow.dataset(100, 30, lambda: spend(0.04)): tensorflow.train(), spend(0.01)\n",
            "11 to 30 of the loop at train.py:7",
        )
        (facts,) = self.folder.glob("logs/plugins/profile/*/recording.json")
        facts = json.loads(facts.read_text())
        script = str(self.folder / "train.py")
        steps = {"first": 11, "last": 30}
        self.assertEqual(facts["loop"], {"script": script, "kind": "loop", "file": script, "line": 7, **steps})
        whole = facts["whole_run"]
        self.assertEqual((whole["steps"], whole["worst"]), (90, [71, 90]))
        self.assertEqual((whole["wait_share"], whole["recorded_wait_share"]), (0.5714, 0.0))

    def test_whole_run_of_a_fit_is_known_where_python_takes_its_elements(self):
        slow = "lambda: spend(0.04)"
        data = f"data=tensorflow.dataset(100, 30, {slow}), validation=tensorflow.dataset(30, 30, {slow})"
        for option, is_known in ((data, True), ("", False)):
            self.check(
                f"{CLOCK}keras.Model().fit(steps=100, work=lambda _: spend(0.01), {option})\n",
                "11 to 30 of fit at train.py:7",
            )
            (facts,) = self.folder.glob("logs/plugins/profile/*/recording.json")
            whole = json.loads(facts.read_text()).get("whole_run")
            self.assertEqual(whole is not None, is_known)
            if is_known:
                # The step before the validation has no end that is known.
                self.assertEqual((whole["steps"], whole["worst"]), (89, [71, 90]))
                self.assertGreater(whole["wait_share"], whole["recorded_wait_share"])

    def test_fit_whose_graph_takes_its_elements_is_known_by_the_length_of_its_steps(self):
        script = """\
class Saver:
    def __getattr__(self, name): return lambda *_, **__: None
    def on_train_batch_end(self, batch, logs=None): spend(batch % 50)
keras.Model().fit(steps=400, callbacks=[Saver()], work=lambda batch: spend(3 if batch % 50 > {} else 0.1))
"""
        for least, is_told in ((44, True), (50, False)):
            done = self.check(CLOCK + script.format(least), "11 to 30 of fit at train.py:10", trace=support.HEALTHY)
            (facts,) = self.folder.glob("logs/plugins/profile/*/recording.json")
            other = json.loads(facts.read_text())["other_steps"]
            self.assertEqual(other["times_as_long"] > 1, is_told)
            self.assertEqual("INCONCLUSIVE" in done.stdout, is_told)
            first, last = other["worst"]
            self.assertEqual(f"--batches {first}-{last}" in done.stdout, is_told)

    def test_elements_of_grain(self):
        for elements in (
            "grain.Map(grain.Source(100))",
            "grain.DataLoaderIterator(grain.Map(grain.Source(100)))",
            "grain.Prefetch(grain.Map(grain.Source(100)))",
        ):
            done = self.check(
                f"""\
                import tensorflow, grain, atexit
                before = grain.Map.__next__
                for _ in {elements}: tensorflow.train()
                grain.Prefetch(grain.Map(grain.Source(9)))
                frames = [entry for entry in tensorflow.log if entry[1:2] == ("$dataset.py:1 __next__",)]
                starts = [entry for entry in tensorflow.log if entry[0] == "start"]
                print("frames", len(frames), "starts", len(starts), flush=True)
                atexit.register(lambda: print("restored", grain.Map.__next__ is before))
                """,
                "11 to 30 of the loop at train.py:3",
            )
            self.assertIn("frames 20 starts 1\n", done.stdout)
            self.assertIn("restored True\n", done.stdout)

    def test_queue_of_keras(self):
        self.check(
            """\
            import time, tensorflow, keras
            from keras.src.trainers.data_adapters.py_dataset_adapter import PyDatasetAdapter
            seconds = 0.0
            time.perf_counter = lambda: seconds
            def batches():
                global seconds
                for batch in range(100):
                    seconds += 3 if batch > 60 else 0.1
                    yield batch
            def work(_):
                global seconds
                seconds += 1
            keras.Model().fit(steps=100, data=PyDatasetAdapter(batches()).get_numpy_iterator(), work=work)
            """,
            "11 to 30 of fit at train.py:13",
        )
        (facts,) = self.folder.glob("logs/plugins/profile/*/recording.json")
        whole = json.loads(facts.read_text())["whole_run"]
        self.assertEqual((whole["recorded_wait_share"], whole["wait_share"]), (0.0909, 0.5723))

    def test_memory_is_noted_until_the_script_ends(self):
        self.check(
            """\
            import tensorflow, time
            for step in range(60):
                for _ in tensorflow.dataset(2): tensorflow.train(), time.sleep(0.005)
            """,
            "11 to 15 of the loop at train.py:3",
            "--batches=11-15",
        )
        (samples,) = self.folder.glob("logs/plugins/profile/*/memory.csv")
        steps = [int(line.split(",")[1]) for line in samples.read_text().splitlines()[1:]]
        self.assertGreater(max(steps), 15)


if __name__ == "__main__":
    unittest.main()
