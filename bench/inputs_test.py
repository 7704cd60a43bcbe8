import os
import tempfile
import unittest

import inputs
import programs


class InputTest(unittest.TestCase):
    def test_an_interrupted_input_is_not_left_behind(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'input')
            with self.assertRaises(KeyboardInterrupt):
                with inputs.replaced_when_done(path) as unfinished:
                    with open(unfinished, 'w', encoding='utf-8') as file:
                        file.write('half')
                    raise KeyboardInterrupt
            self.assertEqual(os.listdir(folder), [])

    def test_a_task_has_no_inputs_beyond_its_largest(self):
        task = programs.Task('task', 'title', 'xplane.pb', (), largest='100mb')
        self.assertEqual(task.sizes(['10mb', '100mb', '1gb']), ['10mb', '100mb'])

    def test_every_input_has_a_base(self):
        made = inputs.Inputs('folder', os.path.join(os.path.dirname(__file__), '..', 'testdata'), 'programs')
        for task in programs.TASKS:
            self.assertTrue(os.path.exists(made.base(task.suffix)), task.suffix)


if __name__ == '__main__':
    unittest.main()
