"""Names of datasets after source lines: the same lines for pipelines of many kinds, and nothing else changes."""

from __future__ import annotations

import inspect
import json
import pathlib
import re
import sys
import tempfile
import threading
import types
import unittest
import unittest.mock

sys.path[:0] = [str(pathlib.Path(__file__).parent), str(pathlib.Path(__file__).parents[1])]

try:
    import tensorflow as tf
except ImportError:
    tf = None

import tfdata_doctor  # noqa: E402  (the path is set above)
from tfdata_doctor import _stack as stack  # noqa: E402
from tfdata_doctor import lines as naming  # noqa: E402

if tf is not None:
    import line_pipelines
    from tensorflow.python.data.ops import dataset_ops


def marked_lines(function):
    """The lines that the source's marks say, each with what it calls."""
    text, first = inspect.getsourcelines(function)
    marks = set()
    for number, line in enumerate(text, first):
        _, mark, methods = line.partition("#:")
        marks.update((number, method) for method in methods.split() if mark)
    return marks


def elements(dataset):
    return [tf.nest.map_structure(lambda value: str(value.numpy()), element) for element in dataset]


@unittest.skipIf(tf is None, "TensorFlow is not installed")
class Lines(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def made(self, build):
        (self.folder / build.__name__).mkdir()
        return build(self.folder / build.__name__)

    def test_every_pipeline_is_named_after_the_lines_that_make_it(self):
        self.assertGreaterEqual(len(line_pipelines.PIPELINES), 20)
        for build, helpers in line_pipelines.PIPELINES.items():
            with self.subTest(build.__name__), naming.name_datasets() as lines:
                self.made(build)
                found = {(made.frames[0].line, made.method) for made in lines.names.values()}
                self.assertEqual(found, set.union(*map(marked_lines, [build, *helpers])))
                for name, made in lines.names.items():
                    self.assertEqual(made.frames[0].file, line_pipelines.__file__)
                    self.assertIn("#: ", made.frames[0].code)
                    expected = f"at_line_pipelines_py_L{made.frames[0].line}_{made.method}"
                    self.assertRegex(name, re.escape(expected) + r"(_\d+)?$")
                    self.assertTrue(name.isidentifier() and len(name) <= 80)

    def test_names_change_nothing_that_a_dataset_does(self):
        for build in line_pipelines.PIPELINES:
            with self.subTest(build.__name__):
                plain = self.made(build)
                with naming.name_datasets():
                    named = build(self.folder / build.__name__) if build is not line_pipelines.images else plain
                self.assertEqual(plain.element_spec, named.element_spec)
                self.assertEqual(plain.cardinality(), named.cardinality())
                self.assertEqual(elements(plain), elements(named))

    def test_callers_tell_calls_of_a_helper_apart_and_stand_in_the_stack(self):
        with naming.name_datasets() as lines:
            self.made(line_pipelines.helper_called_twice)
        twice = [made for name, made in lines.names.items() if made.method == "map"]
        self.assertEqual(len(twice), 2)
        self.assertEqual(twice[0].frames[0], twice[1].frames[0])
        self.assertNotEqual(twice[0].frames[1].line, twice[1].frames[1].line)
        self.assertEqual(twice[0].frames[1].function, "helper_called_twice")

    def test_the_same_call_has_the_same_name_in_every_epoch(self):
        with naming.name_datasets() as lines:
            for _ in range(3):
                line_pipelines.chain(None)
        self.assertEqual(len(lines.names), 5)

    def test_calls_of_a_line_are_told_apart(self):
        with naming.name_datasets() as lines:
            line_pipelines.one_line(None)
        maps = [name for name in lines.names if "_map" in name]
        self.assertEqual(len(maps), 2)
        self.assertEqual(maps[1], maps[0] + "_2")

    def test_it_is_known_who_asked_for_parallel_calls(self):
        with naming.name_datasets() as lines:
            line_pipelines.chain(None)
        given = {made.method: made.num_parallel_calls for made in lines.names.values()}
        self.assertEqual(given, {"range": None, "filter": None, "map": True, "batch": False, "prefetch": None})

    def test_a_dataset_of_keras_is_called_after_what_fit_was_given(self):
        is_new = hasattr(tf.keras.utils, "PyDataset")

        class Batches(tf.keras.utils.PyDataset if is_new else tf.keras.utils.Sequence):
            def __len__(self):
                return 2

            def __getitem__(self, index):
                return tf.zeros([4, 2]).numpy(), tf.zeros([4, 1]).numpy()

        model = tf.keras.Sequential([tf.keras.layers.Input([2]), tf.keras.layers.Dense(1)])
        model.compile(loss="mse", optimizer="sgd")
        with naming.name_datasets() as lines:
            model.fit(Batches(), verbose=0)
        self.assertIn("PyDataset" if is_new else "Sequence", {made.method for made in lines.names.values()})

    def test_a_function_of_ours_around_fit_is_none_that_the_user_called(self):
        frame = sys._getframe()
        ours = stack.Call(frame, naming.__file__, 1, "fit_with_steps", True, False)
        hers = stack.Call(frame, "/keras/trainer.py", 1, "fit", True, False)
        self.assertEqual(stack.method_of([ours, hers], None)[0], "fit")

    def test_a_name_of_the_user_stays_and_gets_its_line(self):
        with naming.name_datasets() as lines:
            dataset = tf.data.Dataset.range(3).map(lambda x: x, name="mine")
        self.assertIn("mine", lines.names)
        self.assertEqual(len(lines.names), 2)
        self.assertEqual(list(dataset), list(range(3)))

    def test_what_has_no_name_in_tensorflow_is_said(self):
        with naming.name_datasets() as lines:
            tf.data.experimental.CsvDataset([], [tf.float32])
        self.assertEqual([kind for kind, _ in lines.unnamed], ["CsvDataset"])
        self.assertEqual(lines.to_json()["unnamed"][0]["file"], __file__)

    def test_everything_is_put_back(self):
        before = dict(vars(dataset_ops.DatasetV2))
        with self.assertRaisesRegex(ValueError, "of the user"), naming.name_datasets():
            self.assertNotEqual(before, dict(vars(dataset_ops.DatasetV2)))
            with naming.name_datasets() as inner:
                pass
            self.assertIs(inner, naming.start_naming())
            naming.stop_naming()
            raise ValueError("of the user")
        self.assertEqual(before, dict(vars(dataset_ops.DatasetV2)))
        with naming.name_datasets() as lines:
            pass
        tf.data.Dataset.range(3)
        self.assertEqual(lines.names, {})
        self.assertRaises(RuntimeError, naming.stop_naming)

    def test_a_fault_of_the_naming_is_none_of_the_program(self):
        with naming.name_datasets() as lines:
            naming._patch._naming._stack.calls = None
            self.assertEqual(len(list(tf.data.Dataset.range(3))), 3)
        self.assertEqual(lines.names, {})

    def test_threads_do_not_disturb_each_other(self):
        with naming.name_datasets() as lines:
            threads = [threading.Thread(target=line_pipelines.chain, args=(None,)) for _ in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.assertEqual(len(lines.names), 5)
        self.assertEqual(lines.unnamed, [])

    def test_names_are_in_the_trace(self):
        with naming.name_datasets() as lines:
            dataset = line_pipelines.chain(None)
        tf.profiler.experimental.start(str(self.folder))
        elements(dataset)
        tf.profiler.experimental.stop()
        path = lines.write(self.folder)
        traces = list(path.parent.glob("*.xplane.pb"))
        self.assertEqual(len(traces), 1)
        for name in lines.names:
            self.assertIn(name.encode(), traces[0].read_bytes())


class Sidecar(unittest.TestCase):
    def lines_of(self, name):
        frame = naming.Frame(str(pathlib.Path.cwd() / "input.py"), 33, "make", "dataset = dataset.map(parse)")
        lines = naming.SourceLines(tensorflow="2.21.0")
        lines.names[name] = naming.DatasetLine("map", False, (frame,))
        return lines

    def test_processes_of_a_run_share_the_file(self):
        with tempfile.TemporaryDirectory() as folder:
            run = pathlib.Path(folder, "plugins", "profile", "2026_11_22")
            run.mkdir(parents=True)
            self.lines_of("first").write(folder)
            path = self.lines_of("second").write(folder)
            self.assertEqual(path, run / "dataset-lines.json")
            self.assertEqual([entry.name for entry in run.iterdir()], [path.name])
            page = json.loads(path.read_text())
            self.assertEqual(set(page["names"]), {"first", "second"})
            self.assertEqual(page["schema"], "tfdata-doctor.lines/1")
            self.assertEqual(page["names"]["first"]["line"], 33)
            self.assertEqual(page["names"]["first"]["stack"][0]["function"], "make")
            self.assertTrue(page["names"]["first"]["file"].startswith(page["root"]))

    def test_what_is_no_such_file_is_replaced(self):
        for text in ("", "{", "[]", '{"names": {"old": 1}}', '{"schema": "tfdata-doctor.lines/1", "names": 3}'):
            with self.subTest(text), tempfile.TemporaryDirectory() as folder:
                pathlib.Path(folder, "dataset-lines.json").write_text(text)
                self.assertEqual(set(json.loads(self.lines_of("new").write(folder).read_text())["names"]), {"new"})

    def test_names_are_short_identifiers_whatever_the_file_is_called(self):
        for file, words in (
            ("/home/me/input.py", "input_py"),
            ("my-input.v2.py", "my_input_v2_py"),
            ("In[5]", "In_5"),
            ("<stdin>", "stdin_py"),
            ("\u00e9\u00e9.py", "program_py"),
            ("x" * 99 + ".py", "x" * 32 + "_py"),
        ):
            self.assertEqual(naming._mangled(file), words)

    def test_cells_of_a_notebook_are_called_as_people_know_them(self):
        class Compiler:
            def format_code_name(self, name):
                return ("Cell", "In[5]") if name == "/tmp/ipykernel_7/123.py" else None

        shell = types.SimpleNamespace(compile=Compiler())
        ipython = types.SimpleNamespace(get_ipython=lambda: shell)
        with unittest.mock.patch.dict(sys.modules, {"IPython": ipython}):
            self.assertEqual(stack.cell_of("/tmp/ipykernel_7/123.py"), "In[5]")
            self.assertEqual(stack.cell_of("/home/me/input.py"), "")
        self.assertEqual(stack.cell_of("/tmp/ipykernel_7/123.py"), "")

    def test_the_package_itself_has_the_functions(self):
        for name in ("name_datasets", "start_naming", "stop_naming"):
            self.assertIs(getattr(tfdata_doctor, name), vars(naming)[name])
            self.assertIn(name, tfdata_doctor.__all__)

    @unittest.skipIf(tf is not None, "TensorFlow is installed")
    def test_without_tensorflow_it_says_so(self):
        with naming.name_datasets() as lines:
            pass
        self.assertIn("tensorflow", lines.problem)


if __name__ == "__main__":
    unittest.main()
