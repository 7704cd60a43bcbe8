"""Names every tf.data transformation after the line of the program that makes it.

A trace of TensorFlow's profiler knows datasets by name only: "MapDataset:3". While `name_datasets()` is in force, each
dataset that the program did not name gets a name of its file and line, "at_input_py_L33_map", which the trace carries,
and `SourceLines.write()` writes the full paths and the code beside the trace. tfdata-doctor then says
"Dataset.map at input.py:33".

    with tfdata_doctor.name_datasets() as lines:
        dataset = make_dataset()
    ...                                   # record a trace in `logdir`
    lines.write(logdir)

A name is part of a dataset's metadata alone: what the dataset does, its checkpoints and the fingerprints of snapshots
stay as they are. It is given when the dataset is made, so no element costs anything.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import linecache
import os
import pathlib
import re
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Callable

from ._stack import Call, Stack, cell_of, line_of_call, method_of, own_calls, public_name

FILE_NAME = "dataset-lines.json"
SCHEMA = "tfdata-doctor.lines/1"

# The longest name is that of 80 characters which tfdata-doctor takes for one.
_LONGEST_PART = 32
_MOST_VARIANTS = 64


# Datasets that only pass another one on.
_FORWARDERS = frozenset({"DatasetV1Adapter", "_VariantDataset", "_RestructuredDataset"})


@dataclass(frozen=True)
class Frame:
    """A call in the user's own code."""

    file: str
    line: int
    function: str
    code: str


@dataclass(frozen=True)
class DatasetLine:
    """Where a dataset is made. The innermost frame outside of libraries comes first."""

    method: str
    num_parallel_calls: bool | None
    frames: tuple[Frame, ...]


@dataclass
class SourceLines:
    """What the datasets that were made are called, and where."""

    names: dict[str, DatasetLine] = field(default_factory=dict)
    #: Transformations for which TensorFlow has no name, with their line.
    unnamed: list[tuple[str, Frame]] = field(default_factory=list)
    #: Why no dataset can be named; empty if they can.
    problem: str = ""
    tensorflow: str = ""

    def write(self, directory: str | os.PathLike[str]) -> pathlib.Path:
        """Writes `dataset-lines.json` beside the trace: into the folder of a trace, or of a log directory's newest run.

        What other processes of the run wrote there stays. Raises OSError where it cannot be written.
        """
        path = _folder_of_trace(pathlib.Path(directory)) / FILE_NAME
        page = self.to_json()
        page["names"] = {**_names_in(path), **page["names"]}
        partial = path.with_name(f"{path.name}.{os.getpid()}")
        partial.write_text(json.dumps(page, indent=1) + "\n", encoding="utf-8")
        os.replace(partial, path)
        return path

    def to_json(self) -> dict[str, Any]:
        """The document `tfdata-doctor.lines/1`."""
        names = {}
        for name, made in self.names.items():
            entry: dict[str, Any] = {"file": made.frames[0].file, "line": made.frames[0].line}
            entry.update(code=made.frames[0].code, method=made.method)
            if made.num_parallel_calls is not None:
                entry["num_parallel_calls"] = made.num_parallel_calls
            entry["stack"] = [vars(frame) for frame in made.frames]
            names[name] = entry
        page: dict[str, Any] = {"schema": SCHEMA, "tensorflow": self.tensorflow, "root": _root_of_program()}
        if self.problem:
            page["problem"] = self.problem
        page["names"] = names
        page["unnamed"] = [{"transformation": kind, "file": at.file, "line": at.line} for kind, at in self.unnamed]
        return page


def _folder_of_trace(directory: pathlib.Path) -> pathlib.Path:
    runs = directory / "plugins" / "profile"
    folders = [entry for entry in runs.iterdir() if entry.is_dir()] if runs.is_dir() else []
    return max(folders, key=lambda folder: folder.stat().st_mtime_ns, default=directory)


def _names_in(path: pathlib.Path) -> dict[str, Any]:
    """Of another process of the run; empty where there is no such file."""
    try:
        page = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    names = page.get("names") if isinstance(page, dict) and page.get("schema") == SCHEMA else None
    return names if isinstance(names, dict) else {}


