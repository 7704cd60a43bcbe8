import unittest
from unittest import mock

import costs
import goals

ANNOTATED = '''
100,000 (100.0%)  PROGRAM TOTALS
 90,000 (90.00%)  lib/trace/read_trace.cpp:doctor::read_trace(doctor::ByteSource&) [build/tfdata-doctor]
 70,000 (70.00%)  lib/trace/read_trace.cpp:doctor::read_trace(doctor::ByteSource&)'2 [build/tfdata-doctor]
  5,000 ( 5.00%)  lib/measure/measure.cpp:doctor::measure(doctor::Trace const&) [build/tfdata-doctor]
  4,000 ( 4.00%)  lib/measure/measure.cpp:doctor::measured_things(doctor::Trace const&) [build/tfdata-doctor]
  2,000 ( 2.00%)  lib/report/text.cpp:doctor::render_text[abi:cxx11](doctor::Diagnosis const&) [build/tfdata-doctor]
  1,000 ( 1.00%)  ./elf/./elf/rtld.c:dl_main [/lib/ld-linux-x86-64.so.2]
'''


class PartTest(unittest.TestCase):
    def test_a_part_is_what_is_below_its_function(self):
        counts = costs.inclusive_counts(ANNOTATED)
        self.assertEqual(len(counts), 6)
        self.assertEqual(costs.part_of(counts, ('doctor::render_text(',)), 2_000)
        self.assertEqual(costs.part_of(counts, ('dl_main',)), 1_000)
        self.assertEqual(costs.part_of(counts, ('doctor::measure(',)), 5_000)
        self.assertEqual(costs.part_of(counts, ('doctor::measure(', 'doctor::read_trace(')), 95_000)
        self.assertEqual(costs.part_of(counts, ('doctor::judge(',)), 0)

    def test_a_recursive_function_counts_once(self):
        self.assertEqual(costs.part_of(costs.inclusive_counts(ANNOTATED), ('doctor::read_trace(',)), 90_000)


class ReplayTest(unittest.TestCase):
    def judge(self, replays):
        line = '  %s ( 1.00%%)  lib/model/simulation.cpp:doctor::replay(doctor::Programs const&) [tool]\n' % replays
        with (mock.patch('counting.is_possible', return_value=True),
              mock.patch('counting.profile', return_value=(100_000, ANNOTATED + (line if replays else '')))):
            return costs.judge_replays('tool', 'trace', '10mb')

    def test_the_share_is_of_what_is_below_a_replay(self):
        self.assertEqual((self.judge('7,000').status, self.judge('7,000').value), (goals.MET, '0.070'))
        self.assertEqual(self.judge('7,100').status, goals.NOT_MET)

    def test_a_program_without_symbols_is_not_judged(self):
        self.assertEqual(self.judge('').status, goals.NOT_RUN)


class TableTest(unittest.TestCase):
    TABLE = costs.Table('parts', ('part', 'small', 'large'), (('reading', ('1 %', '2 %')),))

    def test_it_is_markdown(self):
        self.assertEqual(self.TABLE.text(), '| part | small | large |\n|---|---:|---:|\n| reading | 1 % | 2 % |')

    def test_it_goes_between_its_marks_and_nothing_else_changes(self):
        page = 'before\n<!-- costs of parts -->\nold\n<!-- end of costs of parts -->\nafter\n'
        renewed = costs.with_table(page, self.TABLE)
        self.assertEqual(renewed, page.replace('old', self.TABLE.text()))
        self.assertEqual(costs.with_table(renewed, self.TABLE), renewed)

    def test_a_page_without_the_marks_is_an_error(self):
        with self.assertRaises(ValueError):
            costs.with_table('before\n<!-- costs of parts -->\nafter', self.TABLE)

    def test_the_page_has_a_place_for_each(self):
        with open(costs.PAGE, encoding='utf-8') as file:
            page = file.read()
        for name in ('parts', 'features', 'flags'):
            self.assertIn('x', costs.with_table(page, costs.Table(name, ('x',), ())))

    def test_changes_are_of_what_was_there_before(self):
        self.assertEqual(costs.change(90, 100), '-10.0 %')
        self.assertEqual(costs.millions(1_250_000), '1.2 M')


if __name__ == '__main__':
    unittest.main()
