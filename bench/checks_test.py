import unittest

import checks
from measuring import Measurement, NotRun
from programs import Program, Task

TASK = Task('task', 'Title', 'json', (Program('one', 'ours', ()), Program('two', 'baseline', ())))


def printed(text):
    return Measurement(1, 0, 1, 1, text)


def same_work(one, two):
    return checks.same_work([TASK], ['10mb'], {('task', 'one', '10mb'): one, ('task', 'two', '10mb'): two})


class SameWorkTest(unittest.TestCase):
    def test_equal_summaries(self):
        check = same_work(printed('{"events": 3, "self_ps": 5}\n'), printed('{"events": 3, "self_ps": 5}\n'))
        self.assertIs(check.is_good, True)

    def test_another_result_is_found(self):
        check = same_work(printed('{"events": 3, "self_ps": 5}\n'), printed('{"events": 3, "self_ps": 6}\n'))
        self.assertIs(check.is_good, False)
        self.assertEqual(check.detail, 'task 10mb: self_ps: 5 by one, 6 by two')

    def test_what_only_one_program_computes_is_not_compared(self):
        check = same_work(printed('{"events": 3, "self_ps": 5}\n'), printed('{"events": 3}\n'))
        self.assertIs(check.is_good, True)

    def test_only_the_last_line_is_a_summary(self):
        check = same_work(printed('{"events": 3}\n'), printed('loading\n{"events": 4}\n'))
        self.assertIs(check.is_good, False)

    def test_nothing_to_compare_is_not_good(self):
        self.assertIsNone(same_work(NotRun('not built'), printed('{"bytes": 3}')).is_good)


class AnswerTest(unittest.TestCase):
    REPORT = {'verdict': {'status': 'input_bound', 'input_share': 0.5, 'bottleneck': {'long_name': 'Map', 'share': 1}},
              'findings': [{'rule': 'b', 'summary': '10 calls'}, {'rule': 'a'}]}

    def test_numbers_do_not_matter(self):
        self.assertEqual(checks.answer(self.REPORT), ('input_bound', 'Map', ('a', 'b')))

    def test_no_culprit(self):
        report = {'verdict': {'status': 'not_input_bound'}, 'findings': []}
        self.assertEqual(checks.answer(report), ('not_input_bound', None, ()))


if __name__ == '__main__':
    unittest.main()
