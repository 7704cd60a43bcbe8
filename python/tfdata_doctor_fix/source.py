"""The text of a Python file, and changes of it that touch nothing else.

Files are read with the positions of Python's own parser, and changed by replacing a few characters: whatever is not
replaced stays as it is, byte for byte, comments, line ends and tabs included, and every change can be undone.
"""

from __future__ import annotations

import ast
import codecs
import functools
import io
import re
import tokenize
from collections.abc import Iterable
from dataclasses import dataclass

_LINE_END = re.compile(rb"\r\n|\r|\n")
#: A declaration of the encoding is in the first two lines.
_ENCODING_BYTES = 4096


class Refused(Exception):  # noqa: N818  (not an error of anybody's)
    """Why a change is not made; a clause for people."""


@dataclass(frozen=True)
class Splice:
    """Replaces `removed`, which stands at byte `at` of the UTF-8 text, by `inserted`."""

    at: int
    removed: bytes
    inserted: bytes


def _reversed(splices: Iterable[Splice]) -> list[Splice]:
    """Those that undo `splices`, which do not overlap."""
    undone, shift = [], 0
    for splice in sorted(splices, key=lambda splice: splice.at):
        undone.append(Splice(splice.at + shift, splice.inserted, splice.removed))
        shift += len(splice.inserted) - len(splice.removed)
    return undone


class Source:
    """A file of Python. `text` is it as UTF-8 without a byte order mark.

    Raises Refused where it is not Python, and where its encoding has several spellings of the text: lines that nobody
    changes would be written otherwise.
    """

    def __init__(self, path: str, content: bytes) -> None:
        self.path = path
        self.content = content
        self._mark = codecs.BOM_UTF8 if content.startswith(codecs.BOM_UTF8) else b""
        try:
            lines = io.BytesIO(_LINE_END.sub(b"\n", content[:_ENCODING_BYTES]))
            self.encoding = tokenize.detect_encoding(lines.readline)[0].replace("-sig", "")
            encoded = content[len(self._mark) :]
            decoded = encoded.decode(self.encoding)
            if decoded.encode(self.encoding) != encoded:
                raise Refused(f"{path} cannot be written back byte for byte in its encoding, {self.encoding}")
            self.text = decoded.encode("utf-8")
            self.tree = ast.parse(self.text.decode("utf-8"), path)
        except (SyntaxError, ValueError, LookupError) as error:
            raise Refused(f"{path} cannot be read as Python: {error}") from None
        starts = [match.end() for match in _LINE_END.finditer(self.text)]
        self._starts = [0, *starts]

    @property
    def program(self) -> bytes:
        """What Python runs."""
        return self.content

    @functools.cached_property
    def line_end(self) -> bytes:
        """That of the file's first line."""
        found = _LINE_END.search(self.text)
        return found.group() if found else b"\n"

    def offset(self, line: int, column: int) -> int:
        """The byte at a position as `ast` gives it: lines from 1, columns in bytes from 0."""
        return self._starts[line - 1] + column

    def begin(self, node: ast.expr | ast.stmt) -> int:
        """Where a node begins."""
        return self.offset(node.lineno, node.col_offset)

    def end(self, node: ast.expr | ast.stmt) -> int:
        """Where a node ends."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self.offset(node.end_lineno, node.end_col_offset)

    def code(self, node: ast.expr | ast.stmt) -> bytes:
        """The text of a node."""
        return self.text[self.begin(node) : self.end(node)]

    def line_start(self, at: int) -> int:
        """Where the line begins that byte `at` is in."""
        return max(start for start in self._starts if start <= at)

    def indent(self, at: int) -> bytes:
        """The blanks that the line of byte `at` begins with."""
        start = self.line_start(at)
        found = re.match(rb"[ \t\f]*", self.text[start:])
        return found.group() if found else b""

    @functools.cached_property
    def tokens(self) -> list[tuple[int, int, int, str]]:
        """Start, end, type and text of each token, in bytes, in order."""
        # Line ends as the parser counts them, each a byte: columns do not change.
        plain = _LINE_END.sub(b"\n", self.text)
        lines = plain.decode("utf-8").split("\n")
        found = []
        for token in tokenize.generate_tokens(io.StringIO(plain.decode("utf-8")).readline):
            if token.type in (tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER):
                continue
            ends = []
            for row, column in (token.start, token.end):
                text = lines[row - 1][:column] if row <= len(lines) else ""
                ends.append(self.offset(row, len(text.encode("utf-8"))) if row <= len(self._starts) else len(self.text))
            found.append((ends[0], ends[1], token.type, token.string))
        return found

    def changed(self, splices: Iterable[Splice]) -> Source:
        """The file with these changes. Raises Refused where the result is not Python."""
        parts, last = [], 0
        for splice in sorted(splices, key=lambda splice: splice.at):
            assert self.text[splice.at : splice.at + len(splice.removed)] == splice.removed
            assert splice.at >= last
            parts += [self.text[last : splice.at], splice.inserted]
            last = splice.at + len(splice.removed)
        text = b"".join([*parts, self.text[last:]]).decode("utf-8")
        return Source(self.path, self._mark + text.encode(self.encoding))

    def undone(self, splices: Iterable[Splice]) -> Source:
        """The file before these changes, which were made to it last."""
        return self.changed(_reversed(splices))
