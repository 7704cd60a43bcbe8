import tempfile
import unittest
from pathlib import Path

import counting

ANSWERS = ['/bin/true']
REFUSES = ['/bin/false']


@unittest.skipUnless(counting.is_possible(), 'there is no valgrind')
class Counting(unittest.TestCase):
    def test_the_same_program_takes_the_same(self):
        counted = counting.count_instructions(ANSWERS)
        self.assertGreater(counted, 10_000)
        # The loader takes a few more or less with the place of the stack.
        self.assertAlmostEqual(counting.count_without_sha(ANSWERS), counted, delta=counted / 1000)

    def test_more_processes_take_more(self):
        self.assertGreater(counting.count_instructions(['/bin/sh', '-c', '/bin/true; /bin/true']),
                           2 * counting.count_instructions(ANSWERS))

    def test_each_process_has_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            counting.count_instructions(['/bin/sh', '-c', '/bin/true; /bin/true'], folder)
            self.assertEqual(len(list(Path(folder).iterdir())), 3)

    def test_a_profile_names_functions(self):
        counted, annotated = counting.profile(ANSWERS, '--inclusive=yes')
        self.assertGreater(counted, 0)
        self.assertIn('PROGRAM TOTALS', annotated)

    def test_misses_are_fewer_than_instructions(self):
        self.assertLess(0, counting.count_misses(ANSWERS))
        self.assertLess(counting.count_misses(ANSWERS), counting.count_instructions(ANSWERS))

    def test_what_failed_is_no_count(self):
        with self.assertRaisesRegex(counting.CommandFailed, 'false ended with 1'):
            counting.count_instructions(REFUSES, good_statuses=(0,))
        self.assertGreater(counting.count_instructions(REFUSES), 0)


if __name__ == '__main__':
    unittest.main()
