import contextlib
import io
import unittest

import run
from checks import Check
from goals import MET, NOT_MET, NOT_RUN, Judgement
from measuring import Measurement, NotRun

GOOD = {('task', 'ours', '10mb'): Measurement(1, 0, 1, 1)}
SKIPPED = {('task', 'other', '10mb'): NotRun('not built')}
FAILED = {('task', 'other', '10mb'): NotRun('failed', is_failure=True)}


def exit_status(arguments, results=GOOD, statuses=(MET,), checks=(True,)):
    with contextlib.redirect_stderr(io.StringIO()):
        return run.exit_status(run.parse(arguments), results, [Judgement('goal', status) for status in statuses],
                               [Check('check', is_good, '') for is_good in checks])


class ExitStatusTest(unittest.TestCase):
    def test_all_is_well(self):
        self.assertEqual(exit_status([]), 0)
        self.assertEqual(exit_status(['--quick']), 0)

    def test_a_goal_that_is_not_met_fails_the_guard_only(self):
        self.assertEqual(exit_status([], statuses=[MET, NOT_MET]), 0)
        self.assertEqual(exit_status(['--quick'], statuses=[MET, NOT_MET]), 1)

    def test_what_was_not_run_fails_only_if_something_broke(self):
        self.assertEqual(exit_status(['--quick'], {**GOOD, **SKIPPED}, [MET, NOT_RUN], [True, None]), 0)
        self.assertEqual(exit_status([], {**GOOD, **FAILED}), 1)

    def test_a_failed_check_fails_every_run(self):
        self.assertEqual(exit_status([], checks=[True, False]), 1)


class OptionTest(unittest.TestCase):
    def test_sizes_are_in_order_of_size(self):
        self.assertEqual(run.parse(['--sizes', '1gb,10mb']).sizes, ['10mb', '1gb'])

    def test_wrong_usage_ends_with_2(self):
        for arguments in (['--sizes', '7mb'], ['--runs', '0'], ['--only', '('], ['--quick', '--pypi'], ['file']):
            with self.assertRaises(SystemExit) as ended, contextlib.redirect_stderr(io.StringIO()):
                run.parse(arguments)
            self.assertEqual(ended.exception.code, 2, arguments)


if __name__ == '__main__':
    unittest.main()
