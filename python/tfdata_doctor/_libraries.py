"""Tells the user's files from those of libraries."""

from __future__ import annotations

import os
import pathlib
import sys
import sysconfig

#: This package, and the one beside it.
OWN_PACKAGES = ("tfdata_doctor", "tfdata_doctor_fix")
_ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
OWN_FOLDERS = tuple(os.path.join(_ROOT, package, "") for package in OWN_PACKAGES)
#: May be outside of the folders of libraries, as where they were built from source.
_MODULES = ("tensorflow", "keras", "tf_keras", "grain")


def _below(folder: str) -> str:
    return os.path.join(os.path.realpath(folder), "")


class Libraries:
    """Remembers what it was asked."""

    def __init__(self) -> None:
        paths = sysconfig.get_paths()
        folders = {*OWN_FOLDERS, *(paths[key] for key in ("stdlib", "platstdlib", "purelib", "platlib"))}
        self._folders = tuple(map(_below, folders))
        self._paths: dict[str, str] = {}

    def user_path(self, file: str) -> str:
        """The real path of a file as code objects name it; empty of one that belongs to a library."""
        known = self._paths.get(file)
        if known is None:
            known = self._paths[file] = self._look_at(file)
        return known

    def _look_at(self, file: str) -> str:
        if file.startswith(("<frozen ", "<__array_function__")):
            return ""
        path = os.path.realpath(file)
        names = (getattr(sys.modules.get(module), "__file__", None) for module in _MODULES)
        folders = (*self._folders, *(_below(os.path.dirname(os.path.abspath(name))) for name in names if name))
        parts = pathlib.PurePath(path).parts
        is_library = path.startswith(folders) or "site-packages" in parts or "dist-packages" in parts
        return "" if is_library else path
