import io
import json
import unittest

import shapes
from measuring import Measurement, NotRun


def took(cpu, peak_mb):
    return Measurement(user=cpu, system=0.0, wall=cpu, peak_mb=peak_mb)


START = took(0.01, 10.0)


def growth(*results):
    return shapes.Growth('shape', 100, (1.0, 2.0), results)


class GrowthTest(unittest.TestCase):
    def test_what_the_start_takes_is_left_out(self):
        cpu, memory = growth(took(0.11, 30), took(0.21, 50)).factors(START)
        self.assertAlmostEqual(cpu, 2.0)
        self.assertAlmostEqual(memory, 2.0)
        self.assertTrue(growth(took(0.11, 30), took(0.21, 50)).is_linear(START))

    def test_more_than_the_limit_of_either_is_not_linear(self):
        self.assertFalse(growth(took(0.11, 30), took(0.24, 50)).is_linear(START))
        self.assertFalse(growth(took(0.11, 30), took(0.21, 60)).is_linear(START))

    def test_too_little_to_tell_is_no_failure(self):
        self.assertEqual(growth(took(0.012, 11), took(0.024, 14)).factors(START), (None, None))
        self.assertTrue(growth(took(0.012, 11), took(0.024, 14)).is_linear(START))

    def test_a_failed_run_is_not_linear(self):
        failed = growth(took(0.11, 30), NotRun('failed', is_failure=True))
        self.assertFalse(failed.is_linear(START))
        self.assertEqual(failed.factors(START), (None, None))


class WriterTest(unittest.TestCase):
    def events_of(self, shape, count):
        file = io.StringIO()
        writer = shapes.Writer(file)
        shape.write(writer, count)
        writer.finish()
        return json.loads(file.getvalue())['traceEvents']

    def test_twice_as_many_of_a_shape_are_about_twice_as_large(self):
        for shape in shapes.SHAPES:
            with self.subTest(shape.name):
                one, two = (len(json.dumps(self.events_of(shape, count))) for count in (1000, 2000))
                self.assertGreater(two, 1.8 * one)
                self.assertLess(two, 2.2 * one)

    def test_names_of_shapes_are_unique(self):
        names = [shape.name for shape in shapes.SHAPES]
        self.assertEqual(len(names), len(set(names)))

    def test_iterators_made_anew_have_ids_that_come_again(self):
        shape = next(shape for shape in shapes.SHAPES if shape.name == 'iterators made anew')
        roots = [event['args']['id'] for event in self.events_of(shape, 100)
                 if event.get('args', {}).get('long_name') == 'Iterator::Root']
        self.assertEqual(len(roots), 100)
        self.assertLess(len(set(roots)), 60)


if __name__ == '__main__':
    unittest.main()
