"""Edits of sources: what they write, what they leave alone, and what they refuse."""

import ast
import collections
import copy
import unittest

from tfdata_doctor_fix.edits import EDITS, Edit, Place, edited, splices_of
from tfdata_doctor_fix.iterators import remade_lines
from tfdata_doctor_fix.source import Refused, Source

from . import fix_sources

SOURCES = 300

#: Kinds that are tried on each method.
KINDS = {
    "map": ["parallel_map", "cache", "prefetch", "prefetch_below", "unordered", "threadpool", "cache_below"],
    "batch": ["parallel_batch", "cache", "prefetch"],
    "filter": ["parallel_filter", "filter_first", "cache"],
    "shuffle": ["cache", "prefetch_below", "cache_shuffle"],
    "interleave": ["parallel_interleave", "cache", "unordered"],
    "flat_map": ["parallel_interleave"],
    "prefetch": ["buffer"],
    "skip": ["skip_first", "map_after"],
}
AUTOTUNES = {*(f"{data}.AUTOTUNE" for _, data in fix_sources.IMPORTS), "AUTOTUNE", "-1"}


def changed(text, kind, line, method, number=None, **place):
    source, _ = edited(Source("x.py", text.encode()), [Edit(kind, Place(line, method, **place), number)])
    return source.text.decode()


