"""`record`: makes several recordings of a pipeline, each in a process of its own."""

from __future__ import annotations

import argparse
import contextlib
import glob
import importlib.util
import os
import re
import shlex
import shutil
import signal
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import FrameType, ModuleType
from typing import IO, Any, NamedTuple, Optional, Union

from ._machine import MachineWatch
from ._record_options import ONE_RECORDING, parse_arguments
from ._savers import Savers
from ._supervisor import supervised
from ._writes import Writes, environment, missing_landlock, what_may_be_written
from .lines import name_datasets

INSTALL = "python3 -m pip install tensorflow-cpu"
RUN_NAME = re.compile(r"run_(\d+)")
TRACES = os.path.join("plugins", "profile", "*", "*.xplane.pb")
# What a process ends with whose dataset ended too early, or that may not write: another try would end the same way.
DATASET_ENDED = 4
WRITE_REFUSED = 5
# A process for one recording: it has this package, and nothing else of the folder that it lies in.
CHILD = (
    "import sys; sys.path[0] = sys.argv[1]; from tfdata_doctor import _record; sys.path.pop(0); "
    "sys.exit(_record.main(sys.argv[3:], sys.argv[2]))"
)
# What lies beside a trace, with the facts of its recording.
BESIDE = ("recording.json", "memory.csv", "dataset-lines.json")
# Only with the second element does an ideal recording know that the first was the last of its input, and let go of it.
IDEAL_WARMUP = 2


class RecordError(Exception):
    """What went wrong and what to do about it."""


class DatasetEndedError(RecordError):
    """The dataset has fewer elements than steps."""


class WriteRefusedError(RecordError):
    """The pipeline would write what is the user's."""


# --- One recording, in its own process ---


def module_folders(path: str) -> list[str]:
    """The folder of the file, and the root of its checkout if it is in one."""
    folder = os.path.dirname(os.path.abspath(path))
    root = folder
    while not os.path.exists(os.path.join(root, ".git")):
        if root == os.path.dirname(root):
            return [folder]
        root = os.path.dirname(root)
    return [folder, root]


