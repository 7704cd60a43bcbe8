"""The search for changes, without TensorFlow: stored recordings, and runs that are said to take so long."""

import contextlib
import errno
import io
import json
import multiprocessing
import os
import py_compile
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest
from dataclasses import replace as replace_fields
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

from tfdata_doctor import diagnose, whatif
from tfdata_doctor._program import DoctorError
from tfdata_doctor.report import ChangedIterator
from tfdata_doctor_fix import caches, cli, folder, forecast, judge, pages, pins, plan, replace, runner, search
from tfdata_doctor_fix.api import Outcome
from tfdata_doctor_fix.caches import CachePlaces
from tfdata_doctor_fix.edits import Edit, Place
from tfdata_doctor_fix.elements import difference, is_compared
from tfdata_doctor_fix.forecast import Forecast
from tfdata_doctor_fix.jobs import Answer, Cache, Elements, Program
from tfdata_doctor_fix.made import MadeAt
from tfdata_doctor_fix.patch import apply, patch_of, write_patch
from tfdata_doctor_fix.plan import NotTried, Planner
from tfdata_doctor_fix.runner import ProgramFailed, Runner
from tfdata_doctor_fix.search import Choices, Search
from tfdata_doctor_fix.source import Refused, Source, Splice
from tfdata_doctor_fix.workspace import Workspace, script_of

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


class JudgeTest(unittest.TestCase):
    def test_rank_test_is_exact(self):
        self.assertAlmostEqual(judge.rank_p_value([1, 2, 3], [4, 5, 6]), 1 / 20)
        self.assertAlmostEqual(judge.rank_p_value([1, 2, 4], [3, 5, 6]), 2 / 20)
        self.assertAlmostEqual(judge.rank_p_value([1, 2, 3, 4, 5], [6, 7, 8, 9, 10]), 1 / 252)
        self.assertAlmostEqual(judge.rank_p_value([4, 5, 6], [1, 2, 3]), 1)

    def test_interval_is_that_of_all_ratios_where_there_are_few_runs(self):
        low, high, confidence = judge.ratio_interval([10, 11, 12], [20, 22, 30])
        self.assertEqual((low, high), (20 / 12, 3))
        self.assertAlmostEqual(confidence, 0.9)
        low, high, confidence = judge.ratio_interval([10.0] * 3 + [20.0] * 3, [10.0] * 5 + [1000.0])
        self.assertLess(high, 100)
        self.assertGreaterEqual(confidence, 0.95)

    def test_what_is_faster(self):
        self.assertTrue(judge.judge([10, 11, 12], [13, 14, 15], False).is_faster)
        self.assertFalse(judge.judge([10, 11, 13], [12, 14, 15], False).is_faster)
        self.assertFalse(judge.judge([100, 101, 102], [103, 104, 105], False).is_faster)
        five = [100, 100.1, 100.2, 100.3, 100.4]
        self.assertTrue(judge.judge(five, [104] * 5, True).is_faster)
        self.assertFalse(judge.judge(five, [104] * 5, False).is_faster)
        self.assertFalse(judge.judge(five, [100.25, 120, 120, 120, 120], True).is_faster)
        self.assertTrue(judge.judge(five, [100.25, 120, 120, 120, 120], False).is_faster)
        self.assertTrue(judge.judge([13, 14, 15], [10, 11, 12], False).is_slower)
        self.assertFalse(judge.judge([10, 11], [20, 22], False).is_faster)

    def test_thresholds_are_those_of_compare(self):
        page = subprocess.run(
            [os.environ["TFDATA_DOCTOR"], "explain", "compare"], capture_output=True, encoding="utf-8", check=True
        ).stdout
        said = {words[0]: words[2] for words in map(str.split, page.splitlines()) if words[1:2] == ["="]}
        for name, value in {
            "min_ratio": judge._MIN_RATIO,
            "weak_min_ratio": judge._WEAK_MIN_RATIO,
            "significance": judge._SIGNIFICANCE,
            "weak_significance": judge._WEAK_SIGNIFICANCE,
            "min_recordings": judge.ENOUGH_RUNS,
            "weak_min_recordings": judge.LEAST_RUNS,
        }.items():
            self.assertEqual(float(said[name]), value, name)


class ElementsTest(unittest.TestCase):
    @staticmethod
    def elements(hashes, again=(), is_complete=True, spec="int"):
        return [Elements(spec, list(hashes), list(again), is_complete)]

    def test_differences(self):
        same = self.elements("abc", "abc")
        self.assertEqual(difference(same, same, False), "")
        self.assertIn("element 2", difference(same, self.elements("acb", "abc"), False))
        self.assertEqual(difference(same, self.elements("acb", "bca"), True), "")
        self.assertIn("differ", difference(same, self.elements("abd", "abc"), True))
        self.assertIn("3 elements have become 2", difference(same, self.elements("ab", "ab"), False))
        self.assertIn("another type", difference(same, self.elements("abc", "abc", spec="float"), False))

    def test_order_of_a_second_epoch_counts(self):
        base, changed = self.elements("abc", "bca"), self.elements("abc", "abc")
        self.assertIn("the second time over it", difference(base, changed, False))

    def test_of_elements_that_may_be_reordered_all_must_be_there(self):
        part = self.elements("abc", is_complete=False)
        self.assertFalse(is_compared(part, part, True))
        self.assertTrue(is_compared(part, part, False))
        self.assertFalse(is_compared([], [], False))
        self.assertEqual(difference(self.elements("abcd", is_complete=False), part, False), "")


