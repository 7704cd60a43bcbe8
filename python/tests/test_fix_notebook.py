"""Notebooks: their cells are changed, and everything else of the file stays as it is."""

import json
import os
import tempfile
import unittest
from pathlib import Path

from tfdata_doctor_fix.edits import Edit, Place, edited
from tfdata_doctor_fix.jobs import Program
from tfdata_doctor_fix.notebook import NotebookSource, cell_of, read_source
from tfdata_doctor_fix.plan import where_of
from tfdata_doctor_fix.runner import Runner
from tfdata_doctor_fix.source import Refused
from tfdata_doctor_fix.workspace import Workspace

from . import support


def notebook(*cells, indent=1, **options):
    """A notebook as Jupyter writes it: a cell of text first, then these of code."""
    made = [{"cell_type": "markdown", "metadata": {}, "source": ["# Größe \\u00e9\n"]}]
    for code in cells:
        source = code if isinstance(code, str) else list(code)
        made.append({"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": source})
    page = {"cells": made, "metadata": {"a": [1.5e3, None, True, -2]}, "nbformat": 4, "nbformat_minor": 5}
    return (json.dumps(page, indent=indent, ensure_ascii=False, **options) + "\n").encode()


CELLS = (
    ["%matplotlib inline\n", "import tensorflow as tf\n", "!ls"],
    [],
    ["name = 'é'  # In[7]\n", "d = d.map(f)\n", "d = d.batch(2)"],
)


class NotebookTest(unittest.TestCase):
    def changed(self, content, kind="cache", method="map"):
        source = NotebookSource("x.ipynb", content)
        line = next(i for i, text in enumerate(source.text.split(b"\n"), 1) if f".{method}(".encode() in text)
        return source, *edited(source, [Edit(kind, Place(line, method))])

    def test_only_the_changed_line_of_the_file_differs(self):
        for indent in (1, 4, None):
            content = notebook(*CELLS, indent=indent)
            before, after, splices = self.changed(content)
            self.assertEqual(after.content, content.replace(b"d.map(f)", b"d.map(f).cache()"))
            self.assertEqual(after.undone(splices).content, content)
            self.assertIn(b"pass  #magic# %matplotlib inline\n", before.text)

    def test_line_without_end_and_source_that_is_one_string(self):
        _, after, splices = self.changed(notebook(*CELLS), "prefetch", "batch")
        self.assertEqual(after.content, notebook(*CELLS).replace(b"batch(2)", b"batch(2).prefetch(tf.data.AUTOTUNE)"))
        content = notebook("d = (d\n  .map(f)  # é\n)\n")
        _, after, splices = self.changed(content)
        self.assertEqual(json.loads(after.content)["cells"][1]["source"], "d = (d\n  .map(f)  # é\n  .cache()\n)\n")
        self.assertEqual(after.undone(splices).content, content)

    def test_new_line_becomes_a_line_of_the_cell(self):
        content = notebook(["for i in x:\n", "    next(iter(d))"], ["d = 2"])
        source = NotebookSource("x.ipynb", content)
        after, splices = edited(source, [Edit("iterate_once", Place(3, "iter"))])
        cells = [cell["source"] for cell in json.loads(after.content)["cells"][1:]]
        self.assertEqual(
            cells, [["d_iterator = iter(d.repeat())\n", "for i in x:\n", "    next(d_iterator)"], ["d = 2"]]
        )
        self.assertEqual(after.undone(splices).content, content)

    def test_line_is_told_by_its_cell(self):
        source = NotebookSource("x.ipynb", notebook(*CELLS))
        line = source.text.split(b"\n").index(b"d = d.map(f)") + 1
        self.assertEqual(cell_of(source, line), (3, 2))
        self.assertEqual(where_of(source, os.path.abspath("x.ipynb"), line), "x.ipynb In[3]:2")

    def test_percent_that_is_python(self):
        source = NotebookSource("x.ipynb", notebook(["x = (3\n", "  % 2)\n"]))
        self.assertNotIn(b"magic", source.text)

    def test_what_is_not_a_notebook(self):
        for content in (b"", b"{}", b"[1, 2", b'{"cells": 3}', b"\xff", notebook(["d = ("])):
            with self.assertRaises(Refused):
                NotebookSource("x.ipynb", content)

    def test_notebook_runs(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(os.path.realpath(folder), "train.ipynb")
            code = ["%time\n", "def f():\n", "    return 'as it was'\n", "for _ in tensorflow.dataset(30): pass\n"]
            check = "import inspect; assert 'changed' in inspect.getsource(f), f()"
            path.write_bytes(notebook("import tensorflow\ndisplay(1)", code, check))
            source = read_source(str(path))
            at = source.text.index(b"as it was")
            from tfdata_doctor_fix.source import Splice

            changed = source.changed([Splice(at, b"as it was", b"changed")])
            environment = {"PYTHONPATH": os.pathsep.join([str(support.FAKE), str(support.ROOT / "python")])}
            with Runner(Program(str(path)), environment) as runner:
                answer = runner.measure({str(path): changed}, 2, 5, 20.0)
            self.assertEqual((answer.ended, len(answer.ends)), ("end", 30))
            self.assertEqual(Workspace().read(str(path)).content, source.content)


if __name__ == "__main__":
    unittest.main()
