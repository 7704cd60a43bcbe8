"""What the clock says of the steps that were not recorded, with lengths that are given."""

import unittest

from tfdata_doctor._whole_run import WholeRun, Window

WINDOW = Window(11, 30)


def run(lengths, waits=None, recorded=20):
    """A run whose first `recorded` steps are those of the window."""
    whole = WholeRun()
    for index, seconds in enumerate(lengths):
        waited = waits[index] if waits else 0
        whole.add(index // WINDOW.length, seconds, waited, index < recorded)
    return whole


def times_as_long(lengths):
    return run(lengths).lengths(WINDOW)["times_as_long"]


def steps(count, stalls=(), usual=0.1, stall=2.0):
    """So many steps, some of which stall."""
    return [stall if index in stalls else usual for index in range(count)]


class LengthsTest(unittest.TestCase):
    def test_stalls_that_recur(self):
        stalls = range(50, 600, 100)
        lengths = steps(600, stalls)
        lengths[150] = 2.5
        facts = run(lengths).lengths(WINDOW)
        self.assertEqual((facts["steps"], facts["worst"]), (580, [51, 270]))
        self.assertAlmostEqual(facts["times_as_long"], 1 + 6 * 1.9 / 58, places=3)

    def test_stalls_that_are_far_apart(self):
        lengths = steps(4000, range(500, 4000, 600))
        lengths[1100] = 2.5
        self.assertEqual(run(lengths).lengths(WINDOW)["worst"], [1111, 1130])

    def test_healthy_run(self):
        self.assertEqual(times_as_long(steps(600)), 1)

    def test_what_comes_once_is_left_out(self):
        """A new shape at the end of an epoch is compiled, and the second epoch begins."""
        self.assertEqual(times_as_long(steps(600, (199, 200, 300), stall=20.0)), 1)

    def test_busier_machine_is_no_stall(self):
        self.assertEqual(times_as_long([0.1] * 20 + [0.14] * 400), 1)
        self.assertEqual(times_as_long([0.1] * 20 + [0.16] * 400), 1.6)
        stalls = [2.0 if index % 25 == 0 else 0.14 for index in range(400)]
        self.assertAlmostEqual(times_as_long([0.1] * 20 + stalls), 1 + 1.86 / 25 / 0.14, places=2)

    def test_steps_of_several_lengths_are_like_the_recorded_ones(self):
        self.assertAlmostEqual(times_as_long([0.1, 0.1, 0.1, 0.5] * 100), 1)

    def test_recorded_steps_that_are_slower(self):
        self.assertLess(times_as_long([0.15] * 20 + [0.1] * 400), 1)

    def test_few_other_steps_tell_nothing(self):
        self.assertIsNone(run(steps(100)).lengths(WINDOW))
        self.assertIsNotNone(run(steps(120)).lengths(WINDOW))
        self.assertIsNone(run(steps(600, usual=0.001)).lengths(WINDOW))


class WaitsTest(unittest.TestCase):
    def test_shares_of_all_steps_and_of_the_recorded_ones(self):
        waits = [0.01] * 60 + [0.05] * 20 + [0.03] * 20
        facts = run(steps(100), waits).waits(WINDOW)
        self.assertEqual((facts["steps"], facts["worst"], facts["steps_per_s"]), (100, [71, 90], 10))
        self.assertEqual((facts["wait_share"], facts["recorded_wait_share"]), (0.22, 0.1))

    def test_few_steps_tell_nothing(self):
        self.assertIsNone(run(steps(39)).waits(WINDOW))
        self.assertIsNone(run(steps(40, usual=0.01)).waits(WINDOW))
        self.assertIsNone(run(steps(40), recorded=0).waits(WINDOW))


if __name__ == "__main__":
    unittest.main()
