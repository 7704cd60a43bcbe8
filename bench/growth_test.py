import unittest

from growth import COMMANDS, Cost, Growth, wanted
from measuring import NotRun


class Everything:
    @staticmethod
    def search(text):
        return True


START = Cost(instructions=10_000_000, peak_mb=10.0)


def growth(*results):
    return Growth('shape', 100, (1.0, 2.0), results, start=START)


def took(instructions, peak_mb):
    return Cost(instructions * 1_000_000, peak_mb)


class GrowthTest(unittest.TestCase):
    def test_what_the_start_takes_is_left_out(self):
        instructions, memory = growth(took(110, 30), took(210, 50)).factors
        self.assertAlmostEqual(instructions, 2.0)
        self.assertAlmostEqual(memory, 2.0)
        self.assertTrue(growth(took(110, 30), took(210, 50)).is_linear)

    def test_more_than_the_limit_of_either_is_not_linear(self):
        self.assertFalse(growth(took(110, 30), took(240, 50)).is_linear)
        self.assertFalse(growth(took(110, 30), took(210, 62)).is_linear)

    def test_too_little_to_tell_is_no_failure(self):
        self.assertEqual(growth(took(12, 11), took(24, 14)).factors, (None, None))
        self.assertTrue(growth(took(12, 11), took(24, 14)).is_linear)

    def test_a_failed_run_is_not_linear(self):
        failed = growth(took(110, 30), NotRun('failed', is_failure=True))
        self.assertFalse(failed.is_linear)
        self.assertEqual(failed.factors, (None, None))

    def test_every_shape_goes_through_every_command(self):
        for _, commands in wanted(Everything):
            self.assertEqual(commands, list(COMMANDS))


if __name__ == '__main__':
    unittest.main()
