"""What a run that only measures may write. Each program is a process of its own: Landlock cannot be taken back."""

import os
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

from tfdata_doctor import _landlock
from tfdata_doctor._savers import Savers
from tfdata_doctor._writes import Writes, cure_of, environment, missing_landlock, named_places

from . import support

#: Runs a program as `fix` and `record` do; what is refused is printed, and the status is 9.
GUARDED = """\
import os, sys
from tfdata_doctor._writes import Writes

def refuse(what, cure):
    print(f"{{what}}: {{cure}}")
    return 9

guard = Writes(["own"], {named!r}, refuse)
guard.begin()
try:
    exec(compile(open("program.py").read(), os.path.abspath("program.py"), "exec"), {{"__name__": "__main__"}})
except Exception as error:
    print(guard.refused_by(error) or "not refused")
    raise SystemExit(8)
finally:
    print(guard.left_out)
"""

#: What Python sees before it happens: code, and what is said.
SEEN = [
    ("open('kept.txt', 'w')", "program.py:1 writes kept.txt: allow it with --writes kept.txt, or turn it off"),
    ("open('kept.txt', 'a')", "program.py:1 writes kept.txt"),
    ("open('kept.txt', 'r+')", "program.py:1 writes kept.txt"),
    ("open(b'kept.txt', 'wb')", "program.py:1 writes kept.txt"),
    ("import pathlib; pathlib.Path('kept.txt').write_text('x')", "program.py:1 writes kept.txt"),
    ("open('ck/new.txt', 'w')", "program.py:1 writes ck/new.txt: allow it with --writes ck, or turn it off"),
    ("open('new.txt', 'x')", "program.py:1 writes new.txt: turn it off when TFDATA_DOCTOR_RUN is set"),
    ("import logging; logging.FileHandler('train.log')", "program.py:1 writes train.log"),
    ("import os; os.open('kept.txt', os.O_RDWR)", "program.py:1 writes kept.txt"),
    ("import os; os.remove('ck/1')", "program.py:1 deletes ck/1"),
    ("import os; os.unlink('1', dir_fd=os.open('ck', os.O_RDONLY))", "program.py:1 deletes ck/1"),
    ("import os; os.remove('link')", "program.py:1 deletes link"),
    ("import shutil; shutil.rmtree('ck')", "program.py:1 deletes ck/1"),
    ("import shutil; shutil.rmtree('ck', ignore_errors=True)", "program.py:1 deletes ck/1"),
    ("import os; os.rename('kept.txt', 'own/kept.txt')", "program.py:1 renames kept.txt"),
    ("import os; open('own/x', 'w'); os.replace('own/x', 'kept.txt')", "program.py:1 writes kept.txt"),
    ("import os; os.rmdir('empty')", "program.py:1 deletes empty"),
    ("import os; os.truncate('kept.txt', 0)", "program.py:1 writes kept.txt"),
    ("import os; os.chmod('kept.txt', 0o600)", "program.py:1 changes the mode of kept.txt"),
    ("import os; os.utime('kept.txt')", "program.py:1 changes the time of kept.txt"),
    ("import os; os.symlink('a', 'b')", "program.py:1 writes b"),
    ("import os; os.link('kept.txt', 'own/hard')", "program.py:1 makes a link to kept.txt"),
    ("open('own/out', 'w')", "program.py:1 writes kept.txt"),
    ("open('/dev/shm/tfdata-doctor-test', 'w')", "program.py:1 writes /dev/shm/tfdata-doctor-test"),
    ("try:\n    open('kept.txt', 'w')\nexcept BaseException:\n    pass", "program.py:2 writes kept.txt"),
    (
        "import threading\ndef write():\n    open('kept.txt', 'w')\n"
        "threading.Thread(target=write).start()\nthreading.Event().wait()",
        "program.py:3 writes kept.txt",
    ),
]

