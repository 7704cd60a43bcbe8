"""Names of files in a patch, spelled as git spells them."""

from __future__ import annotations

import re

_TO_QUOTE = re.compile(rb'[\x00-\x1f\x7f"\\]')
_LETTERS = {7: b"a", 8: b"b", 9: b"t", 10: b"n", 11: b"v", 12: b"f", 13: b"r", 34: b'"', 92: b"\\"}


def quoted_as_git(name: bytes) -> bytes:
    """The name in quotes, as a string of C, where it holds what would end it in a patch: a tab, a newline, a quote."""
    if not _TO_QUOTE.search(name):
        return name
    escaped = _TO_QUOTE.sub(lambda found: b"\\" + _LETTERS.get(found[0][0], b"%03o" % found[0][0]), name)
    return b'"' + escaped + b'"'
