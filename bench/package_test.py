import unittest

import package
from goals import MET, NOT_MET, NOT_RUN
from measuring import Measurement, NotRun


def judged(bare, diagnosis, program, page):
    names = (package.BARE, package.PACKAGE_DIAGNOSE, package.PROGRAM_DIAGNOSE, package.PACKAGE_HELP)
    return package.judge({name: Measurement(cpu, 0, 0, 0) for name, cpu in zip(names, (bare, diagnosis, program, page))})


class JudgementTest(unittest.TestCase):
    def test_python_itself_does_not_count(self):
        self.assertEqual([one.status for one in judged(1, 1.029, 0.01, 1.039)], [MET, MET])
        self.assertEqual([one.status for one in judged(1, 1.031, 0.01, 1.041)], [NOT_MET, NOT_MET])
        self.assertEqual(judged(1, 1.02, 0.01, 1.03)[0].value, '2 x')

    def test_what_is_missing_is_not_run_and_says_why(self):
        self.assertEqual([one.status for one in package.judge({})], [NOT_RUN, NOT_RUN])
        self.assertEqual(package.judge({package.BARE: NotRun('no Python')})[0].reason, 'no Python')


class CommandsTest(unittest.TestCase):
    def test_they_name_what_is_measured(self):
        commands = package.commands('/build/tool', '/root', '/build')
        self.assertIn('TFDATA_DOCTOR=/build/tool', commands[package.PACKAGE_DIAGNOSE][0])
        self.assertEqual(commands[package.PACKAGE_HELP][0][:-3], commands[package.BARE][0][:-2])


if __name__ == '__main__':
    unittest.main()
