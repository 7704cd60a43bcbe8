"""The guard, with the stand-ins of fake/ and a clock that goes on where it is told to."""

import os
import tempfile
import textwrap
import unittest
from pathlib import Path

import tfdata_doctor
from tfdata_doctor._guard import scalar_writer
from tfdata_doctor._guarded_loop import wait_share

from . import support

#: `elements(times)`: an iterator that waits so long for each of its elements. A step takes 10 ms without waiting.
PROLOGUE = """\
import json, time, tensorflow, keras, tfdata_doctor
seconds, QUICK, SLOW = 0.0, 0.001, 0.01
time.perf_counter = lambda: seconds
def spend(more):
    global seconds
    seconds += more
def elements(times):
    left = iter(times)
    return tensorflow.dataset(len(times), len(times), lambda: spend(next(left)))
def train():
    tensorflow.GradientTape().gradient()
    spend(0.01)
class Writer:
    def __init__(self): self.logged = []
    def log(self, values, commit): self.logged.append(*values.values())
writer = Writer()
"""
#: Trains in so many epochs, and keeps the guard.
LOOP = """\
with tfdata_doctor.profile(logs, steps=5, warmup=10, show={show}, guard=0.2, writer=writer) as recording:
    for times in {epochs}:
        for _ in elements(times): train()
"""
FIT = """\
callback = tfdata_doctor.Callback(logs, (11, 15), guard=0.2, writer=writer, show=False)
"""
QUICK, SLOW = 0.001, 0.01


class GuardTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.logs = Path(folder.name, "logs")

    def guarded(self, code, trace=support.INPUT_BOUND):
        """The marked steps of the recordings, what the writer got, and the warnings, after some code."""
        epilogue = (
            "marked = [entry[2] for entry in tensorflow.log if entry[0] == 'begin']\n"
            "print('\\n' + json.dumps([marked, writer.logged]))"
        )
        (marked, logged), stderr = support.recorded(
            f"{PROLOGUE}logs = {str(self.logs)!r}\n{textwrap.dedent(code)}{epilogue}", trace
        )
        return marked, logged, stderr

    def loop(self, *epochs, show=False):
        return self.guarded(LOOP.format(epochs=list(epochs), show=show))

    def recordings(self):
        return sorted(path.name for path in self.logs.glob("plugins/profile/*"))

    def test_training_that_does_not_wait_is_not_recorded(self):
        marked, logged, stderr = self.loop([QUICK] * 300, [QUICK] * 300)
        self.assertEqual((marked, self.recordings()), ([], []))
        self.assertEqual({round(share, 2) for share in logged}, {0.09})
        self.assertEqual(stderr, "")
        self.assertFalse(self.logs.exists())

    def test_stall_that_comes_late(self):
        marked, logged, _ = self.loop([QUICK] * 150 + [SLOW] * 150)
        self.assertEqual(marked, [162, 163, 164, 165, 166])
        self.assertEqual(self.recordings(), ["run_step162"])
        self.assertGreater(max(logged), 0.45)
        self.assertEqual([path.name for path in self.logs.iterdir()], ["plugins"])

    def test_one_long_wait_is_set_aside(self):
        for share, times in ((0.0, [0.0] * 49 + [9.0]), (0.64, [0.0] * 48 + [0.9, 0.9])):
            self.assertAlmostEqual(wait_share([(0.01 + waited, waited) for waited in times]), share, 2)
        self.assertEqual(self.loop([QUICK] * 200 + [9.0] + [QUICK] * 200)[0], [])
        every_twentieth = ([QUICK] * 19 + [0.5]) * 10
        self.assertNotEqual(self.loop(every_twentieth)[0], [])

    def test_first_steps_do_not_count(self):
        self.assertEqual(self.loop(*[[5.0] * 10 + [QUICK] * 30] * 8)[0], [])

    def test_once_in_an_epoch_and_three_times_in_all(self):
        epochs = [[SLOW] * 200, *[[QUICK] * 100] * 2, *[[SLOW] * 200] * 4]
        marked, _, _ = self.loop(*epochs)
        self.assertEqual(marked[::5], [62, 462, 662])
        self.assertEqual(self.recordings(), ["run_step462", "run_step62", "run_step662"])

    def test_short_epochs_are_judged_together(self):
        marked, _, _ = self.loop(*[[SLOW] * 35] * 4)
        self.assertEqual(marked[0], 71)

    def test_epoch_that_ends_ends_its_recording(self):
        # The last one finds no more elements.
        self.assertEqual(self.loop([SLOW] * 64, [QUICK] * 40)[0], [62, 63, 64, 65])

    def test_recording_goes_on_until_it_shows_the_waiting(self):
        stored = [SLOW] * 61 + [0.0] * 12 + [SLOW] * 100
        marked, _, _ = self.loop(stored)
        self.assertEqual(marked, list(range(62, 80)))

    def test_validation_is_not_recorded(self):
        code = LOOP.format(epochs=[[QUICK] * 100] * 3, show=False)
        marked, _, _ = self.guarded(f"{code}        for _ in elements([SLOW] * 100): tensorflow.train(), spend(0.01)\n")
        self.assertEqual(marked, [])

    def test_report_comes_at_the_end_of_the_epoch(self):
        code = LOOP.format(epochs=[[SLOW] * 100, [QUICK] * 100], show=True)
        code += "        if recording._guard.report: print('epoch')\nassert recording.report.is_input_bound\n"
        code += "assert str(recording.run_directory).endswith('run_step62')\n"
        done = support.python(
            "-c",
            f"{PROLOGUE}logs = {str(self.logs)!r}\n{code}",
            path=[support.FAKE],
            FAKE_TRACE=str(support.INPUT_BOUND),
        )
        self.assertTrue(done.stdout.startswith("\nINPUT-BOUND"), done.stderr)
        self.assertEqual(done.stdout.count("epoch\n"), 2)
        self.assertIn("the loop at <string>:", done.stderr)
        self.assertIn("waited for data in 49% of the time of 50 steps: from step 62 on, some are recorded", done.stderr)

    def test_nothing_is_overwritten(self):
        there = self.logs / "plugins" / "profile" / "run_step62"
        there.mkdir(parents=True)
        (there / "host.xplane.pb").write_text("mine")
        self.loop([SLOW] * 100)
        self.assertEqual(self.recordings(), ["run_step62", "run_step62_2"])
        self.assertEqual((there / "host.xplane.pb").read_text(), "mine")

    def test_another_profiler_is_left_alone(self):
        marked, _, stderr = self.guarded(
            "tensorflow.profiler.experimental.start('other')\n" + LOOP.format(epochs=[[SLOW] * 100] * 2, show=False)
        )
        self.assertEqual((marked, self.recordings()), ([], []))
        self.assertEqual(stderr.count("another profiler is running"), 2)
        self.assertEqual(list(self.logs.iterdir()), [])

    def test_users_profiler_takes_the_place_of_the_guards(self):
        marked, _, _ = self.guarded(
            """\
            with tfdata_doctor.profile(logs, steps=5, warmup=10, show=False, guard=0.2) as recording:
                for number, _ in enumerate(elements([SLOW] * 100)):
                    train()
                    if number == 62: tensorflow.profiler.experimental.start('other')
            assert [entry[0] for entry in tensorflow.log if entry[0] in ('start', 'stop')] == ['start', 'stop', 'start']
            """
        )
        self.assertEqual((marked, self.recordings()), ([62, 63], []))

    def test_errors_do_not_stop_the_training(self):
        _, _, stderr = self.guarded(
            "tensorflow.profiler.experimental.stop = lambda: 1 / 0\nsteps = 0\n"
            + LOOP.format(epochs=[[SLOW] * 100] * 2, show=False).replace("train()", "train(); steps += 1")
            + "assert steps == 200\n"
        )
        self.assertIn("the guard is off: ZeroDivisionError", stderr)
        _, _, stderr = self.guarded(
            "writer.log = None\n" + LOOP.format(epochs=[[SLOW] * 100], show=False) + "assert recording.report\n"
        )
        self.assertIn("the share of waiting is not logged", stderr)

    def test_error_of_the_block_is_kept_and_everything_restored(self):
        self.guarded(
            """\
            before = dict(vars(tensorflow.dataset))
            try:
                with tfdata_doctor.profile(logs, guard=0.2):
                    for number, _ in enumerate(elements([QUICK] * 100)): 1 / (90 - number)
            except ZeroDivisionError: assert dict(vars(tensorflow.dataset)) == before
            """
        )

    def test_what_cannot_be_a_guard_is_an_error(self):
        for share in (0, 1, 20):
            with self.assertRaisesRegex(ValueError, "guard="):
                tfdata_doctor.profile(os.devnull, guard=share)
        with self.assertRaisesRegex(TypeError, "wandb"):
            scalar_writer(7)

    def test_writers(self):
        logged = []

        class SummaryWriter:
            def add_scalar(self, tag, value, step):
                logged.append((tag, value, step))

        scalar_writer(SummaryWriter())(0.5, 7)
        self.assertEqual(logged, [("tfdata_doctor/wait_share", 0.5, 7)])

    def test_fit_whose_batches_python_takes(self):
        fit = "keras.Model().fit(2, 200, data=elements({}), work=lambda _: spend(0.01), callbacks=[callback])\n"
        marked, _, _ = self.guarded(FIT + fit.format("[QUICK] * 400"))
        self.assertEqual(marked, [])
        marked, _, _ = self.guarded(FIT + fit.format("[QUICK] * 100 + [SLOW] * 300") + "assert callback.report\n")
        self.assertEqual(marked, [111, 112, 113, 114, 115, 261, 262, 263, 264, 265])

    def test_fit_whose_graph_takes_its_batches(self):
        """TensorFlow's own clock tells the time between elements; the fake's iterator is that of the training."""
        code = """\
            between, waits = [], {waits}
            tensorflow.data.experimental = type("", (), {{"get_model_proto": staticmethod(
                lambda _: type("", (), {{"gap_times": between[-100:]}}))}})
            class Batches(keras.Model):
                def work(self, batch):
                    if batch == 0: self.iterator = elements([1])
                    if batch > 0: between.append(10_000 * {at_once})
                    spend(waits(batch) + 0.01 * {at_once})
            model = Batches()
            model.fit(steps=300, at_once={at_once}, work=model.work, callbacks=[callback])
            """
        code = FIT + textwrap.dedent(code)
        marked, logged, _ = self.guarded(code.format(waits="lambda batch: 0.001", at_once=1))
        self.assertEqual((marked, {round(share, 2) for share in logged}), ([], {0.09}))
        marked, logged, _ = self.guarded(code.format(waits="lambda batch: 0.01 if batch > 150 else 0.001", at_once=1))
        self.assertEqual((len(marked), marked[0]), (5, 187))
        self.assertEqual(round(logged[-1], 2), 0.49)

    def test_fit_of_which_nothing_is_seen(self):
        _, logged, stderr = self.guarded(
            FIT + "keras.Model().fit(steps=200, work=lambda _: spend(0.01), callbacks=[callback])\n"
        )
        self.assertEqual(logged, [])
        self.assertIn("the guard did not see what fit waited for", stderr)


if __name__ == "__main__":
    unittest.main()