def _root_of_program() -> str:
    """The repository that the working directory is in, else that directory: paths below it are the same elsewhere."""
    here = pathlib.Path.cwd()
    for folder in (here, *here.parents):
        if (folder / ".git").exists():
            return str(folder)
    return str(here)


def _mangled(file: str) -> str:
    """A part of an identifier: "input_py" for "/home/me/input.py", "In_5" for "In[5]"."""
    name = os.path.basename(file)
    is_cell = re.fullmatch(r"In\[\d+\]", name)
    stem = name.removesuffix(".py")
    words = re.sub(r"[^0-9A-Za-z_]+", "_", stem).strip("_")[:_LONGEST_PART] or "program"
    return words if is_cell else words + "_py"


@dataclass
class _ThreadState:
    """Datasets are made one inside of another, on several threads."""

    #: Ids of datasets whose metadata was asked for, until they are complete.
    named: list[int] = field(default_factory=list)
    #: Ids of the tensors of datasets that were named last.
    variants: list[int] = field(default_factory=list)
    #: The id of the dataset that got a new name last, and that name.
    given: tuple[int, str] | None = None


class _Naming:
    """Names datasets as they are made."""

    def __init__(self, lines: SourceLines, stack: Stack) -> None:
        self.lines = lines
        self._stack = stack
        self._lock = threading.Lock()
        self._names: dict[tuple[Any, ...], str] = {}
        self._here = threading.local()

    def name(self, dataset: Any, metadata: Any) -> None:
        """Gives the metadata of a dataset that is being made a name, unless the user did."""
        user, method, has_parallel_calls, key = self._place(dataset)
        here = self._state()
        here.named.append(id(dataset))
        if not user:
            return
        with self._lock:
            name = (
                bytes(metadata.name).decode("utf-8", "replace") if metadata.name else self._name_of(key, user, method)
            )
            if here.given is not None and here.given[0] == id(dataset) and here.given[1] != name:
                # TensorFlow 2.8 shows the metadata before it writes the user's name into it.
                self.lines.names.pop(here.given[1], None)
                self._names.pop(key, None)
            here.given = None
            if name not in self.lines.names:
                self.lines.names[name] = DatasetLine(method, has_parallel_calls, user)
                here.given = None if metadata.name else (id(dataset), name)
            if not metadata.name:
                metadata.name = name.encode("utf-8")

    def made(self, dataset: Any, variant: Any) -> None:
        """A dataset is complete: one whose metadata nobody asked for has no name."""
        here = self._state()
        if id(dataset) in here.named:
            here.named.clear()
            here.given = None
            here.variants.append(id(variant))
            del here.variants[:-_MOST_VARIANTS]
            return
        # A reader of files passes the dataset that it made of others on.
        if type(dataset).__name__ in _FORWARDERS or id(variant) in here.variants:
            return
        user = self._place(dataset)[0]
        if user:
            with self._lock:
                entry = (public_name(type(dataset).__name__), user[0])
                if entry not in self.lines.unnamed:
                    self.lines.unnamed.append(entry)

    def _state(self) -> _ThreadState:
        state = getattr(self._here, "state", None)
        if state is None:
            state = self._here.state = _ThreadState()
        return state

    def _place(self, dataset: Any) -> tuple[tuple[Frame, ...], str, bool | None, tuple[Any, ...]]:
        """The user's frames, what she called, and what tells this call of it from others."""
        calls = self._stack.calls(sys._getframe(2))
        own = own_calls(calls)
        if not own:
            return (), "", None, ()
        inner = calls[: calls.index(own[0])]
        method, has_parallel_calls = method_of(inner[::-1], dataset)
        places = tuple((call.file, call.line, call.frame.f_lasti) for call in own)
        if own[0].is_generated:
            own[0] = replace(own[0], line=line_of_call(own[0].file, own[0].line, method))
        return tuple(_frame_of(call) for call in own), method, has_parallel_calls, (method, places)

    def _name_of(self, key: tuple[Any, ...], user: tuple[Frame, ...], method: str) -> str:
        known = self._names.get(key)
        if known is not None:
            return known
        words = re.sub(r"[^0-9A-Za-z_]+", "_", method)[:_LONGEST_PART]
        first = name = f"at_{_mangled(user[0].file)}_L{user[0].line}_{words}"
        number = 1
        while name in self.lines.names:
            number += 1
            name = f"{first}_{number}"
        self._names[key] = name
        return name


