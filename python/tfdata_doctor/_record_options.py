"""Records a tf.data pipeline several times under TensorFlow's profiler, for 'tfdata-doctor compare'.

PIPELINE.py is a file of yours with a function make_dataset() that returns the tf.data.Dataset; what follows -- is its
sys.argv. It can import modules from its own folder and from the root of its checkout. Each recording is made in a
process of its own, so that recordings do not depend on each other: a few steps to warm up, then --steps steps under the
profiler, each inside of a marker. Transformations are named after their source lines, so that a comparison says them.

  {prog} new_input.py --out traces/candidate
  {prog} --base old_input.py --candidate new_input.py --out traces
  tfdata-doctor compare traces/base -- traces/candidate

The second form records the two in turn, so that a machine that becomes slower or faster does so for both. Each
recording is a directory, run_000, run_001 and so on, which exists as a whole or not at all.

--ideal also records the same steps on one element that is kept in memory, make_dataset().take(1).cache().repeat(): what
the loop could do if its input cost nothing. These recordings are in a folder of their own, DIR_ideal, or DIR/ideal for
two versions (of the base).

PIPELINE.py runs several times, so it can write to a temporary folder and to what --writes names alone; what saves
models and logs does nothing. Uploads are not held back.

Needs TensorFlow: python3 -m pip install tensorflow-cpu
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Union

from ._writes import named_places

# The option that a process which makes one recording is started with, in front of its directory.
ONE_RECORDING = "--one-recording"


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is not positive")
    return number


def _not_negative(kind: type[Union[int, float]]) -> Callable[[str], float]:
    def parse(text: str) -> float:
        number = kind(text)
        if not 0 <= number < 1e9:
            raise argparse.ArgumentTypeError(f"{text} is negative or too large")
        return number

    parse.__name__ = kind.__name__
    return parse


def parse_arguments(words: Sequence[str], prog: str) -> argparse.Namespace:
    """The options; those after -- are `arguments`. Ends the process with a message where they are wrong."""
    end = words.index("--") if "--" in words else len(words)
    own, arguments = list(words[:end]), list(words[end + 1 :])
    parser = argparse.ArgumentParser(
        prog=prog,
        description=(__doc__ or "").format(prog=prog),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage="%(prog)s PIPELINE.py [OPTION...] [-- ARGUMENT...]\n"
        "       %(prog)s --base OLD.py --candidate NEW.py [OPTION...] [-- ARGUMENT...]",
    )
    parser.add_argument("pipeline", metavar="PIPELINE.py", nargs="?", help="file with the function")
    parser.add_argument("--base", metavar="OLD.py", help="record two versions in turn: the one to compare with")
    parser.add_argument("--candidate", metavar="NEW.py", help="and the one to judge")
    parser.add_argument("--function", metavar="NAME", default="make_dataset", help="default: %(default)s")
    parser.add_argument(
        "--runs",
        metavar="N",
        type=_positive,
        default=5,
        help="recordings of each version (default: %(default)s, the fewest that times are judged from)",
    )
    parser.add_argument(
        "--steps", metavar="N", type=_positive, default=40, help="steps under the profiler (default: %(default)s)"
    )
    parser.add_argument(
        "--warmup", metavar="N", type=_not_negative(int), default=10, help="steps before them (default: %(default)s)"
    )
    parser.add_argument(
        "--step-ms",
        metavar="MS",
        type=_not_negative(float),
        default=0,
        help="how long the consumer sleeps after each element, in place of a training step (default: %(default)s)",
    )
    parser.add_argument("--out", metavar="DIR", default="traces", help="default: %(default)s")
    parser.add_argument(
        "--ideal", action="store_true", help="record the steps on one element from memory, too, for whatif --ideal"
    )
    parser.add_argument(
        "--writes",
        metavar="DIR",
        action="append",
        default=[],
        help="a folder or file that PIPELINE.py may write, may be repeated",
    )
    parser.add_argument("--no-lines", action="store_true", help="do not name transformations after their source lines")
    parser.add_argument("--append", action="store_true", help="number on from the recordings that are there")
    parser.add_argument(ONE_RECORDING, help=argparse.SUPPRESS)
    options = parser.parse_args(own)
    options.arguments = arguments
    options.prog = prog
    try:
        options.writes = named_places(options.writes)
    except ValueError as error:
        parser.error(str(error))
    has_two = bool(options.base) and bool(options.candidate)
    if bool(options.pipeline) == has_two or bool(options.base) != bool(options.candidate):
        parser.error("give PIPELINE.py, or both --base OLD.py and --candidate NEW.py")
    return options
