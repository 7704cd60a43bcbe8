"""Runs the user's program in processes of its own, with changed texts, and leaves nothing of them."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Optional, TypeVar

from tfdata_doctor import _writes as writes
from tfdata_doctor._program import DoctorError
from tfdata_doctor._supervisor import supervised

from . import jobs
from .folder import make_folder, remove_dead_folders
from .jobs import Answer, Job, Program
from .notebook import SUFFIX, read_source
from .overlay import write_texts
from .pins import Pins
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


class WriteRefusedError(DoctorError):
    """The program was about to write what is the user's; the message says where, and what to do."""


class Runner:
    """Runs a program again and again; what it needs for that is in a temporary folder, which goes at the end."""

    def __init__(
        self, program: Program, environment: Mapping[str, str], named: Sequence[str] = (), roots: Sequence[str] = ()
    ) -> None:
        self._program = program
        self._environment = environment
        self._named = tuple(named)
        self._roots = tuple(roots)
        self._pins = Pins()
        self._folder = ""
        self._lock = -1
        #: The loop that was recorded last, whose steps count.
        self._loop: dict[str, Any] = {}
        self._number = 0
        #: What the runs did not do, such as saving a model, and where.
        self.left_out: list[str] = []
        #: How long the run took that ended last, importing TensorFlow included.
        self.last_seconds = 0.0

    def __enter__(self: R) -> R:
        remove_dead_folders()
        try:
            self._folder, self._lock = make_folder()
        except OSError as error:
            raise DoctorError(
                f"{tempfile.gettempdir()}: no temporary folder can be made: {error.strerror}; TMPDIR sets another place"
            ) from None
        return self

    def __exit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], traceback: Optional[TracebackType]
    ) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)
        os.close(self._lock)

    def record(self, texts: Mapping[str, Source], skip: int, steps: int, seconds: float) -> Answer:
        """Records steps; the answer names the folder of the trace. Raises ProgramFailed, DoctorError."""
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
        self._pins.check()
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
            loop={} if mode == "record" else self._loop,
            folders=(self._folder,),
            named=self._named,
            roots=self._roots,
        )
        write_texts(job.texts, self._with_notebook(texts))
        jobs.write(str(folder / "job.json"), job)
        code = (
            f"import sys; sys.path[0] = {_PACKAGE_PARENT!r}; "
            f"from tfdata_doctor_fix.child import main; main({str(folder / 'job.json')!r})"
        )
        begun, clock = time.monotonic(), time.time()
        environment = {**os.environ, **writes.environment(self._folder, str(folder)), "PYTHONUNBUFFERED": "1"}
        words = [sys.executable, "-c", code]
        with supervised(words, {**environment, **self._environment}, self._folder) as process:
            assert process.stdout is not None
            tail = _Tail(process.stdout)
            status = process.wait(seconds + _GRACE_SECONDS)
        self.last_seconds = time.monotonic() - begun
        tail.join(timeout=5)
        process.stdout.close()
        answer = jobs.read_answer(job.answer)
        if answer is not None:
            self._keep(answer, clock)
        shutil.rmtree(folder / "tmp", ignore_errors=True)
        if status is None and (answer is None or answer.ended == "error"):
            raise ProgramFailed(f"it hung: no answer after {seconds + _GRACE_SECONDS:.0f} s", tail.text())
        if answer is None or answer.ended == "error":
            said = _last_line(tail.text())
            raise ProgramFailed(f"the program ended with status {status}" + (f": {said}" if said else ""), tail.text())
        return answer

    def _keep(self, answer: Answer, begun: float) -> None:
        """What a run says beside its figures. Raises DoctorError where it counts for nothing."""
        if answer.loop:
            self._loop = answer.loop
        self.left_out += [words for words in answer.left_out if words not in self.left_out]
        if answer.refused:
            raise WriteRefusedError(answer.refused)
        self._pins.add(answer.files, begun)
        self._pins.check()