class PatchTest(FolderTest):
    def patched(self, text, encoding="utf-8"):
        (self.folder / "a b.py").write_bytes(text.encode(encoding))
        path = str(self.folder / "a b.py")
        line = text.encode().count(b"\n") if text.endswith("\n") else text.count("\n") + 1
        return Workspace().with_edits([(path, Edit("cache", Place(line, "map")))])

    @unittest.skipUnless(shutil.which("git"), "needs git")
    def test_git_applies_it_and_takes_it_back(self):
        subprocess.run(["git", "init", "-q"], check=True)
        for text, encoding in (
            ("x = 1\nd = d.map(f)\n", "utf-8"),
            ("x = 1\nd = d.map(f)", "utf-8"),
            ("x = 1\r\n# é\r\nd = d.map(f)\r\n", "utf-8"),
            ("# -*- coding: latin-1 -*-\n# é\nd = d.map(f)\n", "latin-1"),
            ("\f\nd = (d\n\t.map(f))\n", "utf-8"),
        ):
            with self.subTest(text=text):
                workspace = self.patched(text, encoding)
                (changed,) = workspace.texts.values()
                Path("x.patch").write_bytes(patch_of(workspace))
                for options, content in (([], changed.content), (["-R"], text.encode(encoding))):
                    subprocess.run(["git", "apply", *options, "x.patch"], check=True)
                    self.assertEqual(Path("a b.py").read_bytes(), content)

    @unittest.skipUnless(shutil.which("git"), "needs git")
    def test_git_takes_any_name_of_a_file(self):
        subprocess.run(["git", "init", "-q"], check=True)
        for name in ("a\tb.py", "a\nb.py", 'a"b\\c.py', "a\x01\x7f\rb.py", "\u00e9\u4e00 .py"):
            with self.subTest(name=name):
                path = self.write(name, "d = d.map(f)\n")
                workspace = Workspace().with_edits([(str(path), Edit("cache", Place(1, "map")))])
                Path("x.patch").write_bytes(patch_of(workspace))
                for options, text in (([], "d = d.map(f).cache()\n"), (["-R"], "d = d.map(f)\n")):
                    subprocess.run(["git", "apply", *options, "x.patch"], check=True)
                    self.assertEqual(path.read_text(), text)

    # Lines that nobody changed were written with the other spelling of their characters.
    def test_encoding_with_several_spellings_is_refused(self):
        for encoding, line in (
            ("cp932", b"# \xfa\x54 \x81\xca \xed\x40"),
            ("euc_kr", b"# \xa4\xd4\xa4\xa1\xa4\xbf\xa4\xd4"),
            ("big5hkscs", b"# \x88\x62\xa1\xc3 \xa2\xcc \xa2\xce"),
            ("hz", b"# ~{<:~}~~ ~\n"),
            ("utf-7", b"# +AOk-"),
            ("raw_unicode_escape", b"# \\u00e9"),
            ("unicode_escape", b"# \\u00e9"),
        ):
            with self.subTest(encoding=encoding):
                content = b"# coding: " + encoding.encode() + b"\nd = d.map(f)\n" + line + b"\n"
                with self.assertRaisesRegex(Refused, "x.py cannot be written back byte for byte in its encoding"):
                    Source("x.py", content)
        content = "# coding: shift_jis\nd = d.map(f)\n# \u8868\n".encode("shift_jis")
        self.assertEqual(Source("x.py", content).content, content)

    def test_apply_writes_what_was_measured(self):
        workspace = self.patched("d = d.map(f)\n")
        os.chmod("a b.py", 0o750)
        self.assertEqual(apply(workspace), [str(self.folder / "a b.py")])
        self.assertEqual(Path("a b.py").read_text(), "d = d.map(f).cache()\n")
        self.assertEqual(Path("a b.py").stat().st_mode & 0o777, 0o750)
        self.assertEqual(os.listdir("."), ["a b.py"])

    def test_nothing_is_written_where_a_file_was_changed_meanwhile(self):
        one = self.write("one.py", "d = d.map(f)\n")
        two = self.write("two.py", "d = d.map(g)\n")
        edit = Edit("cache", Place(1, "map"))
        workspace = Workspace().with_edits([(str(one), edit), (str(two), edit)])
        two.write_text("d = d.map(h)\n")
        with self.assertRaisesRegex(DoctorError, "two.py was changed while this ran"):
            apply(workspace)
        self.assertEqual(one.read_text(), "d = d.map(f)\n")

    def test_apply_keeps_whose_and_what_a_file_is(self):
        workspace = self.patched("d = d.map(f)\n")
        path = self.folder / "a b.py"
        os.link(path, "other name.py")
        with contextlib.suppress(OSError):  # not every file system has attributes
            os.setxattr(path, "user.note", b"hers")
        before = path.stat()
        apply(workspace)
        self.assertEqual(Path("other name.py").read_text(), "d = d.map(f).cache()\n")
        self.assertEqual((path.stat().st_ino, path.stat().st_nlink), (before.st_ino, 2))

        os.remove("other name.py")
        attributes = os.listxattr(path)
        workspace = Workspace().with_edits([(str(path), Edit("cache", Place(1, "map")))])
        if os.getuid() == 0:
            os.chown(path, 1234, 1235)
        before = path.stat()
        apply(workspace)
        after = path.stat()
        self.assertEqual((after.st_uid, after.st_gid, after.st_mode), (before.st_uid, before.st_gid, before.st_mode))
        self.assertEqual(os.listxattr(path), attributes)
        self.assertEqual(os.listdir("."), ["a b.py"])

    def test_apply_refuses_what_is_read_only(self):
        workspace = self.patched("d = d.map(f)\n")
        os.chmod("a b.py", 0o444)
        with self.assertRaisesRegex(DoctorError, "is read-only"):
            apply(workspace)
        self.assertEqual(Path("a b.py").read_text(), "d = d.map(f)\n")

    def test_apply_follows_a_link(self):
        self.write("real/input.py", "d = d.map(f)\n")
        os.symlink("real/input.py", "input.py")
        apply(Workspace().with_edits([("input.py", Edit("cache", Place(1, "map")))]))
        self.assertTrue(os.path.islink("input.py"))
        self.assertEqual(Path("real/input.py").read_text(), "d = d.map(f).cache()\n")

    def test_save_between_the_last_look_and_the_exchange_is_kept(self):
        """Of a save in place and one by another file, and of a second one before the first has gone back."""
        for saves in (["saved"], ["saved", "saved again"], ["saved", "saved again", "a third time"]):
            for is_in_place in (True, False):
                with self.subTest(saves=saves, is_in_place=is_in_place):
                    self.check_save(saves, is_in_place)

    def check_save(self, saves, is_in_place):
        workspace = self.patched("d = d.map(f)\n")
        waiting, exchange = list(saves), replace._exchange

        def exchange_after_save(one, other):
            if waiting:
                if is_in_place:
                    Path(other).write_text(waiting.pop(0))
                else:
                    Path("editor").write_text(waiting.pop(0))
                    os.replace("editor", other)
            return exchange(one, other)

        changed = self.assertRaisesRegex(DoctorError, "was changed while this ran")
        with mock.patch.object(replace, "_exchange", exchange_after_save), changed:
            apply(workspace)
        self.assertEqual(Path("a b.py").read_text(), saves[-1])
        self.assertEqual(os.listdir("."), ["a b.py"])

    def test_file_system_without_exchange(self):
        workspace = self.patched("d = d.map(f)\n")
        with mock.patch.object(replace, "_exchange", return_value=False):
            apply(workspace)
        self.assertEqual(Path("a b.py").read_text(), "d = d.map(f).cache()\n")

    def test_patch_is_not_written_over_another_file(self):
        script = self.write("train.py", "import tensorflow\n")
        with self.assertRaisesRegex(DoctorError, "is there already, and no patch"):
            write_patch("train.py", b"--- a/x\n")
        self.assertEqual(script.read_text(), "import tensorflow\n")
        for content in (b"--- a/x\n", b"--- a/yy\n"):
            write_patch("fix.patch", content)
            self.assertEqual(Path("fix.patch").read_bytes(), content)


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


