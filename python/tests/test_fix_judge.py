"""How runs, data and caches are judged, and gains forecast."""

import os
import subprocess
import unittest
from types import SimpleNamespace

from tfdata_doctor import diagnose, whatif
from tfdata_doctor_fix import caches, forecast, judge
from tfdata_doctor_fix.budget import Choices
from tfdata_doctor_fix.edits import Edit, Place
from tfdata_doctor_fix.elements import difference, is_compared
from tfdata_doctor_fix.forecast import Forecast
from tfdata_doctor_fix.jobs import Cache, Elements, Program
from tfdata_doctor_fix.search import Search
from tfdata_doctor_fix.source import Refused, Source

from . import support


class JudgeTest(unittest.TestCase):
    def test_rank_test_is_exact(self):
        self.assertAlmostEqual(judge.rank_p_value([1, 2, 3], [4, 5, 6]), 1 / 20)
        self.assertAlmostEqual(judge.rank_p_value([1, 2, 4], [3, 5, 6]), 2 / 20)
        self.assertAlmostEqual(judge.rank_p_value([1, 2, 3, 4, 5], [6, 7, 8, 9, 10]), 1 / 252)
        self.assertAlmostEqual(judge.rank_p_value([4, 5, 6], [1, 2, 3]), 1)

    def test_interval_is_that_of_all_ratios_where_there_are_few_runs(self):
        low, high, confidence = judge.ratio_interval([10, 11, 12], [20, 22, 30])
        self.assertEqual((low, high), (20 / 12, 3))
        self.assertAlmostEqual(confidence, 0.9)
        low, high, confidence = judge.ratio_interval([10.0] * 3 + [20.0] * 3, [10.0] * 5 + [1000.0])
        self.assertLess(high, 100)
        self.assertGreaterEqual(confidence, 0.95)

    def test_what_is_faster(self):
        self.assertTrue(judge.judge([10, 11, 12], [13, 14, 15], False).is_faster)
        self.assertFalse(judge.judge([10, 11, 13], [12, 14, 15], False).is_faster)
        self.assertFalse(judge.judge([100, 101, 102], [103, 104, 105], False).is_faster)
        five = [100, 100.1, 100.2, 100.3, 100.4]
        self.assertTrue(judge.judge(five, [104] * 5, True).is_faster)
        self.assertFalse(judge.judge(five, [104] * 5, False).is_faster)
        self.assertFalse(judge.judge(five, [100.25, 120, 120, 120, 120], True).is_faster)
        self.assertTrue(judge.judge(five, [100.25, 120, 120, 120, 120], False).is_faster)
        self.assertTrue(judge.judge([13, 14, 15], [10, 11, 12], False).is_slower)
        self.assertFalse(judge.judge([10, 11], [20, 22], False).is_faster)

    def test_thresholds_are_those_of_compare(self):
        page = subprocess.run(
            [os.environ["TFDATA_DOCTOR"], "explain", "compare"], capture_output=True, encoding="utf-8", check=True
        ).stdout
        said = {words[0]: words[2] for words in map(str.split, page.splitlines()) if words[1:2] == ["="]}
        for name, value in {
            "min_ratio": judge._MIN_RATIO,
            "weak_min_ratio": judge._WEAK_MIN_RATIO,
            "significance": judge._SIGNIFICANCE,
            "weak_significance": judge._WEAK_SIGNIFICANCE,
            "min_recordings": judge.ENOUGH_RUNS,
            "weak_min_recordings": judge.LEAST_RUNS,
        }.items():
            self.assertEqual(float(said[name]), value, name)


class ElementsTest(unittest.TestCase):
    @staticmethod
    def elements(hashes, again=(), is_complete=True, spec="int"):
        return [Elements(spec, list(hashes), list(again), is_complete)]

    def test_differences(self):
        same = self.elements("abc", "abc")
        self.assertEqual(difference(same, same, False), "")
        self.assertIn("element 2", difference(same, self.elements("acb", "abc"), False))
        self.assertEqual(difference(same, self.elements("acb", "bca"), True), "")
        self.assertIn("differ", difference(same, self.elements("abd", "abc"), True))
        self.assertIn("3 elements have become 2", difference(same, self.elements("ab", "ab"), False))
        self.assertIn("another type", difference(same, self.elements("abc", "abc", spec="float"), False))

    def test_order_of_a_second_epoch_counts(self):
        base, changed = self.elements("abc", "bca"), self.elements("abc", "abc")
        self.assertIn("the second time over it", difference(base, changed, False))

    def test_of_elements_that_may_be_reordered_all_must_be_there(self):
        part = self.elements("abc", is_complete=False)
        self.assertFalse(is_compared(part, part, True))
        self.assertTrue(is_compared(part, part, False))
        self.assertFalse(is_compared([], [], False))
        self.assertEqual(difference(self.elements("abcd", is_complete=False), part, False), "")


