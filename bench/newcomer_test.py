import unittest

import newcomer
from goals import MET, NOT_MET, NOT_RUN
from measuring import Measurement, NotRun


class JudgementTest(unittest.TestCase):
    def test_what_a_newcomer_waits_for_is_wall_time(self):
        self.assertEqual(newcomer.judge(Measurement(350, 40, 200, 900)).status, MET)
        judged = newcomer.judge(Measurement(350, 40, 201, 900))
        self.assertEqual((judged.status, judged.value, judged.reason), (NOT_MET, '201 s', '390 s of CPU time; without any optimisation 85 % of it'))

    def test_what_is_missing_is_not_run_and_says_why(self):
        self.assertEqual(newcomer.judge(NotRun('no compiler')).reason, 'no compiler')
        self.assertEqual(newcomer.judge(None).status, NOT_RUN)


if __name__ == '__main__':
    unittest.main()
