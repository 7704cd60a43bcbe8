"""Recording of a part of a program, with the stand-ins of fake/ for TensorFlow and Keras."""

import json
import os
import unittest
from pathlib import Path

from tfdata_doctor._recorder import settled_rate

from . import support
from .recording_support import LOOP, RecordingTest, steps_of


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


if __name__ == "__main__":
    unittest.main()