class PlanTest(FolderTest):
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

    def plan(self, text=INPUT, roots=None, allowed=()):
        run = self.recorded(text)
        planner = Planner(
            diagnose(run),
            str(run),
            str(self.folder / "train.py"),
            roots or [str(self.folder)],
            frozenset(allowed),
            Forecast(str(run), []),
        )
        return list(planner.plan(Workspace()))

    def test_changes_of_a_report_are_edits_of_its_lines(self):
        candidate, left = self.plan()
        self.assertEqual(candidate.kinds, ("parallel_filter",))
        self.assertEqual(
            candidate.edits, ((str(self.folder / "src" / "input.py"), Edit("parallel_filter", Place(18, "filter"))),)
        )
        self.assertGreater(candidate.predicted.gain, 1.2)
        self.assertIsInstance(left, NotTried)
        self.assertIn("it needs a person", left.reason)

    def test_files_elsewhere_are_left_alone(self):
        left = self.plan(roots=["/nowhere"])[0]
        self.assertRegex(left.reason, "is not in your repository")
        self.assertEqual((left.file, left.line), (str(self.folder / "src" / "input.py"), 18))

    def test_cache_that_would_never_be_complete(self):
        run = self.recorded()
        report = diagnose(run)
        change = report.changes[0]
        fix = type(change.fixes[0])("cache", "cache", change.fixes[0].iterator, None, None)
        object.__setattr__(change, "fixes", [fix])
        forecast = Forecast(str(run), [])
        planner = Planner(report, str(run), str(self.folder / "train.py"), [str(self.folder)], frozenset(), forecast)
        self.assertIn("an endless repeat() comes before it", next(planner.plan(Workspace())).reason)

    def plan_of(self, *change):
        run = self.recorded()
        folders = str(self.folder / "train.py"), [str(self.folder)], frozenset()
        planner = Planner(with_change(diagnose(run), *change), str(run), *folders, Forecast(str(run), []))
        return next(planner.plan(Workspace()))

    def test_cache_whose_order_a_shuffle_makes_up_for(self):
        planned = self.plan_of("input-bound", "MapAndBatch", "cache")
        self.assertEqual((planned.kinds, planned.note), (("cache_shuffle",), plan.BATCHES_STAY))
        self.assertEqual(planned.edits[0][1], Edit("cache_shuffle", Place(20, "batch")))
        self.assertEqual(planned.fixes, ("cache:Iterator::Root::Prefetch::MapAndBatch",))

    def test_line_tells_pipelines_of_the_same_steps_apart(self):
        run = self.recorded()
        report = with_change(diagnose(run), "input-bound", "MapAndBatch", "cache")
        (pipeline,) = report.pipelines
        other = [replace_fields(one, dataset_name="", source=None, user_method=None) for one in pipeline.iterators]
        (line,) = [one.source.line for one in pipeline.iterators if one.short_name == "MapAndBatch"]
        report = replace_fields(
            report,
            pipelines=[replace_fields(pipeline, iterators=other), pipeline],
            changes=[replace_fields(report.changes[0], code=f"ds = ds.cache()  # after map at input.py:{line}")],
        )
        folders = str(self.folder / "train.py"), [str(self.folder)], frozenset()
        planned = next(Planner(report, str(run), *folders, Forecast(str(run), [])).plan(Workspace()))
        self.assertEqual(planned.kinds, ("cache_shuffle",))

    def test_buffer_that_each_epoch_fills_anew_is_filled_from_a_cache(self):
        planned = self.plan_of("shuffle-refilled", "Shuffle")
        self.assertEqual(planned.edits[0][1], Edit("cache", Place(16, "range")))
        left = self.plan_of("input-bound", "Shuffle")
        self.assertTrue(left.reason.startswith("it needs a person"))
        self.assertNotIn(left.words, left.reason)


FLIP = """\
ds = files.shuffle(9)
ds = ds.map(load)
ds = ds.map(flip)
ds = ds.shuffle(9)
ds = ds.batch(2)
def flip(image): return turn(image)
def turn(image): return tf.image.random_flip_up_down(image)
def load(path): return stateless(path)
def stateless(path): return tf.image.stateless_random_crop(path, size, seed)
"""


