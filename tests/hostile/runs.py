"""Runs of the program with what each took: exit status, CPU time, peak of memory, and what it printed.

A process that was started keeps the peak of memory of the one that started it until it needs more itself. So each is
started by a worker, a small process that never reads what the program wrote; nothing below its 20 MB can be seen.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import dataclasses
import multiprocessing
import os
import pathlib
import resource
import shlex
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from typing import Optional

MOST_CPU_SECONDS = 5.0
MOST_MEGABYTES = 256.0
HANGS_AFTER_SECONDS = 60.0
# What a run that has failed already may take on before it is ended, for the sake of the machine.
ENDED_AFTER_CPU_SECONDS = 15
ENDED_AFTER_BYTES = 4 << 30
# Variables by which the program knows a CI job: a run sets those that it is about.
OF_CI_JOBS = ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "TF_BUILD", "TEAMCITY_VERSION")
LOG_OF_A_JOB = {"GITHUB_ACTIONS": "true"}


@dataclasses.dataclass(frozen=True)
class Run:
    """One command line. `document` names what it prints on standard output, of those that sinks.py knows."""

    arguments: tuple[str, ...]
    document: str = "text"
    # Documents that it writes into files, by what they are.
    outputs: tuple[tuple[str, pathlib.Path], ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    stdin: str = os.devnull
    # A file instead of the one that is read back, such as /dev/full; "closed": none at all.
    stdout: Optional[str] = None
    # The exit statuses that are right, where not all of 0 to 3 are.
    codes: tuple[int, ...] = (0, 1, 2, 3)
    # What standard error, or standard output, must hold.
    says: str = ""
    prints: str = ""


@dataclasses.dataclass(frozen=True)
class Ended:
    code: int
    signal: int
    cpu_seconds: float
    wall_seconds: float
    megabytes: float
    was_killed: bool


def run(program: str, *arguments: str, document: str = "text", job: bool = False, **others: object) -> Run:
    """A run of the program; `job`: in the log of a CI job."""
    environment = tuple(LOG_OF_A_JOB.items()) if job else ()
    return Run((program, *arguments), document, environment=environment, **others)  # type: ignore[arg-type]


def shown(one: Run) -> str:
    """The command to see it again."""
    words = [f"{name}={shlex.quote(value)}" for name, value in one.environment]
    words += [shlex.quote(word.encode("utf-8", "surrogateescape").decode("utf-8", "replace")) for word in one.arguments]
    if one.stdin != os.devnull:
        words.append(f"< {shlex.quote(one.stdin)}")
    if one.stdout is not None:
        words.append(">&-" if one.stdout == "closed" else f"> {shlex.quote(one.stdout)}")
    return " ".join(words)


def environment_of(one: Run) -> dict[str, str]:
    environment = {name: value for name, value in os.environ.items() if name not in OF_CI_JOBS}
    environment.update(one.environment)
    return environment


def measure(one: Run, stdout: str, stderr: str, wall_limit: float) -> Ended:
    """Runs it in a session of its own, which is killed as a whole after `wall_limit` seconds.

    `was_killed` says so, or that it took on far more CPU time than it may.
    """
    words = list(one.arguments)
    if one.stdout == "closed":
        words = ["sh", "-c", 'exec "$@" >&-', "sh", *words]
    target = stdout if one.stdout in (None, "closed") else str(one.stdout)
    begin = time.monotonic()
    with open(one.stdin, "rb") as source, open(target, "wb") as out, open(stderr, "wb") as errors:
        child = subprocess.Popen(
            words, stdin=source, stdout=out, stderr=errors, env=environment_of(one), start_new_session=True
        )
    ended_after = int(ENDED_AFTER_CPU_SECONDS * wall_limit / HANGS_AFTER_SECONDS)
    with contextlib.suppress(ProcessLookupError):
        resource.prlimit(child.pid, resource.RLIMIT_CPU, (ended_after, ended_after))
        resource.prlimit(child.pid, resource.RLIMIT_DATA, (ENDED_AFTER_BYTES, resource.RLIM_INFINITY))
    was_killed = threading.Event()

    def kill() -> None:
        was_killed.set()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)

    timer = threading.Timer(wall_limit, kill)
    timer.start()
    _, status, usage = os.wait4(child.pid, 0)
    timer.cancel()
    child.returncode = 0  # It has been waited for.
    ended_by = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else -1
    wall = time.monotonic() - begin
    cpu = usage.ru_utime + usage.ru_stime
    is_endless = was_killed.is_set() or (ended_by in (signal.SIGKILL, signal.SIGXCPU) and cpu >= ended_after - 1)
    return Ended(code, ended_by, cpu, wall, usage.ru_maxrss / 1024, is_endless)


class Workers:
    """Some processes that run commands at the same time."""

    def __init__(self, count: int) -> None:
        self.count = count
        context = multiprocessing.get_context("spawn")
        self.pool = concurrent.futures.ProcessPoolExecutor(count, mp_context=context)

    def measured(
        self, runs: Sequence[Run], folder: pathlib.Path, wall_limit: float
    ) -> Iterator[tuple[Run, Ended, pathlib.Path, pathlib.Path]]:
        """Each with how it ended and the files of its standard output and standard error, in order."""
        waiting: list[tuple[Run, pathlib.Path, pathlib.Path, concurrent.futures.Future[Ended]]] = []
        for index, one in enumerate(runs):
            stdout, stderr = folder / f"{index}.stdout", folder / f"{index}.stderr"
            future = self.pool.submit(measure, one, str(stdout), str(stderr), wall_limit)
            waiting.append((one, stdout, stderr, future))
        for one, stdout, stderr, future in waiting:
            yield one, future.result(), stdout, stderr

    def stop(self) -> None:
        self.pool.shutdown()
