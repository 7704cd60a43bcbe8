"""Landlock of Linux: this process, and all that it starts, can write below some folders alone.

https://docs.kernel.org/userspace-api/landlock.html. Times, modes and owners of files are not what it guards.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import struct
import sys
from collections.abc import Iterable

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ASK_FOR_VERSION = 1
_RULE_OF_PATH = 1
_NO_NEW_PRIVILEGES = 38  # PR_SET_NO_NEW_PRIVS of prctl(2)

_WRITE_FILE = 1 << 1
_REMOVE_FOLDER, _REMOVE_FILE = 1 << 4, 1 << 5
#: Devices, folders, files, sockets, pipes and symbolic links.
_MAKE = sum(1 << bit for bit in range(6, 13))
_MOVE_TO_FOLDER = 1 << 13  # from version 2 on
_TRUNCATE = 1 << 14  # from version 3 on


def version() -> int:
    """That of the kernel's Landlock; 0 where it has none, or has it switched off."""
    if not sys.platform.startswith("linux"):
        return 0
    return max(0, int(ctypes.CDLL(None).syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _ASK_FOR_VERSION)))


def _guarded(known: int) -> int:
    writes = _WRITE_FILE | _REMOVE_FOLDER | _REMOVE_FILE | _MAKE
    return writes | (_MOVE_TO_FOLDER if known >= 2 else 0) | (_TRUNCATE if known >= 3 else 0)


def _called(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"Landlock: {os.strerror(number)}")
    return result


def restrict_writes(allowed: Iterable[str]) -> bool:
    """Lets this process write to these files and below these folders alone, those of them that exist.

    Of this thread and of what it starts, so it is called before there are others. Whether the kernel can do that.
    Raises OSError where it can and does not.
    """
    known = version()
    if known == 0:
        return False
    guarded = _guarded(known)
    library = ctypes.CDLL(None, use_errno=True)
    attributes = struct.pack("=Q", guarded)
    rules = _called(library.syscall(_CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), 0))
    try:
        for path in allowed:
            with contextlib.suppress(FileNotFoundError):
                _allow(library, rules, path, guarded)
        _called(library.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0))
        _called(library.syscall(_RESTRICT_SELF, rules, 0))
    finally:
        os.close(rules)
    return True


def _allow(library: ctypes.CDLL, rules: int, path: str, guarded: int) -> None:
    opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        of_file = guarded & (_WRITE_FILE | _TRUNCATE)
        rule = struct.pack("=Qi", guarded if os.path.isdir(path) else of_file, opened)
        _called(library.syscall(_ADD_RULE, rules, _RULE_OF_PATH, rule, 0))
    finally:
        os.close(opened)
