"""What a run that only measures may write: nothing of the user's, unless she named the place.

Three parts hold that together. Landlock of the kernel refuses what TensorFlow, libraries and other programs write. A
hook of Python's audit events sees what Python writes before it happens, so that the line of the source can be named,
and it sees times, modes and owners of files, which Landlock does not guard. What saves models (`_savers.py`) does
nothing.
"""

from __future__ import annotations

import errno
import os
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import FrameType, TracebackType
from typing import Any, Optional, Union

from . import _landlock
from ._libraries import Libraries

#: Is set in runs that only measure, so that a script can leave out what it would write.
VARIABLE = "TFDATA_DOCTOR_RUN"
#: What nothing here can hold back.
NOT_HELD_BACK = "uploads, and what other programs do elsewhere, are not held back"
_NO_LANDLOCK = (
    "this kernel has no Landlock (Linux has it from 5.13 on), so what TensorFlow and other programs write cannot be "
    "held back; name the folders that your program writes with --writes DIR"
)

_Name = Union[str, bytes, int, "os.PathLike[Any]"]

#: Terminals, devices and shared memory: no files of the user's, but for those in the folder of shared memory.
_DEVICES = "/dev"
_SHARED_MEMORY = "/dev/shm"
_OPENS_TO_WRITE = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
#: Where programs keep what they can make again: they do without it where they cannot write.
_CACHES = ("~/.cache", "~/.config", "~/.keras", "~/.nv", "~/.triton", "~/.matplotlib", "~/.local/share")
_BYTECODE = "__pycache__"
_REFUSALS = (errno.EACCES, errno.EPERM, errno.EXDEV, errno.EROFS)


def _is_remote(name: str) -> bool:
    return "://" in name


def real_path(name: _Name, folder: int = -1, *, is_followed: bool = True) -> str:
    """The absolute path of a name without symbolic links; empty where that cannot be told.

    `folder` is the descriptor of the folder that it is relative to, -1 for the working directory. Not `is_followed`:
    the name itself may be one of a link.
    """
    try:
        if isinstance(name, int):
            path = os.readlink(f"/proc/self/fd/{name}")
            return path if os.path.lexists(path) else ""
        path = os.fsdecode(name)
        if _is_remote(path):
            return path
        if folder >= 0 and not os.path.isabs(path):
            path = os.path.join(os.readlink(f"/proc/self/fd/{folder}"), path)
        if is_followed:
            return os.path.realpath(path)
        above, last = os.path.split(path.rstrip(os.sep))
        return os.path.join(os.path.realpath(above), last)
    except (OSError, TypeError, ValueError):
        return ""


def is_below(path: str, folders: Iterable[str]) -> bool:
    """Whether a path is one of these or below one; all of them are real paths."""
    return any(path == folder or path.startswith(folder.rstrip("/") + "/") for folder in folders)


def shown(path: str) -> str:
    """A path as the user would write it: relative where it is below the working directory."""
    here = os.path.realpath(os.getcwd())
    return os.path.relpath(path, here) if path != here and is_below(path, [here]) else path


class _Places:
    """Finds the line of the user's program that is at work."""

    def __init__(self) -> None:
        self._libraries = Libraries()

    def _of(self, innermost_first: Iterable[tuple[FrameType, int]]) -> str:
        for frame, line in innermost_first:
            path = self._libraries.user_path(frame.f_code.co_filename)
            if path and not frame.f_code.co_filename.startswith("<"):
                return f"{shown(path)}:{line}"
        return "your program"

    def here(self) -> str:
        """Where this thread is: "train.py:21"."""
        return self._of(traceback.walk_stack(sys._getframe(1)))

    def of_error(self, found: Optional[TracebackType]) -> str:
        """Where an error was raised."""
        return self._of(reversed(list(traceback.walk_tb(found))))


#: What an event does: a verb, and the arguments that real_path() takes.
_Deed = tuple[str, _Name, int]


def _opened(name: _Name, _mode: object, flags: int) -> list[_Deed]:
    return [("writes", name, -1)] if flags & _OPENS_TO_WRITE else []


