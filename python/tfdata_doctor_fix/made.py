"""Where datasets were made, as they were named while the program was recorded."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tfdata_doctor.lines import FILE_NAME
from tfdata_doctor.report import Iterator as TreeIterator

from .edits import Place


@dataclass(frozen=True)
class MadeAt:
    """A line that made a dataset, as it was named while the program was recorded."""

    file: str
    place: Place


def _names_of(run_directory: str) -> dict[str, dict[str, Any]]:
    try:
        page = json.loads(Path(run_directory, FILE_NAME).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return dict(page.get("names", {}))


def lines_of(run_directory: str) -> dict[str, MadeAt]:
    """Where datasets were made, by their names."""
    names = _names_of(run_directory)
    groups: dict[Any, list[str]] = {}
    for name, entry in names.items():
        # Made by one call of a function, in the order of the calls in the line.
        outer = [(frame["file"], frame["line"]) for frame in entry.get("stack", [])[1:]]
        groups.setdefault((entry["file"], entry["line"], entry["method"], tuple(outer)), []).append(name)
    found = {}
    for (file, line, method, _), members in groups.items():
        for index, name in enumerate(members):
            found[name] = MadeAt(file, Place(line, method, index, len(members)))
    return found


def dataset_names(iterator: TreeIterator) -> list[str]:
    """Those that the user's calls gave it: TensorFlow fuses several into one."""
    fused = re.fullmatch(r"fused\((.*)\)", iterator.dataset_name)
    return fused.group(1).split(",") if fused else [iterator.dataset_name]
