"""What reads traces: needs the program and stored traces, nothing else."""

import dataclasses
import html
import json
import os
import pickle
import re
import subprocess
import tempfile
import unittest
import unittest.mock
from pathlib import Path

import tfdata_doctor
from tfdata_doctor import _json, _page, _program
from tfdata_doctor.report import Comparison, Report, SourceLine, Trace, WhatIf

from . import support

BASE = support.ROOT / "testdata" / "compare" / "cache_removed" / "base.xplane.pb"
CANDIDATE = BASE.with_name("candidate.xplane.pb")


def unknown_keys(kind, document, where=""):
    """Keys of a document that its class lacks."""
    fields = {_json.key_of(name): kind._inner().get(name) for name in kind.__match_args__}
    for key, value in document.items():
        if key not in fields:
            yield f"{where}{key}"
        elif fields[key] is not None:
            for item in value if isinstance(value, list) else [value]:
                if item is not None:
                    yield from unknown_keys(fields[key], item, f"{where}{key}.")


class DiagnoseTest(unittest.TestCase):
    def test_report_says_what_the_program_says(self):
        report = tfdata_doctor.diagnose(support.INPUT_BOUND)
        self.assertTrue(report.is_input_bound)
        self.assertEqual(report.verdict.culprit.user_method, "map")
        self.assertIn("input-bound", [finding.rule for finding in report.findings])
        first = report.changes[0]
        self.assertEqual(report.findings[first.finding].advice[first.advice].code, first.code)
        self.assertFalse(report.pipelines[0].iterators[0].is_async)
        text = subprocess.run(
            [_program.program(), support.INPUT_BOUND], capture_output=True, encoding="utf-8", check=False
        ).stdout
        self.assertEqual(str(report), text)
        self.assertEqual(report.raw["schema"], report.schema)
        self.assertEqual(tfdata_doctor.__version__, report.tool.version)

    def test_every_key_has_a_field(self):
        for trace in support.all_traces():
            with self.subTest(trace.name):
                report = tfdata_doctor.diagnose(trace, max_input_share=0.5)
                self.assertEqual(list(unknown_keys(Report, report.raw)), [])

    def test_a_trace_without_evidence_is_not_an_error(self):
        report = tfdata_doctor.diagnose(support.TRACES / "empty.xplane.pb")
        self.assertEqual(report.verdict.status, "inconclusive")
        self.assertIn("INCONCLUSIVE", str(report))

    def test_settings_are_options(self):
        report = tfdata_doctor.diagnose(
            [support.INPUT_BOUND], suppress=["input-bound", "sequential-map"], max_input_share=0.5, config=None
        )
        suppressed = [finding.rule for finding in report.findings if finding.suppressed]
        self.assertLessEqual({"input-bound", "sequential-map"}, set(suppressed))
        self.assertTrue(report.budgets[0].exceeded)
        changed = tfdata_doctor.diagnose(
            support.INPUT_BOUND, set={"sequential-map.min_culprit_share": 0.999}, no_config=True
        )
        self.assertNotIn("sequential-map", [finding.rule for finding in changed.findings])

    def test_errors_are_the_programs(self):
        with self.assertRaisesRegex(tfdata_doctor.DoctorError, r"^/nonexistent: no such file or directory"):
            tfdata_doctor.diagnose("/nonexistent")
        with self.assertRaisesRegex(tfdata_doctor.DoctorError, "no-such-option"):
            tfdata_doctor.diagnose(support.INPUT_BOUND, no_such_option=1)
        with self.assertRaisesRegex(TypeError, "format is not a setting"):
            tfdata_doctor.diagnose(support.INPUT_BOUND, format="text")

    def test_a_path_is_never_an_option(self):
        with self.assertRaisesRegex(tfdata_doctor.DoctorError, "^./--help: no such file"):
            tfdata_doctor.diagnose("--help")

    def test_a_crash_of_the_program_is_an_error(self):
        with tempfile.TemporaryDirectory() as folder:
            fake = Path(folder, "program")
            fake.write_text("#!/bin/sh\nkill -SEGV $$\n")
            fake.chmod(0o755)
            with (
                unittest.mock.patch.dict(os.environ, {_program.VARIABLE: str(fake)}),
                self.assertRaisesRegex(tfdata_doctor.DoctorError, "signal 11"),
            ):
                tfdata_doctor.diagnose(support.INPUT_BOUND)

    def test_reports_can_be_pickled(self):
        report = tfdata_doctor.diagnose(support.INPUT_BOUND)
        copy = pickle.loads(pickle.dumps(report))
        self.assertEqual(copy, report)
        self.assertEqual(str(copy), str(report))


