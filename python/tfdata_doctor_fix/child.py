"""The process in which the user's program runs: recorded, measured, or looked at for its data.

    python -c "... main(JOB)"

It ends the program as soon as there is enough, by SystemExit, so that the program's own clean-up runs.
"""

from __future__ import annotations

import atexit
import builtins
import contextlib
import ctypes
import os
import resource
import signal
import sys
import threading
import traceback
from collections.abc import Iterator

from tfdata_doctor._hooks import Hooks
from tfdata_doctor._loops import Loops
from tfdata_doctor._recorder import LineNames, Recorder
from tfdata_doctor._savers import Savers
from tfdata_doctor._script import execute
from tfdata_doctor._whole_run import Window
from tfdata_doctor._writes import Writes, is_below

from . import jobs
from .clock import Clock
from .elements import Looker
from .jobs import Answer, Job
from .notebook import SUFFIX
from .overlay import install_from
from .pins import CODE
from .ready import ReadyInput

#: Files that are watched while the program runs again and again: those of code, and small ones, such as settings.
_MOST_FILES = 2000
_MOST_BYTES = 1 << 20
#: A program that catches SystemExit, or whose threads go on, is ended all the same.
_GRACE_SECONDS = 10.0
_SET_PARENT_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of prctl(2)


class _Run:
    """One run of the program."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.answer = Answer()
        self.writes = Writes(job.folders, job.named, self._refused)
        self.savers = Savers(self.writes, os.path.dirname(job.answer))
        self.looker = Looker(self.answer, job)
        self.ready_input = ReadyInput(self.answer, job)
        self.names = LineNames(job.mode == "record")
        self.loops = self._loops()
        self.loops.is_paused = lambda: self.looker.is_inside
        self.hooks = Hooks(self.loops, self._on_tensorflow, self.savers.open_keras)
        self.made: object = None

    def _loops(self) -> Loops:
        job = self.job
        if job.mode != "record":
            clock = Clock(job, self.answer, self.end)
            return Loops(
                lambda *_: clock, Window(1, 1), lambda *_: None, lambda loop: not job.loop or loop.is_like(job.loop)
            )
        return Loops(
            lambda first, last, watch: Recorder(job.logdir, first, last, self.names, watch),
            Window(job.skip + 1, job.skip + job.steps),
            lambda *_: self.end("enough"),
        )

    def _on_tensorflow(self) -> None:
        self.savers.open_tensorflow()
        self.looker.open()
        self.ready_input.open()
        self.names.open()

    def _refused(self, what: str, cure: str) -> int:
        """What was measured before counts: programs write their results last."""
        if not self.answer.ended and len(self.answer.ends) >= self.job.skip + max(self.job.steps, 1):
            self.save("end")
        if self.answer.ended:
            self.writes.left_out.append(what)
            self._write()
        else:
            self.answer.refused = f"{what}: {cure}"
            self.save("refused")
        return 0

    def save(self, ended: str) -> None:
        """Writes the answer: the first reason counts."""
        if self.answer.ended:
            return
        self.answer.ended = ended
        recorded, recorder = self.loops.recorded, self.loops.recorder
        if recorded is not None:
            self.answer.steps, self.answer.loop = recorded.step, recorded.key()
        if recorder is not None:
            self.answer.run_directory = str(recorder.run_directory or "")
        self.answer.peak_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        self.answer.files = dict(self._files())
        self._write()

    def _write(self) -> None:
        self.answer.left_out = self.writes.left_out
        jobs.write(self.job.answer, self.answer)

    def _files(self) -> Iterator[tuple[str, tuple[int, int]]]:
        """The files of the program that it has read."""
        modules = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
        names = {self.job.program.name, *self.writes.read, *filter(None, modules)}
        # Compiled files are Python's, not the user's.
        paths = {os.path.realpath(name) for name in names if not name.endswith(".pyc")}
        own = [path for path in paths if is_below(path, self.job.roots) and not is_below(path, self.job.named)]
        for path in sorted(own, key=lambda path: (not path.endswith(CODE), path))[:_MOST_FILES]:
            with contextlib.suppress(OSError):
                found = os.stat(path)
                if path.endswith(CODE) or found.st_size <= _MOST_BYTES:
                    yield path, (found.st_mtime_ns, found.st_size)

    def end(self, reason: str) -> None:
        """There is enough: the program's clean-up runs, and then the process ends."""
        is_first = not self.answer.ended
        self.save(reason)
        if is_first:
            watch = threading.Timer(_GRACE_SECONDS, os._exit, (0,))
            watch.daemon = True
            watch.start()
        raise SystemExit(0)

    def run(self) -> int:
        program = self.job.program
        self.hooks.install()
        if program.name.endswith(SUFFIX) and not hasattr(builtins, "display"):
            builtins.display = lambda *_, **__: None  # type: ignore[attr-defined]
        ended, status = "end", 0
        try:
            # An iterator that goes away may wait for a Python function that waits for this thread.
            self.made = execute(program.name, program.arguments, program.is_module)
        except SystemExit as left:
            if left.code not in (None, 0) and not self.answer.ended:
                ended, status = "error", left.code if isinstance(left.code, int) else 1
                if isinstance(left.code, str):
                    print(left.code, file=sys.stderr)
        except BaseException as error:
            if not self.answer.ended:
                self.answer.refused = self.writes.refused_by(error)
                self.save("refused" if self.answer.refused else "error")
                raise
        finally:
            self.hooks.remove()
            if not self.answer.ended:
                self._end_loop()
        self.save(ended)
        return status

    def _end_loop(self) -> None:
        """The program has ended by itself."""
        if self.job.mode == "record":
            self.loops.on_done = lambda *_: None
            self.loops.end()
        elif self.loops.recorded is not None:
            self.loops.recorded.end_step()


def main(path: str) -> None:
    """Does the job of a file, and ends the process."""
    job = jobs.read_job(path)
    # Where this package was found from, if the user's Python does not find it.
    sys.path.pop(0)
    install_from(job.texts)
    _die_with_parent()
    status = 1
    run = _Run(job)
    run.writes.begin()
    try:
        status = run.run()
    except BaseException:
        traceback.print_exc()
    _leave(status)


def _die_with_parent() -> None:
    """A search that is killed leaves no program running; where this is not Linux, it may."""
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)


def _leave(status: int) -> None:
    """Ends the process, after what the program registered for its end.

    Not as Python does: a pipeline with Python functions may wait forever for an interpreter that is ending.
    """
    watch = threading.Timer(_GRACE_SECONDS, os._exit, (status,))
    watch.daemon = True
    watch.start()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
