"""The command line of python -m tfdata_doctor SCRIPT.py."""

from __future__ import annotations

import argparse
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Optional

#: The steps that are recorded where the user does not say which.
BATCHES = (11, 30)
#: Set to 0, what a run measured is neither kept nor compared with that of the next; so does --no-history.
HISTORY_VARIABLE = "TFDATA_DOCTOR_HISTORY"


def _batches(text: str) -> tuple[int, int]:
    first, separator, last = text.partition("-")
    try:
        bounds = int(first), int(last if separator else first)
    except ValueError:
        bounds = 0, 0
    if not 1 <= bounds[0] <= bounds[1]:
        raise argparse.ArgumentTypeError(f"{text} is not FIRST-LAST, such as 11-30")
    return bounds


def _later_epoch(text: str) -> int:
    if not text.isdecimal() or int(text) < 2:
        raise argparse.ArgumentTypeError(f"{text} is not the number of an epoch after the first")
    return int(text)


#: Options that are followed by a value, and those that are not.
_WITH_VALUE = ("--batches", "--logdir", "--later-epoch", "--loop", "--writes")
_FLAGS = ("--no-lines", "--no-history", "--epochs-compare")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tfdata_doctor",
        description="Runs a script of yours as it is, records some steps of its training under TensorFlow's profiler, "
        "and prints what holds its input back. Everything else, such as 'python -m tfdata_doctor logs/', is what the "
        "program tfdata-doctor does; 'python -m tfdata_doctor help' lists that.",
        usage="%(prog)s [OPTION...] SCRIPT.py [ARGUMENT...]\n"
        "       %(prog)s [OPTION...] -m MODULE [ARGUMENT...]\n"
        "       %(prog)s COMMAND...",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--batches",
        type=_batches,
        metavar="FIRST-LAST",
        help="the steps to record, counted from 1 in the loop that trains: calls of next() on an iterator of tf.data, "
        "batches of Model.fit (default: {}-{}, more where epochs are short). Where the pipeline has a cache, choose "
        "those of a later epoch".format(*BATCHES),
    )
    parser.add_argument(
        "--loop",
        metavar="FILE:LINE",
        default="",
        help="the line of the loop to record, such as train.py:33 (default: that of the loop that trains)",
    )
    parser.add_argument("--logdir", metavar="DIR", help="where the trace goes (default: a new temporary folder)")
    parser.add_argument("--no-lines", action="store_true", help="do not name transformations after their source lines")
    parser.add_argument(
        "--no-history",
        action="store_true",
        help="neither keep what this run measured nor say what has changed since the one before "
        f"(nor where {HISTORY_VARIABLE} is 0)",
    )
    parser.add_argument(
        "--epochs-compare",
        action="store_true",
        help="record the steps of --batches in the first epoch and in a later one, and say what changed",
    )
    parser.add_argument(
        "--later-epoch", type=_later_epoch, metavar="N", default=2, help="which one (default: %(default)s)"
    )
    parser.add_argument(
        "--writes",
        action="append",
        default=[],
        metavar="DIR",
        help="with --epochs-compare, whose run is none of the training: a folder or file that the script may write",
    )
    parser.add_argument("-m", dest="module", action="store_true", help="run a module by its name")
    parser.add_argument("script", metavar="SCRIPT.py", help="the script")
    return parser


def _script_index(words: Sequence[str]) -> Optional[int]:
    """Where the script or the module is in a command line that runs one."""
    index = 0
    is_module = False
    while index < len(words):
        word = words[index]
        if word in _WITH_VALUE:
            index += 2
        elif word == "-m":
            is_module = True
            index += 1
        elif word in _FLAGS or word.startswith(tuple(f"{option}=" for option in _WITH_VALUE)):
            index += 1
        elif is_module or word.endswith(".py"):
            return index
        else:
            return None
    return None


def _misspelt(words: Sequence[str]) -> Optional[tuple[str, str]]:
    """The first word that is like an option of this module and none, before the script, and what it was meant to be."""
    options = _WITH_VALUE + _FLAGS
    if words and not words[0].startswith("--"):
        return None
    for word in words:
        name = word.partition("=")[0]
        if word.endswith(".py") or word == "-m":
            return None
        if name.startswith("--") and name not in options:
            import difflib

            meant = difflib.get_close_matches(name, options, n=1, cutoff=0.8)
            return (name, meant[0]) if meant else None
    return None


def is_help(words: Sequence[str]) -> bool:
    """Whether these arguments ask for the help of this module."""
    return list(words) in (["-h"], ["--help"])


def runs_script(words: Sequence[str]) -> bool:
    """Whether these arguments run a script, or were meant to; else they are the program's."""
    return not words or is_help(words) or _misspelt(words) is not None or _script_index(words) is not None


def parse(words: Sequence[str]) -> tuple[argparse.Namespace, list[str]]:
    """The options, and the arguments of the script. Ends the process after the help, and with 2 after a wrong use."""
    if is_help(words):
        _parser().print_help()
        sys.exit(0)
    meant = _misspelt(words)
    if meant is not None:
        print(f"tfdata-doctor: {meant[0]}: unknown option; did you mean {meant[1]}?", file=sys.stderr)
        print("'python -m tfdata_doctor --help' lists the options", file=sys.stderr)
        sys.exit(2)
    index = _script_index(words)
    if index is None:
        _parser().print_help(sys.stderr)
        sys.exit(2)
    return _parser().parse_args(words[: index + 1]), list(words[index + 1 :])