class ObjectsTest(unittest.TestCase):
    """The classes of documents are frozen dataclasses to all who use them."""

    def test_objects_are_made_compared_and_shown(self):
        line = SourceLine("train.py", 3, code=None)
        self.assertEqual(line, SourceLine(file="train.py", line=3, code=None))
        self.assertNotEqual(line, SourceLine("train.py", 4, None))
        self.assertNotEqual(line, ("train.py", 3, None))
        self.assertEqual(hash(line), hash(SourceLine("train.py", 3, None)))
        self.assertEqual(repr(line), "SourceLine(file='train.py', line=3, code=None)")
        for arguments in (("train.py", 3), ("train.py", 3, None, 4), ("train.py", 3, None, "x")):
            self.assertRaises(TypeError, SourceLine, *arguments)
        self.assertRaises(TypeError, SourceLine, "train.py", 3, file="other.py", code=None)

    def test_objects_are_frozen(self):
        line = SourceLine("train.py", 3, None)
        with self.assertRaisesRegex(dataclasses.FrozenInstanceError, "cannot assign to field 'line'"):
            line.line = 4
        with self.assertRaisesRegex(dataclasses.FrozenInstanceError, "cannot delete field 'line'"):
            del line.line

    def test_functions_of_the_module_dataclasses_take_them(self):
        line = SourceLine("train.py", 3, None)
        self.assertTrue(dataclasses.is_dataclass(line))
        self.assertEqual(dataclasses.astuple(dataclasses.replace(line, line=4)), ("train.py", 4, None))
        self.assertEqual([one.name for one in dataclasses.fields(SourceLine)], ["file", "line", "code"])
        defaults = {one.name: one.default_factory for one in dataclasses.fields(Trace)}
        self.assertEqual((defaults["device_activity"], defaults["files"]), (list, dataclasses.MISSING))
        report = tfdata_doctor.diagnose(support.INPUT_BOUND)
        self.assertEqual(dataclasses.asdict(report)["verdict"]["culprit"], report.raw["verdict"]["culprit"])

    def test_each_object_has_lists_of_its_own(self):
        one, other = (Trace([], [], [], 0, 0, 0.0, {}, []) for _ in range(2))
        self.assertEqual(one.device_activity, [])
        self.assertIsNot(one.device_activity, other.device_activity)


def contrast(one, other):
    """Of two colours, as the Web Content Accessibility Guidelines 2.1 define it."""

    def luminance(colour):
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


class PageTest(unittest.TestCase):
    def test_page_shows_verdict_changes_and_tree(self):
        page = tfdata_doctor.diagnose(support.INPUT_BOUND)._repr_html_()
        for part in ("INPUT-BOUND", "steps/s now", "num_parallel_calls", "<b>Dataset.map</b>", "What sets the pace"):
            self.assertIn(part, page)

    def test_page_gives_the_changes_of_the_report(self):
        for trace in support.all_traces():
            report = tfdata_doctor.diagnose(trace)
            page = report._repr_html_()
            changes = [change for change in report.raw["changes"] if not change["suppressed"]]
            with self.subTest(trace.name):
                self.assertEqual("<b>fix 1</b>" in page, bool(changes or report.raw.get("unproven_changes")))
                if changes:
                    first = page.split("<b>fix 1</b>")[1].split("</tr>")[0]
                    self.assertIn(html.escape(changes[0]["text"]), first)
                for sentence in (change["text"] for change in changes):
                    self.assertEqual(page.split("As text")[0].count(html.escape(sentence) + "<pre"), 1)

    def test_page_can_be_read_on_any_ground(self):
        page = tfdata_doctor.diagnose(support.INPUT_BOUND)._repr_html_()
        badges = re.findall(r"background:(#\w+);color:#fff", page)
        bars = re.findall(r'fill="(#\w+)"', page)
        self.assertTrue(badges and bars)
        for colour in [*badges, *_page._BADGES.values(), _page._OTHER_BADGE]:
            self.assertGreaterEqual(contrast(colour, "#ffffff"), 4.5)
        for colour in [*bars, *_page._BARS.values()]:
            for ground in ("#ffffff", "#111111", "#212121"):
                self.assertGreaterEqual(contrast(colour, ground), 3)
        # All other text has the colour of the notebook.
        self.assertEqual(re.findall(r'[";]color:(?!#fff)', page), [])

    def test_names_of_the_trace_are_escaped(self):
        report = tfdata_doctor.diagnose(support.ROOT / "testdata" / "outputs" / "hostile.trace.json")
        self.assertIn("<script>", json.dumps(report.raw))
        self.assertNotIn("<script>", report._repr_html_())


