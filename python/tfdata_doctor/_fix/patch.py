"""The changes as a patch that `git apply` takes, and as files."""

from __future__ import annotations

import contextlib
import difflib
import os
import stat
import tempfile
from collections.abc import Mapping

from tfdata_doctor._program import DoctorError

from .git_name import quoted_as_git
from .source import Source
from .workspace import Workspace


def _split(content: bytes) -> list[bytes]:
    """Lines as git counts them: only a newline ends one."""
    lines = [line + b"\n" for line in content.split(b"\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def base_folder(paths: list[str]) -> str:
    """What the paths of a patch are relative to: the repository of the files, else the working directory."""
    for path in paths:
        folder = os.path.dirname(path)
        while os.path.dirname(folder) != folder:
            if os.path.exists(os.path.join(folder, ".git")):
                return folder
            folder = os.path.dirname(folder)
    return os.path.realpath(os.getcwd())


def unified_diff(old: Source, new: Source, name: str) -> bytes:
    """A patch of one file, byte for byte: files may be in any encoding and have any line ends."""
    parts = []
    headers = (quoted_as_git(b"a/" + os.fsencode(name)), quoted_as_git(b"b/" + os.fsencode(name)))
    diff = difflib.diff_bytes(
        difflib.unified_diff, _split(old.content), _split(new.content), headers[0], headers[1], lineterm=b"\n"
    )
    for line in diff:
        parts.append(line)
        if not line.endswith(b"\n"):
            parts.append(b"\n\\ No newline at end of file\n")
    return b"".join(parts)


def patch_of(workspace: Workspace) -> bytes:
    """All changed files."""
    paths = sorted(workspace.texts)
    base = base_folder(paths)
    return b"".join(
        unified_diff(workspace.original(path), workspace.texts[path], os.path.relpath(path, base)) for path in paths
    )


def _replace(path: str, content: bytes) -> None:
    """Writes a file whole or not at all, with the permissions that it had."""
    handle, partial = tempfile.mkstemp(dir=os.path.dirname(path), prefix=f".{os.path.basename(path)}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(partial, stat.S_IMODE(os.stat(path).st_mode))
        os.replace(partial, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(partial)
        raise


def apply(workspace: Workspace) -> list[str]:
    """Writes the changed files; none of them where one is no longer the text that was measured. Raises DoctorError."""
    originals: Mapping[str, bytes] = {path: workspace.original(path).content for path in workspace.texts}
    for path, content in originals.items():
        with open(path, "rb") as file:
            if file.read() != content:
                raise DoctorError(
                    f"{path} was changed while this ran: nothing was written; the patch is of what it was"
                )
    done: list[str] = []
    try:
        for path, source in sorted(workspace.texts.items()):
            _replace(path, source.content)
            done.append(path)
    except BaseException:
        for path in done:
            _replace(path, originals[path])
        raise
    return done
