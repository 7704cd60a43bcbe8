"""Notebooks as sources: the code of all cells is one text, and its changes go back into the cells that they are of."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from .source import Refused, Source, Splice

SUFFIX = ".ipynb"
_BLANKS = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()
#: What is not Python in a cell: %matplotlib inline, !ls, ?help.
_MAGIC = re.compile(r"^([ \t]*)(?=[%!?])", re.MULTILINE)
_PASSED = "pass  #magic# "
_HEAD = re.compile(r"^# In\[(\d+)\]\n", re.MULTILINE)

Path = tuple[object, ...]


@dataclass(frozen=True)
class _String:
    """A string of a JSON text: where it is in the document, where in the text, and its value."""

    path: Path
    begin: int
    end: int
    value: str


def _strings(text: str, at: int, path: Path, found: list[_String]) -> int:
    """Collects the strings of the value at `at`; where it ends. Raises ValueError, IndexError."""
    at = _skip(text, at)
    if text[at] not in "{[":
        value, end = _value(text, at)
        if isinstance(value, str):
            found.append(_String(path, at, end, value))
        return end
    is_object, closing = text[at] == "{", "}" if text[at] == "{" else "]"
    at, number = _skip(text, at + 1), 0
    while text[at] != closing:
        key: object = number
        if is_object:
            key, at = _value(text, at)
            at = _skip(text, at) + 1  # the colon
        at = _skip(text, _strings(text, at, (*path, key), found))
        at, number = _skip(text, at + (text[at] == ",")), number + 1
    return at + 1


def _value(text: str, at: int) -> tuple[object, int]:
    value: object
    value, end = _DECODER.raw_decode(text, at)
    return value, int(end)


def _skip(text: str, at: int) -> int:
    blanks = _BLANKS.match(text, at)
    return blanks.end() if blanks else at


def _cells(text: str) -> Iterator[list[_String]]:
    """The strings that the source of each cell of code consists of."""
    page = json.loads(text)
    found: list[_String] = []
    _strings(text, 0, (), found)
    for number, cell in enumerate(page["cells"]):
        if cell["cell_type"] == "code":
            yield [string for string in found if string.path[:3] == ("cells", number, "source")]


def _program(text: str) -> str:
    """The code of all cells, each under a comment with its number."""
    parts = []
    for number, strings in enumerate(_cells(text), start=1):
        code = "".join(string.value for string in strings)
        try:
            ast.parse(code)
        except (SyntaxError, ValueError):
            code = _MAGIC.sub(rf"\1{_PASSED}", code)
        parts.append(f"# In[{number}]\n{code}" + ("" if code.endswith("\n") or not code else "\n"))
    return "".join(parts)


def _codes(program: str) -> list[str]:
    """The code of each cell of such a program, magic and all."""
    pieces = _HEAD.split(program)[2::2]
    return [piece.replace(_PASSED, "") for piece in pieces]


def _written(old: str, strings: list[_String], code: str) -> str:
    """The source of a cell in the JSON of a notebook, in the way in which it stood there."""
    if not code or not strings:
        return old
    if len(strings[0].path) == 3:
        return json.dumps(code, ensure_ascii=False)
    between = old[strings[0].end - strings[0].begin : strings[1].begin - strings[0].begin] if len(strings) > 1 else ", "
    kept = {string.value: old[string.begin - strings[0].begin : string.end - strings[0].begin] for string in strings}
    lines = code.splitlines(keepends=True)
    return between.join(kept.get(line, json.dumps(line, ensure_ascii=False)) for line in lines)


class NotebookSource(Source):
    """A notebook: `text` and `tree` are those of its program, `content` is the file. Raises Refused."""

    def __init__(self, path: str, content: bytes) -> None:
        try:
            self._page = content.decode("utf-8")
            program = _program(self._page)
        except (ValueError, KeyError, IndexError, TypeError, RecursionError) as error:
            raise Refused(f"{path} cannot be read as a notebook: {error}") from None
        super().__init__(path, program.encode("utf-8"))
        self.content = content

    @property
    def program(self) -> bytes:
        """What Python runs."""
        return self.text

    def changed(self, splices: Iterable[Splice]) -> Source:
        """The notebook with these changes of its program. Raises Refused."""
        plain = Source(self.path, self.text).changed(splices)
        before, after = _codes(self.text.decode("utf-8")), _codes(plain.text.decode("utf-8"))
        if len(before) != len(after):
            raise Refused("it changes which cells there are")
        page = self._page
        for strings, old, new in reversed(list(zip(list(_cells(page)), before, after))):
            if old != new:
                begin, end = strings[0].begin, strings[-1].end
                is_open = not "".join(string.value for string in strings).endswith("\n")
                code = new[:-1] if is_open and new.endswith("\n") else new
                page = page[:begin] + _written(page[begin:end], strings, code) + page[end:]
        return NotebookSource(self.path, page.encode("utf-8"))


def read_source(path: str) -> Source:
    """A file of Python or a notebook. Raises OSError, Refused."""
    with open(path, "rb") as file:
        content = file.read()
    return (NotebookSource if path.endswith(SUFFIX) else Source)(path, content)


def cell_of(source: Source, line: int) -> tuple[int, int]:
    """The number of the cell of code that a line of a notebook's program is in, and the line in it."""
    lines = source.text.decode("utf-8").split("\n")[:line]
    for back, text in enumerate(reversed(lines)):
        head = _HEAD.match(text + "\n")
        if head is not None:
            return int(head.group(1)), back
    return 0, line
