import unittest

import commands
from programs import Program


class WhyNotTest(unittest.TestCase):
    def why_not(self, size, **fields):
        return commands.why_not(Program('name', 'ours', (), **fields), size, 0)

    def test_a_program_has_a_smallest_and_a_largest_input(self):
        self.assertEqual(self.why_not('10mb', smallest='100mb'), 'run from 100mb on')
        self.assertEqual(self.why_not('1gb', largest='100mb'), 'run up to 100mb only')
        self.assertEqual(self.why_not('100mb', smallest='100mb', largest='100mb'), '')

    def test_threads_without_processors_say_nothing(self):
        self.assertEqual(self.why_not('10mb', processors=1_000_000), 'needs 1000000 processors')


if __name__ == '__main__':
    unittest.main()
