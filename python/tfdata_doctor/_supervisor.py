"""Runs a program so that nothing of it is left: it and all that it started end with it, whatever ends this side.

A process of its own stands between: the program's children that outlive their parents become its children (Linux), and
where this side is gone, even by SIGKILL, it ends them and removes the folder that was made for them.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, Any, Optional

#: What the program has after an interrupt to clean up after itself.
_SECONDS_TO_CLEAN_UP = 5.0
#: A process that has been killed goes at once, unless a device holds it.
_SECONDS_TO_DIE = 10.0
_SET_CHILD_SUBREAPER = 36  # of prctl(2)
#: Sent where the program is to end, and the folder is not this process's to remove.
_END = b"e"


class Supervised:
    """A program that runs under supervision. `stdout` has what it prints, errors too, where no other file was given."""

    def __init__(self, words: Sequence[str], environment: Mapping[str, str], folder: str, output: Any) -> None:
        self._process = subprocess.Popen(
            # Nothing of the user's Python but the standard library.
            [sys.executable, "-I", "-S", os.path.abspath(__file__), folder, *words],
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self.stdout: Optional[IO[bytes]] = self._process.stdout

    def wait(self, seconds: Optional[float] = None) -> Optional[int]:
        """Its exit status, 128 and more after a signal; None where it runs on after these seconds."""
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def end(self) -> None:
        """Interrupts the program, and kills what is left of it."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.write(_END)
            self._process.stdin.close()
        if self.wait(_SECONDS_TO_CLEAN_UP + _SECONDS_TO_DIE + 5) is None:
            self._process.kill()
            self._process.wait()


@contextlib.contextmanager
def supervised(
    words: Sequence[str], environment: Mapping[str, str], folder: str, output: Any = subprocess.PIPE
) -> Iterator[Supervised]:
    """A program that has ended, with all that it started, when the block ends. `folder` goes if this process dies."""
    running = Supervised(words, environment, folder, output)
    try:
        yield running
    finally:
        running.end()


# --- The process that stands between. It runs with the standard library alone. ---


def _descendants() -> set[int]:
    """All processes that this one has below it."""
    parents: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError, ValueError, IndexError):
                with open(f"/proc/{name}/stat", "rb") as file:
                    parent = int(file.read().rpartition(b")")[2].split()[1])
                parents.setdefault(parent, []).append(int(name))
    found: set[int] = set()
    waiting = [os.getpid()]
    while waiting:
        below = parents.get(waiting.pop(), [])
        found.update(below)
        waiting.extend(below)
    return found


def _reap() -> bool:
    """Takes leave of children that have ended; whether there are others."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True


def _kill_all(group: int) -> None:
    """Ends whatever the program has left."""
    until = time.monotonic() + _SECONDS_TO_DIE
    with contextlib.suppress(OSError):
        os.killpg(group, signal.SIGKILL)
    while time.monotonic() < until:
        try:
            below = _descendants()
        except OSError:  # no /proc
            return
        for process in below:
            with contextlib.suppress(OSError):
                os.kill(process, signal.SIGKILL)
        if not _reap():
            return
        time.sleep(0.01)


def _ended_by_itself(program: int) -> Optional[int]:
    """The program's status where it has ended, as a shell counts it."""
    ended, status = os.waitpid(program, os.WNOHANG)
    if not ended:
        return None
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def _wait(program: int, seconds: Optional[float], is_heard: bool) -> Optional[int]:
    """Until the program has ended; None where the other side is heard first, or after these seconds."""
    woken, waking = os.pipe()
    os.set_blocking(waking, False)
    signal.set_wakeup_fd(waking, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    until = None if seconds is None else time.monotonic() + seconds
    while True:
        status = _ended_by_itself(program)
        if status is not None:
            return status
        left = None if until is None else until - time.monotonic()
        if left is not None and left <= 0:
            return None
        ready, _, _ = select.select([woken, 0] if is_heard else [woken], [], [], left)
        if 0 in ready:
            return None
        os.read(woken, 4096)


def main(folder: str, words: Sequence[str]) -> int:
    """The program's exit status."""
    # Not SIG_IGN, which the program would inherit.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, lambda *_: None)
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL, start_new_session=True)
    program = process.pid
    status = _wait(program, None, is_heard=True)
    if status is None:
        is_alone = os.read(0, 1) != _END
        with contextlib.suppress(OSError):
            os.killpg(program, signal.SIGINT)
        status = _wait(program, _SECONDS_TO_CLEAN_UP, is_heard=False)
        _kill_all(program)
        if is_alone:
            shutil.rmtree(folder, ignore_errors=True)
        return 128 + signal.SIGKILL if status is None else status
    _kill_all(program)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
