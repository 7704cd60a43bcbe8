"""Patches of the changes that are kept, and how they are applied."""

import contextlib
import os
import shutil
import subprocess
import unittest
from pathlib import Path
from unittest import mock

from tfdata_doctor._program import DoctorError
from tfdata_doctor_fix import replace
from tfdata_doctor_fix.edits import Edit, Place
from tfdata_doctor_fix.patch import apply, patch_of, write_patch
from tfdata_doctor_fix.source import Refused, Source
from tfdata_doctor_fix.workspace import Workspace

from .fix_support import FolderTest


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


if __name__ == "__main__":
    unittest.main()