def _renamed(name: _Name, other: _Name, folder: int = -1, of_other: int = -1) -> list[_Deed]:
    return [("renames", name, folder), ("writes", other, of_other)]


def _linked(name: _Name, other: _Name, folder: int = -1, of_other: int = -1) -> list[_Deed]:
    return [("makes a link to", name, folder), ("writes", other, of_other)]


def _linked_by_name(_target: _Name, name: _Name, folder: int = -1) -> list[_Deed]:
    return [("writes", name, folder)]


def _doing(verb: str) -> Callable[..., list[_Deed]]:
    """Of events whose first argument is the file, and whose last one may be the folder."""
    return lambda name, *others: [(verb, name, others[-1] if others and isinstance(others[-1], int) else -1)]


#: The events of https://docs.python.org/3/library/audit_events.html that change files.
_EVENTS: Mapping[str, Callable[..., list[_Deed]]] = {
    "open": _opened,
    "os.chflags": lambda name, _: [("changes", name, -1)],
    "os.chmod": _doing("changes the mode of"),
    "os.chown": _doing("changes the owner of"),
    "os.link": _linked,
    "os.mkdir": _doing("makes"),
    "os.remove": _doing("deletes"),
    "os.removexattr": lambda name, _: [("changes an attribute of", name, -1)],
    "os.rename": _renamed,
    "os.rmdir": _doing("deletes"),
    "os.setxattr": lambda name, *_: [("changes an attribute of", name, -1)],
    "os.symlink": _linked_by_name,
    "os.truncate": lambda name, _: [("writes", name, -1)],
    "os.utime": _doing("changes the time of"),
}
#: Those that are about a name, whatever it is a link to.
_OF_NAMES = ("os.link", "os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.symlink")


class Writes:
    """Holds back what this process writes outside of `folders` and of `named`, the places that the user named.

    `on_refused` is called with what was refused and what the user can do, both for people, and the process ends with
    the status that it returns.
    """

    def __init__(self, folders: Sequence[str], named: Sequence[str], on_refused: Callable[[str, str], int]) -> None:
        self._allowed = [*map(os.path.realpath, folders), *named]
        self._caches = [os.path.realpath(os.path.expanduser(path)) for path in _CACHES]
        self._on_refused = on_refused
        self._places = _Places()
        self._process = os.getpid()
        #: What was left out in place of being refused: "CheckpointManager.save at train.py:18".
        self.left_out: list[str] = []
        #: Names of files that the program opened to read.
        self.read: set[str] = set()

    def begin(self) -> None:
        """From here on, in this process and all that it starts. Raises OSError where Landlock fails."""
        _landlock.restrict_writes([*self._allowed, _DEVICES])
        sys.addaudithook(self._hear)
        make_folder = os.mkdir

        def mkdir(path: Any, mode: int = 0o777, *, dir_fd: Optional[int] = None) -> None:
            if not self.leaves_out_folder(path, -1 if dir_fd is None else dir_fd):
                make_folder(path, mode, dir_fd=dir_fd)

        os.mkdir = mkdir

    def is_allowed(self, path: str) -> bool:
        """Whether a real path may be written."""
        is_device = is_below(path, [_DEVICES]) and not is_below(path, [_SHARED_MEMORY])
        return is_device or is_below(path, self._allowed)

    def leaves_out_folder(self, name: _Name, folder: int = -1) -> bool:
        """Whether a folder is not made, which many programs begin with; writes to it will be refused."""
        path = real_path(name, folder)
        if not path or self.is_allowed(path) or os.path.lexists(path) or is_below(path, self._caches):
            return False
        self.leave_out(f"making {shown(path)}")
        return True

    def leave_out(self, what: str) -> None:
        """Notes what was not done, and where."""
        words = f"{what} at {self._places.here()}"
        if words not in self.left_out:
            self.left_out.append(words)

    def check(self, verb: str, name: _Name, folder: int = -1, *, is_followed: bool = True) -> None:
        """Ends the process where this may not be written; raises PermissionError of a cache."""
        path = real_path(name, folder, is_followed=is_followed)
        if not path or self.is_allowed(path):
            return
        if _BYTECODE in path.split(os.sep) or is_below(path, self._caches):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        status = self._on_refused(f"{self._places.here()} {verb} {shown(path)}", cure_of(path))
        sys.stdout.flush()
        if os.getpid() != self._process:
            os.kill(self._process, signal.SIGKILL)
        os._exit(status)

    def refused_by(self, error: Optional[BaseException]) -> str:
        """What the kernel refused, where an error of the program comes from that; else empty."""
        while error is not None:
            place = self._places.of_error(error.__traceback__)
            path = real_path(getattr(error, "filename", None) or "") if isinstance(error, OSError) else ""
            if path and getattr(error, "errno", None) in _REFUSALS and not self.is_allowed(path):
                return f"{place} writes {shown(path)}: {cure_of(path)}"
            if type(error).__name__ == "PermissionDeniedError":  # TensorFlow's, which has the path in its message alone
                return f"{place} writes where it may not: {cure_of('')} ({str(error).partition(chr(10))[0]})"
            error = error.__cause__ or error.__context__
        return ""

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        deeds_of = _EVENTS.get(event)
        if deeds_of is None:
            return
        deeds = deeds_of(*arguments)
        if event == "open" and not deeds and isinstance(arguments[0], str):
            self.read.add(arguments[0])
        for verb, name, folder in deeds:
            # That there is such a folder is what programs want to hear.
            if event != "os.mkdir" or not os.path.lexists(real_path(name, folder)):
                self.check(verb, name, folder, is_followed=event not in _OF_NAMES)


