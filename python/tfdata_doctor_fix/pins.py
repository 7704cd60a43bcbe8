"""The files of the user's program as they were when first read: a save while it is measured compares two programs."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass

from tfdata_doctor._program import DoctorError
from tfdata_doctor._writes import shown

from .notebook import SUFFIX

#: Files of these are changed where their content is; others, which may be data, where their time is.
CODE = (".py", SUFFIX)


@dataclass(frozen=True)
class _Pin:
    """A file at `read`, in seconds since 1970: its time in ns, its size, and a hash of it, empty unless it is code."""

    read: float
    time: int
    size: int
    digest: str


def _digest(path: str) -> str:
    if not path.endswith(CODE):
        return ""
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def _clock(seconds: float) -> str:
    return time.strftime("%H:%M:%S", time.localtime(seconds))


class Pins:
    """Remembers files, and says which one was saved since."""

    def __init__(self) -> None:
        self._pins: dict[str, _Pin] = {}

    def add(self, files: Mapping[str, tuple[int, int]], begun: float) -> None:
        """Those that a run has read which began at `begun`. Raises DoctorError where one was saved meanwhile."""
        for path, (modified, size) in files.items():
            if path in self._pins:
                continue
            if begun < modified / 1e9 <= time.time():
                raise _saved(path, modified, begun)
            try:
                self._pins[path] = _Pin(begun, modified, size, _digest(path))
            except OSError:
                continue  # it was a temporary one

    def check(self) -> None:
        """Raises DoctorError where a file is no longer as it was read."""
        for path, pin in self._pins.items():
            try:
                found = os.stat(path)
                is_same = (found.st_mtime_ns, found.st_size) == (pin.time, pin.size)
                if not is_same and (not pin.digest or _digest(path) != pin.digest):
                    raise _saved(path, found.st_mtime_ns, pin.read)
            except OSError:
                raise DoctorError(f"{shown(path)}: it is gone, and was read at {_clock(pin.read)}") from None


def _saved(path: str, modified: int, read: float) -> DoctorError:
    return DoctorError(
        f"{shown(path)} was saved at {_clock(modified / 1e9)}, after it was read at {_clock(read)}: from then on, "
        "another program would be measured; run fix again"
    )
