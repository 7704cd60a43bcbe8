import json
import os
import tempfile
import unittest

import shapes


class WriterTest(unittest.TestCase):
    def written(self, shape, count):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'trace')
            shapes.write(shape, count, path)
            with open(path, 'rb') as file:
                return file.read()

    def events_of(self, shape, count):
        return json.loads(self.written(shape, count))['traceEvents']

    def test_twice_as_many_of_a_shape_are_about_twice_as_large(self):
        for shape in shapes.SHAPES:
            with self.subTest(shape.name):
                one, two = (len(self.written(shape, count)) for count in (1000, 2000))
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
