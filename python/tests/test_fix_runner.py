"""Runs of a program as it is and changed, with a stand-in for TensorFlow; the command line."""

import contextlib
import io
import multiprocessing
import os
import py_compile
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

from tfdata_doctor._program import DoctorError
from tfdata_doctor_fix import cli, folder, pins, runner
from tfdata_doctor_fix.jobs import Program
from tfdata_doctor_fix.runner import ProgramFailed, Runner
from tfdata_doctor_fix.source import Splice
from tfdata_doctor_fix.workspace import Workspace, script_of

from . import support
from .fix_support import FolderTest


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
