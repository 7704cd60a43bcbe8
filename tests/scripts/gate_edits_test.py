"""Tests of scripts/gate-edits: what counts as told, and that every edit can be made."""

import importlib.machinery
import importlib.util
import os
import sys
import unittest

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'scripts', 'gate-edits')


def load():
    sys.dont_write_bytecode = True
    loader = importlib.machinery.SourceFileLoader('gate_edits', SCRIPT)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


script = load()


def change(message, line, certain=True, kind='op_added'):
    return {'message': message, 'certain': certain, 'kind': kind, 'source': {'line': line} if line else None}


class GateEditsTest(unittest.TestCase):
    def test_every_edit_makes_another_program_that_has_its_lines(self):
        for edit in script.EDITS:
            with self.subTest(edit=edit.name):
                base, candidate = script.programs_of(edit)
                self.assertNotEqual(base, candidate)
                compile(candidate, 'input.py', 'exec')
                for part in edit.lines:
                    self.assertTrue(script.line_of(part, candidate) or script.line_of(part, base), part)

    def test_an_edit_is_named_at_its_line_or_not_at_all(self):
        edit = script.EDITS[0]
        line = script.line_of(script.MAP_LINE, script.programs_of(edit)[1])
        cases = [([change('AvgPool is new in the function of f', line)], True, []),
                 ([change('AvgPool is new in the function of f', line + 1)], False, 1),
                 ([change('AvgPool is new in the function of f', line, certain=False)], False, []),
                 ([], False, [])]
        for structure, is_named, others in cases:
            with self.subTest(structure=structure):
                told = script.judge(edit, {'structure': structure, 'times': [], 'outcome': 'regression'})
                self.assertEqual(told.is_named, is_named)
                self.assertEqual(len(told.others), others if others else 0)

    def test_what_is_slower_elsewhere_is_something_else(self):
        edit = script.EDITS[0]
        line = script.line_of(script.MAP_LINE, script.programs_of(edit)[1])
        rows = [{'words': 'the map', 'difference': 'slower', 'source': {'line': line}},
                {'words': 'the batch', 'difference': 'faster', 'source': {'line': line + 1}},
                {'words': 'the frame', 'difference': 'unknown', 'source': None}]
        told = script.judge(edit, {'structure': [], 'times': rows, 'outcome': 'regression'})
        self.assertEqual(told.others, ['the batch faster'])


if __name__ == '__main__':
    unittest.main()
