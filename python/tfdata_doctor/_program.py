"""The program tfdata-doctor: where it is, and how it is run."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Optional, Union

NAME = "tfdata-doctor"
#: Names the program to run in place of the installed one.
VARIABLE = "TFDATA_DOCTOR"
#: Tells the program which Python has this package, which reads URLs where nothing else can.
PYTHON_VARIABLE = "TFDATA_DOCTOR_PYTHON"

#: "nothing to judge": the document is there and says why.
INCONCLUSIVE = 3

Scalar = Union[str, int, float, "os.PathLike[str]"]
#: The value of a command-line option: True for one without a value, None or False for one that is not given, a sequence
#: for one that is repeated, a mapping for one that takes NAME=VALUE.
Setting = Union[Scalar, None, Sequence[Scalar], Mapping[str, Scalar]]
#: One trace, or the hosts of one run: files, run directories, log directories.
Paths = Union[str, "os.PathLike[str]", Sequence[Union[str, "os.PathLike[str]"]]]


class DoctorError(Exception):
    """What the program said was wrong: usage, a file that cannot be read, nothing that was recorded."""


def _candidates() -> list[str]:
    schemes = ["", f"{os.name}_user"]
    folders = [sysconfig.get_path("scripts", scheme) if scheme else sysconfig.get_path("scripts") for scheme in schemes]
    # pip install --target DIR: DIR/tfdata_doctor and DIR/bin.
    folders.append(str(Path(__file__).resolve().parent.parent / "bin"))
    return [os.path.join(folder, NAME) for folder in folders if folder]


@functools.cache
def _installed() -> str:
    for path in _candidates():
        if os.access(path, os.X_OK):
            return path
    found = shutil.which(NAME)
    if found is None:
        raise DoctorError(
            f"the program {NAME} is not installed beside this package; pip install --force-reinstall its wheel"
        )
    return found


def program() -> str:
    """The path of the program. Raises DoctorError where there is none."""
    return os.environ.get(VARIABLE) or _installed()


def path_arguments(paths: Paths) -> list[str]:
    """The arguments that name traces; none of them can be taken for an option."""
    several = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    names = [os.fspath(path) for path in several]
    return [os.path.join(".", name) if name.startswith("-") else name for name in names]


def option_arguments(settings: Mapping[str, Setting]) -> list[str]:
    """Options by their names: max_input_share=0.1 is --max-input-share=0.1."""
    arguments: list[str] = []
    for name, value in settings.items():
        option = "--" + name.replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            arguments.append(option)
        elif isinstance(value, Mapping):
            arguments += [f"{option}={key}={item}" for key, item in value.items()]
        elif isinstance(value, Sequence) and not isinstance(value, str):
            arguments += [f"{option}={os.fspath(item) if isinstance(item, os.PathLike) else item}" for item in value]
        else:
            arguments.append(f"{option}={os.fspath(value) if isinstance(value, os.PathLike) else value}")
    return arguments


def _message(stderr: str) -> str:
    return stderr.strip().removeprefix(f"{NAME}: ")


def run_bounded(arguments: Sequence[str], *, most_bytes: int, seconds: float) -> str:
    """The standard output of a program whose caller chose neither its length nor how long it takes.

    Of more bytes or time it is ended. Raises DoctorError with its message, or why it was ended.
    """
    with tempfile.TemporaryFile() as errors:
        try:
            process = subprocess.Popen(
                [program(), *arguments],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                env={**os.environ, "NO_COLOR": "1"},
            )
        except (OSError, ValueError) as error:
            raise DoctorError(f"the program cannot be run: {error}") from error
        assert process.stdout is not None
        watch = threading.Timer(
            seconds + 10, process.kill
        )  # the program ends itself before; this is for one that hangs
        watch.start()
        try:
            printed = process.stdout.read(most_bytes + 1)
            is_too_long = len(printed) > most_bytes
            if is_too_long:
                process.kill()
            status = process.wait()
        finally:
            watch.cancel()
            process.stdout.close()
        if is_too_long:
            raise DoctorError(f"the answer has more than {most_bytes} bytes: ask for less")
        errors.seek(0)
        said = _message(errors.read(most_bytes).decode("utf-8", "replace"))
    if status not in (0, 1, INCONCLUSIVE):
        raise DoctorError(said or f"{NAME} ended with status {status}")
    return printed.decode("utf-8", "replace")


def run_program(arguments: Sequence[str], variables: Optional[Mapping[str, str]] = None) -> tuple[int, str]:
    """The exit status, which is not 2, and the standard output. Raises DoctorError with the program's message.

    `variables` are set in its environment; without COLUMNS among them the page is as wide as in a file.
    """
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    environment.update({PYTHON_VARIABLE: sys.executable, **(variables or {})})
    try:
        done = subprocess.run(
            [program(), *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            env=environment,
            check=False,
        )
    except OSError as error:
        raise DoctorError(f"{program()} cannot be run: {error.strerror}") from error
    if done.returncode < 0:
        raise DoctorError(f"{NAME} was ended by signal {-done.returncode}; {_message(done.stderr)}".rstrip("; "))
    if done.returncode not in (0, 1, INCONCLUSIVE):
        raise DoctorError(_message(done.stderr) or f"{NAME} ended with status {done.returncode}")
    return done.returncode, done.stdout
