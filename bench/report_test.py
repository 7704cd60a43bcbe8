import unittest

import report
from goals import MET, NOT_MET, Judgement
from measuring import Measurement, NotRun
from programs import Program, Task

TASK = Task('task', 'Title', 'json', (Program('ours', 'ours', ()), Program('other', 'baseline', (), 'a note'),
                                      Program('floor', 'floor', ())))
RESULTS = {('task', 'ours', '1gb'): Measurement(0.75, 0.25, 1.5, 5.4),
           ('task', 'other', '1gb'): Measurement(15.0, 5.0, 21.25, 900),
           ('task', 'floor', '1gb'): Measurement(0.25, 0.0, 0.25, 3)}
INPUTS_MB = {('task', '1gb'): 500.0}


def row(program, results=RESULTS):
    found = next(candidate for candidate in TASK.programs if candidate.name == program)
    return report.result_row(TASK, found, '1gb', results, INPUTS_MB)


class ResultRowTest(unittest.TestCase):
    def test_ours(self):
        self.assertEqual(row('ours'), ['1gb', 'ours', '1.000', '0.250', '1.500', '5', '0.50', '1.00', '4.00', ''])

    def test_a_baseline_is_compared_to_ours_and_to_the_floor(self):
        self.assertEqual(row('other'),
                         ['1gb', 'other', '20.0', '5.000', '21.2', '900', '0.03', '20.0', '80.0', 'a note'])

    def test_what_was_not_run_says_why(self):
        results = {**RESULTS, ('task', 'other', '1gb'): NotRun('no memory')}
        self.assertEqual(row('other', results)[-1], 'not run: no memory')

    def test_without_ours_there_is_no_ratio_to_it(self):
        results = {**RESULTS, ('task', 'ours', '1gb'): NotRun('not built')}
        self.assertEqual(row('other', results)[-3:-1], ['', '80.0'])


class TableTest(unittest.TestCase):
    def test_columns_are_aligned_numbers_to_the_right(self):
        self.assertEqual(report.table(('name', 'n '), [['a', 1], ['bcdef', 23]]),
                         '| name  |   n |\n'
                         '| ----- | --: |\n'
                         '| a     |   1 |\n'
                         '| bcdef |  23 |\n')

    def test_foreign_text_cannot_break_a_table(self):
        self.assertIn('| a\\|b c |', report.table(('name',), [['a|b\nc']]))


class SectionTest(unittest.TestCase):
    def test_goals_are_counted(self):
        judgements = [Judgement('a', MET), Judgement('b', MET), Judgement('c', NOT_MET)]
        self.assertIn('\n2 met, 1 NOT MET, 0 not run.\n', report.goal_section(judgements))

    def test_the_reason_stands_beside_the_status(self):
        self.assertIn('not run: why', report.goal_section([Judgement('a', 'not run', reason='why')]))

    def test_a_task_that_was_left_out_has_no_section(self):
        self.assertEqual(report.result_section(TASK, ['10mb'], RESULTS, INPUTS_MB), '')


if __name__ == '__main__':
    unittest.main()
