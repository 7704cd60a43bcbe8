import os
import tempfile
import unittest

import inputs


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


if __name__ == '__main__':
    unittest.main()