#: What goes on as if nothing were: nothing that is the user's would be lost.
DONE = [
    "open('own/new', 'w').write('x'); import os; os.rename('own/new', 'own/other'); os.remove('own/other')",
    "import os; os.makedirs('own/a/b'); os.makedirs('ck', exist_ok=True)",
    "open('/dev/null', 'w').write('x'); open('kept.txt').read()",
    "import shutil; shutil.rmtree('nothing', ignore_errors=True)",
    "import multiprocessing as m\nwith m.Pool(1) as pool:\n    assert pool.apply(len, ('abc',)) == 3",
    "import sqlite3; sqlite3.connect('own/x.db').execute('create table t (a)')",
]


class GuardTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(os.path.realpath(folder.name))
        for name in ("own", "ck", "empty"):
            (self.folder / name).mkdir()
        (self.folder / "kept.txt").write_text("kept")
        (self.folder / "ck" / "1").write_text("one")
        (self.folder / "link").symlink_to("own/target")
        (self.folder / "own" / "out").symlink_to("../kept.txt")

    def picture(self):
        found = {}
        for path in sorted(self.folder.rglob("*")):
            if "own" not in path.parts and path.name != "program.py":
                info = path.lstat()
                # Of a folder, its time changes where something in it does.
                found[str(path)] = (info.st_mode, info.st_mtime_ns, path.is_file() and path.read_bytes())
        return found

    def run_guarded(self, code, named=()):
        (self.folder / "program.py").write_text(code)
        before = self.picture()
        done = subprocess.run(
            [sys.executable, "-c", GUARDED.format(named=[str(self.folder / name) for name in named])],
            cwd=self.folder,
            env={
                **os.environ,
                "PYTHONPATH": str(support.ROOT / "python"),
                **environment(*[str(self.folder / "own")] * 2),
            },
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        if not named:
            self.assertEqual(self.picture(), before, code)
        return done

    def test_writes_of_python_are_refused_with_their_line(self):
        for code, said in SEEN:
            with self.subTest(code=code):
                done = self.run_guarded(code)
                self.assertEqual(done.returncode, 9, done.stderr)
                self.assertTrue(done.stdout.startswith(said), done.stdout)

    def test_what_harms_nothing_is_done(self):
        for code in DONE:
            with self.subTest(code=code):
                done = self.run_guarded(code)
                self.assertEqual((done.returncode, done.stdout), (0, "[]\n"), done.stderr)

    def test_folders_are_not_made(self):
        done = self.run_guarded("import os\nos.makedirs('runs/1')\nos.mkdir('new')")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("making runs at program.py:2', 'making runs/1 at program.py:2', 'making new at", done.stdout)

    def test_named_places_are_written(self):
        done = self.run_guarded("open('ck/new', 'w').write('x'); open('kept.txt', 'w').write('y')", ["ck", "kept.txt"])
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual((self.folder / "kept.txt").read_text(), "y")
        done = self.run_guarded("open('other', 'w')", ["ck"])
        self.assertEqual(done.returncode, 9)

    def test_process_that_the_program_forks_ends_all(self):
        done = self.run_guarded(
            "import os, time\nif os.fork() == 0:\n    open('kept.txt', 'w')\n    os._exit(0)\ntime.sleep(99)"
        )
        self.assertEqual(done.returncode, -9)
        self.assertIn("program.py:3 writes kept.txt", done.stdout)

    @unittest.skipUnless(_landlock.version(), "this kernel has no Landlock")
    def test_writes_of_other_programs_are_refused_by_the_kernel(self):
        for command in (
            "rm -rf ck kept.txt link",
            "echo x > kept.txt",
            "echo x >> new.txt",
            "mv kept.txt own/",
            "ln kept.txt own/hard && echo x > own/hard",
            "truncate -s 0 kept.txt",
            "mkdir new; rmdir empty",
            "setsid sh -c 'echo x > kept.txt'",
            "cp own/../ck/1 kept.txt",
        ):
            with self.subTest(command=command):
                done = self.run_guarded(f"import os; assert os.system({command!r} + ' 2> /dev/null') != 0")
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    @unittest.skipUnless(_landlock.version(), "this kernel has no Landlock")
    def test_what_the_kernel_refused_is_said_with_its_line(self):
        done = self.run_guarded("import posix, os\n\nposix.mkdir('new')")
        self.assertEqual(done.returncode, 9, done.stdout + done.stderr)
        # No audit event.
        done = self.run_guarded("import os\n\nos.mkfifo('new')")
        self.assertEqual(done.returncode, 8, done.stdout + done.stderr)
        done = self.run_guarded(
            "class PermissionDeniedError(Exception): pass\n\n"
            "def save():\n    raise PermissionDeniedError('ck; denied')\n\n"
            "try:\n    save()\nexcept PermissionDeniedError as error:\n    raise RuntimeError('x') from error"
        )
        self.assertIn("program.py:4 writes where it may not: turn it off when", done.stdout)
        self.assertIn("(ck; denied)", done.stdout)

    def test_caches_of_the_user_are_neither_written_nor_the_end(self):
        home = self.folder / "home"
        (home / ".cache").mkdir(parents=True)
        with mock.patch.dict(os.environ, {"HOME": str(home)}):
            done = self.run_guarded(
                "import os\n"
                "try:\n    os.makedirs(os.path.expanduser('~/.cache/x'))\n"
                "except OSError as error:\n    print(error.errno)\n"
                "try:\n    open('__pycache__/x.pyc', 'wb')\nexcept OSError as error:\n    print(error.errno)\n"
            )
        self.assertEqual((done.returncode, done.stdout), (0, "13\n13\n[]\n"), done.stderr)

    def test_programs_find_what_they_write_anyway_elsewhere(self):
        done = self.run_guarded(
            "import os, tempfile\nassert '/own/tmp/' in tempfile.mkdtemp()\n"
            "assert os.environ['TFDATA_DOCTOR_RUN'] and '/own/' in os.environ['MPLCONFIGDIR']"
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_cure_never_gives_away_the_folder_of_the_program(self):
        here = os.getcwd()
        self.addCleanup(os.chdir, here)
        os.chdir(self.folder)
        for path, cure in (
            (self.folder / "ck" / "x" / "y", "allow it with --writes ck, or turn"),
            (self.folder / "new", "turn it off"),
            ("/nothing/x", "turn it off"),
            ("gs://bucket/run/x", "allow it with --writes gs://bucket/run, or turn"),
            ("", "turn it off"),
        ):
            self.assertTrue(cure_of(str(path)).startswith(cure), cure_of(str(path)))

    def test_names_of_places(self):
        self.assertEqual(named_places(["/", "gs://bucket"]), ["/", "gs://bucket"])
        with self.assertRaisesRegex(ValueError, "make it first"):
            named_places([str(self.folder / "nothing")])

    def test_kernel_without_landlock(self):
        with mock.patch.object(_landlock, "version", return_value=0):
            self.assertIn("name the folders", missing_landlock([]))
            self.assertEqual(missing_landlock(["/tmp"]), "")


def failing(*_, **__):
    raise AssertionError


class Manager:
    directory = "ck"
    save = failing


class Checkpoint:
    save = write = failing


class Callback:
    def set_model(self, model):
        self.model = model

    def on_train_begin(self, logs=None):
        pass

    on_epoch_end = on_train_begin


class ModelCheckpoint(Callback):
    on_train_begin = on_epoch_end = failing


class Model:
    save = export = save_weights = failing


class SaversTest(unittest.TestCase):
    def setUp(self):
        self.refused = []
        self.writes = Writes(["/own"], [], lambda what, cure: self.refused.append(f"{what}: {cure}"))
        self.savers = Savers(self.writes, "/own")

    def test_savers_of_tensorflow_do_nothing(self):
        cached = []
        dataset = type("Dataset", (), {"cache": lambda _, filename="": cached.append(filename)})
        files = SimpleNamespace(rmtree=failing, makedirs=failing, remove=failing)
        tensorflow = SimpleNamespace(
            train=SimpleNamespace(CheckpointManager=Manager, Checkpoint=Checkpoint),
            saved_model=SimpleNamespace(save=failing),
            summary=SimpleNamespace(create_file_writer=failing, create_noop_writer=lambda: "noop"),
            io=SimpleNamespace(gfile=files),
            data=SimpleNamespace(Dataset=dataset),
        )
        with mock.patch.dict(sys.modules, {"tensorflow": tensorflow}):
            self.savers.open_tensorflow()
        self.assertEqual(Manager().save(checkpoint_number=7), os.path.join("ck", "ckpt-7"))
        self.assertEqual(Checkpoint().save("ck/x"), "ck/x")
        self.assertEqual(Checkpoint().write(file_prefix="ck/y"), "ck/y")
        self.assertIsNone(tensorflow.saved_model.save(None, "dir"))
        self.assertEqual(tensorflow.summary.create_file_writer("logs"), "noop")
        files.makedirs("gs://bucket/logs")
        what = [words.partition(" at ")[0] for words in self.writes.left_out]
        self.assertEqual(
            what,
            [
                "CheckpointManager.save",
                "Checkpoint.save",
                "Checkpoint.write",
                "tf.saved_model.save",
                "tf.summary",
                "making gs://bucket/logs",
            ],
        )
        with mock.patch.object(os, "_exit", side_effect=SystemExit), self.assertRaises(SystemExit):
            files.rmtree("gs://bucket/logs")
        self.assertIn("deletes gs://bucket/logs: allow it with --writes gs://bucket", self.refused[0])
        dataset().cache("file")
        dataset().cache()
        self.assertEqual(cached, ["/own/cache-0", ""])

    def test_savers_of_keras_do_nothing(self):
        keras = SimpleNamespace(
            Model=Model,
            callbacks=SimpleNamespace(Callback=Callback, ModelCheckpoint=ModelCheckpoint),
            saving=SimpleNamespace(save_model=failing),
        )
        self.savers.open_keras(keras)
        Model().save("x.keras")
        Model().export("dir")
        keras.saving.save_model(None, "x")
        saver = ModelCheckpoint()
        saver.set_model("model")
        saver.on_train_begin()
        saver.on_epoch_end()
        self.assertEqual(saver.model, "model")
        what = [words.partition(" at ")[0] for words in self.writes.left_out]
        self.assertEqual(what, ["Model.save", "Model.export", "saving.save_model", "ModelCheckpoint"])


class RecordTest(unittest.TestCase):
    """Of `record`, what a pipeline writes."""

    def test_pipeline_that_writes_is_refused_and_nothing_is_left(self):
        with tempfile.TemporaryDirectory() as name:
            pipeline = Path(name, "pipe.py")
            pipeline.write_text(
                textwrap.dedent("""\
                    import os
                    def make_dataset():
                        open("out.txt", "w").write("spoilt")
                    """)
            )
            Path(name, "out.txt").write_text("kept")
            environment = {
                **os.environ,
                "PYTHONPATH": os.pathsep.join([str(support.FAKE), str(support.ROOT / "python")]),
            }
            done = subprocess.run(
                [sys.executable, "-m", "tfdata_doctor", "record", "pipe.py", "--runs", "2"],
                cwd=name,
                env=environment,
                capture_output=True,
                encoding="utf-8",
                check=False,
            )
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("pipe.py:3 writes out.txt: allow it with --writes out.txt, or turn it off", done.stderr)
            self.assertEqual(sorted(path.name for path in Path(name).iterdir()), ["out.txt", "pipe.py"])
            self.assertEqual(Path(name, "out.txt").read_text(), "kept")


if __name__ == "__main__":
    unittest.main()