class CachePlaceTest(unittest.TestCase):
    """Where a cache stands in a chain, from its end to its source: short name, line, work."""

    def places(self, chain, may_keep_order=False):
        iterators = [
            SimpleNamespace(
                short_name=name, dataset_name=str(line), depth=number, self_us=1, function_us=work, calls=10,
            )
            for number, (name, line, work) in enumerate(chain)
        ]  # fmt: skip
        methods = {1: "shuffle", 2: "map", 3: "map", 4: "shuffle", 5: "batch", 6: "image_dataset_from_directory"}
        made = {str(line): MadeAt("x.py", Place(line, method)) for line, method in methods.items()}
        pipeline = SimpleNamespace(iterators=iterators, get_next=SimpleNamespace(count=5))
        source = Source("x.py", FLIP.encode())
        return CachePlaces(pipeline, made, lambda _: source, may_keep_order)

    def place(self, chain, at, is_before=False, may_keep_order=False):
        places = self.places(chain, may_keep_order)
        return int(places.place(places._pipeline.iterators[at], is_before).dataset_name)

    CHAIN = (("Batch", 5, 0), ("Shuffle", 4, 0), ("Map", 2, 90), ("Source", 9, 10))

    def test_before_a_shuffle(self):
        self.assertEqual(self.place(self.CHAIN, 2), 2)
        self.assertEqual(self.place(self.CHAIN, 0), 2)
        self.assertEqual(self.place(self.CHAIN, 0, may_keep_order=True), 5)

    def test_shuffle_of_the_files_is_made_up_for_by_a_later_one(self):
        chain = (*self.CHAIN[:3], ("Shuffle", 1, 0))
        self.assertEqual(self.place(chain, 0), 2)
        with self.assertRaisesRegex(Refused, "--allow order"):
            self.place((("Batch", 5, 0), ("Map", 2, 90), ("Shuffle", 1, 0)), 0)

    def test_before_a_random_map(self):
        chain = (("Batch", 5, 0), ("Map", 3, 20), ("Map", 2, 90))
        self.assertEqual(self.place(chain, 0), 2)
        self.assertEqual(self.place(chain, 1, is_before=True), 2)
        with self.assertRaisesRegex(Refused, "line 3 is random .random_flip_up_down."):
            self.place((("Map", 3, 90), ("Map", 2, 9)), 0)

    def test_random_function_of_its_seed(self):
        places = self.places((("Batch", 5, 0), ("Map", 3, 20), ("Map", 2, 90)))
        batch, flip, load = places._pipeline.iterators
        self.assertEqual([places.is_stateless(one) for one in (batch, flip, load)], [False, False, True])

    def test_place_that_keeps_little_is_not_tried(self):
        with self.assertRaisesRegex(Refused, "endless"):
            self.place((("ForeverRepeat", 9, 0), ("Map", 9, 90), ("Map", 2, 10)), 0)

    def below_order(self, *chain):
        places = self.places(chain)
        found = places.below_order(places._pipeline.iterators[0])
        return found and tuple(iterator.depth for iterator in found)

    def test_shuffle_or_repeat_that_only_maps_follow(self):
        fused, repeat, files = ("MapAndBatch", 2, 90), ("ForeverRepeat", 9, 0), ("TextLine", 9, 1)
        self.assertEqual(self.below_order(fused, repeat, files), (0, 1))
        self.assertEqual(self.below_order(("Batch", 5, 0), ("ParallelMapV2", 2, 90), repeat, files), (1, 2))
        shuffle = ("Shuffle", 1, 0)
        self.assertEqual(self.below_order(fused, shuffle, repeat, files), (0, 1))
        self.assertEqual(self.below_order(fused, ("ShuffleAndRepeat", 1, 0), files), (0, 1))
        self.assertEqual(self.below_order(fused, shuffle, files), (0, 1))
        # A source that takes no time is in no recording.
        self.assertEqual(self.below_order(fused, shuffle), (0, 1))
        # After a repeat, these have other elements than those of an epoch.
        for other in ("Batch", "Take"):
            self.assertIsNone(self.below_order(fused, (other, 4, 0), repeat, files))
        self.assertIsNone(self.below_order(("Batch", 5, 90), ("Map", 2, 1), repeat, files))
        self.assertIsNone(self.below_order(fused, files))
        with self.assertRaisesRegex(Refused, "line 3 is random"):
            self.below_order(("Map", 3, 90), repeat, files)
        with self.assertRaisesRegex(Refused, "--allow order"):
            self.below_order(fused, repeat, ("Batch", 5, 0), shuffle, files)

    def test_what_a_helper_makes_is_cached_after_its_call(self):
        helper = (("Prefetch", 6, 0), ("Batch", 6, 0), ("Map", 6, 90), ("Source", 6, 1))
        places = self.places((("Root", 6, 0), *helper))
        iterators = places._pipeline.iterators
        for iterator in iterators[1:]:
            self.assertIs(places.place(iterator, False), iterators[1])
        # Its map cannot be moved before its shuffle.
        self.assertIsNone(self.below_order(("Map", 6, 90), ("Shuffle", 6, 0), ("Source", 6, 1)))

    def test_shuffle_after_a_cache_makes_up_for_one_before_it(self):
        def place(*chain):
            places = self.places(chain)
            return places.shuffled_place(places._pipeline.iterators[-3], False).dataset_name

        below = (("Batch", 5, 90), ("Shuffle", 1, 0), ("Source", 9, 1))
        self.assertEqual(place(*below), "5")
        self.assertEqual(place(("Root", 9, 0), ("Prefetch", 9, 0), ("ParallelMapV2", 2, 0), *below), "5")
        for other in ("Zip[0]", "FiniteTake", "FiniteSkip", "Shard"):
            with self.assertRaisesRegex(Refused, "depends on the order"):
                place(("Map", 2, 0), (other, 9, 0), *below)
        with self.assertRaisesRegex(Refused, "endless"):
            place(("Batch", 5, 90), ("ShuffleAndRepeat", 1, 0), ("Source", 9, 1))

    def test_shuffle_of_the_training_alone_is_none_for_all(self):
        text = "def make(files, training):\n{}    ds = ds.batch(2)\n    return ds\n"
        chain = (("Batch", 5, 90), ("Shuffle", 1, 0), ("Source", 9, 1))
        for shuffle, line, is_refused in (
            ("    ds = files.shuffle(9)\n", 2, False),
            ("    ds = files\n    if training:\n        ds = ds.shuffle(9)\n", 4, True),
            ("    ds = files.shuffle(9) if training else files\n", 2, True),
            ("    ds = helper(files, shuffle=True)\n", 2, False),
            ("    ds = helper(files, shuffle=training)\n", 2, True),
        ):
            places = self.places(chain)
            source = Source("x.py", text.format(shuffle).encode())
            places._read = lambda _, source=source: source
            method = "helper" if "helper" in shuffle else "shuffle"
            places._made = {
                "1": MadeAt("x.py", Place(line, method)),
                "5": MadeAt("x.py", Place(line + 1, "batch")),
            }
            context = (
                self.assertRaisesRegex(Refused, "does not always shuffle") if is_refused else contextlib.nullcontext()
            )
            with context:
                places.shuffled_place(places._pipeline.iterators[0], False)

    def test_output_that_ends_although_an_input_does_not(self):
        batch, repeat, numbers = ("Batch", 5, 90), ("ForeverRepeat", 9, 0), ("Range", 9, 0)
        self.assertEqual(self.place((batch, ("FiniteTake", 9, 0), repeat), 0), 5)
        places = self.places((batch, ("Zip[0]", 9, 0), repeat, numbers))
        iterators = places._pipeline.iterators
        iterators[3].depth = 2  # another input of zip()
        self.assertEqual(places.place(iterators[0], False), iterators[0])
        iterators[3].short_name = "ForeverRepeat"
        with self.assertRaisesRegex(Refused, "an endless repeat"):
            places.place(iterators[0], False)

    def test_before_an_endless_repeat(self):
        self.assertEqual(self.place((("Batch", 5, 0), ("ForeverRepeat", 9, 0), ("Map", 2, 90)), 0), 2)


class FakeRunner:
    """Runs that take as long as `rates` says: of the text, a list of rates."""

    def __init__(
        self,
        run,
        rates,
        looks=lambda _: ["a", "b"],
        on_measure=lambda: None,
        ready=None,
        steps=30,
        seconds=0.0,
        cached=(),
    ):
        self.run, self.rates, self.looks, self.on_measure, self.ready = run, rates, looks, on_measure, ready
        self.steps, self.seconds, self.last_seconds = steps, seconds, 0.0
        self.measured, self.left_out, self.cached = [], [], list(cached)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def text_of(self, texts):
        return "".join(source.text.decode() for source in texts.values())

    def record(self, texts, *_):
        return Answer(run_directory=str(self.run(self.text_of(texts))), steps=self.steps)

    def look(self, texts, *_, **__):
        hashes = self.looks(self.text_of(texts))
        return Answer(elements=[Elements("int", hashes, hashes, True)], caches=self.cached)

    def measure_ready(self, _texts, skip, steps, _seconds):
        return self.answer(self.ready, skip + steps) if self.ready else Answer(ended="end")

    def measure(self, texts, skip, steps, _):
        self.on_measure()
        self.last_seconds = self.seconds
        text = self.text_of(texts)
        self.measured.append(bool(text))
        rate = self.rates(text)
        if isinstance(rate, Exception):
            raise rate
        return self.answer(rate, skip + steps)

    @staticmethod
    def answer(rate, steps):
        begins = [index / rate for index in range(steps)]
        return Answer(begins=begins, ends=[*begins[1:], begins[-1] + 1 / rate], ended="enough", is_ready=True)


