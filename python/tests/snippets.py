"""The Python that rules advise: from their pages, their sources, and what they said about stored traces."""

import ast
import json
import re
from pathlib import Path

from . import support

#: How a piece of code begins, to tell it from other texts of the sources.
_BEGINS = re.compile(
    r"(dataset|options|iterator|strategy|optimizer|images|filenames|batch) = |with tf\.|@tf\.|def make_dataset|"
    r"tf\.keras\.|tf\.profiler\.|model\.(?:compile|fit)|batches\.|train_step\(|checkpoint\.save"
)
#: Advice on drivers, and on what to record, is for a shell.
_SHELL = re.compile(r"(ldconfig|echo|export|python -m) ")
_LITERALS = re.compile(r'(?:"(?:[^"\\]|\\.)*"\s*)+')
_BLOCKS = re.compile(r"```python\n(.*?)```", re.DOTALL)

#: What stands in fmt's braces: a reader of files after a line's indent, else a number.
_READER = re.compile(r"^(\s+)\{0?\}", re.MULTILINE)
_NUMBER = re.compile(r"\{[0-9]?\}")
#: Before the calls of an interleave, how many datasets are open.
_CYCLE = re.compile(r"\{\}(?=num_parallel_calls)")

#: After a call: a call more, or nothing.
_CALL = re.compile(r"(?<=\))\{\}")


def _without_placeholders(code):
    code = _CALL.sub("", _CYCLE.sub("cycle_length=4, ", code))
    return _NUMBER.sub("4", _READER.sub(r"\1tf.data.TFRecordDataset", code))


def _of_source(path):
    for match in _LITERALS.finditer(path.read_text()):
        parts = re.findall(r'"((?:[^"\\]|\\.)*)"', match.group())
        code = "".join(parts).encode().decode("unicode_escape")
        # A template whose lines are put in has them in the page of its rule.
        if _BEGINS.match(code) and "\n{}" not in code:
            yield _without_placeholders(code)


def _of_report(path):
    report = json.loads(path.read_text())
    for finding in report if isinstance(report, list) else report.get("findings", []):
        for advice in finding.get("advice", []):
            if advice["code"] and not _SHELL.match(advice["code"]):
                yield advice["code"]


def _is_complete(code):
    try:
        ast.parse(code)
    except SyntaxError:
        return False
    return True


def completed(code):
    """Code that parses: a function or block of which advice shows the first line gets a body."""
    code = code.replace("(..., ", "(")
    if code.startswith("@") and "\n" not in code:
        code += "\ndef train_step(batch):"
    return code if _is_complete(code) else code.rstrip("\n") + "\n    pass\n"


def all_snippets():
    """Each piece of code once, with the file that it is in."""
    rules = support.ROOT / "rules"
    found = {}
    for path in sorted(rules.glob("*.md")):
        for block in _BLOCKS.findall(path.read_text()):
            found.setdefault(block.rstrip("\n"), path)
    sources = [*sorted(rules.glob("*.cpp")), *sorted((support.ROOT / "lib" / "diagnose").glob("*.cpp"))]
    for path in sources:
        if path.name == "spelling.cpp":
            continue
        for code in _of_source(path):
            found.setdefault(code, path)
    for folder in ("traces", "rules"):
        for path in sorted((support.ROOT / "testdata" / folder).rglob("*expected.json")):
            for code in _of_report(path):
                found.setdefault(code, path)
    return {completed(code): Path(path).relative_to(support.ROOT) for code, path in found.items()}
