"""Sources as people write them, made at random: chains, helpers, aliases, classes, comments, tabs, line ends."""

import random

#: How a file gets at TensorFlow: the statement, and what it then calls tf.data.
IMPORTS = [
    ("import tensorflow as tf", "tf.data"),
    ("import tensorflow", "tensorflow.data"),
    ("import tensorflow.data", "tensorflow.data"),
    ("import tensorflow.data as tfd", "tfd"),
    ("from tensorflow import data", "data"),
    ("from tensorflow import data as d, io", "d"),
    ("import tensorflow.compat.v2 as tf", "tf.data"),
    ("try:\n    import tensorflow as tf\nexcept ImportError:\n    raise", "tf.data"),
    ("import numpy as np, tensorflow as tf  # both\nAUTOTUNE = tf.data.AUTOTUNE", "tf.data"),
]

#: Links of a chain: ".map(f)" in many hands.
LINKS = {
    "map": [
        ".map(f)",
        ".map( f )",
        ".map(lambda x: x + 1)",
        ".map(f,)",
        ".map(f, num_parallel_calls=2)",
        ".map(f, 4)",
        ".map(\n    f,\n)",
        ".map(\n    f,  # decodes (slowly, all of it)\n)",
        ".map(lambda x: (\n    x, x))",
        ".map(functools.partial(f, k=')'))",
        ".map(map_func=f)",
        ".map(f, deterministic=True)",
        ".map((f))",
        ".map(\n    # first a comment\n    lambda x: x['ä, ö'],\n    name='é'\n)",
        ".map(f if a else g)",
    ],
    "batch": [
        ".batch(32)",
        ".batch(32, drop_remainder=True)",
        ".batch(\n    batch_size = 32 ,\n)",
        ".batch(n , True )",
    ],
    "filter": [".filter(lambda x: x > 0)", ".filter(keep)", ".filter( lambda x, y: y )"],
    "shuffle": [".shuffle(100)", ".shuffle(buffer_size=100, seed=3)"],
    "interleave": [
        ".interleave(tf_record)",
        ".interleave(lambda p: make(p).map(g), cycle_length=4)",
        ".interleave(\n    read,\n    block_length=1,\n    )",
    ],
    "flat_map": [".flat_map(read)", ".flat_map(lambda p: read(p))"],
    "prefetch": [".prefetch(1)", ".prefetch(buffer_size=2)"],
    "skip": [".skip(10)"],
    "repeat": [".repeat()", ".repeat(count = None)"],
}
COMMENTS = ["", "", "", '  # a comment (with " and )', "  # größer", " #"]


def _chain(random_, first, links, style):
    """A chain of links in one of the ways in which people break its lines."""
    if style == "inline":
        return first + "".join(links)
    if style == "parentheses":
        lines = [first, *("    " + link.replace("\n", "\n    ") + random_.choice(COMMENTS) for link in links)]
        return "(\n    " + "\n".join(lines).replace("\n", "\n") + "\n)"
    if style == "hanging":
        return "(" + first + "\n ".join(["", *(link for link in links)]) + ")"
    if style == "dots last":
        return "(" + first + ".\n  " + ".\n  ".join(link[1:] for link in links) + ")"
    return first + " \\\n    " + " \\\n    ".join(link.replace("\n", "\n    ") for link in links)


def _indented(text, blanks):
    return "\n".join(blanks + line if line.strip() else line for line in text.split("\n"))


def _statements(random_, data, links):
    """The links in one statement or several."""
    first = random_.choice([f"{data}.Dataset.range(9)", f"{data}.TFRecordDataset(files)", "load(files)", "inputs"])
    style = random_.choice(["inline", "parentheses", "hanging", "dots last", "backslash", "statements", "call"])
    if style == "statements":
        lines = [f"ds = {first}"]
        lines += [f"ds = ds{link}{random_.choice(COMMENTS)}" for link in links]
        return "\n".join(lines)
    if style == "call":
        return f"model.fit({_chain(random_, first, links, 'inline')}, epochs=2){random_.choice(COMMENTS)}"
    end = "" if style == "backslash" else random_.choice(["", "", ";", "; x = 1"])
    return f"ds = {_chain(random_, first, links, style)}{end}{random_.choice(COMMENTS)}"


def _placed(random_, body, head):
    """The statements at the top of the file, in a function, a method or a loop."""
    where = random_.choice(["module", "function", "method", "decorated", "loop", "local import", "shadowed", "lambda"])
    if where == "function":
        return (
            f'{head}\n\n\ndef make(files, inputs=None):\n    """Makes é."""\n{_indented(body, "    ")}\n    return ds'
        )
    if where == "method":
        return f"{head}\nclass Data:\n\tdef make(self, files):\n{_indented(body, chr(9) * 2)}\n\t\treturn ds"
    if where == "decorated":
        return f"{head}\n@cached(size=1)\n@other\nasync def make(files):\n{_indented(body, '  ')}"
    if where == "loop":
        return f"{head}\nfor epoch in range(2):\n{_indented(body, '    ')}\n    for x in ds: step(x)"
    if where == "local import":
        return f"def make(files):\n{_indented(head, '    ')}\n{_indented(body, '    ')}\n    return ds"
    if where == "shadowed":
        return f"{head}\ndef make(tf, data, d, tfd, tensorflow):\n{_indented(body, '    ')}\n    return ds"
    if where == "lambda":
        return f"{head}\nif True:\n  make = lambda files: files.map(f).batch(2)\n{_indented(body, '  ')}"
    return f"{head}\n{body}"


def source(seed):
    """The bytes of one source, and the names of methods in the chain that it contains."""
    random_ = random.Random(seed)
    statement, data = random_.choice(IMPORTS)
    methods = [random_.choice(list(LINKS)) for _ in range(random_.randint(1, 5))]
    links = [random_.choice(LINKS[method]) for method in methods]
    text = _placed(random_, _statements(random_, data, links), statement)
    text = random_.choice(["", "#!/usr/bin/env python3\n", '"""Größe."""\n', "\f\n"]) + text
    text += random_.choice(["", "\n", "\n\n", "\n# end"])
    end = random_.choice(["\n", "\n", "\r\n", "\r"])
    content = text.replace("\n", end).encode("utf-8")
    if random_.random() < 0.1:
        content = b"\xef\xbb\xbf" + content
    elif random_.random() < 0.1:
        content = b"# -*- coding: latin-1 -*-" + end.encode() + text.replace("\n", end).encode("latin-1")
    return content, methods