def _frame_of(call: Call) -> Frame:
    file = cell_of(call.file) or (call.file if call.file.startswith("<") else os.path.abspath(call.file))
    return Frame(file, call.line, call.function, linecache.getline(call.file, call.line).strip())


class _Patch:
    """What of TensorFlow's class is replaced while names are given.

    All datasets take their metadata, and the name in it, from the attribute `_metadata` of their class: a property
    since TF 2.9 or so, before that an attribute that each sets itself.
    """

    def __init__(self, dataset_class: Any, naming: _Naming) -> None:
        self._class = dataset_class
        self._naming = naming
        self._attributes = vars(dataset_class)
        self._saved = {name: self._attributes.get(name) for name in ("_metadata", "__init__")}
        original: property | None = self._saved["_metadata"]
        begin: Callable[..., None] = dataset_class.__init__

        def metadata_of(dataset: Any) -> Any:
            if original is not None:
                metadata = original.__get__(dataset, type(dataset))
            elif "_metadata" in vars(dataset):
                metadata = vars(dataset)["_metadata"]
            else:
                raise AttributeError("_metadata")
            _never_fail(naming.name, dataset, metadata)
            return metadata

        def set_metadata(dataset: Any, metadata: Any) -> None:
            vars(dataset)["_metadata"] = metadata

        def begin_dataset(dataset: Any, variant_tensor: Any) -> None:
            _never_fail(naming.made, dataset, variant_tensor)
            begin(dataset, variant_tensor)

        self._class._metadata = property(metadata_of, None if original is not None else set_metadata)
        self._class.__init__ = begin_dataset

    def undo(self) -> None:
        for name, saved in self._saved.items():
            if saved is None:
                delattr(self._class, name)
            else:
                setattr(self._class, name, saved)


def _never_fail(give_name: Callable[[Any, Any], None], dataset: Any, value: Any) -> None:
    """A program must not fail for want of a name."""
    with contextlib.suppress(Exception):  # whatever a strange frame or a strange loader of modules raises
        give_name(dataset, value)


_lock = threading.Lock()
_depth = 0
_patch: _Patch | None = None
_lines = SourceLines()


def start_naming() -> SourceLines:
    """Names the datasets that are made from now on, until stop_naming(). Calls may be nested: they share the lines."""
    global _depth, _patch, _lines
    with _lock:
        _depth += 1
        if _depth > 1:
            return _lines
        _lines = SourceLines()
        try:
            _lines.tensorflow = str(importlib.import_module("tensorflow").__version__)
            operations = importlib.import_module("tensorflow.python.data.ops.dataset_ops")
            dataset_class = operations.DatasetV2
            if not hasattr(operations, "_validate_and_encode") or not hasattr(dataset_class, "_common_args"):
                raise AttributeError(f"TensorFlow {_lines.tensorflow} has no names for datasets: 2.8 has")
            stack = Stack(importlib.import_module("tensorflow.python.util.tf_stack"))
            _patch = _Patch(dataset_class, _Naming(_lines, stack))
        except (AttributeError, ImportError) as error:
            _lines.problem = str(error)
        return _lines


def stop_naming() -> SourceLines:
    """Ends what start_naming() began, and puts everything back. Datasets that have names keep them."""
    global _depth, _patch
    with _lock:
        if _depth == 0:
            raise RuntimeError("stop_naming() without start_naming()")
        _depth -= 1
        if _depth == 0 and _patch is not None:
            _patch.undo()
            _patch = None
        return _lines


@contextlib.contextmanager
def name_datasets() -> Iterator[SourceLines]:
    """Names the datasets that are made inside of it."""
    lines = start_naming()
    try:
        yield lines
    finally:
        stop_naming()
