"""Runs the user's program in processes of its own, with changed texts, and ends them with all that they started."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Optional, TypeVar

from . import jobs
from .jobs import Answer, Job, Program
from .notebook import SUFFIX, read_source
from .overlay import write_texts
from .source import Source

R = TypeVar("R", bound="Runner")

_PACKAGE_PARENT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
#: What is kept of what the program prints: its end.
_KEPT_BYTES = 16384
#: Of a program that is run for its data, which are read before its steps.
_STEPS_TO_LOOK = 3
#: For what comes before the first step, such as importing TensorFlow, and after the last.
_GRACE_SECONDS = 90.0


class ProgramFailed(Exception):  # noqa: N818  (of the user's program, which is for the caller to judge)
    """The program ended with an error; `output` is the end of what it printed."""

    def __init__(self, message: str, output: str) -> None:
        super().__init__(message)
        self.output = output


class _Tail(threading.Thread):
    """Reads a stream to its end, and keeps the last of it."""

    def __init__(self, stream: IO[bytes]) -> None:
        super().__init__(daemon=True)
        self._stream = stream
        self._kept = b""
        self.start()

    def run(self) -> None:
        with contextlib.suppress(ValueError, OSError):
            while True:
                piece = os.read(self._stream.fileno(), 65536)
                if not piece:
                    return
                self._kept = (self._kept + piece)[-_KEPT_BYTES:]

    def text(self) -> str:
        """What was kept."""
        return self._kept.decode("utf-8", "replace")


def _last_line(text: str) -> str:
    """The line of a traceback that says what is wrong."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:200] if lines else ""


@contextlib.contextmanager
def _as_group(words: list[str], environment: Mapping[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """A process in a group of its own; at the end, whatever is left of the group is killed."""
    process = subprocess.Popen(
        words,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        yield process
    except BaseException:
        # Ctrl-C: the program may clean up after itself.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=5)
        raise
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


class Runner:
    """Runs a program again and again; what it needs for that is in a temporary folder, which goes at the end."""

    def __init__(self, program: Program, environment: Mapping[str, str]) -> None:
        self._program = program
        self._environment = {**os.environ, **environment, "PYTHONUNBUFFERED": "1"}
        self._folder = ""
        self._number = 0
        #: How long the run took that ended last, importing TensorFlow included.
        self.last_seconds = 0.0

    def __enter__(self: R) -> R:
        self._folder = tempfile.mkdtemp(prefix="tfdata-doctor-fix-")
        return self

    def __exit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], traceback: Optional[TracebackType]
    ) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)

    def record(self, texts: Mapping[str, Source], skip: int, steps: int, seconds: float) -> Answer:
        """Records steps; the answer names the folder of the trace. Raises ProgramFailed."""
        return self._run("record", texts, skip, steps, seconds)

    def measure(self, texts: Mapping[str, Source], skip: int, steps: int, seconds: float) -> Answer:
        """Takes the times of steps. Raises ProgramFailed."""
        return self._run("measure", texts, skip, steps, seconds)

    def measure_ready(self, texts: Mapping[str, Source], skip: int, steps: int, seconds: float) -> Answer:
        """The same with an input whose elements are ready. Raises ProgramFailed."""
        return self._run("ready", texts, skip, steps, seconds)

    def look(
        self, texts: Mapping[str, Source], seconds: float, *, is_seeded: bool = True, is_shuffled: bool = True
    ) -> Answer:
        """Hashes the first elements of the program's datasets, and looks at its caches. Raises ProgramFailed.

        `is_seeded`: what has no seed gets one, and caches are not looked at. Not `is_shuffled`: shuffles do nothing.
        """
        return self._run("compare", texts, 0, _STEPS_TO_LOOK, seconds, (is_seeded, is_shuffled))

    def _with_notebook(self, texts: Mapping[str, Source]) -> Mapping[str, Source]:
        """Python runs no notebook, but its program."""
        path = os.path.realpath(self._program.name)
        return texts if not path.endswith(SUFFIX) or path in texts else {**texts, path: read_source(path)}

    def _run(
        self,
        mode: str,
        texts: Mapping[str, Source],
        skip: int,
        steps: int,
        seconds: float,
        look: tuple[bool, bool] = (True, True),
    ) -> Answer:
        self._number += 1
        folder = Path(self._folder, str(self._number))
        folder.mkdir()
        job = Job(
            mode=mode,
            program=self._program,
            texts=str(folder / "texts.json"),
            answer=str(folder / "answer.json"),
            skip=skip,
            steps=steps,
            seconds=seconds,
            logdir=str(folder / "logs"),
            is_seeded=look[0],
            is_shuffled=look[1],
        )
        write_texts(job.texts, self._with_notebook(texts))
        jobs.write(str(folder / "job.json"), job)
        code = (
            f"import sys; sys.path[0] = {_PACKAGE_PARENT!r}; "
            f"from tfdata_doctor._fix.child import main; main({str(folder / 'job.json')!r})"
        )
        begun = time.monotonic()
        with _as_group([sys.executable, "-c", code], self._environment) as process:
            assert process.stdout is not None
            tail = _Tail(process.stdout)
            until = time.monotonic() + seconds + _GRACE_SECONDS
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=max(0.0, until - time.monotonic()))
            status = process.returncode
        self.last_seconds = time.monotonic() - begun
        tail.join(timeout=5)
        process.stdout.close()
        answer = jobs.read_answer(job.answer)
        if answer is None and status is None:
            raise ProgramFailed(f"it hung: no answer after {seconds + _GRACE_SECONDS:.0f} s", tail.text())
        if answer is None or answer.ended == "error":
            said = _last_line(tail.text())
            raise ProgramFailed(f"the program ended with status {status}" + (f": {said}" if said else ""), tail.text())
        return answer