def import_pipeline(path: str) -> ModuleType:
    """Runs the user's file as a module that finds the modules of its own checkout, not those of the other version."""
    sys.path[:0] = module_folders(path)
    spec = importlib.util.spec_from_file_location("recorded_pipeline", path)
    if spec is None or spec.loader is None:
        raise RecordError(f"{path}: not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def find_function(module: ModuleType, path: str, name: str) -> Callable[[], Any]:
    function = getattr(module, name, None)
    if callable(function):
        made: Callable[[], Any] = function
        return made
    raise RecordError(
        f"{path} has no function {name}(); write one that returns the dataset, or name yours with --function"
    )


def next_element(iterator: Iterator[Any], step: int, steps: int) -> Any:
    try:
        return next(iterator)
    except StopIteration:
        raise DatasetEndedError(
            f"the dataset ended after {step} of {steps} steps; add .repeat() or take fewer with --steps and --warmup"
        ) from None


def ideal_of(dataset: Any, options: argparse.Namespace) -> Any:
    """The first element of the dataset, again and again, from memory."""
    if not all(hasattr(dataset, method) for method in ("take", "cache", "repeat")):
        raise RecordError(
            f"{options.function}() of {options.pipeline} returns a {type(dataset).__name__}; "
            "--ideal needs a tf.data.Dataset"
        )
    return dataset.take(1).cache().repeat()


def dataset_of(options: argparse.Namespace) -> Any:
    sys.argv = [options.pipeline, *options.arguments]
    dataset = find_function(import_pipeline(options.pipeline), options.pipeline, options.function)()
    return ideal_of(dataset, options) if options.ideal else dataset


def make_guarded_recording(options: argparse.Namespace, directory: str) -> None:
    """Makes a recording that leaves the user's files as they are. Raises WriteRefusedError where it cannot."""
    folder = os.path.dirname(directory)

    def refuse(what: str, cure: str) -> int:
        print(f"{options.prog}: {what}: {cure}", file=sys.stderr, flush=True)
        return WRITE_REFUSED

    writes = Writes([folder], options.writes, refuse)
    writes.begin()
    try:
        make_recording(options, directory, Savers(writes, folder))
    except Exception as error:
        refused = writes.refused_by(error)
        if not refused:
            raise
        raise WriteRefusedError(refused) from error


def make_recording(options: argparse.Namespace, directory: str, savers: Savers) -> None:
    """Writes a log directory with the profile of one run."""
    import tensorflow as tf

    savers.open_tensorflow()
    warmup = max(options.warmup, IDEAL_WARMUP) if options.ideal else options.warmup
    with contextlib.ExitStack() as stack:
        naming = None if options.no_lines else stack.enter_context(name_datasets())
        iterator = iter(dataset_of(options))
    steps = warmup + options.steps
    watch = MachineWatch()
    for step in range(warmup):
        watch.begin_step(step + 1)
        next_element(iterator, step, steps)
        time.sleep(options.step_ms / 1000)
    tf.profiler.experimental.start(directory)
    watch.enter("during")
    try:
        for step in range(options.steps):
            watch.begin_step(warmup + step + 1)
            with tf.profiler.experimental.Trace("train", step_num=step, _r=1):
                next_element(iterator, warmup + step, steps)
                time.sleep(options.step_ms / 1000)
    finally:
        watch.enter("after")
        tf.profiler.experimental.stop()
    watch.write(Path(directory))
    if naming is not None and naming.names:
        naming.write(directory)


# --- All recordings ---


class Side(NamedTuple):
    """What is recorded several times."""

    pipeline: str
    directory: str
    is_ideal: bool = False


def kept_runs(directory: str) -> list[int]:
    """The numbers of the recordings that are there. Errors: something else is there."""
    try:
        names = os.listdir(directory)
    except FileNotFoundError:
        return []
    others = sorted(name for name in names if not RUN_NAME.fullmatch(name))
    if others:
        raise RecordError(
            f"{directory} holds something that is not a recording: {others[0]}; choose an empty folder with --out"
        )
    return sorted(int(match[1]) for match in map(RUN_NAME.fullmatch, names) if match)


def first_number(directory: str, append: bool) -> int:
    runs = kept_runs(directory)
    if runs and not append:
        raise RecordError(
            f"{directory} holds {len(runs)} recordings already; add to them with --append or choose another folder "
            "with --out"
        )
    return runs[-1] + 1 if runs else 0


def command_of(side: Side, options: argparse.Namespace, directory: str) -> list[str]:
    package_folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return [
        sys.executable,
        "-c",
        CHILD,
        package_folder,
        options.prog,
        ONE_RECORDING,
        directory,
        side.pipeline,
        "--function",
        options.function,
        "--steps",
        str(options.steps),
        "--warmup",
        str(options.warmup),
        "--step-ms",
        str(options.step_ms),
        *(["--ideal"] if side.is_ideal else []),
        *(["--no-lines"] if options.no_lines else []),
        *(f"--writes={path}" for path in options.writes),
        "--",
        *options.arguments,
    ]


def last_lines(log: IO[bytes]) -> str:
    log.seek(0)
    return textwrap.indent("".join(log.read().decode(errors="replace").splitlines(keepends=True)[-20:]), "  ")


def keep(scratch: str, directory: str, name: str) -> None:
    """Moves the traces from the log directory that TensorFlow wrote to where compare looks for them."""
    log = os.path.join(scratch, "log")
    traces = sorted(glob.glob(os.path.join(glob.escape(log), TRACES)))
    if not traces:
        raise RecordError("the profiler wrote no trace")
    run = os.path.join(scratch, name)
    os.mkdir(run)
    for trace in traces:
        os.rename(trace, os.path.join(run, os.path.basename(trace)))
    for fact in BESIDE:
        for folder in (log, os.path.dirname(traces[-1])):
            if os.path.exists(os.path.join(folder, fact)):
                os.rename(os.path.join(folder, fact), os.path.join(run, fact))
    os.makedirs(directory, exist_ok=True)
    # The directory appears as a whole.
    os.rename(run, os.path.join(directory, name))


def record_once(side: Side, options: argparse.Namespace, name: str) -> bool:
    """Makes one recording. False if that failed, which it reports."""
    directory = side.directory
    parent = os.path.dirname(os.path.abspath(directory))
    os.makedirs(parent, exist_ok=True)
    # Beside the target, so that it can be renamed into place.
    scratch = tempfile.mkdtemp(prefix=".recording-", dir=parent)
    try:
        with tempfile.TemporaryFile() as log:
            variables = {**os.environ, **environment(scratch, scratch)}
            with supervised(
                command_of(side, options, os.path.join(scratch, "log")), variables, scratch, log
            ) as process:
                status = process.wait()
            if status in (DATASET_ENDED, WRITE_REFUSED):
                kind = DatasetEndedError if status == DATASET_ENDED else WriteRefusedError
                raise kind(last_lines(log).strip().splitlines()[-1].split(": ", 1)[-1])
            if status != 0:
                said = last_lines(log).rstrip("\n")
                print(
                    f"{os.path.join(directory, name)}: recording failed with status {status}:\n{said}", file=sys.stderr
                )
                return False
        keep(scratch, directory, name)
    except (DatasetEndedError, WriteRefusedError):
        raise
    except RecordError as error:
        print(f"{os.path.join(directory, name)}: {error}", file=sys.stderr)
        return False
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    print(os.path.join(directory, name), flush=True)
    return True


def sides_of(options: argparse.Namespace) -> list[Side]:
    """What to record; the ideal last."""
    if options.pipeline:
        ideal = Side(options.pipeline, options.out.rstrip(os.sep) + "_ideal", True)
        sides = [Side(options.pipeline, options.out)]
    else:
        ideal = Side(options.base, os.path.join(options.out, "ideal"), True)
        sides = [
            Side(options.base, os.path.join(options.out, "base")),
            Side(options.candidate, os.path.join(options.out, "candidate")),
        ]
    return [*sides, ideal] if options.ideal else sides


def next_command(sides: Sequence[Side], first: str) -> list[str]:
    """What to ask tfdata-doctor about the recordings; `first` is the name of the first new one."""
    *recorded, ideal = [side.directory for side in sides]
    if len(recorded) == 1:
        return ["tfdata-doctor", "whatif", "--ideal", ideal, os.path.join(recorded[0], first)]
    return ["tfdata-doctor", "compare", "--ideal", ideal, recorded[0], "--", recorded[1]]


def record_all(options: argparse.Namespace) -> int:
    """How many recordings failed."""
    sides = sides_of(options)
    for side in sides:
        if not os.path.isfile(side.pipeline):
            raise RecordError(f"{side.pipeline}: no such file")
    firsts = [first_number(side.directory, options.append) for side in sides]
    runs, steps = len(sides) * options.runs, options.warmup + options.steps
    print(
        f"{options.prog}: {runs} runs of {steps} steps each; the file {what_may_be_written(options.writes)}",
        file=sys.stderr,
    )
    failed = 0
    for run in range(options.runs):
        turns = list(zip(sides, firsts))
        # What comes second runs on a warmer machine: that is the other one each time.
        for side, first in turns if run % 2 == 0 else reversed(turns):
            failed += not record_once(side, options, f"run_{first + run:03}")
    if options.ideal and not failed:
        print(shlex.join(next_command(sides, f"run_{firsts[0]:03}")))
    return failed


# --- Command line ---


def require_tensorflow() -> None:
    if importlib.util.find_spec("tensorflow") is None:
        raise RecordError(f"{sys.executable} has no TensorFlow; install it with: {INSTALL}")


def end(*_: Union[int, Optional[FrameType]]) -> None:
    sys.exit(128 + signal.SIGTERM)


def main(words: Sequence[str], prog: str) -> int:
    """Records as the words say; `prog` is what the command is called."""
    options = parse_arguments(words, prog)
    # So that one who is ended tidies up, too.
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, end)
    try:
        require_tensorflow()
        if options.one_recording:
            make_guarded_recording(options, options.one_recording)
            return 0
        if missing := missing_landlock(options.writes):
            raise RecordError(missing)
        return 1 if record_all(options) else 0
    except (RecordError, OSError) as error:
        print(f"{prog}: {error}", file=sys.stderr)
        is_refused = isinstance(error, WriteRefusedError)
        if options.one_recording and (is_refused or isinstance(error, DatasetEndedError)):
            return WRITE_REFUSED if is_refused else DATASET_ENDED
        return 2
    except KeyboardInterrupt:
        print(f"{prog}: interrupted; whole recordings were kept", file=sys.stderr)
        return 130
