"""python -m tfdata_doctor fix: the command line."""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import shlex
import signal
import sys
from collections.abc import Sequence
from typing import Optional

from tfdata_doctor._program import DoctorError
from tfdata_doctor._writes import named_places

from . import judge, pages
from .budget import Choices
from .jobs import Program
from .outcome import Outcome
from .patch import apply, check_patch_name, write_patch
from .rows import append_rows
from .search import Search

#: What --allow takes, and what it allows.
ALLOWED = {
    "order": "elements in another order: deterministic=False, a cache after a shuffle",
    "threads": "a private thread pool",
    "buffers": "larger buffers",
    "data": "changes after which the first elements differ",
}
_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600}
_ENDINGS = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
#: Of a shell, for a process that Ctrl-C ended.
_INTERRUPTED = 130


def _duration(text: str) -> float:
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", text)
    if found is None or float(found.group(1)) <= 0:
        raise argparse.ArgumentTypeError(f"{text} is not a time such as 90s, 10m or 1h")
    return float(found.group(1)) * _UNITS[found.group(2)]


def _number(least: int) -> type:
    def number(text: str) -> int:
        if not text.isdigit() or int(text) < least:
            raise argparse.ArgumentTypeError(f"{text} is not a number of {least} or more")
        return int(text)

    return number  # type: ignore[return-value]


def _variable(text: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not separator or not name:
        raise argparse.ArgumentTypeError(f"{text} is not NAME=VALUE")
    return name, value


def _allowed(text: str) -> list[str]:
    words = text.split(",")
    for word in words:
        if word not in ALLOWED:
            raise argparse.ArgumentTypeError(f"{word} is none of {', '.join(ALLOWED)}")
    return words


def parser() -> argparse.ArgumentParser:
    """The options."""
    made = argparse.ArgumentParser(
        prog="python -m tfdata_doctor fix",
        description="Records a script of yours, tries the changes of its input pipeline that the recording calls for, "
        "measures each against the script as it is, and prints those that made it faster as a patch. The files on the "
        "disk stay as they are, unless --apply is given. The script runs many times, so give it a short run. It can "
        "write to a temporary folder and to what --writes names alone, and saves no model. Uploads are not held back.",
        usage="%(prog)s [OPTION...] SCRIPT.py [ARGUMENT...]\n       %(prog)s [OPTION...] -m MODULE [ARGUMENT...]",
        allow_abbrev=False,
    )
    made.add_argument("--apply", action="store_true", help="write the changed files, if they are still as measured")
    made.add_argument(
        "--budget", type=_duration, default=600.0, metavar="TIME", help="for all of it, such as 90s (default: 10m)"
    )
    made.add_argument(
        "--runs",
        type=_number(judge.LEAST_RUNS),
        default=judge.LEAST_RUNS,
        metavar="N",
        help="of each side for each change (default: %(default)s); with 5 or more, changes of 3 %% can be told",
    )
    made.add_argument(
        "--steps", type=_number(5), default=60, metavar="N", help="that a run measures (default: %(default)s)"
    )
    made.add_argument(
        "--allow",
        type=_allowed,
        action="extend",
        default=[],
        metavar="WHAT",
        help="changes that do more than make it faster: "
        + "; ".join(f"{key}: {what}" for key, what in ALLOWED.items()),
    )
    made.add_argument(
        "--env", type=_variable, action="append", default=[], metavar="NAME=VALUE", help="a variable of the script's"
    )
    made.add_argument(
        "--args-for-fix", default="", metavar="ARGUMENTS", help="more arguments of the script, such as '--epochs 2'"
    )
    made.add_argument(
        "--writes",
        action="append",
        default=[],
        metavar="DIR",
        help="a folder or file that the script may write, may be repeated",
    )
    made.add_argument("--output", metavar="FILE", help="write the patch to a file, if there is one")
    made.add_argument("--format", choices=pages.FORMATS, default="text", help="of what is printed (default: text)")
    made.add_argument("--rows", metavar="FILE", help="add predicted and measured gains to a file, a line of JSON each")
    made.add_argument("--quiet", action="store_true", help="no progress on standard error")
    made.add_argument("-m", dest="module", action="store_true", help="run a module by its name")
    made.add_argument("script", metavar="SCRIPT.py", help="the script")
    made.add_argument("arguments", nargs=argparse.REMAINDER, metavar="ARGUMENT", help="of the script")
    return made


def _tell(line: str) -> None:
    with contextlib.suppress(OSError):
        print(f"tfdata-doctor: {line}", file=sys.stderr, flush=True)


def _raise_once(_number: int, _frame: object) -> None:
    """Ends as Ctrl-C does; who ends a session may send several signals."""
    for other in _ENDINGS:
        signal.signal(other, signal.SIG_IGN)
    raise KeyboardInterrupt


def _end_on_signals() -> None:
    """What the search started ends with it."""
    for number in _ENDINGS:
        # Not with nohup, which ignores SIGHUP.
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _raise_once)


def _search(options: argparse.Namespace) -> Search:
    arguments = (*options.arguments, *shlex.split(options.args_for_fix))
    program = Program(options.script, arguments, options.module)
    choices = Choices(
        options.steps,
        options.runs,
        options.budget,
        frozenset(options.allow),
        tuple(dict(options.env).items()),
        tuple(named_places(options.writes)),
    )
    words = [*(["-m"] if options.module else []), options.script, *arguments]
    return Search(program, choices, shlex.join(words), (lambda _: None) if options.quiet else _tell)


def _write(options: argparse.Namespace, search: Search, outcome: Outcome) -> None:
    """Raises OSError, DoctorError."""
    if options.rows:
        append_rows(options.rows, outcome)
    if options.output and outcome.patch:
        write_patch(options.output, outcome.patch.encode("utf-8", "surrogateescape"))
    if options.apply and outcome.kept and not outcome.is_interrupted:
        outcome.applied = apply(search.workspace)


def main(words: Sequence[str]) -> int:
    """The exit status: 0 whatever was found, 2 for a wrong command line, 3 where nothing could be recorded."""
    options = parser().parse_args(words)
    if not options.module and not os.path.isfile(options.script):
        print(f"tfdata-doctor: {options.script}: no such file", file=sys.stderr)
        return 2
    problem: Optional[str] = None
    _end_on_signals()
    try:
        if options.output:
            check_patch_name(options.output)
        search = _search(options)
        outcome = search.run()
    except ValueError as error:
        print(f"tfdata-doctor: {error}", file=sys.stderr)
        return 2
    except DoctorError as error:
        print(f"tfdata-doctor: {error}", file=sys.stderr)
        return 3
    except KeyboardInterrupt:
        return _INTERRUPTED
    try:
        _write(options, search, outcome)
    except (DoctorError, OSError) as error:
        problem = str(error)
    page = pages.FORMATS[options.format](outcome)
    # Where the terminal is gone, nobody reads it.
    with contextlib.suppress(OSError):
        sys.stdout.buffer.write(page.encode("utf-8", "surrogateescape"))
        sys.stdout.flush()
    if problem is not None:
        print(f"tfdata-doctor: {problem}", file=sys.stderr)
        return 2
    return _INTERRUPTED if outcome.is_interrupted else 0
