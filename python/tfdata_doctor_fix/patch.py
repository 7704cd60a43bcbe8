"""The changes as a patch that `git apply` takes, and as files."""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping

from tfdata_doctor._program import DoctorError

from .git_name import quoted_as_git
from .replace import check_file, new_file, replace_file
from .source import Source
from .workspace import Workspace

#: Of a patch of this package.
_BEGIN = b"--- "


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


def check_patch_name(path: str) -> None:
    """Raises DoctorError where writing a patch to a file would lose what is in it."""
    if os.path.exists(path):
        with open(path, "rb") as file:
            begin = file.read(len(_BEGIN))
        if begin not in (b"", _BEGIN):
            raise DoctorError(f"{path}: is there already, and no patch; choose another file with --output")


def write_patch(path: str, content: bytes) -> None:
    """Writes a patch, whole or not at all. Raises OSError, DoctorError."""
    check_patch_name(path)
    path = os.path.realpath(path)
    with new_file(path, content) as partial:
        os.chmod(partial, 0o666 & ~_umask())
        os.replace(partial, path)


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def apply(workspace: Workspace) -> list[str]:
    """Writes the changed files; none of them where one is no longer the text that was measured. Raises DoctorError."""
    originals: Mapping[str, bytes] = {path: workspace.original(path).content for path in workspace.texts}
    for path, content in originals.items():
        check_file(path, content)
    done: list[str] = []
    try:
        for path, source in sorted(workspace.texts.items()):
            replace_file(path, originals[path], source.content)
            done.append(path)
    except BaseException:
        for path in done:
            replace_file(path, workspace.texts[path].content, originals[path])
        raise
    return done
