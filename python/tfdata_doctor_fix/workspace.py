"""The files of the user's program, as they are on the disk and as they have been changed so far."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterable, Mapping
from typing import Optional

from tfdata_doctor._program import DoctorError

from .edits import Edit, edited
from .jobs import Program
from .notebook import read_source
from .source import Source


class Workspace:
    """Texts of files by path; a changed one is a new workspace."""

    def __init__(
        self, originals: Optional[dict[str, Source]] = None, changed: Optional[Mapping[str, Source]] = None
    ) -> None:
        self._originals = {} if originals is None else originals
        self._changed = dict(changed or {})

    def read(self, path: str) -> Source:
        """A file, as changed so far. Raises OSError, Refused."""
        path = os.path.realpath(path)
        if path in self._changed:
            return self._changed[path]
        if path not in self._originals:
            self._originals[path] = read_source(path)
        return self._originals[path]

    def with_edits(self, edits: Iterable[tuple[str, Edit]]) -> Workspace:
        """With these as well, whose places are those of the files as changed so far. Raises OSError, Refused."""
        by_file: dict[str, list[Edit]] = {}
        for path, edit in edits:
            by_file.setdefault(os.path.realpath(path), []).append(edit)
        changed = dict(self._changed)
        for path, several in by_file.items():
            changed[path] = edited(self.read(path), several)[0]
        return Workspace(self._originals, changed)

    def without_changes(self) -> Workspace:
        """The files as they were."""
        return Workspace(self._originals)

    @property
    def texts(self) -> Mapping[str, Source]:
        """The changed files."""
        return self._changed

    def original(self, path: str) -> Source:
        """A file as it was when it was read first."""
        return self._originals[path]


def script_of(program: Program) -> str:
    """The file that runs first. Raises DoctorError where there is none."""
    if not program.is_module:
        return os.path.realpath(program.name)
    # Without importing the package that it is in, where it is below the working directory.
    path = program.name.replace(".", os.sep)
    for file in (f"{path}.py", os.path.join(path, "__main__.py")):
        if os.path.isfile(file):
            return os.path.realpath(file)
    sys.path.insert(0, os.getcwd())
    try:
        spec = importlib.util.find_spec(program.name)
        if spec is not None and spec.submodule_search_locations is not None:
            spec = importlib.util.find_spec(f"{program.name}.__main__")
    except (ImportError, ValueError):
        spec = None
    finally:
        sys.path.pop(0)
    if spec is None or spec.origin is None or not os.path.isfile(spec.origin):
        raise DoctorError(f"there is no module {program.name}")
    return os.path.realpath(spec.origin)


def roots_of(script: str) -> list[str]:
    """The folders whose files may be changed: the repository of the script and that of the working directory."""
    found = []
    for folder in (os.path.dirname(script), os.path.realpath(os.getcwd())):
        root = folder
        while not os.path.exists(os.path.join(root, ".git")) and os.path.dirname(root) != root:
            root = os.path.dirname(root)
        found.append(root if os.path.exists(os.path.join(root, ".git")) else folder)
    return sorted(set(found))
