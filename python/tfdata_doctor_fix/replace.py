"""Replaces a file of the user's by another text: whole or not at all, with its owner, never over a save of hers."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import secrets
import stat
import tempfile
from collections.abc import Iterator

from tfdata_doctor._program import DoctorError

_EXCHANGE = 2  # RENAME_EXCHANGE of renameat2(2)
_WORKING_DIRECTORY = -100  # AT_FDCWD
_SAVED = "was changed while this ran: nothing was written; the patch is of what it was"


def _content(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def check_file(path: str, content: bytes) -> None:
    """Raises DoctorError where a file cannot be replaced, or has another content than it had."""
    if _content(path) != content:
        raise DoctorError(f"{path} {_SAVED}")
    if not os.stat(path).st_mode & stat.S_IWUSR or not os.access(path, os.W_OK):
        raise DoctorError(
            f"{path} is read-only: nothing was written; check it out or make it writable, or use the patch"
        )


@contextlib.contextmanager
def new_file(path: str, content: bytes) -> Iterator[str]:
    """A file beside `path` with a content that has reached the disk; what is left of it at the end is removed."""
    folder, name = os.path.split(path)
    handle, partial, is_named = _made(folder, f".{name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            if not is_named:
                _give_name(handle, partial)
        yield partial
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(partial)


def _made(folder: str, prefix: str) -> tuple[int, str, bool]:
    """A new file, its path, and whether it has that yet: one without goes by itself if this process is killed."""
    try:
        handle = os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o600)
    except (AttributeError, OSError):
        return (*tempfile.mkstemp(dir=folder, prefix=prefix), True)
    return handle, os.path.join(folder, prefix + secrets.token_hex(4)), False


def _give_name(handle: int, path: str) -> None:
    folder = os.open(os.path.dirname(path), os.O_PATH)
    try:
        # Relative to a folder, Python follows the link that the file is in /proc.
        os.link(f"/proc/self/fd/{handle}", os.path.basename(path), dst_dir_fd=folder)
    finally:
        os.close(folder)


def _take_after(partial: str, path: str) -> bool:
    """Gives a file the owner, mode and attributes of another, access lists too; whether that could be done."""
    found = os.stat(path)
    try:
        made = os.stat(partial)
        if (made.st_uid, made.st_gid) != (found.st_uid, found.st_gid):
            os.chown(partial, found.st_uid, found.st_gid)
        os.chmod(partial, stat.S_IMODE(found.st_mode))
        for name in getattr(os, "listxattr", lambda _: ())(path):
            value = os.getxattr(path, name)
            if name not in os.listxattr(partial) or os.getxattr(partial, name) != value:
                os.setxattr(partial, name, value)
    except OSError:
        return False
    return True


def _exchange(one: str, other: str) -> bool:
    """Exchanges two files in one step; whether the system can do that. Raises OSError."""
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None:
        return False
    names = os.fsencode(one), os.fsencode(other)
    if rename(_WORKING_DIRECTORY, names[0], _WORKING_DIRECTORY, names[1], _EXCHANGE) == 0:
        return True
    number = ctypes.get_errno()
    if number in (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP):
        return False
    raise OSError(number, os.strerror(number), other)


def replace_file(path: str, before: bytes, content: bytes) -> None:
    """Replaces the content `before` of a file. Raises DoctorError where it has another one by now, OSError."""
    if os.stat(path).st_nlink > 1:
        _overwrite(path, before, content)
        return
    try:
        with new_file(path, content) as partial:
            if _take_after(partial, path):
                _put(partial, path, before, content)
                return
    except PermissionError:
        pass  # of the folder: the file itself may be written
    _overwrite(path, before, content)


def _put(partial: str, path: str, before: bytes, content: bytes) -> None:
    """Gives a file its name, unless what comes out there is something else than `before`, which goes back."""
    if _content(path) != before:
        raise DoctorError(f"{path} {_SAVED}")
    if not _exchange(partial, path):
        os.replace(partial, path)
        return
    if _content(partial) == before:
        return
    # What came out is a save of hers, which goes back; so does a later one that comes out then.
    there, mine = content, _content(partial)
    while _exchange(partial, path) and (found := _content(partial)) != there:
        there, mine = mine, found
    raise DoctorError(f"{path} {_SAVED}")


def _overwrite(path: str, before: bytes, content: bytes) -> None:
    """Writes into the file itself, which has other names or an owner that a new file could not have."""
    with open(path, "r+b") as file:
        if file.read() != before:
            raise DoctorError(f"{path} {_SAVED}")
        file.seek(0)
        file.write(content)
        file.truncate()
        file.flush()
        os.fsync(file.fileno())
