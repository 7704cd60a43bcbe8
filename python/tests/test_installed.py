"""The package as users have it: from a wheel in a new environment where DOCTOR_WHEEL names one, else from the source.

The rest of the machine is as it is for a user: no PYTHONPATH, no TFDATA_DOCTOR, another working directory.
"""

import ast
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from . import support

WHEEL = os.environ.get("DOCTOR_WHEEL", "")
#: A Python that has TensorFlow, which is made visible in the new environment.
TF_PYTHON = os.environ.get("DOCTOR_TF_PYTHON", "")

EXAMPLE = support.ROOT / "examples" / "train.py"
STORED = support.ROOT / "testdata" / "lines" / "lines_of_code_tf2.21" / "vm.xplane.pb.gz"

#: Prints what the package says about the trace of its argument.
DIAGNOSE = """
import json, sys
import tfdata_doctor
from tfdata_doctor._program import program
verdict = tfdata_doctor.diagnose(sys.argv[1]).verdict
culprit = verdict.culprit
print(json.dumps({"file": tfdata_doctor.__file__, "program": program(), "version": tfdata_doctor.__version__,
                  "status": verdict.status, "method": culprit.user_method, "source": vars(culprit.source)}))
"""


def site_packages(python):
    """The folders of a Python's own packages."""
    code = "import json, sysconfig; print(json.dumps([sysconfig.get_path(p) for p in ('purelib', 'platlib')]))"
    return sorted(set(json.loads(subprocess.check_output([python, "-c", code], encoding="utf-8"))))


class InstalledTest(unittest.TestCase):
    """An environment with the package, and what is run in it."""

    base = sys.executable
    visible = ()

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name).resolve()
        kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "TFDATA_DOCTOR")}
        self.environment = {**kept, "PYTHONNOUSERSITE": "1"}
        self.python = self.base
        if WHEEL:
            self.install()
        else:
            program = os.environ.get("TFDATA_DOCTOR", str(support.ROOT / "build" / "dev" / "tfdata-doctor"))
            self.environment.update(PYTHONPATH=str(support.ROOT / "python"), TFDATA_DOCTOR=program)

    def install(self):
        venv = self.folder / "venv"
        self.finished(self.base, "-m", "venv", venv)
        self.python = str(venv / "bin" / "python")
        self.finished(self.python, "-m", "pip", "install", "--quiet", "--no-index", os.path.abspath(WHEEL))
        (packages,) = site_packages(self.python)
        Path(packages, "visible.pth").write_text("".join(f"{path}\n" for path in self.visible))

    def finished(self, *command, status=0):
        """The standard output of a command that ends with this status."""
        done = subprocess.run(
            [str(word) for word in command],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            encoding="utf-8",
            check=False,
            timeout=540,
        )
        self.assertEqual(done.returncode, status, f"{command}: {done.stdout}{done.stderr}")
        return done.stdout

    def diagnosis(self, trace):
        """What the package says about a trace; it and its program are those of the environment."""
        found = json.loads(self.finished(self.python, "-c", DIAGNOSE, trace))
        if WHEEL:
            self.assertTrue(found["file"].startswith(str(self.folder)), found["file"])
            self.assertTrue(found["program"].startswith(str(self.folder)), found["program"])
            self.assertIn(f"-{found['version']}-", Path(WHEEL).name)
        return found

    def assert_blames(self, report, line):
        """That the text of a report is right about the pipeline, which waits for `line`."""
        self.assertTrue(report.startswith("INPUT-BOUND"), report)
        self.assertRegex(report, rf"(?m)^ *Cause .* {re.escape(line)}\b")


class StoredTraceTest(InstalledTest):
    def test_report_has_the_line_of_the_program(self):
        names = json.loads(STORED.with_name("dataset-lines.json").read_text("utf-8"))["names"]
        (slow,) = [entry for entry in names.values() if "filter(is_sharp)" in entry["code"]]
        place = f"{Path(slow['file']).name}:{slow['line']}"
        # 1: something was found.
        self.assert_blames(self.finished(self.python, "-m", "tfdata_doctor", STORED, status=1), place)
        found = self.diagnosis(STORED)
        self.assertEqual((found["status"], found["method"]), ("input_bound", "filter"))
        self.assertEqual(found["source"], {key: slow[key] for key in ("file", "line", "code")})

    @unittest.skipUnless(WHEEL, "DOCTOR_WHEEL names no wheel")
    def test_program_is_a_command_of_the_environment(self):
        program = Path(self.python).with_name("tfdata-doctor")
        self.assertTrue(self.finished(program, "-q", STORED, status=1).startswith("INPUT-BOUND"))


def line_of_call(path, method, argument):
    """The line of a script that calls `.method(argument)`."""
    (line,) = [
        node.func.end_lineno
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call)
        and getattr(node.func, "attr", "") == method
        and [getattr(value, "id", "") for value in node.args] == [argument]
    ]
    return line


@unittest.skipUnless(WHEEL and TF_PYTHON, "DOCTOR_WHEEL and DOCTOR_TF_PYTHON do not name a wheel and a Python")
class TrainingScriptTest(InstalledTest):
    base = TF_PYTHON

    def setUp(self):
        self.visible = site_packages(TF_PYTHON)
        super().setUp()

    def test_report_of_the_example_has_the_line_that_it_waits_for(self):
        line = line_of_call(EXAMPLE, "map", "augment")
        printed = self.finished(self.python, "-m", "tfdata_doctor", "--logdir", "logs", EXAMPLE)
        report = printed[printed.index("INPUT-BOUND") :]
        self.assert_blames(report, f"{EXAMPLE.name}:{line}")
        found = self.diagnosis("logs")
        self.assertEqual(found["status"], "input_bound")
        self.assertIn("map", found["method"])
        self.assertEqual((found["source"]["file"], found["source"]["line"]), (str(EXAMPLE), line))


if __name__ == "__main__":
    unittest.main()
