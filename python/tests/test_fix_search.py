"""The search for changes, of runs that are said to take so long."""

import contextlib
import errno
import io
import json
import subprocess
import sys
import unittest
from dataclasses import replace as replace_fields
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

from tfdata_doctor import diagnose
from tfdata_doctor._program import DoctorError
from tfdata_doctor_fix import forecast, pages, plan, search
from tfdata_doctor_fix.api import Outcome
from tfdata_doctor_fix.budget import Choices
from tfdata_doctor_fix.jobs import Answer, Cache, Elements, Program
from tfdata_doctor_fix.patch import apply
from tfdata_doctor_fix.plan import NotTried, Planner
from tfdata_doctor_fix.runner import ProgramFailed
from tfdata_doctor_fix.search import Search
from tfdata_doctor_fix.workspace import Workspace

from . import support
from .fix_support import HEALTHY, INPUT, RecordedTest, with_change


class FakeRunner:
    """Runs that take as long as `rates` says: of the text, a list of rates."""

    def __init__(
        self,
        run,
        rates,
        looks=lambda _: ["a", "b"],
        on_measure=lambda: None,
        ready=None,
        steps=30,
        seconds=0.0,
        cached=(),
    ):
        self.run, self.rates, self.looks, self.on_measure, self.ready = run, rates, looks, on_measure, ready
        self.steps, self.seconds, self.last_seconds = steps, seconds, 0.0
        self.measured, self.left_out, self.cached = [], [], list(cached)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def text_of(self, texts):
        return "".join(source.text.decode() for source in texts.values())

    def record(self, texts, *_):
        return Answer(run_directory=str(self.run(self.text_of(texts))), steps=self.steps)

    def look(self, texts, *_, **__):
        hashes = self.looks(self.text_of(texts))
        return Answer(elements=[Elements("int", hashes, hashes, True)], caches=self.cached)

    def measure_ready(self, _texts, skip, steps, _seconds):
        return self.answer(self.ready, skip + steps) if self.ready else Answer(ended="end")

    def measure(self, texts, skip, steps, _):
        self.on_measure()
        self.last_seconds = self.seconds
        text = self.text_of(texts)
        self.measured.append(bool(text))
        rate = self.rates(text)
        if isinstance(rate, Exception):
            raise rate
        return self.answer(rate, skip + steps)

    @staticmethod
    def answer(rate, steps):
        begins = [index / rate for index in range(steps)]
        return Answer(begins=begins, ends=[*begins[1:], begins[-1] + 1 / rate], ended="enough", is_ready=True)