class SearchTest(PlanTest):
    def searched(self, rates, choices=None, text=INPUT, after=HEALTHY, **options):
        run = self.recorded(text)
        runner = FakeRunner(lambda changed: (changed and after) or run, rates, **options)
        with mock.patch.object(search, "Runner", return_value=runner):
            made = Search(Program("train.py"), choices or Choices(), "train.py", lambda _: None)
            outcome = made.run()
        self.assertEqual((self.folder / "src" / "input.py").read_text(), text)
        return outcome, made, runner

    def test_change_that_is_faster_is_kept_and_the_program_recorded_again(self):
        outcome, made, runner = self.searched(lambda text: 150 if "is_kept" in text else 100)
        (trial,) = outcome.trials
        self.assertTrue(trial.is_kept)
        self.assertEqual(trial.data, "same")
        self.assertEqual(runner.measured, [False, True] * 3)
        self.assertEqual((outcome.before, outcome.after), (100, 150))
        self.assertEqual(outcome.stopped, "the input no longer limits")
        self.assertIn("+    dataset = dataset.map(lambda element", outcome.patch)
        for form in pages.FORMATS.values():
            page = form(outcome)
            self.assertIn("input.py", page)
            self.assertIn("1.5", page)
        in_notebook = Outcome(**vars(outcome))._repr_html_()
        self.assertIn("is_kept", in_notebook)
        self.assertNotRegex(in_notebook, "<(html|style|meta|h1)")  # it would be the notebook's
        document = json.loads(pages.FORMATS["json"](outcome))
        self.assertEqual(document["trials"][0]["kept"], True)
        with contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual(apply(made.workspace), [str(self.folder / "src" / "input.py")])

    def test_change_that_is_not_faster_is_not_kept(self):
        for changed, reason in ((100, "no faster"), (102, "no faster"), (80, "slower")):
            outcome, _, _ = self.searched(lambda text, rate=changed: rate if text else 100)
            self.assertEqual([(trial.is_kept, trial.reason) for trial in outcome.trials], [(False, reason)])
            self.assertEqual(outcome.patch, "")
            self.assertEqual(outcome.stopped, "nothing is left to try")
            self.assertIn("NO FASTER", pages.text(outcome))

    def test_what_may_be_chance_is_measured_again(self):
        base, changed = iter([100, 100, 120, 120, 100]), iter([110, 115, 110, 110, 110])
        outcome, _, runner = self.searched(lambda text: next(changed if text else base))
        self.assertEqual(len(runner.measured), 10)
        self.assertFalse(outcome.trials[0].is_kept)
        self.assertEqual(outcome.trials[0].reason, "faster, but it may be chance")

    def test_other_data_are_not_kept_unless_allowed(self):
        looks = {"looks": lambda text: ["a", "x"] if text else ["a", "b"]}
        outcome, _, _ = self.searched(lambda text: 200 if text else 100, **looks)
        self.assertIn("element 2 of the dataset differs", outcome.trials[0].reason)
        outcome, _, _ = self.searched(lambda text: 200 if text else 100, Choices(allowed=frozenset({"data"})), **looks)
        self.assertTrue(outcome.trials[0].is_kept)

    def test_random_data_are_not_compared(self):
        numbers = iter(range(99))
        outcome, _, _ = self.searched(lambda text: 200 if text else 100, looks=lambda _: [str(next(numbers))])
        self.assertEqual(outcome.trials[0].data, "not compared: random")
        self.assertTrue(outcome.trials[0].is_kept)
        self.assertIn("not compared: random", pages.text(outcome))

    def test_program_that_fails_only_when_changed(self):
        failure = ProgramFailed("the program ended with status 1: ValueError: no", "")
        outcome, _, _ = self.searched(lambda text: failure if text else 100)
        self.assertIn("ValueError: no", outcome.trials[0].reason)
        self.assertEqual(outcome.patch, "")

    def test_interrupt_gives_what_was_found(self):
        def interrupted():
            raise KeyboardInterrupt

        outcome, _, _ = self.searched(lambda _: 100, on_measure=interrupted)
        self.assertTrue(outcome.is_interrupted)
        self.assertIn("interrupted", pages.text(outcome))
        with mock.patch.object(Search, "_measure_total", side_effect=KeyboardInterrupt):
            outcome, _, _ = self.searched(lambda text: 150 if text else 100)
        self.assertTrue(outcome.is_interrupted)
        self.assertTrue(pages.text(outcome).startswith("1.5x FASTER: 100 -> 150 steps/s with 1 change (1.5x to"))
        self.assertIn("+    dataset = dataset.map", outcome.patch)

    def test_change_that_raises_something_is_no_end(self):
        for failure in (IndexError("list"), ValueError("max() arg is an empty sequence"), KeyError()):
            outcome, _, _ = self.searched(lambda text, raised=failure: raised if text else 100)
            self.assertIn(f"internal error ({type(failure).__name__}", outcome.trials[0].reason)
            self.assertIn("please report it", outcome.trials[0].reason)
        with mock.patch.object(Workspace, "with_edits", side_effect=IndexError("list")):
            outcome, _, _ = self.searched(lambda _: 100)
        self.assertIn("internal error (IndexError: list)", outcome.trials[0].reason)
        with mock.patch.object(Planner, "_made_at", side_effect=IndexError("list")):
            outcome, _, _ = self.searched(lambda _: 100)
        self.assertIn("internal error (IndexError: list)", outcome.not_tried[0].reason)

    def test_what_was_measured_is_handed_over_whatever_ends_it(self):
        """Such as a disk that is full, or a save, in the recording after a change that was kept."""
        for error in (OSError(errno.ENOSPC, "No space left"), DoctorError("train.py was saved at 12:00:00")):

            def recorded(runner, texts, *_, error=error):
                if runner.text_of(texts):
                    raise error
                return Answer(run_directory=str(runner.run("")), steps=30)

            with mock.patch.object(FakeRunner, "record", recorded):
                outcome, _, _ = self.searched(lambda text: 150 if text else 100)
            self.assertEqual((len(outcome.kept), outcome.after), (1, 150))
            self.assertIn(str(error), outcome.stopped)
            self.assertIn("+    dataset = dataset.map", outcome.patch)
        # Before anything was measured there is nothing to hand over.
        full = mock.patch.object(FakeRunner, "record", side_effect=OSError(errno.ENOSPC, "No space left"))
        with full, self.assertRaisesRegex(DoctorError, "No space left"):
            self.searched(lambda _: 100)

    def test_user_is_told_what_will_run_before_it_does(self):
        said = []
        runner = FakeRunner(lambda _: self.fail("it ran"), None)
        with mock.patch.object(search, "Runner", return_value=runner):
            self.recorded()
            made = Search(Program("train.py"), Choices(), "train.py", said.append)
            with mock.patch.object(search, "missing_landlock", return_value="no Landlock"):
                self.assertRaisesRegex(DoctorError, "no Landlock", made.run)
            self.assertEqual(said, [])
            with contextlib.suppress(AssertionError):
                made.run()
        self.assertIn("train.py will run up to 30 times within 10 min, each time for 60 steps or 75 s", said[0])
        self.assertIn("uploads", said[0])

    def test_cache_and_shuffle_are_kept_with_what_they_change(self):
        def changed(folder):
            report = diagnose(folder)
            return report if str(folder) == str(HEALTHY) else with_change(report, "input-bound", "MapAndBatch", "cache")

        with mock.patch.object(search, "diagnose", changed):
            rates = {"": 100, INPUT.replace("(batch_size)", "(batch_size).cache().shuffle(7)", 1): 300}
            outcome, _, _ = self.searched(
                rates.get, cached=[Cache(str(self.folder / "src" / "input.py"), 20, 7, 8, True)]
            )
        self.assertEqual((len(outcome.kept), outcome.trials[0].data), (1, plan.BATCHES_STAY))
        self.assertIn("each batch keeps the elements of the first epoch", pages.text(outcome))

    def test_what_promises_nothing_comes_last(self):
        def change(words, gain):
            predicted = None if gain is None else forecast.Prediction(gain, gain, gain, None)
            return SimpleNamespace(predicted=predicted, key=words, words=words)

        planned = [change("a", 1.0), NotTried("b", "no"), change("c", 2.0), change("d", None), change("e", 1.02)]
        self.assertEqual([one.words for one in search.in_order(planned)], ["b", "c", "d", "a", "e"])

    def test_input_that_limits_only_with_the_profiler(self):
        outcome, _, runner = self.searched(lambda _: 100, ready=101)
        self.assertEqual((outcome.trials, outcome.stopped), ([], "the input does not limit"))
        self.assertEqual(len(runner.measured), 1)
        # It cannot be that slow: something else is measured there.
        outcome, _, _ = self.searched(lambda text: 150 if text else 100, ready=50)
        self.assertEqual(len(outcome.kept), 1)

    def test_iterator_of_each_step_is_made_with_an_input_that_is_ready_too(self):
        def report(kind):
            return SimpleNamespace(changes=[SimpleNamespace(fixes=[SimpleNamespace(kind=kind)])])

        self.assertTrue(search.remakes_iterators(report("iterate_once")))
        self.assertFalse(search.remakes_iterators(report("prefetch")))

    def test_what_is_measured_decides_where_the_recording_waits_a_little(self):
        def healthy(folder):
            report = diagnose(folder)
            return replace_fields(report, verdict=replace_fields(report.verdict, status="healthy"))

        with mock.patch.object(search, "diagnose", healthy):
            outcome, _, _ = self.searched(lambda text: 150 if text else 100, ready=200)
            self.assertEqual(len(outcome.kept), 1)
            outcome, _, _ = self.searched(lambda _: 100, ready=101)
            self.assertEqual((outcome.trials, outcome.stopped), ([], "the input does not limit"))

    def test_search_ends_where_the_input_is_as_good_as_ready(self):
        # The recording after the change is the one before it: the input would limit.
        outcome, _, _ = self.searched(lambda text: 150 if text else 100, ready=155, after=None)
        self.assertEqual((len(outcome.trials), outcome.stopped), (1, "the input no longer limits"))
        self.assertAlmostEqual(outcome.ready, 155)
        self.assertIn("At most   155 steps/s if data were always ready", pages.text(outcome))
        self.assertEqual(json.loads(pages.FORMATS["json"](outcome))["ready_steps_per_s"], outcome.ready)

    def test_program_that_cannot_be_recorded_with_what_was_kept(self):
        def recorded(runner, texts, *_):
            return Answer(run_directory=str(runner.run("")), steps=11 if runner.text_of(texts) else 30)

        with mock.patch.object(FakeRunner, "record", recorded):
            outcome, _, _ = self.searched(lambda text: 150 if text else 100)
        self.assertEqual((len(outcome.kept), outcome.after), (1, 150))
        self.assertIn("too little was recorded", outcome.stopped)

    def test_window_that_is_too_short_is_recorded_again(self):
        asked = []

        def recorded(runner, texts, skip, steps, _):
            asked.append(steps)
            return Answer(run_directory=str(runner.run(runner.text_of(texts))), steps=skip + steps)

        def diagnosed(folder):
            report = diagnose(folder)
            status = "inconclusive" if len(asked) == 1 else report.verdict.status
            return replace_fields(report, verdict=replace_fields(report.verdict, status=status))

        with mock.patch.object(FakeRunner, "record", recorded), mock.patch.object(search, "diagnose", diagnosed):
            outcome, _, _ = self.searched(lambda text: 150 if text else 100)
        self.assertEqual((len(outcome.kept), asked), (1, [20, 80, 20]))

    def test_program_that_is_short(self):
        for steps, said in ((11, "too little was recorded: the program took 11 steps"), (0, "nothing was recorded")):
            with self.assertRaisesRegex(DoctorError, said):
                self.searched(lambda _: 100, steps=steps)

    def test_budget(self):
        outcome, _, runner = self.searched(lambda _: 100, Choices(budget=0.001))
        self.assertIn("the budget is spent", outcome.stopped)

        # What would end after the budget is not begun.
        outcome, _, runner = self.searched(lambda _: 100, Choices(budget=50.0), seconds=60.0)
        self.assertEqual((runner.measured, outcome.stopped[:19]), ([False], "the budget is spent"))

    def test_rows_of_predicted_and_measured_gains(self):
        outcome, _, _ = self.searched(lambda text: 150 if text else 100)
        from tfdata_doctor_fix.rows import append_rows

        for _ in range(2):
            append_rows("gains.jsonl", outcome)
        rows = [json.loads(line) for line in Path("gains.jsonl").read_text().splitlines()]
        self.assertEqual([row["measured"]["gain"] for row in rows], [1.5, 1.5])
        for options in ([], ["--told"]):
            done = subprocess.run(
                [sys.executable, str(support.ROOT / "scripts" / "whatif-accuracy"), "gains.jsonl", *options],
                capture_output=True,
                encoding="utf-8",
                check=False,
            )
            self.assertIn("2 pairs", done.stdout, done.stderr)

    def test_names_that_are_markup_are_escaped(self):
        outcome = Outcome("<b>", stopped="<script>alert(1)</script> | `x`")
        self.assertNotIn("<script>", pages.FORMATS["html"](outcome))
        self.assertNotIn("<script>", outcome._repr_html_())
        self.assertNotIn("<script>", pages.FORMATS["markdown"](outcome))