def chain_of(node):
    """The links of a chain from the outside in: method, call."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        yield node.func.attr, node
        node = node.func.value


def call(text):
    return ast.parse(text, mode="eval").body


class Expected(ast.NodeTransformer):
    """What an edit must do to the tree, said in terms of the tree alone."""

    def __init__(self, target, kind, values):
        self.target, self.kind, self.values = target, kind, values

    def visit_Call(self, node):
        is_target = node is self.target
        above = isinstance(node.func, ast.Attribute) and node.func.value is self.target
        if self.kind == "map_after" and above:
            return self.swapped(node)
        self.generic_visit(node)
        return getattr(self, self.kind)(node) if is_target else node

    def swapped(self, node):
        below = node.func.value
        inner = below.func.value
        below.func.value = node
        node.func.value = self.visit(inner)
        return below

    def map_after(self, node):
        return node

    filter_first = skip_first = swapped

    def with_argument(self, node, name, position, value):
        for keyword in node.keywords:
            if keyword.arg == name:
                keyword.value = value
                return node
        if position is not None and len(node.args) > position:
            node.args[position] = value
            return node
        node.keywords.append(ast.keyword(name, value))
        return node

    def parallel_map(self, node):
        return self.with_argument(node, "num_parallel_calls", 1, self.values)

    def parallel_batch(self, node):
        return self.with_argument(node, "num_parallel_calls", 2, self.values)

    def parallel_interleave(self, node):
        node.func.attr = "interleave"
        return self.with_argument(node, "num_parallel_calls", 3, self.values)

    def unordered(self, node):
        return self.with_argument(node, "deterministic", None, ast.Constant(False))

    def buffer(self, node):
        return self.with_argument(node, "buffer_size", 0, ast.Constant(40))

    def cache(self, node):
        return ast.Call(ast.Attribute(node, "cache", ast.Load()), [], [])

    def cache_shuffle(self, node):
        return ast.Call(ast.Attribute(self.cache(node), "shuffle", ast.Load()), [ast.Constant(40)], [])

    def cache_below(self, node):
        inner = node
        while inner.func.value.func.attr == "map":
            inner = inner.func.value
        outer = below = inner.func.value
        while getattr(getattr(below.func.value, "func", None), "attr", "") in ("shuffle", "repeat"):
            below = below.func.value
        inner.func.value = below.func.value
        below.func.value = self.cache(node)
        return outer

    def prefetch(self, node):
        return ast.Call(ast.Attribute(node, "prefetch", ast.Load()), [self.values], [])

    def prefetch_below(self, node):
        node.func.value = self.prefetch(node.func.value)
        return node

    def parallel_filter(self, node):
        predicate = node.args[0]
        stars = "*" if isinstance(predicate, ast.Lambda) and len(predicate.args.args) == 2 else ""
        made = call(
            f"X.map(lambda {stars}element: (element, F({stars}element)), num_parallel_calls=N)"
            ".filter(lambda element, is_kept: is_kept).map(lambda element, is_kept: element)"
        )
        for inner in ast.walk(made):
            for field, value in ast.iter_fields(inner):
                known = {"X": node.func.value, "F": predicate, "N": self.values}
                if isinstance(value, ast.Name) and value.id in known:
                    setattr(inner, field, known[value.id])
        return made


def autotune_in(before, after):
    """The expression for AUTOTUNE that an edit wrote: the first that there is one more of."""
    for text in sorted(AUTOTUNES, key=len, reverse=True):
        if after.count(text) > before.count(text):
            return call(text)
    return None


class PropertyTest(unittest.TestCase):
    """Of many sources: each edit parses, does what it says, and can be undone."""

    def edits(self):
        for seed in range(SOURCES):
            content, methods = fix_sources.source(seed)
            source = Source("x.py", content)
            places = {}
            for node in ast.walk(source.tree):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                    places.setdefault((node.func.end_lineno, node.func.attr), []).append(node)
            for (line, method), nodes in places.items():
                if method in methods and len(nodes) == 1:
                    for kind in KINDS.get(method, []):
                        number = 40 if kind in ("buffer", "cache_shuffle") else None
                        yield seed, source, nodes[0], Edit(kind, Place(line, method), number)

    def test_edits_do_what_they_say_and_nothing_else(self):
        made, refused = {}, {}
        for seed, source, node, edit in self.edits():
            with self.subTest(seed=seed, edit=edit, text=source.text):
                try:
                    after, splices = edited(source, [edit])
                except Refused:
                    refused[edit.kind] = refused.get(edit.kind, 0) + 1
                    continue
                made[edit.kind] = made.get(edit.kind, 0) + 1
                self.assertEqual(after.undone(splices).content, source.content)
                self.check_tree(source, node, edit, after)
                self.check_comments(source, after)
        for kind in {kind for kinds in KINDS.values() for kind in kinds}:
            self.assertGreater(made.get(kind, 0), 3, (kind, made, refused))
        # A map follows a repeat() of its chain only now and then.
        del refused["cache_below"]
        self.assertGreater(sum(made.values()), 4 * sum(refused.values()), (made, refused))

    def check_tree(self, source, node, edit, after):
        if edit.kind == "threadpool":
            # Three statements more, and all others as they were.
            count = [sum(isinstance(inner, ast.stmt) for inner in ast.walk(tree)) for tree in (source.tree, after.tree)]
            self.assertEqual(count[1] - count[0], 3)
            return
        if edit.kind == "cache_below" and "repeat" not in dict(chain_of(node)):
            # What was in the statement before is in the chain of this one: the same calls, and a cache.
            calls = [
                collections.Counter(inner.attr for inner in ast.walk(tree) if isinstance(inner, ast.Attribute))
                for tree in (source.tree, after.tree)
            ]
            self.assertEqual(calls[1] - calls[0], {"cache": 1})
            self.assertEqual(calls[0] - calls[1], {})
            return
        value = autotune_in(source.text.decode(), after.text.decode())
        trees = {id(old): new for old, new in zip(ast.walk(source.tree), ast.walk(copy.deepcopy(source.tree)))}
        root = trees[id(source.tree)]
        expected = Expected(trees[id(node)], edit.kind, value).visit(root)
        self.assertEqual(ast.dump(expected), ast.dump(after.tree), after.text.decode())

    def check_comments(self, source, after):
        comments = [[text for _, _, _, text in side.tokens if text.startswith("#")] for side in (source, after)]
        self.assertEqual(*map(sorted, comments))


class EditTest(unittest.TestCase):
    def test_line_of_its_own_in_a_chain_over_lines_after_its_comment(self):
        text = "import tensorflow as tf\nds = (files\n      .map(f)  # decodes\n      .batch(2))\n"
        self.assertEqual(
            changed(text, "cache", 3, "map"),
            "import tensorflow as tf\nds = (files\n      .map(f)  # decodes\n      .cache()\n      .batch(2))\n",
        )
        self.assertEqual(
            changed(text, "prefetch", 4, "batch"),
            "import tensorflow as tf\nds = (files\n      .map(f)  # decodes\n      .batch(2)\n"
            "      .prefetch(tf.data.AUTOTUNE))\n",
        )

    def test_argument_of_its_own_line_keeps_the_style(self):
        text = "import tensorflow as tf\r\nds = ds.map(\r\n\tf,  # decodes\r\n)\r\n"
        self.assertEqual(
            changed(text, "parallel_map", 2, "map"),
            text.replace("decodes\r\n", "decodes\r\n\tnum_parallel_calls=tf.data.AUTOTUNE,\r\n"),
        )

    def test_number_that_was_given_is_replaced(self):
        self.assertEqual(
            changed("d = d.map(f, num_parallel_calls=2)", "parallel_map", 1, "map", 8),
            "d = d.map(f, num_parallel_calls=8)",
        )
        self.assertEqual(changed("d = d.map(f, 2)", "parallel_map", 1, "map"), "d = d.map(f, -1)")

    def test_interleave_says_how_many_datasets_are_open_unless_it_did(self):
        for before, number, after in (
            ("d = d.interleave(f)", None, "d = d.interleave(f, cycle_length=4, num_parallel_calls=-1)"),
            ("d = d.flat_map(f)", None, "d = d.interleave(f, cycle_length=4, num_parallel_calls=-1)"),
            ("d = d.interleave(f, cycle_length=2)", None, "d = d.interleave(f, cycle_length=2, num_parallel_calls=-1)"),
            ("d = d.interleave(f, 2)", None, "d = d.interleave(f, 2, num_parallel_calls=-1)"),
            ("d = d.interleave(f, cycle_length=2)", 8, "d = d.interleave(f, cycle_length=4, num_parallel_calls=8)"),
            ("d = d.interleave(f, num_parallel_calls=2)", None, "d = d.interleave(f, num_parallel_calls=-1)"),
        ):
            source = Source("x.py", before.encode())
            method = "flat_map" if "flat_map" in before else "interleave"
            edit = Edit("parallel_interleave", Place(1, method), number, 4)
            self.assertEqual(edited(source, [edit])[0].text.decode(), after)

    def test_module_that_does_not_name_tensorflow_gets_the_value(self):
        self.assertEqual(
            changed("def f(d):\n  return d.batch(2)\n", "prefetch", 2, "batch"),
            "def f(d):\n  return d.batch(2).prefetch(-1)\n",
        )

    def test_constant_of_the_file_is_used_where_it_has_its_value(self):
        text = "import tensorflow as tf\nA = tf.data.AUTOTUNE\nd = d.batch(2)\n"
        self.assertIn("prefetch(A)", changed(text, "prefetch", 3, "batch"))
        text = "import tensorflow as tf\nd = d.batch(2)\nA = tf.data.AUTOTUNE\n"
        self.assertIn("prefetch(tf.data.AUTOTUNE)", changed(text, "prefetch", 2, "batch"))

    def test_import_for_type_checkers_is_not_there_when_it_runs(self):
        text = "if TYPE_CHECKING:\n    import tensorflow as tf\nd = d.batch(2)\n"
        self.assertIn("prefetch(-1)", changed(text, "prefetch", 3, "batch"))

    def test_function_that_makes_a_dataset(self):
        text = "import tensorflow as tf\nd = image_dataset_from_directory(\n  'x')\n"
        self.assertIn("'x').cache()", changed(text, "cache", 2, "image_dataset_from_directory"))

    def test_what_is_about_order_goes_after_maps(self):
        for before, after in (
            ("d = d.repeat().map(f).batch(2)", "d = d.map(f).cache().repeat().batch(2)"),
            ("d = d.repeat(None).map(f, 2).map(g).batch(2)", "d = d.map(f, 2).map(g).cache().repeat(None).batch(2)"),
            (
                "d = (\n    d.repeat()\n    .map(g)  # slow\n    .batch(2)\n)",
                "d = (\n    d\n    .map(g)  # slow\n    .cache().repeat()\n    .batch(2)\n)",
            ),
            (
                "d = (\n    d\n    .repeat()\n    .map(g)\n    .batch(2)\n)",
                "d = (\n    d\n    .map(g)\n    .cache().repeat()\n    .batch(2)\n)",
            ),
            ("d = d.shuffle(9).repeat().map(f)", "d = d.map(f).cache().shuffle(9).repeat()"),
            (
                "d = (d\n  .shuffle(9)  # mixed\n  .repeat()  # all of it\n  .map(f))",
                "d = (d\n    # all of it\n  .map(f)\n  .cache().shuffle(9)  # mixed\n  .repeat())",
            ),
            ("d = d.shuffle(9)\nd = d.map(f).batch(2)", "d = d.map(f).cache().shuffle(9).batch(2)"),
            ("if a:\n  d = d.repeat()\n  # f\n  d = d.map(f)\n", "if a:\n  # f\n  d = d.map(f).cache().repeat()\n"),
            ("d = make().shuffle(9)  # s\nd = d.map(f)", "d = make()  # s\nd = d.map(f).cache().shuffle(9)"),
            ("d = d \\\n  .repeat() \\\n  .map(g)", "d = d \\\n   \\\n  .map(g).cache().repeat()"),
        ):
            line = before.count("\n", 0, before.rindex(".map")) + 1
            maps = before.split("\n")[line - 1].count(".map")
            self.assertEqual(changed(before, "cache_below", line, "map", index=maps - 1, of=maps), after)
            ast.parse(after)

    def test_filter(self):
        self.assertEqual(
            changed("d = d.filter(lambda x: g(x))", "parallel_filter", 1, "filter"),
            "d = d.map(lambda element: (element, (lambda x: g(x))(element)), num_parallel_calls=-1)"
            ".filter(lambda element, is_kept: is_kept).map(lambda element, is_kept: element)",
        )
        with self.assertRaisesRegex(Refused, "does not show how many arguments"):
            changed("d = d.filter(keep)", "parallel_filter", 1, "filter")

    def test_iterator_of_a_loop(self):
        text = "def train(ds):\n\tfor step in range(9):\n\t\tx = next(iter(ds))  # one\n"
        after = changed(text, "iterate_once", 3, "iter")
        self.assertEqual(
            after,
            text.replace("\tfor", "\tds_iterator = iter(ds.repeat())\n\tfor").replace("iter(ds))", "ds_iterator)"),
        )
        self.assertEqual(remade_lines(Source("x.py", text.encode())), [3])
        for text, reason in (
            ("for i in x:\n  ds = make()\n  next(iter(ds))\n", "the loop gives ds another value"),
            ("for i in x:\n  next(iter(make()))\n", "has no name"),
            ("for i in x:\n  f = lambda: next(iter(ds))\n", "not call"),
        ):
            with self.assertRaisesRegex(Refused, reason):
                changed(text, "iterate_once", text.count("\n"), "iter")

    def test_several_calls_of_a_line(self):
        text = "d = d.map(f).map(g)"
        self.assertEqual(changed(text, "cache", 1, "map", index=0, of=2), "d = d.map(f).cache().map(g)")
        self.assertEqual(changed(text, "cache", 1, "map", index=1, of=2), "d = d.map(f).map(g).cache()")
        # Of a function that its line calls twice.
        text = "make = lambda n: load(n).map(f).map(g)"
        self.assertEqual(changed(text, "cache", 1, "map", index=2, of=4), text.replace("(f)", "(f).cache()"))
        with self.assertRaisesRegex(Refused, "line 1 makes several datasets"):
            changed(text, "cache", 1, "map", index=0, of=3)
        with self.assertRaisesRegex(Refused, "line 1 makes several datasets"):
            changed(text, "cache", 1, "map")
        with self.assertRaisesRegex(Refused, "line 1 makes several datasets"):
            changed("d = a.map(f), b.map(g)", "cache", 1, "map", index=0, of=2)

    def test_line_as_earlier_versions_of_python_count_it(self):
        text = "d = (d\n  .batch(2)\n  .map(f))\n"
        self.assertIn(".map(f)\n  .cache())", changed(text, "cache", 1, "map"))

    def test_what_is_refused(self):
        for text, kind, method, reason in (
            ("d = d.map(*a)", "parallel_map", "map", "given by"),
            ("d = d.map(f, num_parallel_calls=AUTOTUNE)", "parallel_map", "map", "already"),
            ("d = d.map(f, num_parallel_calls=-1)", "parallel_map", "map", "already"),
            ("d = d.shuffle(9)", "parallel_map", "shuffle", "takes no num_parallel_calls"),
            ("d = make(d)", "cache", "map", "line 1 has no .map"),
            ("d = d.batch(2)", "filter_first", "batch", "not in the same chain"),
            ("d = d.map(f)", "cache_below", "map", "neither in its chain nor in the statement before"),
            ("d = d.repeat().take(9).map(f)", "cache_below", "map", "neither in its chain"),
            ("d = d.repeat() # c\nd = d.map(f)", "cache_below", "map", "not alone in its line"),
            ("d = d.take(9)\nd = d.map(f)", "cache_below", "map", "neither a shuffle nor a repeat"),
            ("d = e.repeat()\nd = d.map(f)", "cache_below", "map", "neither in its chain"),
            ("if a:\n  d = d.repeat()\nd = d.map(f)", "cache_below", "map", "neither in its chain"),
            # What a parallel predicate has become reads what its map says.
            ("d = d.map(f).filter(lambda element, is_kept: is_kept)", "filter_first", "filter", "the map before it"),
            ("d = d.batch(2)", "files", "batch", "no change of the source"),
            ("import tensorflow as tf\nfit(d.batch(2))", "threadpool", "batch", "no name"),
        ):
            line = text.count("\n") + 1
            with self.subTest(text=text, kind=kind), self.assertRaisesRegex(Refused, reason):
                number = 4 if kind == "threadpool" else None
                splices_of(Source("x.py", text.encode()), Edit(kind, Place(line, method), number))
        with self.assertRaisesRegex(Refused, "cannot be read as Python"):
            Source("x.py", b"d = (")

    def test_every_kind_has_an_edit_that_is_tested(self):
        self.assertEqual(set(EDITS), {kind for kinds in KINDS.values() for kind in kinds} | {"iterate_once"})


if __name__ == "__main__":
    unittest.main()
