"""What saves models, checkpoints and logs does nothing: the runs of a measurement are not the user's training."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, Optional

from ._writes import Writes

#: Callbacks of Keras that write files. Those of a name that this version of Keras lacks are left out.
_CALLBACKS = ("BackupAndRestore", "CSVLogger", "ModelCheckpoint", "OrbaxCheckpoint", "TensorBoard")
_MODEL_METHODS = ("save", "save_weights", "export")
_MODULE_FUNCTIONS = {"saving": ("save_model", "save_weights"), "models": ("save_model",)}
#: Of tf.io.gfile, and which arguments of each are written.
_FILE_FUNCTIONS: Mapping[str, tuple[str, tuple[int, ...]]] = {
    "copy": ("writes", (1,)),
    "remove": ("deletes", (0,)),
    "rename": ("renames", (0, 1)),
    "rmtree": ("deletes", (0,)),
}


def _prefix(_owner: Any, *arguments: Any, **options: Any) -> str:
    """What Checkpoint.write() and Saver.save() return: the name that they were given."""
    given = [value for value in (*arguments, *options.values()) if isinstance(value, (str, os.PathLike))]
    return os.fspath(given[0]) if given else ""


def _numbered(owner: Any, checkpoint_number: Any = None, *_: Any, **__: Any) -> str:
    """What CheckpointManager.save() returns."""
    number = 1 if checkpoint_number is None else int(checkpoint_number)
    return os.path.join(str(getattr(owner, "directory", "")), f"ckpt-{number}")


def _nothing(*_: Any, **__: Any) -> None:
    return None


class Savers:
    """Replaces functions of TensorFlow and Keras as they are imported; `writes` hears what is left out.

    Files of caches that are not complete go to `folder`.
    """

    def __init__(self, writes: Writes, folder: str) -> None:
        self._writes = writes
        self._folder = folder
        self._cache_files: dict[str, int] = {}

    def open_tensorflow(self) -> None:
        """TensorFlow has been imported."""
        import tensorflow as tf

        train: Any = getattr(tf, "train", None)
        self._replace(getattr(train, "CheckpointManager", None), "save", "CheckpointManager.save", _numbered)
        for name in ("save", "write"):
            self._replace(getattr(train, "Checkpoint", None), name, f"Checkpoint.{name}", _prefix)
        saver = getattr(getattr(getattr(getattr(tf, "compat", None), "v1", None), "train", None), "Saver", None)
        self._replace(saver, "save", "Saver.save", _prefix)
        self._replace(getattr(tf, "saved_model", None), "save", "tf.saved_model.save", _nothing)
        summary: Any = getattr(tf, "summary", None)
        if hasattr(summary, "create_noop_writer"):
            make = summary.create_noop_writer
            self._replace(summary, "create_file_writer", "tf.summary", lambda *_, **__: make())
        self._guard_files(getattr(getattr(tf, "io", None), "gfile", None))
        self._wrap(tf.data.Dataset, "cache", self._of_run)

    def _of_run(self, cache: Callable[..., Any]) -> Callable[..., Any]:
        # By this name, lines.py knows that it is not what the user called.
        @functools.wraps(cache)
        def wrapper(dataset: Any, filename: Any = "", *arguments: Any, **options: Any) -> Any:
            return cache(dataset, self._file_of_run(filename), *arguments, **options)

        return wrapper

    def _file_of_run(self, filename: Any) -> Any:
        """The file of a cache: one of this run alone, unless the program's is complete already.

        A run that is ended leaves part of a cache, and a later one would read what another wrote.
        """
        name = os.fsdecode(filename) if isinstance(filename, (str, bytes, os.PathLike)) else ""
        if not name or os.path.exists(f"{name}.index"):
            return filename
        number = self._cache_files.setdefault(name, len(self._cache_files))
        return os.path.join(self._folder, f"cache-{number}")

    def _guard_files(self, files: Any) -> None:
        """Files that TensorFlow reaches and the kernel does not guard, such as those of gs://."""
        for name, (verb, written) in _FILE_FUNCTIONS.items():
            self._check_before(files, name, verb, written)
        for name in ("mkdir", "makedirs"):
            self._wrap(files, name, self._without_folder)
        opened = getattr(files, "GFile", None)
        if opened is not None:
            self._wrap(opened, "__init__", self._unless_written)

    def open_keras(self, module: ModuleType) -> None:
        """Keras has been imported."""
        for name in _MODEL_METHODS:
            self._replace(getattr(module, "Model", None), name, f"Model.{name}", _nothing)
        for owner, names in _MODULE_FUNCTIONS.items():
            for name in names:
                self._replace(getattr(module, owner, None), name, f"{owner}.{name}", _nothing)
        callbacks: Any = getattr(module, "callbacks", None)
        plain = getattr(callbacks, "Callback", None)
        for name in _CALLBACKS:
            kind = getattr(callbacks, name, None)
            if kind is not None:
                self._silence(kind, plain)

    def _silence(self, callback: type, plain: Any) -> None:
        """Makes a callback one that does nothing."""
        for name in dir(callback):
            if name == "set_model" or name.startswith("on_"):
                setattr(callback, name, getattr(plain, name))
        self._replace(callback, "on_train_begin", callback.__name__, _nothing)

    def _replace(self, owner: Any, name: str, words: str, stand_in: Callable[..., Any]) -> None:
        def replaced(original: Callable[..., Any]) -> Callable[..., Any]:
            @functools.wraps(original)
            def left_out(*arguments: Any, **options: Any) -> Any:
                self._writes.leave_out(words)
                return stand_in(*arguments, **options)

            return left_out

        self._wrap(owner, name, replaced)

    @staticmethod
    def _wrap(owner: Optional[Any], name: str, wrap: Callable[[Any], Any]) -> None:
        if owner is not None and hasattr(owner, name):
            setattr(owner, name, wrap(getattr(owner, name)))

    def _check_before(self, owner: Any, name: str, verb: str, written: tuple[int, ...]) -> None:
        def checked(original: Callable[..., Any]) -> Callable[..., Any]:
            @functools.wraps(original)
            def call(*arguments: Any, **options: Any) -> Any:
                given = [*arguments, *(value for key, value in options.items() if key != "overwrite")]
                for index in written:
                    if index < len(given):
                        self._writes.check(verb, given[index])
                return original(*arguments, **options)

            return call

        self._wrap(owner, name, checked)

    def _without_folder(self, make: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(make)
        def call(path: Any, *arguments: Any, **options: Any) -> Any:
            return None if self._writes.leaves_out_folder(path) else make(path, *arguments, **options)

        return call

    def _unless_written(self, open_file: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(open_file)
        def call(file: Any, name: Any, mode: str = "r", *arguments: Any, **options: Any) -> Any:
            if set(mode) & set("wa+"):
                self._writes.check("writes", name)
            return open_file(file, name, mode, *arguments, **options)

        return call