class ForecastTest(unittest.TestCase):
    """Of a recording whose input waits: 1.46 ms of a step are the input's and 0.17 ms the consumer's."""

    def setUp(self):
        self.trace = str(support.TRACES / "guide_naive.xplane.pb")
        changes = [change for change in diagnose(self.trace).changes if change.fixes]
        self.change = next(change for change in changes if change.fixes[0].kind == "cache")
        self.fixes = [fix.fix for fix in self.change.fixes]
        (self.recorded,) = whatif(self.trace).pipelines
        self.told = forecast.prediction_of(self.change)

    def predicted(self, *factors):
        recorded = self.recorded.without_input.steps_per_s.estimate
        return Forecast(self.trace, [factor * recorded for factor in factors]).prediction(self.change, self.fixes)

    def test_without_runs_it_is_what_the_report_says(self):
        self.assertEqual(self.predicted(), self.told)
        self.assertIsNone(Forecast(self.trace, []).prediction(self.change, ["cache:Map"]))
        self.assertEqual(Forecast("nothing", [9.0]).prediction(self.change, self.fixes), self.told)

    def test_gain_is_larger_where_the_rest_is_faster_than_recorded(self):
        same, faster = (self.predicted(factor, factor).gain for factor in (1, 4))
        self.assertAlmostEqual(same, self.told.gain, delta=0.02 * same)
        self.assertLess(same, faster)

    def test_range_holds_those_of_both_runs(self):
        slow, fast, both = self.predicted(1, 1), self.predicted(2, 2), self.predicted(1, 2)
        self.assertEqual((both.low, both.high), (min(slow.low, fast.low), max(slow.high, fast.high)))
        self.assertEqual(both.gain, fast.gain)

    def test_run_that_others_held_up_says_nothing(self):
        self.assertEqual(self.predicted(0.01, 0.01), self.predicted(0.1, 0.5))

    def test_range_is_as_wide_as_runs_differ(self):
        predicted = forecast.Prediction(2.0, 1.8, 2.2, None)
        measured = forecast.as_measured(predicted, [90.0, 100.0, 120.0])
        self.assertEqual((measured.gain, measured.low, measured.high), (2.0, 1.8 * 0.9, 2.2 * 1.2))
        self.assertEqual(forecast.as_measured(predicted, []), predicted)
        # A program that is slower than the model's may be that much faster than it after the change.
        other = forecast.Prediction(2.0, 1.8, 2.2, None, 125.0)
        self.assertEqual(forecast.as_measured(other, [100.0] * 3).high, 2.2 * 1.25)
        self.assertEqual(forecast.as_measured(other, [100.0] * 3).low, 1.8)


