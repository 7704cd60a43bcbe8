"""Lists and reads URLs with fsspec, for the program: python -m tfdata_doctor._remote list|read URL."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping, Sequence
from typing import Any

#: Where the file systems of fsspec say when a file was changed.
_TIMES = ("mtime", "LastModified", "last_modified", "updated")


def lines_of(url: str, root: str, files: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """A line for each file below a URL whose path is `root`: its size, its time, its URL."""
    lines = []
    for name, facts in files.items():
        time = next((str(facts[key]) for key in _TIMES if facts.get(key)), "-").replace(" ", "T")
        place = url.rstrip("/") + name[len(root.rstrip("/")) :]
        if place.isprintable() and name.startswith(root.rstrip("/")):
            lines.append(f"{facts.get('size') or 0}\t{time}\t{place}")
    return lines


def main(arguments: Sequence[str]) -> int:
    """Returns the exit status."""
    action, url = arguments
    try:
        import fsspec
    except ImportError:
        print("Python has no fsspec", file=sys.stderr)
        return 2
    filesystem, root = fsspec.core.url_to_fs(url)
    if action == "list":
        print(*lines_of(url, root, filesystem.find(root, detail=True)), sep="\n")
        return 0
    with filesystem.open(root, "rb") as file:
        shutil.copyfileobj(file, sys.stdout.buffer, 1 << 20)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
