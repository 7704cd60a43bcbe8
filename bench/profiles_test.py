"""Tests of what is read from callgrind_annotate."""

import unittest

import goals
import profiles

ANNOTATED = '''
--------------------------------------------------------------------------------
Ir
--------------------------------------------------------------------------------
285,800,000 (100.0%)  PROGRAM TOTALS

100,000,000 (34.99%)  ???:doctor::(anonymous namespace)::Reader<int, std::vector<int> >::read(char const*) [/x/tfdata-doctor]
 60,000,000 (20.99%)  lib/io/sha256.cpp:doctor::(anonymous namespace)::Sha256::add_block(unsigned char const*) [/x/tfdata-doctor]
 50,000,000 (17.49%)  lib/a.cpp:doctor::measure(doctor::Trace const&) [/x/tfdata-doctor]
'''


class ProfilesTest(unittest.TestCase):
    def test_functions_are_named_without_their_arguments(self):
        self.assertEqual(profiles.functions_of(ANNOTATED), ((34.99, 'Reader::read'), (17.49, 'measure')))

    def test_what_misses_a_goal_is_profiled_once(self):
        goal = next(goal for goal in goals.GOALS if isinstance(goal, goals.Seconds))
        judged = goals.Judgement(goal.text, goals.NOT_MET, goal.size)
        self.assertEqual(profiles.missed([judged, judged]), [goal.of])
        self.assertEqual(profiles.missed([goals.Judgement(goal.text, goals.MET, goal.size)]), [])


if __name__ == '__main__':
    unittest.main()