class CacheTest(unittest.TestCase):
    def test_shuffle_after_a_cache_has_room_for_all_of_it(self):
        source = Source("x.py", b"a = b.batch(\n    2\n)\nc = a.map(f).cache()\n")
        edits = [("x.py", Edit("cache_shuffle", Place(1, "batch"))), ("x.py", Edit("prefetch", Place(4, "map")))]

        def counted(*caches_made):
            return [edit.number for _, edit in caches.with_counts(edits, caches_made, lambda _: source)]

        other = Cache("x.py", 5, 30), Cache("y.py", 3, 6)
        self.assertEqual(counted(Cache("x.py", 3, 24), *other), [24, None])
        for made, why in (
            ((Cache("x.py", 3, -2), *other), "is not known"),
            (other, "is not known"),
            ((Cache("x.py", 3, 24), Cache("x.py", 3, 4)), "several datasets"),
        ):
            with self.assertRaisesRegex(Refused, why):
                counted(*made)

    def test_epoch_that_is_longer_than_a_run(self):
        made = Search(Program("x.py"), Choices(), "x.py", lambda _: None)
        made._check_epoch(10**9)
        made.outcome.trials = [SimpleNamespace(base=(10.0, 20.0))]
        made._check_epoch(1000)
        with self.assertRaisesRegex(Refused, "takes 500 s"):
            made._check_epoch(10000)

    def test_steps_until_a_cache_is_complete(self):
        self.assertEqual(caches.epoch_steps([Cache("x.py", 3, 800)], 8.0), 101)
        self.assertEqual(caches.epoch_steps([Cache("x.py", 3, -2)], 8.0), 0)

    def test_what_cannot_be_complete(self):
        with self.assertRaisesRegex(Refused, "has no end"):
            caches.check_size([Cache("x.py", 3, -1)])
        with self.assertRaisesRegex(Refused, "GiB are free"):
            caches.check_size([Cache("x.py", 3, 10**9, 10**6)])
        caches.check_size([Cache("x.py", 3, -2, 10**6), Cache("x.py", 3, 10, None)])
        with self.assertRaisesRegex(Refused, "what would be cached is random"):
            caches.check_random([Cache("x.py", 3, 10, 1, True), Cache("x.py", 3, 10, 1, False)])


