import unittest

import goals
from measuring import Measurement, NotRun
from programs import TASKS

OURS, OTHER = ('task', 'ours'), ('task', 'other')
INPUTS_MB = {('task', '10mb'): 10.0, ('task', '100mb'): 100.0, ('task', '1gb'): 1000.0}


def took(cpu, wall=0.0, peak_mb=0.0):
    return Measurement(user=cpu * 0.75, system=cpu * 0.25, wall=wall, peak_mb=peak_mb)


def results(ours, other=()):
    """Lists of measurements by size, smallest first."""
    sizes = ('10mb', '100mb', '1gb')
    return {(*program, size): result for program, column in ((OURS, ours), (OTHER, other))
            for size, result in zip(sizes, column)}


class RatioTest(unittest.TestCase):
    def judge(self, ours, other, **limits):
        return goals.Ratio('text', OTHER, OURS, **limits).judge(results(ours, other), INPUTS_MB)

    def test_a_lower_limit_is_met_at_the_limit_and_above(self):
        self.assertEqual(self.judge([took(1)], [took(2)], at_least=2.0).status, goals.MET)
        self.assertEqual(self.judge([took(1)], [took(3)], at_least=2.0).status, goals.MET)
        self.assertEqual(self.judge([took(1)], [took(1.9)], at_least=2.0).status, goals.NOT_MET)

    def test_an_upper_limit_is_met_at_the_limit_and_below(self):
        self.assertEqual(self.judge([took(1)], [took(2)], at_most=2.0).status, goals.MET)
        self.assertEqual(self.judge([took(1)], [took(2.1)], at_most=2.0).status, goals.NOT_MET)

    def test_why_a_goal_is_missed_is_said_only_where_it_is(self):
        self.assertEqual(self.judge([took(1)], [took(3)], at_most=2.0, known_miss='hard').reason, 'hard')
        self.assertEqual(self.judge([took(1)], [took(2)], at_most=2.0, known_miss='hard').reason, '')

    def test_cpu_time_is_user_and_system(self):
        judged = goals.Ratio('text', OTHER, OURS, at_least=2.0).judge(
            results([Measurement(0.5, 0.5, 9, 9)], [Measurement(1.0, 1.0, 9, 9)]), INPUTS_MB)
        self.assertEqual((judged.status, judged.value), (goals.MET, '2 x'))

    def test_a_ratio_per_mb_is_of_the_input_of_each(self):
        goal = goals.Ratio('text', OTHER, ('small', 'ours'), at_most=2, per_mb=True)
        found = {('small', 'ours', '10mb'): took(1), (*OTHER, '10mb'): took(3)}
        judged = goal.judge(found, {('small', '10mb'): 5.0, ('task', '10mb'): 10.0})
        self.assertEqual((judged.status, judged.value), (goals.MET, '1.5 x'))

    def test_a_ratio_to_several_times_the_other(self):
        judged = self.judge([took(1)], [took(11)], at_most=1.1, times=10)
        self.assertEqual((judged.status, judged.value), (goals.MET, '1.1 x'))
        self.assertEqual(self.judge([took(1)], [took(12)], at_most=1.1, times=10).status, goals.NOT_MET)

    def test_another_quantity(self):
        judged = self.judge([took(1, wall=10)], [took(1, wall=5)], at_most=0.6, quantity='wall')
        self.assertEqual((judged.status, judged.value, judged.limit), (goals.MET, '0.5 x', '<= 0.6 x'))

    def test_the_largest_common_size_counts(self):
        judged = self.judge([took(1), took(10), took(100)], [took(9), took(20), NotRun('too large')], at_least=3.0)
        self.assertEqual((judged.status, judged.size), (goals.NOT_MET, '100mb'))

    def test_a_size_of_its_own(self):
        judged = self.judge([took(1), took(10)], [took(9), took(20)], at_least=3.0, size='10mb')
        self.assertEqual((judged.status, judged.size), (goals.MET, '10mb'))

    def test_what_is_missing_is_not_run_and_says_why(self):
        judged = self.judge([took(1)], [NotRun('no such program')], at_least=3.0)
        self.assertEqual((judged.status, judged.reason), (goals.NOT_RUN, 'other: no such program'))
        judged = self.judge([took(1)], [], at_least=3.0)
        self.assertEqual((judged.status, judged.reason), (goals.NOT_RUN, 'other was left out'))


class SlowerAtOnceTest(unittest.TestCase):
    def judge(self, two, at_most=0.6):
        found = {(*OURS, '1gb'): took(1, wall=10), (*OTHER, '1gb'): took(1, wall=7),
                 (*goals.ONE_PROGRAM, ''): took(1, wall=1), (*goals.TWO_PROGRAMS, ''): took(2, wall=two)}
        return goals.Ratio('text', OTHER, OURS, at_most=at_most, quantity='wall').judge(found, INPUTS_MB)

    def test_a_machine_on_which_two_threads_cannot(self):
        judged = self.judge(1.3)
        self.assertEqual((judged.status, judged.reason),
                         (goals.NOT_MET, 'two programs at once take 1.3 x as long each on this machine'))

    def test_one_on_which_they_could(self):
        self.assertEqual(self.judge(1.1).reason, '')
        self.assertEqual(self.judge(1.3, at_most=0.66).reason, '')


