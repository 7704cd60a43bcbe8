"""Tests of scripts/gate-statistics with a stand-in for the program that compares."""

import importlib.machinery
import importlib.util
import os
import sys
import tempfile
import unittest

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'scripts', 'gate-statistics')


def load():
    sys.dont_write_bytecode = True
    loader = importlib.machinery.SourceFileLoader('gate_statistics', SCRIPT)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


script = load()
Count = script.Count


class GateStatisticsTest(unittest.TestCase):
    def test_a_rate_never_looks_like_none_or_all(self):
        cases = [(Count(0, 0, 0, 0), 'too few recordings'), (Count(9, 0, 0, 9), '0 %'), (Count(9, 9, 0, 9), '100 %'),
                 (Count(3000, 1, 0, 3000), '< 0.1 %'), (Count(3000, 2999, 0, 3000), '> 99.9 %'),
                 (Count(8, 1, 0, 8), '12.5 %')]
        for count, told in cases:
            with self.subTest(count=count):
                self.assertEqual(script.share(count), told)

    def test_a_sample_and_what_was_inconclusive_are_told(self):
        self.assertEqual(script.cell(Count(1000, 10, 0, 1000)), '1.0 % (10 of 1,000)')
        self.assertEqual(script.cell(Count(1000, 10, 3, 2018016)),
                         '1.0 % (10 of 1,000 drawn of 2,018,016; 3 inconclusive)')

    def test_recordings_are_grouped_by_their_names(self):
        names = ['idle_0_cpu_0_1', 'idle_1_cpu_0_0', 'noisy_0_cpu_5_0', 'busy_0_cpu_5_0', 'idle_0_cpu_0']
        with tempfile.TemporaryDirectory() as folder:
            paths = [os.path.join(folder, name + '.xplane.pb') for name in names]
            for path in paths:
                open(path, 'w').close()
            self.assertEqual(script.labelled(folder), {('idle', 'cpu', 0): paths[:2], ('noisy', 'cpu', 5): paths[2:3]})

    def test_folders_of_recordings_are_grouped_by_theirs(self):
        with tempfile.TemporaryDirectory() as folder:
            paths = [os.path.join(folder, side, 'run_00%d' % run) for side in ('idle_0_io_0', 'idle_1_io_0', 'other_0')
                     for run in range(2)]
            for path in paths:
                os.makedirs(path)
            self.assertEqual(script.labelled(folder), {('idle', 'io', 0): paths[:4]})
            self.assertEqual(script.by_session(paths[:4]), (paths[:2], paths[2:4]))

    def test_every_day_is_the_base_of_every_other_one(self):
        asked = []

        def run(gate, base, candidate):
            asked.append((gate[1], base, candidate))
            return Count(10, len(base), 0, 10)

        days = {'/a/monday': {('idle', 'io', 0): ['m0'], ('noisy', 'io', 0): ['m1'], ('idle', 'io', 10): ['m2']},
                '/a/tuesday/': {('idle', 'io', 0): ['t0'], ('idle', 'io', 10): ['t2']}}
        rows = script.day_table(script.Counter(run), days, script.GATES[0][1]).splitlines()
        self.assertCountEqual(asked, [('5', ['m0', 'm1'], ['t0']), ('5', ['m0', 'm1'], ['t2']),
                                      ('5', ['t0'], ['m0', 'm1']), ('5', ['t0'], ['m2'])])
        self.assertEqual([cell.strip() for cell in rows[2].split('|')],
                         ['', 'io', 'monday against tuesday', '20.0 % (2 of 10)', '20.0 % (2 of 10)', ''])

    def test_each_row_draws_from_its_recordings(self):
        asked = []

        def run(gate, base, candidate):
            asked.append((gate[1], base, candidate))
            return Count(10, len(base), 0, 10)

        i, n, m, slow_i, slow_n = (f'{name}.xplane.pb' for name in ('idle_0_io_0_0', 'noisy_0_io_0_0', 'noisy_1_io_0_0',
                                                                    'idle_0_io_5_0', 'noisy_0_io_5_0'))
        groups = {('idle', 'io', 0): [i], ('noisy', 'io', 0): [n, m], ('idle', 'io', 5): [slow_i],
                  ('noisy', 'io', 5): [slow_n]}
        rows = script.false_alarm_table(script.Counter(run), groups).splitlines()
        self.assertCountEqual([row for row in asked if row[0] == '5'],
                              [('5', [i, n, m], None), ('5', [i], None), ('5', [n, m], None),
                               ('5', [i], [n, m]), ('5', [n, m], [i]),
                               # By session: of the idle machine there is one, so none to hold it against.
                               ('5', [n], [m]), ('5', [i, n], [m]), ('5', [m], [i, n])])
        self.assertEqual([cell.strip() for cell in rows[2].split('|')],
                         ['', 'io', 'both machines mixed', '30.0 % (3 of 10)', '30.0 % (3 of 10)', ''])
        asked.clear()
        rows = script.power_table(script.Counter(run), groups, script.GATES[1][1]).splitlines()
        self.assertCountEqual(asked, [('3', [i], [slow_i]), ('3', [n, m], [slow_n]), ('3', [i], [slow_n]),
                                      ('3', [n, m], [slow_i])])
        self.assertEqual([cell.strip() for cell in rows[4].split('|')],
                         ['', 'io', 'idle base, noisy candidate', '10', '10.0 %', ''])


if __name__ == '__main__':
    unittest.main()