class ForecastTest(unittest.TestCase):
    """Of a recording whose input waits: 1.46 ms of a step are the input's and 0.17 ms the consumer's."""

    def setUp(self):
        self.trace = str(support.TRACES / "guide_naive.xplane.pb")
        changes = [change for change in diagnose(self.trace).changes if change.fixes]
        self.change = next(change for change in changes if change.fixes[0].kind == "cache")
        self.fixes = [fix.fix for fix in self.change.fixes]
        (self.recorded,) = whatif(self.trace).pipelines
        self.told = forecast.prediction_of(self.change)

    def predicted(self, *factors):
        recorded = self.recorded.without_input.steps_per_s.estimate
        return Forecast(self.trace, [factor * recorded for factor in factors]).prediction(self.change, self.fixes)

    def test_without_runs_it_is_what_the_report_says(self):
        self.assertEqual(self.predicted(), self.told)
        self.assertIsNone(Forecast(self.trace, []).prediction(self.change, ["cache:Map"]))
        self.assertEqual(Forecast("nothing", [9.0]).prediction(self.change, self.fixes), self.told)

    def test_gain_is_larger_where_the_rest_is_faster_than_recorded(self):
        same, faster = (self.predicted(factor, factor).gain for factor in (1, 4))
        self.assertAlmostEqual(same, self.told.gain, delta=0.02 * same)
        self.assertLess(same, faster)

    def test_range_holds_those_of_both_runs(self):
        slow, fast, both = self.predicted(1, 1), self.predicted(2, 2), self.predicted(1, 2)
        self.assertEqual((both.low, both.high), (min(slow.low, fast.low), max(slow.high, fast.high)))
        self.assertEqual(both.gain, fast.gain)

    def test_run_that_others_held_up_says_nothing(self):
        self.assertEqual(self.predicted(0.01, 0.01), self.predicted(0.1, 0.5))

    def test_range_is_as_wide_as_runs_differ(self):
        predicted = forecast.Prediction(2.0, 1.8, 2.2, None)
        measured = forecast.as_measured(predicted, [90.0, 100.0, 120.0])
        self.assertEqual((measured.gain, measured.low, measured.high), (2.0, 1.8 * 0.9, 2.2 * 1.2))
        self.assertEqual(forecast.as_measured(predicted, []), predicted)
        # A program that is slower than the model's may be that much faster than it after the change.
        other = forecast.Prediction(2.0, 1.8, 2.2, None, 125.0)
        self.assertEqual(forecast.as_measured(other, [100.0] * 3).high, 2.2 * 1.25)
        self.assertEqual(forecast.as_measured(other, [100.0] * 3).low, 1.8)


class CacheTest(unittest.TestCase):
    def test_shuffle_after_a_cache_has_room_for_all_of_it(self):
        source = Source("x.py", b"a = b.batch(\n    2\n)\nc = a.map(f).cache()\n")
        edits = [("x.py", Edit("cache_shuffle", Place(1, "batch"))), ("x.py", Edit("prefetch", Place(4, "map")))]

        def counted(*caches_made):
            return [edit.number for _, edit in caches.with_counts(edits, caches_made, lambda _: source)]

        other = Cache("x.py", 5, 30), Cache("y.py", 3, 6)
        self.assertEqual(counted(Cache("x.py", 3, 24), *other), [24, None])
        for made, why in (
            ((Cache("x.py", 3, -2), *other), "is not known"),
            (other, "is not known"),
            ((Cache("x.py", 3, 24), Cache("x.py", 3, 4)), "several datasets"),
        ):
            with self.assertRaisesRegex(Refused, why):
                counted(*made)

    def test_epoch_that_is_longer_than_a_run(self):
        made = Search(Program("x.py"), Choices(), "x.py", lambda _: None)
        made._check_epoch(10**9)
        made.outcome.trials = [SimpleNamespace(base=(10.0, 20.0))]
        made._check_epoch(1000)
        with self.assertRaisesRegex(Refused, "takes 500 s"):
            made._check_epoch(10000)

    def test_steps_until_a_cache_is_complete(self):
        self.assertEqual(caches.epoch_steps([Cache("x.py", 3, 800)], 8.0), 101)
        self.assertEqual(caches.epoch_steps([Cache("x.py", 3, -2)], 8.0), 0)

    def test_what_cannot_be_complete(self):
        with self.assertRaisesRegex(Refused, "has no end"):
            caches.check_size([Cache("x.py", 3, -1)])
        with self.assertRaisesRegex(Refused, "GiB are free"):
            caches.check_size([Cache("x.py", 3, 10**9, 10**6)])
        caches.check_size([Cache("x.py", 3, -2, 10**6), Cache("x.py", 3, 10, None)])
        with self.assertRaisesRegex(Refused, "what would be cached is random"):
            caches.check_random([Cache("x.py", 3, 10, 1, True), Cache("x.py", 3, 10, 1, False)])


if __name__ == "__main__":
    unittest.main()