class SecondsTest(unittest.TestCase):
    def judge(self, cpu, yardstick):
        goal = goals.Seconds('text', OURS, '1gb', 1.4)
        return goal.judge({(*OURS, '1gb'): took(cpu), (*goals.YARDSTICK, '1gb'): yardstick}, INPUTS_MB)

    def test_a_slower_machine_is_a_reason(self):
        judged = self.judge(3, took(2 * goals.YARDSTICK_SECONDS))
        self.assertEqual(judged.status, goals.NOT_MET)
        self.assertIn('nlohmann SAX takes 10.6 s on it, 5.3 s on', judged.reason)

    def test_one_as_fast_is_none(self):
        self.assertEqual(self.judge(3, took(goals.YARDSTICK_SECONDS)).reason, '')
        self.assertEqual(self.judge(3, NotRun('left out')).reason, '')
        self.assertEqual(self.judge(1, took(20)).reason, '')


class MissedInTimeTest(unittest.TestCase):
    def missed(self, **at_100mb):
        found = {('commands', 'tfdata-doctor', '100mb'): took(1)}
        found.update({('commands', program.replace('_', ' '), '100mb'): taken for program, taken in at_100mb.items()})
        return goals.missed_in_time(found, {('commands', '100mb'): 100.0}, with_wall=True)

    def test_both_sides_of_a_ratio(self):
        self.assertEqual(self.missed(show_ops=took(1.6), show_steps=took(1.4)),
                         {('commands', 'show ops', '100mb'), ('commands', 'tfdata-doctor', '100mb')})

    def test_not_what_has_a_known_reason(self):
        found = {('diagnose-xspace', program, '100mb'): took(1, peak_mb=1) for program in ('XProf', 'tfdata-doctor')}
        self.assertEqual(goals.missed_in_time(found, {('diagnose-xspace', '100mb'): 100.0}, with_wall=True), set())

    def test_both_sizes_of_a_growth(self):
        found = {('aggregate-json', 'ours', size): took(1) for size in ('100mb', '1gb')}
        self.assertEqual(goals.missed_in_time(found, {('aggregate-json', '100mb'): 100.0, ('aggregate-json', '1gb'): 1000.0},
                                              with_wall=True), set(found))


class MemoryTest(unittest.TestCase):
    def judge(self, peak_mb, **limits):
        return goals.Memory('text', OURS, **limits).judge(results([took(1), took(1, peak_mb=peak_mb)]), INPUTS_MB)

    def test_a_fixed_limit(self):
        self.assertEqual(self.judge(64, base_mb=64).status, goals.MET)
        self.assertEqual(self.judge(65, base_mb=64).status, goals.NOT_MET)

    def test_a_share_of_the_input(self):
        self.assertEqual(self.judge(68, base_mb=48, share=0.2).status, goals.MET)
        judged = self.judge(69, base_mb=48, share=0.2)
        self.assertEqual((judged.status, judged.limit, judged.size), (goals.NOT_MET, '<= 68 MB', '100mb'))


class GrowthTest(unittest.TestCase):
    def judge(self, *seconds):
        return goals.Growth('text', OURS, 0.1).judge(results([took(cpu) for cpu in seconds]), INPUTS_MB)

    def test_the_exponent(self):
        linear = results([took(0.1), took(1), took(10)])
        square = results([took(0.1), took(10), took(1000)])
        constant = results([took(2), took(2), took(2)])
        self.assertAlmostEqual(goals.exponent(OURS, ('10mb', '1gb'), linear, INPUTS_MB), 1)
        self.assertAlmostEqual(goals.exponent(OURS, ('10mb', '100mb'), square, INPUTS_MB), 2)
        self.assertAlmostEqual(goals.exponent(OURS, ('100mb', '1gb'), constant, INPUTS_MB), 0)

    def test_the_inputs_ratio_is_the_measured_one(self):
        uneven = {('task', '10mb'): 10.0, ('task', '1gb'): 40.0}
        square = results([took(1), took(0), took(16)])
        self.assertAlmostEqual(goals.exponent(OURS, ('10mb', '1gb'), square, uneven), 2)

    def test_both_sides_are_limited(self):
        self.assertEqual(self.judge(0.1, 1, 10).status, goals.MET)
        self.assertEqual(self.judge(0.1, 1, 20).status, goals.NOT_MET)
        self.assertEqual(self.judge(0.1, 1, 5).status, goals.NOT_MET)

    def test_one_size_is_no_growth(self):
        self.assertEqual(self.judge(0.1, 1).status, goals.NOT_RUN)


class GoalTableTest(unittest.TestCase):
    def test_every_goal_names_programs_that_exist(self):
        there = {(task.name, program.name) for task in TASKS for program in task.programs}
        for goal in goals.GOALS:
            named = {goal.of, getattr(goal, 'to', goal.of)}
            self.assertLessEqual(named, there, goal.text)

    def test_wall_time_can_be_left_out(self):
        def of_wall(judgements):
            return [judged.reason for judged in judgements if 'wall' in judged.text]
        self.assertIn('--quick', of_wall(goals.judge_all({}, {}, with_wall=False))[0])
        self.assertNotIn('--quick', of_wall(goals.judge_all({}, {}, with_wall=True))[0])


if __name__ == '__main__':
    unittest.main()
