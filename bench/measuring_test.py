import tempfile
import unittest

import measuring
from measuring import Measurement, NotRun


class LeastTest(unittest.TestCase):
    def test_each_quantity_for_itself(self):
        slow = Measurement(user=2, system=0, wall=2, peak_mb=5, output='slow')
        busy = Measurement(user=1, system=0.5, wall=9, peak_mb=7, output='busy')
        self.assertEqual(measuring.least(slow, busy), Measurement(1, 0.5, 2, 5, 'busy'))
        self.assertEqual(measuring.least(busy, slow), Measurement(1, 0.5, 2, 5, 'busy'))
        self.assertEqual(measuring.least(None, busy), busy)


class RatioTest(unittest.TestCase):
    def test_a_fast_spell_of_the_machine_does_not_decide(self):
        one = Measurement(1, 0, 1, 5, runs=((2, 2), (1, 1), (2, 2)))
        other = Measurement(3, 0, 3, 15, runs=((3, 3), (3, 3), (3, 3), (9, 9)))
        self.assertEqual(measuring.ratio(other, one, 'cpu'), 1.5)
        self.assertEqual(measuring.ratio(other, one, 'wall'), 1.5)
        self.assertEqual(measuring.ratio(other, one, 'peak_mb'), 3)

    def test_one_measurement_each(self):
        self.assertEqual(measuring.ratio(Measurement(3, 1, 0, 0), Measurement(2, 0, 0, 0), 'cpu'), 2)


class AlternatingTest(unittest.TestCase):
    def setUp(self):
        self.log = tempfile.NamedTemporaryFile(mode='r', suffix='.log')
        self.addCleanup(self.log.close)

    def script(self, name, status):
        """A command like measure_command: says what it took, here 1 s."""
        taken = '{"user_s": 1, "system_s": 0, "wall_s": 1, "peak_kb": 1000, "exit_status": %d, "signal": 0}' % status
        return ['-c', 'echo %s >> %s; echo complaint >&2; echo \'%s\' >&2' % (name, self.log.name, taken)]

    def run_commands(self, commands):
        return measuring.measure_alternating('sh', commands, runs=2), self.log.read().split()

    def test_programs_take_turns(self):
        _, order = self.run_commands({'a': (self.script('a', 0), (0,)), 'b': (self.script('b', 1), (0, 1))})
        self.assertEqual(order, ['a', 'b', 'a', 'b'])

    def test_kilobytes_become_megabytes(self):
        results, _ = self.run_commands({'a': (self.script('a', 0), (0,))})
        self.assertEqual(results['a'].peak_mb, 1.024)

    def test_a_failure_is_told_and_not_repeated(self):
        results, order = self.run_commands({'a': (self.script('a', 3), (0, 1))})
        self.assertEqual(results['a'], NotRun('failed with status 3: complaint', is_failure=True))
        self.assertEqual(order, ['a'])

    def test_a_program_that_does_not_take_the_input_has_not_failed(self):
        results, order = self.run_commands({'a': (self.script('a', 77), (0,))})
        self.assertEqual((results['a'], order), (NotRun('complaint'), ['a']))


if __name__ == '__main__':
    unittest.main()
