"""Lets a program run with changed text of some files, which stay as they are on the disk.

Imports, `runpy`, tracebacks, `inspect.getsource()` (which AutoGraph needs) and processes of multiprocessing all see the
changed text, under the name of the file that it is of.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import io
import json
import linecache
import multiprocessing.util
import os
import re
import sys
from collections.abc import Mapping, Sequence
from types import CodeType, ModuleType
from typing import IO, Any, Optional

from .source import Source

#: Where this package is, for the processes that this one starts.
_PACKAGE_PARENT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
#: What Python runs in a process that `multiprocessing` spawns, and in the server that forks others.
_STARTS_PROGRAM = re.compile(r"from multiprocessing\.(spawn|forkserver) import")


def write_texts(path: str, sources: Mapping[str, Source]) -> None:
    """Writes the changed texts to a file that `install_from` reads."""
    # Bytes as characters: JSON has no bytes.
    texts = {os.path.realpath(name): source.program.decode("latin-1") for name, source in sources.items()}
    with open(path, "w", encoding="utf-8") as file:
        json.dump(texts, file)


class _Loader(importlib.machinery.SourceFileLoader):
    """Loads a module from its changed text: no compiled file of it is read, and none is written."""

    def __init__(self, name: str, path: str, content: bytes) -> None:
        super().__init__(name, path)
        self._content = content

    def get_data(self, path: str) -> bytes:
        return self._content if path == self.path else super().get_data(path)

    def get_code(self, fullname: str) -> Optional[CodeType]:
        return self.source_to_code(self._content, self.get_filename(fullname))


class Overlay(importlib.abc.MetaPathFinder):
    """Changed texts by the real path of their file."""

    def __init__(self, texts: Mapping[str, bytes]) -> None:
        self._texts = texts
        self._update: Any = linecache.updatecache
        self._open: Any = io.open_code

    def text_of(self, path: object) -> Optional[bytes]:
        """The changed text of a file, None of one that is as it was."""
        if not isinstance(path, (str, os.PathLike)) or not os.fspath(path):
            return None
        return self._texts.get(os.path.realpath(path))

    def find_spec(
        self, fullname: str, path: Optional[Sequence[str]], target: Optional[ModuleType] = None
    ) -> Optional[importlib.machinery.ModuleSpec]:
        """What the finders after this one find, with a loader of the changed text where there is one."""
        # Those after this one: others that ask all finders may stand before it.
        for finder in sys.meta_path[sys.meta_path.index(self) + 1 :]:
            spec = finder.find_spec(fullname, path, target)
            if spec is None:
                continue
            content = self.text_of(spec.origin)
            if content is None or spec.origin is None:
                return spec
            loader = _Loader(fullname, spec.origin, content)
            return importlib.util.spec_from_file_location(
                fullname, spec.origin, loader=loader, submodule_search_locations=spec.submodule_search_locations
            )
        return None

    def open_code(self, path: str) -> IO[bytes]:
        """As `runpy` opens a script."""
        content = self.text_of(path)
        opened: IO[bytes] = io.BytesIO(content) if content is not None else self._open(path)
        return opened

    def updatecache(self, filename: str, module_globals: Any = None) -> list[str]:
        """As `linecache` reads a file."""
        content = self.text_of(filename)
        if content is None:
            known: list[str] = self._update(filename, module_globals)
            return known
        source = Source(filename, content)
        lines = [line + "\n" for line in io.StringIO(source.text.decode("utf-8"), newline=None).read().split("\n")]
        # No time of modification: linecache does not hold it against the file's.
        linecache.cache[filename] = (len(content), None, lines, filename)
        return lines

    def install(self) -> None:
        """From here on this process sees the changed texts."""
        sys.meta_path.insert(0, self)
        io.open_code = self.open_code
        linecache.updatecache = self.updatecache
        for path in self._texts:
            self.updatecache(path)


def install_from(path: str) -> None:
    """Sees the texts of a file, in this process and those that multiprocessing starts from it."""
    with open(path, encoding="utf-8") as file:
        texts = {name: text.encode("latin-1") for name, text in json.load(file).items()}
    if not texts:
        return
    Overlay(texts).install()
    module: Any = multiprocessing.util
    spawn = module.spawnv_passfds
    module.spawnv_passfds = lambda program, words, files: spawn(program, _with_texts(words, path), files)


def _with_texts(words: Sequence[Any], path: str) -> Sequence[Any]:
    """The command line of a process that multiprocessing starts, which installs the texts of a file first."""
    words = [os.fsdecode(word) for word in words]
    code = words[words.index("-c") + 1] if "-c" in words[:-1] else ""
    if not _STARTS_PROGRAM.match(code):
        return words
    first = (
        f"import sys; sys.path.insert(0, {_PACKAGE_PARENT!r}); "
        f"from tfdata_doctor_fix.overlay import install_from; install_from({path!r}); sys.path.pop(0); "
    )
    return [first + code if word is code else word for word in words]
