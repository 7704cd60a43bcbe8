"""The program tfdata-doctor: where it is, and how it is run."""

from __future__ import annotations

import os
import sys

# Modules that cost as much as the program takes for a small trace are imported where they are used.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Optional, Union

    Scalar = Union[str, int, float, os.PathLike[str]]
    #: The value of a command-line option: True for one without a value, None or False for one that is not given, a
    #: sequence for one that is repeated, a mapping for one that takes NAME=VALUE.
    Setting = Union[Scalar, None, Sequence[Scalar], Mapping[str, Scalar]]
    #: One trace, or the hosts of one run: files, run directories, log directories.
    Paths = Union[str, os.PathLike[str], Sequence[Union[str, os.PathLike[str]]]]

NAME = "tfdata-doctor"
#: Names the program to run in place of the installed one.
VARIABLE = "TFDATA_DOCTOR"
#: Tells the program which Python has this package, which reads URLs where nothing else can.
PYTHON_VARIABLE = "TFDATA_DOCTOR_PYTHON"

_PAGE_DESCRIPTOR = 3
#: A file for a second document, beside that on standard output.
PAGE = f"/dev/fd/{_PAGE_DESCRIPTOR}"

#: "nothing to judge": the document is there and says why.
INCONCLUSIVE = 3


class DoctorError(Exception):
    """What the program said was wrong: usage, a file that cannot be read, nothing that was recorded."""


def _candidates() -> Iterator[str]:
    """Where installers put the program: DIR/bin of DIR/lib/python3.11/site-packages, or of DIR with pip's --target."""
    packages = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
    if packages.endswith("-packages"):
        yield os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(packages))), "bin", NAME)
    yield os.path.join(packages, "bin", NAME)
    import sysconfig

    for scheme in (None, f"{os.name}_user"):
        scripts = sysconfig.get_path("scripts", scheme) if scheme else sysconfig.get_path("scripts")
        yield os.path.join(scripts, NAME)


def _installed() -> str:
    for path in _candidates():
        if os.access(path, os.X_OK):
            return path
    import shutil

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
    if not settings:
        return []
    from collections.abc import Mapping, Sequence

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
    import subprocess
    import tempfile
    import threading

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


def _moved(descriptor: int) -> int:
    """The same file by a descriptor that is none of those a program is given, which may be free in this process."""
    from fcntl import F_DUPFD_CLOEXEC, fcntl

    try:
        return fcntl(descriptor, F_DUPFD_CLOEXEC, _PAGE_DESCRIPTOR + 1)
    finally:
        os.close(descriptor)


def _text_of(file: int) -> str:
    with open(file, encoding="utf-8", errors="replace", newline="", closefd=False) as stream:
        return stream.read()


def _outcome(arguments: Sequence[str], variables: Mapping[str, str], has_page: bool) -> tuple[int, str, str]:
    """The exit status, the standard output and what it wrote to PAGE.

    Where something is raised meanwhile, as by Ctrl-C, the program has ended, too. To import what subprocess needs takes
    as long as the program does for a small trace.
    """
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    environment.update({PYTHON_VARIABLE: sys.executable, **variables})
    path = program()
    files = [_moved(os.memfd_create(NAME)), _moved(os.memfd_create(NAME)), *map(_moved, os.pipe())]
    printed, said, page, writer = files
    try:
        streams = [(printed, 1), (said, 2), (writer, _PAGE_DESCRIPTOR)][: 3 if has_page else 2]
        actions = [(os.POSIX_SPAWN_DUP2, *stream) for stream in streams]
        nothing = (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)
        try:
            process = os.posix_spawn(path, [path, *arguments], environment, file_actions=[*actions, nothing])
        except OSError as error:
            raise DoctorError(f"{path} cannot be run: {error.strerror}") from error
        os.close(files.pop())  # the page ends with the program
        try:
            text = _text_of(page)
            status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        except ChildProcessError:
            status = 0  # who ignores SIGCHLD is not told
        except BaseException:
            os.kill(process, 9)
            os.waitpid(process, 0)
            raise
        for file in (printed, said):
            os.lseek(file, 0, os.SEEK_SET)
        message = _message(_text_of(said))
        if status < 0:
            raise DoctorError(f"{NAME} was ended by signal {-status}; {message}".rstrip("; "))
        if status not in (0, 1, INCONCLUSIVE):
            raise DoctorError(message or f"{NAME} ended with status {status}")
        return status, _text_of(printed), text
    finally:
        for file in files:
            os.close(file)


def run_program(arguments: Sequence[str], variables: Optional[Mapping[str, str]] = None) -> tuple[int, str]:
    """The exit status, which is not 2, and the standard output. Raises DoctorError with the program's message.

    `variables` are set in its environment; without COLUMNS among them the page is as wide as in a file.
    """
    return _outcome(arguments, variables or {}, False)[:2]


def run_with_page(arguments: Sequence[str]) -> tuple[str, str]:
    """The standard output, and what the program wrote to the file PAGE. Raises DoctorError with its message."""
    return _outcome(arguments, {}, True)[1:]
