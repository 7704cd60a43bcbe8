"""The Python that rules advise, held against the public signatures of TensorFlow 1.15 and later."""

import ast
import re
import unittest

from . import support
from .snippets import all_snippets

#: The first version that has a name of the API, or an argument of it where that came later; from the public API
#: reference of TensorFlow and its release notes. Methods of datasets begin with a dot. 1.15 is the oldest version that
#: is asked about.
_OLD = (1, 15)
SINCE = {
    "tf.data.AUTOTUNE": (2, 4),
    "tf.data.experimental.AUTOTUNE": _OLD,
    "tf.data.Options": _OLD,
    "tf.data.Dataset.range": _OLD,
    "tf.data.Dataset.from_tensor_slices": _OLD,
    "tf.data.Dataset.list_files": _OLD,
    "tf.data.TFRecordDataset": _OLD,
    "tf.data.TextLineDataset": _OLD,
    "tf.data.FixedLengthRecordDataset": _OLD,
    "tf.data.experimental.CsvDataset": _OLD,
    "tf.data.experimental.make_csv_dataset": _OLD,
    "tf.data.experimental.prefetch_to_device": _OLD,
    "tf.data.experimental.map_and_batch": _OLD,
    "tf.data.experimental.service.distribute": (2, 3),
    "tf.data.experimental.service.distribute compression": (2, 5),
    "tf.compat.v1.data.make_one_shot_iterator": _OLD,
    "tf.distribute.InputOptions": (2, 4),
    "tf.distribute.InputOptions experimental_per_replica_buffer_size": (2, 5),
    "tf.train.CheckpointOptions enable_async": (2, 12),
    "tf.distribute.MirroredStrategy": _OLD,
    "tf.function reduce_retracing": (2, 9),
    "tf.function jit_compile": (2, 5),
    "tf.keras.mixed_precision.set_global_policy": (2, 4),
    "tf.keras.mixed_precision.LossScaleOptimizer": (2, 4),
    ".map num_parallel_calls": _OLD,
    ".map deterministic": (2, 2),
    ".interleave num_parallel_calls": _OLD,
    ".interleave deterministic": (2, 2),
    ".batch num_parallel_calls": (2, 5),
    ".batch drop_remainder": _OLD,
    ".bucket_by_sequence_length": (2, 6),
    ".rejection_resample": (2, 7),
    ".unbatch": _OLD,
}

#: Rules about what timelines of session runs and TF 2 before that version do not show.
NEEDS_TF2 = {
    "tf.data.experimental.service.distribute",
    "tf.data.experimental.service.distribute compression",
    "tf.distribute.InputOptions",
    "tf.distribute.InputOptions experimental_per_replica_buffer_size",
    "tf.keras.mixed_precision.LossScaleOptimizer",
}


def _spellings():
    """The pieces that have an older spelling, with their version: what lib/diagnose/spelling.cpp says."""
    text = (support.ROOT / "lib" / "diagnose" / "spelling.cpp").read_text()
    table = text[text.index("kSpellings") : text.index("/// Where a line")]
    pieces = re.findall(r'Spelling\{\s*"((?:[^"\\]|\\.)*)",\s*\{(\d+), (\d+)\}', table)
    return [(now.encode().decode("unicode_escape"), (int(major), int(minor))) for now, major, minor in pieces]


def _dotted(node):
    parts = []
    while isinstance(node, ast.Attribute):
        parts.insert(0, node.attr)
        node = node.value
    return ".".join([node.id, *parts]) if isinstance(node, ast.Name) else None


def _uses(code):
    """The names of the API and the arguments that a piece of code uses."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Attribute) and (name := _dotted(node)) and name.startswith("tf."):
            yield name
        if not isinstance(node, ast.Call):
            continue
        name = _dotted(node.func)
        is_method = isinstance(node.func, ast.Attribute) and not (name or "").startswith("tf.")
        called = f".{node.func.attr}" if is_method else name
        if called is None:
            continue
        yield called
        for argument in node.keywords:
            yield f"{called} {argument.arg}"


class SnippetsTest(unittest.TestCase):
    def test_what_is_newer_than_a_trace_may_be_has_an_older_spelling(self):
        spellings = _spellings()
        self.assertGreater(len(spellings), 8)
        for code, path in all_snippets().items():
            for used in _uses(code):
                since = SINCE.get(used, _OLD)
                if since <= _OLD or used in NEEDS_TF2:
                    continue
                with self.subTest(path=str(path), used=used):
                    fits = [version for now, version in spellings if now in code and now.strip(" ,(.")]
                    self.assertIn(since, fits)

    def test_every_argument_of_maps_and_batches_has_a_known_version(self):
        for code, path in all_snippets().items():
            for used in _uses(code):
                if used.split(" ")[0] in (".map", ".interleave", ".batch") and " " in used:
                    with self.subTest(path=str(path), used=used):
                        self.assertIn(used, {*SINCE, ".interleave cycle_length", ".map name"})

    def test_every_snippet_is_python(self):
        snippets = all_snippets()
        self.assertGreater(len(snippets), 80)
        for code in snippets:
            ast.parse(code)


if __name__ == "__main__":
    unittest.main()
