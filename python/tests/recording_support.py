"""What tests of recording share: code that runs with the stand-ins of fake/, in a process of its own."""

import tempfile
import unittest
from pathlib import Path

from . import support

#: Prints, as the last line, what the fake TensorFlow logged and what the code put into `result`.
EPILOGUE = "\nimport json\nprint(json.dumps([result, tensorflow.log]))"
LOOP = "import tensorflow, tfdata_doctor\n"


def steps_of(log):
    """The numbers of the steps that have a marker."""
    return [entry[2] for entry in log if entry[0] == "begin"]


class RecordingTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.logs = str(self.folder / "logs")

    def record(self, code, trace=support.INPUT_BOUND):
        """`result`, the fake's log and the warnings of some code."""
        (result, log), stderr = support.recorded(f"logs = {self.logs!r}\n{code}{EPILOGUE}", trace)
        return result, log, stderr
