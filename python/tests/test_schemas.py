"""The dataclasses of documents are those of docs/schemas."""

import subprocess
import sys
import unittest

from tfdata_doctor.report import Report

from . import support


class SchemasTest(unittest.TestCase):
    def test_classes_are_made_from_the_schemas(self):
        script = support.ROOT / "scripts" / "python-classes"
        ended = subprocess.run([sys.executable, "-B", script, "--check"], capture_output=True, text=True)
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))

    def test_documents_of_other_versions_are_read(self):
        report = Report.of({"schema": "tfdata-doctor.report/2", "later": 1, "findings": [{"rule": "x"}]}, "page")
        self.assertEqual(report.findings[0].rule, "x")
        self.assertIsNone(report.findings[0].message)
        self.assertIsNone(report.verdict)
        self.assertEqual(report.budgets, [])
        self.assertEqual(report.raw["later"], 1)


if __name__ == "__main__":
    unittest.main()