class OtherCommandsTest(unittest.TestCase):
    def test_whatif(self):
        predicted = tfdata_doctor.whatif(support.INPUT_BOUND, fix=["parallel_map:Map,p=2"], cores=4)
        self.assertEqual(predicted.asked.fix, "parallel_map:Map,p=2")
        self.assertIn("steps/s", str(predicted))
        self.assertIn("<pre", predicted._repr_html_())
        plan = tfdata_doctor.whatif(support.INPUT_BOUND, plan=True)
        self.assertIsNotNone(plan.pipelines[0].plan)

    def test_keys_of_whatif_and_compare_have_fields(self):
        for trace in support.all_traces():
            if trace.parent == support.TRACES:
                with self.subTest(trace.name):
                    raw = tfdata_doctor.whatif(trace, plan=True, ideal=support.TRACES / "guide_cache.xplane.pb").raw
                    self.assertEqual(list(unknown_keys(WhatIf, raw)), [])
        raw = tfdata_doctor.compare(BASE, CANDIDATE, ideal=BASE).raw
        self.assertEqual(list(unknown_keys(Comparison, raw)), [])

    def test_compare(self):
        comparison = tfdata_doctor.compare(BASE, [CANDIDATE])
        self.assertEqual(comparison.outcome, "regression")
        self.assertEqual(comparison.structure[0].words, "Dataset.cache")
        self.assertIn("Dataset.cache is gone", str(comparison))

    def test_query(self):
        rows = tfdata_doctor.query("select verdict, 1 as one from traces", support.INPUT_BOUND)
        self.assertEqual(rows, [{"verdict": "input_bound", "one": 1}])
        self.assertEqual(rows.columns, ["verdict", "one"])
        self.assertIn("<th", rows._repr_html_())
        with self.assertRaisesRegex(tfdata_doctor.DoctorError, "^SQL: "):
            tfdata_doctor.query("select from traces", support.INPUT_BOUND)

    def test_rows_become_a_data_frame(self):
        try:
            import pandas  # noqa: F401
        except ImportError:
            self.skipTest("no pandas")
        frame = tfdata_doctor.query("select short_name, calls from iterators", support.INPUT_BOUND).to_pandas()
        self.assertIn("Map", set(frame["short_name"]))

    def test_explain(self):
        self.assertIn("A map that the job waits for", tfdata_doctor.explain("sequential-map"))
        self.assertIn("FIRES", tfdata_doctor.explain("sequential-map", support.INPUT_BOUND))


class NotebookTest(unittest.TestCase):
    def test_example_has_run(self):
        notebook = json.loads((support.ROOT / "docs" / "example.ipynb").read_text("utf-8"))
        self.assertEqual(notebook["nbformat"], 4)
        cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
        self.assertEqual([cell["execution_count"] for cell in cells], list(range(1, len(cells) + 1)))
        outputs = [output for cell in cells for output in cell["outputs"]]
        self.assertNotIn("error", [output["output_type"] for output in outputs])
        self.assertIn("INPUT-BOUND", json.dumps(outputs))
        # The report says the line of the cell that made the dataset.
        (place,) = [
            f"In[{cell['execution_count']}]:{number}"
            for cell in cells
            for number, line in enumerate(cell["source"], 1)
            if "dataset.map(augment)" in line
        ]
        self.assertIn(f"at {place}", json.dumps(outputs))
        # What it shows is of the labels of today.
        self.assertIn("  Fix 1  ", json.dumps(outputs))
        self.assertNotIn("stderr", [output.get("name") for output in outputs])
        for cell in cells:
            compile("".join(cell["source"]), "cell", "exec")

    def test_notebook_of_tf1_has_run(self):
        notebook = json.loads((support.ROOT / "docs" / "tf1.ipynb").read_text("utf-8"))
        cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
        self.assertEqual([cell["execution_count"] for cell in cells], list(range(1, len(cells) + 1)))
        printed = "".join(line for cell in cells for output in cell["outputs"] for line in output["text"])
        self.assertIn("INPUT-BOUND", printed)
        self.assertIn("  Fix 1  ", printed)
        self.assertRegex(printed, r"(?m)^ +\d+ .* Iterator::Model::MapAndBatch$")
        for cell in cells:
            compile("".join(cell["source"]), "cell", "exec")

    @unittest.skipUnless(os.environ.get("DOCTOR_PYTHON_TF1"), "DOCTOR_PYTHON_TF1 names no Python with TF 1.15")
    def test_notebook_of_tf1_runs(self):
        script = support.ROOT / "scripts" / "run-notebook"
        command = [os.environ["DOCTOR_PYTHON_TF1"], script, "--check", support.ROOT / "docs" / "tf1.ipynb"]
        done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False, timeout=240)
        self.assertEqual(done.returncode, 0, done.stderr)