def cure_of(path: str) -> str:
    """What the user can do so that a path is written, or not."""
    switch = f"turn it off when {VARIABLE} is set"
    folder = os.path.dirname(path)
    if not _is_remote(path):
        while folder and not os.path.isdir(folder):
            folder = os.path.dirname(folder)
        # The folder of the program is not given away for one file in it.
        if is_below(os.path.realpath(os.getcwd()), [folder]):
            folder = path if os.path.exists(path) else ""
    return f"allow it with --writes {shown(folder)}, or {switch}" if folder else switch


def named_places(names: Iterable[str]) -> list[str]:
    """The real paths of what --writes names. Raises ValueError with what is wrong."""
    found = []
    for name in names:
        if not _is_remote(name) and not os.path.exists(name):
            raise ValueError(f"--writes {name}: there is no such folder or file; make it first")
        found.append(real_path(name))
    return found


def what_may_be_written(named: Sequence[str]) -> str:
    """What a run that only measures can do, as the end of a sentence about it."""
    places = "a temporary folder" + (" and to what --writes names" if named else "")
    return f"can write to {places} alone, and saves no model; {NOT_HELD_BACK}"


def missing_landlock(named: Sequence[str]) -> str:
    """Why a program cannot be run again and again without harm; empty where it can."""
    return "" if named or _landlock.version() else _NO_LANDLOCK


def environment(kept: str, folder: str) -> dict[str, str]:
    """Variables with which goes below `kept` and `folder` what every program of Python writes.

    Caches go to `kept`, which several runs share, and temporary files to `folder`. Makes the folder of those.
    """
    temporary = os.path.join(folder, "tmp")
    os.makedirs(temporary, exist_ok=True)
    made = {VARIABLE: "1", "TMPDIR": temporary, "PYTHONDONTWRITEBYTECODE": "1"}
    caches = {
        "CUDA_CACHE_PATH": "cuda",
        "MPLCONFIGDIR": "matplotlib",
        "NUMBA_CACHE_DIR": "numba",
        "TRITON_CACHE_DIR": "triton",
    }
    # Data sets that Keras has downloaded are read where they are.
    if not os.path.exists(os.path.expanduser("~/.keras")):
        caches["KERAS_HOME"] = "keras"
    made.update({name: os.path.join(kept, below) for name, below in caches.items()})
    # Modules of TensorFlow Hub are with the temporary files.
    modules = os.path.join(tempfile.gettempdir(), "tfhub_modules")
    if os.path.isdir(modules) and "TFHUB_CACHE_DIR" not in os.environ:
        made["TFHUB_CACHE_DIR"] = modules
    return made