def is_alive(process):
    """Not of one that only waits for its parent to ask how it ended."""
    with contextlib.suppress(OSError):
        return Path("/proc", process, "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


#: A program whose steps the stand-in for TensorFlow counts.
PROGRAM = """\
import inspect, sys
import helper
import tensorflow


def f():
    return 'as it was'


if __name__ == '__main__':
    print(inspect.getsource(f), helper.VALUE, __file__, sys.argv[1:], sep='|', flush=True)
    for _ in tensorflow.dataset(40):
        tensorflow.train()
"""


class RunnerTest(FolderTest):
    def setUp(self):
        super().setUp()
        self.write("helper.py", "VALUE = 'old'\n")
        path = os.pathsep.join([str(support.FAKE), str(support.ROOT / "python")])
        self.environment = {"PYTHONPATH": path, "FAKE_TRACE": str(support.INPUT_BOUND)}

    def run_with(self, text, changes=(), mode="measure", is_module=False, steps=5, **options):
        script = self.write("program.py", text)
        texts = {}
        for name, old, new in changes:
            source = Workspace().read(str(self.folder / name))
            at = source.text.index(old)
            texts[str(self.folder / name)] = source.changed([Splice(at, old, new)])
        program = Program("program" if is_module else script.name, ("--epochs", "2"), is_module)
        with Runner(program, self.environment) as runner:
            answer = getattr(runner, mode)(texts, 2, steps, 20.0, **options)
            kept = Path(runner._folder)
        self.assertFalse(kept.exists())
        return answer

    def test_steps_are_counted_and_the_program_ended(self):
        with mock.patch.dict(self.environment, {"DOCTOR_TEST": "1"}):
            answer = self.run_with(
                PROGRAM.replace("dataset(40)", "dataset(10**7)").replace(
                    "tensorflow.train()", "import time; time.sleep(.3)"
                )
            )
        self.assertEqual(answer.ended, "enough")
        self.assertGreaterEqual(len(answer.ends), 7)
        self.assertEqual(len(answer.begins), len(answer.ends))

    def test_program_that_ends_early(self):
        answer = self.run_with(PROGRAM)
        self.assertEqual((answer.ended, len(answer.ends), answer.epochs), ("end", 40, [40]))

    def test_changed_text_is_seen_by_all_who_look(self):
        check = "\nassert 'changed' in inspect.getsource(f) and helper.VALUE == 'new', helper.VALUE\n"
        changes = [("program.py", b"as it was", b"changed"), ("helper.py", b"'old'", b"'new'")]
        for is_module in (False, True):
            answer = self.run_with(PROGRAM + check, changes, is_module=is_module)
            self.assertEqual(answer.ended, "end")
        self.assertEqual((self.folder / "helper.py").read_text(), "VALUE = 'old'\n")
        self.assertFalse((self.folder / "__pycache__").exists())

    def test_changed_text_is_seen_by_processes_of_multiprocessing(self):
        for method in ("spawn", "forkserver", "fork"):
            text = PROGRAM + (
                "    import multiprocessing\n"
                f"    context = multiprocessing.get_context('{method}')\n"
                "    with context.Pool(1) as pool:\n"
                "        assert pool.apply(f) == 'changed', pool.apply(f)\n"
                "        assert pool.apply(inspect.getsource, (f,)).count('changed') == 1\n"
            )
            with self.subTest(method=method):
                self.assertEqual(self.run_with(text, [("program.py", b"as it was", b"changed")]).ended, "end")

    def test_traceback_shows_the_changed_line(self):
        with self.assertRaises(ProgramFailed) as caught:
            self.run_with(
                PROGRAM + "raise ValueError('as it was')\n", [("program.py", b"ValueError('as", b"KeyError('not as")]
            )
        self.assertIn("raise KeyError('not as it was')", caught.exception.output)
        self.assertIn("the program ended with status 1: KeyError", str(caught.exception))

    def test_program_that_prints_megabytes(self):
        answer = self.run_with("import sys\nfor _ in range(2000): print('x' * 9999)\n" + PROGRAM)
        self.assertEqual(answer.ended, "end")

    def test_program_that_catches_the_end(self):
        text = PROGRAM.replace(
            "        tensorflow.train()",
            "        try:\n            import time; time.sleep(0.3)\n        except BaseException:\n            pass",
        )
        self.assertEqual(self.run_with(text.replace("(40)", "(10**6)")).ended, "enough")

    def test_program_that_exits_with_an_error(self):
        for text, said in (("import sys\nsys.exit('no data')\n", "no data"), ("import os\nos._exit(7)\n", "status 7")):
            with self.assertRaisesRegex(ProgramFailed, said):
                self.run_with(text)

    def test_program_that_hangs_is_killed(self):
        script = self.write("program.py", "import threading\nthreading.Event().wait()\n")
        patched = mock.patch.object(runner, "_GRACE_SECONDS", 0.5)
        hung = self.assertRaisesRegex(ProgramFailed, "it hung: no answer after 1 s")
        with patched, hung, Runner(Program(str(script)), self.environment) as made:
            made.measure({}, 2, 5, 0.5)

    def test_recording(self):
        answer = self.run_with(PROGRAM, mode="record", steps=5)
        self.assertEqual(answer.ended, "enough")
        self.assertTrue(answer.run_directory.endswith("run"))

    def test_what_is_held_back_ends_the_run_or_is_told(self):
        writes = PROGRAM.replace("(40)", "(10**6)") + "open('out.txt', 'w')\n"
        with self.assertRaisesRegex(DoctorError, "program.py:1 writes log.txt: turn it off when"):
            self.run_with("open('log.txt', 'w')\n" + writes)
        # After the steps that are measured, it does no harm.
        script = self.write("program.py", "import os\nos.makedirs('out')\n" + writes.replace("10**6", "9"))
        with Runner(Program(str(script)), self.environment) as made:
            answer = made.measure({}, 2, 5, 20.0)
            self.assertEqual((answer.ended, len(answer.ends)), ("end", 9))
            self.assertEqual(made.left_out, ["making out at program.py:2", "program.py:16 writes out.txt"])
        self.assertEqual(sorted(os.listdir(".")), ["helper.py", "program.py"])

    def test_save_of_a_file_of_the_program_ends_the_search(self):
        script = self.write("program.py", "import json\njson.load(open('settings.json'))\n" + PROGRAM)
        self.write("settings.json", "{}")
        py_compile.compile("helper.py")  # so that Python does not open its text
        self.write("data.bin", "x")
        for name, text in (("program.py", "x"), ("helper.py", "VALUE = 'other'\n"), ("settings.json", "[]")):
            with (
                self.subTest(name=name),
                Runner(Program(str(script)), self.environment, (), [str(self.folder)]) as made,
            ):
                made.measure({}, 2, 5, 20.0)
                self.write("data.bin", "more")  # the program did not read it
                before = (self.folder / name).read_text()
                if name == "program.py":
                    self.write(name, before)  # the same text
                made.measure({}, 2, 5, 20.0)
                self.write(name, text)
                with self.assertRaisesRegex(DoctorError, rf"{name} was saved at \d\d:.*, after it was read at \d\d:"):
                    made.measure({}, 2, 5, 20.0)
                self.write(name, before)

    def test_save_in_the_first_run_ends_the_search(self):
        script = self.write("program.py", "import os\n" + PROGRAM)
        pin = pins.Pins()
        modified = script.stat().st_mtime_ns
        with self.assertRaisesRegex(DoctorError, "program.py was saved at"):
            pin.add({str(script): (modified, 1)}, modified / 1e9 - 1)
        pin.add({str(script): (modified, script.stat().st_size)}, modified / 1e9 + 1)
        pin.check()
        script.unlink()
        self.assertRaisesRegex(DoctorError, "it is gone", pin.check)

    def test_folders_of_dead_searches_are_removed(self):
        with mock.patch.object(tempfile, "tempdir", str(self.folder)):
            alive, lock = folder.make_folder()
            _, of_dead = folder.make_folder()
            os.close(of_dead)
            begun = self.write("tfdata-doctor-fix-begun/x", "x").parent
            os.symlink(alive, "tfdata-doctor-fix-link")
            folder.remove_dead_folders()
            os.close(lock)
        left = sorted(path.name for path in self.folder.glob("tfdata-doctor-fix-*"))
        self.assertEqual(left, sorted([Path(alive).name, begun.name, "tfdata-doctor-fix-link"]))

    def test_temporary_folder_that_cannot_be_made(self):
        refused = self.assertRaisesRegex(DoctorError, "no temporary folder can be made: No such file.*TMPDIR")
        with mock.patch.object(tempfile, "tempdir", str(self.folder / "nothing")), refused:
            Runner(Program("x.py"), {}).__enter__()

    def test_end_of_the_search_leaves_nothing(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGKILL):
            with self.subTest(signal=number):
                self.check_end(number, -number if number == signal.SIGKILL else 130)

    def check_end(self, number, status):
        """The program has a child, and one in a session of its own, as a server has that a script starts."""
        self.write(
            "program.py",
            "import os, time\n"
            "if os.fork() == 0 and os.fork() == 0:\n    os.setsid()\n"
            "open('pids', 'a').write(f'{os.getpid()}\\n')\n"
            "time.sleep(99)\n",
        )
        self.write("pids", "")
        environment = {**os.environ, **self.environment, "TMPDIR": str(self.folder)}
        words = ["-m", "tfdata_doctor", "fix", "--budget=60s", "--writes=pids", "program.py"]
        process = subprocess.Popen(
            [sys.executable, *words], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        while len(pids := (self.folder / "pids").read_text().split()) < 3:
            self.assertIsNone(process.poll())
        process.send_signal(number)
        said, _ = process.communicate(timeout=60)
        self.assertEqual(process.returncode, status)
        if number != signal.SIGKILL:
            self.assertIn(b"interrupted", said)
        # After SIGKILL another process cleans up.
        until = time.monotonic() + 60
        left = True
        while left:
            left = [pid for pid in pids if is_alive(pid)] + list(self.folder.glob("tfdata-doctor-fix-*"))
            self.assertLess(time.monotonic(), until, left)
            self.assertTrue(number == signal.SIGKILL or not left, left)


class CommandLineTest(FolderTest):
    def main(self, *words):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                status = cli.main(words)
            except SystemExit as left:
                status = left.code
        return status, out.getvalue(), err.getvalue()

    def test_options_of_the_script_are_its_own(self):
        options = cli.parser().parse_args(
            ["--budget", "90s", "--allow", "order,data", "x.py", "--apply", "--steps", "3"]
        )
        self.assertEqual((options.budget, options.allow, options.apply), (90.0, ["order", "data"], False))
        self.assertEqual(options.arguments, ["--apply", "--steps", "3"])
        options = cli.parser().parse_args(["--env", "A=b=c", "-m", "pack.train", "-x"])
        self.assertEqual((options.env, options.module, options.script), ([("A", "b=c")], True, "pack.train"))

    def test_what_is_wrong(self):
        self.assertEqual(self.main("nothing.py")[0], 2)
        for words in (["--budget", "soon", "x.py"], ["--runs", "2", "x.py"], ["--allow", "all", "x.py"], []):
            self.assertEqual(self.main(*words)[0], 2)
        self.assertEqual(self.main("--help")[0], 0)
        self.write("train.py", "import tensorflow\n")
        for option in ("--output", "--writes"):
            status, _, said = self.main(option, "train.py" if option == "--output" else "nothing", "train.py")
            self.assertEqual(status, 3 if option == "--output" else 2, said)
        self.assertEqual((self.folder / "train.py").read_text(), "import tensorflow\n")

    def test_module_is_run_from_the_working_directory(self):
        for name in ("pack/train.py", "pack/__main__.py", "pack/__init__.py"):
            self.write(name, "raise ImportError")
        self.assertEqual(script_of(Program("pack.train", (), True)), str(self.folder / "pack" / "train.py"))
        self.assertEqual(script_of(Program("pack", (), True)), str(self.folder / "pack" / "__main__.py"))
        self.assertEqual(self.main("-m", "no_such_module")[0], 3)


if __name__ == "__main__":
    multiprocessing.freeze_support()
    unittest.main()
