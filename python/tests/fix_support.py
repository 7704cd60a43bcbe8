"""What tests of the search for changes share: a folder of their own, and a stored recording in it."""

import os
import shutil
import tempfile
import textwrap
import unittest
from dataclasses import replace as replace_fields
from pathlib import Path

from tfdata_doctor.report import ChangedIterator

from . import support

LINES = support.ROOT / "testdata" / "lines" / "lines_of_code_tf2.21"
HEALTHY = support.ROOT / "testdata" / "traces" / "guide_cache.xplane.pb"

#: What testdata/lines was recorded of, as far as its lines say.
INPUT = "\n" * 12 + textwrap.dedent(
    """\
    import tensorflow as tf


    def flowers(count, batch_size, is_sharp=None, augment=None):
        dataset = tf.data.Dataset.range(count)
        dataset = dataset.shuffle(64).repeat()
        dataset = dataset.filter(lambda x: is_sharp(x))
        dataset = dataset.map(augment)
        return dataset.batch(batch_size).prefetch(1)
    """
).replace("\n\n\ndef", "\n\ndef", 1)


class FolderTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(os.path.realpath(folder.name))
        here = os.getcwd()
        self.addCleanup(os.chdir, here)
        os.chdir(self.folder)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        return path


class RecordedTest(FolderTest):
    def recorded(self, text=INPUT):
        """A copy of the stored recording, whose program is in the test's folder."""
        run = self.folder / "run"
        shutil.rmtree(run, ignore_errors=True)
        shutil.copytree(LINES, run)
        page = (run / "dataset-lines.json").read_text().replace("/home/me/flowers", str(self.folder))
        (run / "dataset-lines.json").write_text(page)
        self.write("src/input.py", text)
        self.write("train.py", "")
        return run


def with_change(report, rule, name, kind=""):
    """A report whose one change is a fix of this kind, or none, and whose pipeline is shuffled and has an end."""
    (pipeline,) = report.pipelines
    iterators = [
        replace_fields(iterator, short_name=iterator.short_name.replace("ShuffleAndRepeat", "Shuffle"))
        for iterator in pipeline.iterators
    ]
    subject = next(iterator.long_name for iterator in iterators if iterator.short_name == name)
    fixes = [ChangedIterator(f"{kind}:{name}", kind, subject, None, None)] if kind else []
    return replace_fields(
        report,
        pipelines=[replace_fields(pipeline, iterators=iterators)],
        findings=[replace_fields(report.findings[0], subject=subject)],
        changes=[replace_fields(report.changes[0], rule=rule, finding=0, fixes=fixes)],
    )
