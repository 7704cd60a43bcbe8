"""The temporary folder of a search, and those of dead searches."""

from __future__ import annotations

import contextlib
import fcntl
import glob
import os
import shutil
import stat
import tempfile

_PREFIX = "tfdata-doctor-fix-"
#: Is locked as long as the search lives.
_LOCK = "lock"


def make_folder() -> tuple[str, int]:
    """A new folder, and the descriptor that shows others that it is in use. Raises OSError."""
    folder = tempfile.mkdtemp(prefix=_PREFIX)
    try:
        lock = os.open(os.path.join(folder, _LOCK), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
    except OSError:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return folder, lock


def remove_dead_folders() -> None:
    """Removes the folders of this user's searches that are dead. One that is being made has no lock yet, and stays."""
    for folder in glob.glob(os.path.join(glob.escape(tempfile.gettempdir()), f"{_PREFIX}*")):
        with contextlib.suppress(OSError):
            found = os.lstat(folder)
            if stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and _is_dead(folder):
                shutil.rmtree(folder, ignore_errors=True)


def _is_dead(folder: str) -> bool:
    """Raises OSError where there is no lock."""
    lock = os.open(os.path.join(folder, _LOCK), os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(lock)
    return True