class ModuleTest(unittest.TestCase):
    def test_module_is_the_program(self):
        done = support.python("-m", "tfdata_doctor", "-q", support.INPUT_BOUND)
        self.assertEqual(done.returncode, 1)
        self.assertTrue(done.stdout.startswith("INPUT-BOUND"))

    def test_import_loads_no_module_of_the_package(self):
        # What a name needs is loaded when the name is used: an import alone costs next to nothing.
        code = (
            "import sys; before = set(sys.modules); import tfdata_doctor\n"
            "print(sorted(set(sys.modules) - before - {'__future__'}))\n"
            "missing = [n for n in (*tfdata_doctor.__all__, 'lines', 'report') if not hasattr(tfdata_doctor, n)]\n"
            "print(missing, set(tfdata_doctor.__all__) <= set(dir(tfdata_doctor)), hasattr(tfdata_doctor, 'absent'))"
        )
        self.assertEqual(support.python("-c", code).stdout, "['tfdata_doctor']\n[] True False\n")

    def test_importing_it_imports_nothing_large(self):
        code = "import sys, tfdata_doctor; print([m for m in ('tensorflow', 'pandas', 'numpy') if m in sys.modules])"
        self.assertEqual(support.python("-c", code).stdout, "[]\n")

    def test_a_diagnosis_imports_little(self):
        # Each of these takes as long as the program does for a small trace.
        dear = (
            "argparse",
            "dataclasses",
            "html",
            "inspect",
            "pathlib",
            "subprocess",
            "tempfile",
            "typing",
        )
        code = (
            f"import sys, tfdata_doctor; tfdata_doctor.diagnose({str(support.INPUT_BOUND)!r})\n"
            f"print([module for module in {dear!r} if module in sys.modules])"
        )
        self.assertEqual(support.python("-S", "-c", code).stdout, "[]\n")

    def test_help_imports_nothing_that_runs_a_script(self):
        done = support.python("-S", "-v", "-m", "tfdata_doctor", "--help")
        self.assertIn("SCRIPT.py", done.stdout)
        self.assertNotIn("import 'tfdata_doctor._script'", done.stderr)
        self.assertNotIn("import 'dataclasses'", done.stderr)

    def test_large_pages_come_whole(self):
        with tempfile.TemporaryDirectory() as folder:
            fake = Path(folder, "program")
            fake.write_text(f"#!/bin/sh\nseq 300000 > {_program.PAGE}; seq 300000 >&2; echo 1\n")
            fake.chmod(0o755)
            with unittest.mock.patch.dict(os.environ, {_program.VARIABLE: str(fake)}):
                printed, page = _program.run_with_page([])
            self.assertEqual((printed, page.count("\n")), ("1\n", 300_000))

    def test_program_is_run_where_standard_streams_are_closed(self):
        code = (
            "import os, tfdata_doctor; from tfdata_doctor import _program; keep = os.dup(1)\n"
            "for stream in range(3): os.close(stream)\n"
            "os.write(keep, _program.run_program(['--version'])[1].encode())"
        )
        self.assertRegex(support.python("-c", code).stdout, r"^tfdata-doctor \d")

    def test_without_the_program_it_says_so(self):
        code = (
            "import tfdata_doctor._program as p, shutil; p._candidates = lambda: []; shutil.which = lambda name: None\n"
            "import tfdata_doctor\ntry: tfdata_doctor.diagnose('x')\nexcept tfdata_doctor.DoctorError as e: print(e)"
        )
        self.assertIn("is not installed", support.python("-c", code, TFDATA_DOCTOR="").stdout)


if __name__ == "__main__":
    unittest.main()
