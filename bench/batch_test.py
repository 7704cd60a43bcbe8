import os
import tempfile
import unittest
from dataclasses import replace

import batch
import report
from batch import Batch
from goals import MET, NOT_MET, NOT_RUN
from measuring import Measurement, NotRun


def took(cpu, wall=1.0):
    return Measurement(user=cpu / 2, system=cpu / 2, wall=wall, peak_mb=30)


class CopiesTest(unittest.TestCase):
    def test_each_is_a_file_of_its_own(self):
        with tempfile.TemporaryDirectory() as folder:
            trace = os.path.join(folder, 'trace')
            with open(trace, 'wb') as file:
                file.write(b'events')
            copies = os.path.join(folder, 'copies')
            os.mkdir(copies)
            batch.write_copies(trace, batch.TRACES_OF_A_FOLDER + 2, copies)
            found = [os.path.join(place, name) for place, _, names in os.walk(copies) for name in names]
            self.assertEqual(len(found), batch.TRACES_OF_A_FOLDER + 2)
            self.assertEqual({os.path.getsize(path) for path in found}, {6})
            self.assertEqual(len({os.stat(path).st_ino for path in found}), len(found))


class CheckedTest(unittest.TestCase):
    def test_a_run_without_a_row_for_each_trace_failed(self):
        whole = replace(took(1.0), output='{}\n{}\n')
        self.assertIs(batch.checked(whole, 2), whole)
        self.assertEqual(batch.checked(whole, 3), NotRun('2 rows of 3 traces', is_failure=True))
        self.assertEqual(batch.checked(NotRun('why'), 3), NotRun('why'))


class JudgeTest(unittest.TestCase):
    def test_the_rate_is_of_cpu_time_and_of_one_process(self):
        judged = batch.judge([Batch(4_000, 1, took(2.0)), Batch(4_000, 2, took(9.0))], None, '')
        self.assertEqual([(one.text, one.value, one.status) for one in judged], [(batch.RATE, '2000', MET)])
        slower = batch.judge([Batch(4_000, 1, took(2.1))], None, 'a slow machine')[0]
        self.assertEqual((slower.status, slower.reason), (NOT_MET, 'a slow machine'))

    def test_instructions_have_a_limit(self):
        self.assertEqual(batch.judge([], 4_000_000, '')[0].status, MET)
        self.assertEqual(batch.judge([], 4_000_001, '')[0].status, NOT_MET)

    def test_a_run_that_failed_is_not_judged(self):
        judged = batch.judge([Batch(10, 1, NotRun('why'))], None, '')[0]
        self.assertEqual((judged.status, judged.reason), (NOT_RUN, 'why'))


class SectionTest(unittest.TestCase):
    def test_rates_by_cpu_and_by_wall_time(self):
        section = report.batch_section([Batch(3_000, 2, took(2.0, wall=1.0)), Batch(10, 1, NotRun('why'))])
        self.assertIn('|   3000 |    2 | 2.000 |  1.000 |      30 |           1500 |       3000 |', section)
        self.assertIn('not run: why', section)

    def test_without_runs_there_is_none(self):
        self.assertEqual(report.batch_section([]), '')


class FeedingTest(unittest.TestCase):
    def test_a_trace_of_each_way_is_compared(self):
        def judged(each, archive):
            return batch.judge_feeding({'each': Measurement(each, 0, 0, 0), 'tar': Measurement(archive, 0, 0, 0)})
        self.assertEqual(judged(0.8, 1.0).status, MET)
        self.assertEqual(judged(0.79, 1.0).status, NOT_MET)
        self.assertEqual(judged(0.8, 1.0).value, '8 x')

    def test_what_failed_is_not_run(self):
        self.assertEqual(batch.judge_feeding({'each': NotRun('x'), 'tar': NotRun('y')}).status, NOT_RUN)


if __name__ == '__main__':
    unittest.main()