class SearchTest(RecordedTest):
    def searched(self, rates, choices=None, text=INPUT, after=HEALTHY, **options):
        run = self.recorded(text)
        runner = FakeRunner(lambda changed: (changed and after) or run, rates, **options)
        with mock.patch.object(search, "Runner", return_value=runner):
            made = Search(Program("train.py"), choices or Choices(), "train.py", lambda _: None)
            outcome = made.run()
        self.assertEqual((self.folder / "src" / "input.py").read_text(), text)
        return outcome, made, runner

    def test_change_that_is_faster_is_kept_and_the_program_recorded_again(self):
        outcome, made, runner = self.searched(lambda text: 150 if "is_kept" in text else 100)
        (trial,) = outcome.trials
        self.assertTrue(trial.is_kept)
        self.assertEqual(trial.data, "same")
        self.assertEqual(runner.measured, [False, True] * 3)
        self.assertEqual((outcome.before, outcome.after), (100, 150))
        self.assertEqual(outcome.stopped, "the input no longer limits")
        self.assertIn("+    dataset = dataset.map(lambda element", outcome.patch)
        for form in pages.FORMATS.values():
            page = form(outcome)
            self.assertIn("input.py", page)
            self.assertIn("1.5", page)
        in_notebook = Outcome(**vars(outcome))._repr_html_()
        self.assertIn("is_kept", in_notebook)
        self.assertNotRegex(in_notebook, "<(html|style|meta|h1)")  # it would be the notebook's
        document = json.loads(pages.FORMATS["json"](outcome))
        self.assertEqual(document["trials"][0]["kept"], True)
        with contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual(apply(made.workspace), [str(self.folder / "src" / "input.py")])

    def test_change_that_is_not_faster_is_not_kept(self):
        for changed, reason in ((100, "no faster"), (102, "no faster"), (80, "slower")):
            outcome, _, _ = self.searched(lambda text, rate=changed: rate if text else 100)
            self.assertEqual([(trial.is_kept, trial.reason) for trial in outcome.trials], [(False, reason)])
            self.assertEqual(outcome.patch, "")
            self.assertEqual(outcome.stopped, "nothing is left to try")
            self.assertIn("NO FASTER", pages.text(outcome))

    def test_what_may_be_chance_is_measured_again(self):
        base, changed = iter([100, 100, 120, 120, 100]), iter([110, 115, 110, 110, 110])
        outcome, _, runner = self.searched(lambda text: next(changed if text else base))
        self.assertEqual(len(runner.measured), 10)
        self.assertFalse(outcome.trials[0].is_kept)
        self.assertEqual(outcome.trials[0].reason, "faster, but it may be chance")

    def test_other_data_are_not_kept_unless_allowed(self):
        looks = {"looks": lambda text: ["a", "x"] if text else ["a", "b"]}
        outcome, _, _ = self.searched(lambda text: 200 if text else 100, **looks)
        self.assertIn("element 2 of the dataset differs", outcome.trials[0].reason)
        outcome, _, _ = self.searched(lambda text: 200 if text else 100, Choices(allowed=frozenset({"data"})), **looks)
        self.assertTrue(outcome.trials[0].is_kept)

    def test_random_data_are_not_compared(self):
        numbers = iter(range(99))
        outcome, _, _ = self.searched(lambda text: 200 if text else 100, looks=lambda _: [str(next(numbers))])
        self.assertEqual(outcome.trials[0].data, "not compared: random")
        self.assertTrue(outcome.trials[0].is_kept)
        self.assertIn("not compared: random", pages.text(outcome))

    def test_program_that_fails_only_when_changed(self):
        failure = ProgramFailed("the program ended with status 1: ValueError: no", "")
        outcome, _, _ = self.searched(lambda text: failure if text else 100)
        self.assertIn("ValueError: no", outcome.trials[0].reason)
        self.assertEqual(outcome.patch, "")

    def test_interrupt_gives_what_was_found(self):
        def interrupted():
            raise KeyboardInterrupt

        outcome, _, _ = self.searched(lambda _: 100, on_measure=interrupted)
        self.assertTrue(outcome.is_interrupted)
        self.assertIn("interrupted", pages.text(outcome))
        with mock.patch.object(Search, "_measure_total", side_effect=KeyboardInterrupt):
            outcome, _, _ = self.searched(lambda text: 150 if text else 100)
        self.assertTrue(outcome.is_interrupted)
        self.assertTrue(pages.text(outcome).startswith("1.5x FASTER: 100 -> 150 steps/s with 1 change (1.5x to"))
        self.assertIn("+    dataset = dataset.map", outcome.patch)

    def test_change_that_raises_something_is_no_end(self):
        for failure in (IndexError("list"), ValueError("max() arg is an empty sequence"), KeyError()):
            outcome, _, _ = self.searched(lambda text, raised=failure: raised if text else 100)
            self.assertIn(f"internal error ({type(failure).__name__}", outcome.trials[0].reason)
            self.assertIn("please report it", outcome.trials[0].reason)
        with mock.patch.object(Workspace, "with_edits", side_effect=IndexError("list")):
            outcome, _, _ = self.searched(lambda _: 100)
        self.assertIn("internal error (IndexError: list)", outcome.trials[0].reason)
        with mock.patch.object(Planner, "_made_at", side_effect=IndexError("list")):
            outcome, _, _ = self.searched(lambda _: 100)
        self.assertIn("internal error (IndexError: list)", outcome.not_tried[0].reason)

    def test_what_was_measured_is_handed_over_whatever_ends_it(self):
        """Such as a disk that is full, or a save, in the recording after a change that was kept."""
        for error in (OSError(errno.ENOSPC, "No space left"), DoctorError("train.py was saved at 12:00:00")):

            def recorded(runner, texts, *_, error=error):
                if runner.text_of(texts):
                    raise error
                return Answer(run_directory=str(runner.run("")), steps=30)

            with mock.patch.object(FakeRunner, "record", recorded):
                outcome, _, _ = self.searched(lambda text: 150 if text else 100)
            self.assertEqual((len(outcome.kept), outcome.after), (1, 150))
            self.assertIn(str(error), outcome.stopped)
            self.assertIn("+    dataset = dataset.map", outcome.patch)
        # Before anything was measured there is nothing to hand over.
        full = mock.patch.object(FakeRunner, "record", side_effect=OSError(errno.ENOSPC, "No space left"))
        with full, self.assertRaisesRegex(DoctorError, "No space left"):
            self.searched(lambda _: 100)

    def test_user_is_told_what_will_run_before_it_does(self):
        said = []
        runner = FakeRunner(lambda _: self.fail("it ran"), None)
        with mock.patch.object(search, "Runner", return_value=runner):
            self.recorded()
            made = Search(Program("train.py"), Choices(), "train.py", said.append)
            with mock.patch.object(search, "missing_landlock", return_value="no Landlock"):
                self.assertRaisesRegex(DoctorError, "no Landlock", made.run)
            self.assertEqual(said, [])
            with contextlib.suppress(AssertionError):
                made.run()
        self.assertIn("train.py will run up to 30 times within 10 min, each time for 60 steps or 75 s", said[0])
        self.assertIn("uploads", said[0])

    def test_cache_and_shuffle_are_kept_with_what_they_change(self):
        def changed(folder):
            report = diagnose(folder)
            return report if str(folder) == str(HEALTHY) else with_change(report, "input-bound", "MapAndBatch", "cache")

        with mock.patch.object(search, "diagnose", changed):
            rates = {"": 100, INPUT.replace("(batch_size)", "(batch_size).cache().shuffle(7)", 1): 300}
            outcome, _, _ = self.searched(
                rates.get, cached=[Cache(str(self.folder / "src" / "input.py"), 20, 7, 8, True)]
            )
        self.assertEqual((len(outcome.kept), outcome.trials[0].data), (1, plan.BATCHES_STAY))
        self.assertIn("each batch keeps the elements of the first epoch", pages.text(outcome))

    def test_what_promises_nothing_comes_last(self):
        def change(words, gain):
            predicted = None if gain is None else forecast.Prediction(gain, gain, gain, None)
            return SimpleNamespace(predicted=predicted, key=words, words=words)

        planned = [change("a", 1.0), NotTried("b", "no"), change("c", 2.0), change("d", None), change("e", 1.02)]
        self.assertEqual([one.words for one in plan.in_order(planned)], ["b", "c", "d", "a", "e"])

    def test_input_that_limits_only_with_the_profiler(self):
        outcome, _, runner = self.searched(lambda _: 100, ready=101)
        self.assertEqual((outcome.trials, outcome.stopped), ([], "the input does not limit"))
        self.assertEqual(len(runner.measured), 1)
        # It cannot be that slow: something else is measured there.
        outcome, _, _ = self.searched(lambda text: 150 if text else 100, ready=50)
        self.assertEqual(len(outcome.kept), 1)

    def test_iterator_of_each_step_is_made_with_an_input_that_is_ready_too(self):
        def report(kind):
            return SimpleNamespace(changes=[SimpleNamespace(fixes=[SimpleNamespace(kind=kind)])])

        self.assertTrue(plan.remakes_iterators(report("iterate_once")))
        self.assertFalse(plan.remakes_iterators(report("prefetch")))

    def test_what_is_measured_decides_where_the_recording_waits_a_little(self):
        def healthy(folder):
            report = diagnose(folder)
            return replace_fields(report, verdict=replace_fields(report.verdict, status="healthy"))

        with mock.patch.object(search, "diagnose", healthy):
            outcome, _, _ = self.searched(lambda text: 150 if text else 100, ready=200)
            self.assertEqual(len(outcome.kept), 1)
            outcome, _, _ = self.searched(lambda _: 100, ready=101)
            self.assertEqual((outcome.trials, outcome.stopped), ([], "the input does not limit"))

    def test_search_ends_where_the_input_is_as_good_as_ready(self):
        # The recording after the change is the one before it: the input would limit.
        outcome, _, _ = self.searched(lambda text: 150 if text else 100, ready=155, after=None)
        self.assertEqual((len(outcome.trials), outcome.stopped), (1, "the input no longer limits"))
        self.assertAlmostEqual(outcome.ready, 155)
        self.assertIn("At most   155 steps/s if data were always ready", pages.text(outcome))
        self.assertEqual(json.loads(pages.FORMATS["json"](outcome))["ready_steps_per_s"], outcome.ready)

    def test_program_that_cannot_be_recorded_with_what_was_kept(self):
        def recorded(runner, texts, *_):
            return Answer(run_directory=str(runner.run("")), steps=11 if runner.text_of(texts) else 30)

        with mock.patch.object(FakeRunner, "record", recorded):
            outcome, _, _ = self.searched(lambda text: 150 if text else 100)
        self.assertEqual((len(outcome.kept), outcome.after), (1, 150))
        self.assertIn("too little was recorded", outcome.stopped)

    def test_window_that_is_too_short_is_recorded_again(self):
        asked = []

        def recorded(runner, texts, skip, steps, _):
            asked.append(steps)
            return Answer(run_directory=str(runner.run(runner.text_of(texts))), steps=skip + steps)

        def diagnosed(folder):
            report = diagnose(folder)
            status = "inconclusive" if len(asked) == 1 else report.verdict.status
            return replace_fields(report, verdict=replace_fields(report.verdict, status=status))

        with mock.patch.object(FakeRunner, "record", recorded), mock.patch.object(search, "diagnose", diagnosed):
            outcome, _, _ = self.searched(lambda text: 150 if text else 100)
        self.assertEqual((len(outcome.kept), asked), (1, [20, 80, 20]))

    def test_program_that_is_short(self):
        for steps, said in ((11, "too little was recorded: the program took 11 steps"), (0, "nothing was recorded")):
            with self.assertRaisesRegex(DoctorError, said):
                self.searched(lambda _: 100, steps=steps)

    def test_budget(self):
        outcome, _, runner = self.searched(lambda _: 100, Choices(budget=0.001))
        self.assertIn("the budget is spent", outcome.stopped)

        # What would end after the budget is not begun.
        outcome, _, runner = self.searched(lambda _: 100, Choices(budget=50.0), seconds=60.0)
        self.assertEqual((runner.measured, outcome.stopped[:19]), ([False], "the budget is spent"))

    def test_rows_of_predicted_and_measured_gains(self):
        outcome, _, _ = self.searched(lambda text: 150 if text else 100)
        from tfdata_doctor_fix.rows import append_rows

        for _ in range(2):
            append_rows("gains.jsonl", outcome)
        rows = [json.loads(line) for line in Path("gains.jsonl").read_text().splitlines()]
        self.assertEqual([row["measured"]["gain"] for row in rows], [1.5, 1.5])
        for options in ([], ["--told"]):
            done = subprocess.run(
                [sys.executable, str(support.ROOT / "scripts" / "whatif-accuracy"), "gains.jsonl", *options],
                capture_output=True,
                encoding="utf-8",
                check=False,
            )
            self.assertIn("2 pairs", done.stdout, done.stderr)

    def test_names_that_are_markup_are_escaped(self):
        outcome = Outcome("<b>", stopped="<script>alert(1)</script> | `x`")
        self.assertNotIn("<script>", pages.FORMATS["html"](outcome))
        self.assertNotIn("<script>", outcome._repr_html_())
        self.assertNotIn("<script>", pages.FORMATS["markdown"](outcome))


if __name__ == "__main__":
    unittest.main()
