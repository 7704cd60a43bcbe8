"""One of a program's loops: where it stands, its steps, and what happens between two elements."""

from __future__ import annotations

import linecache
import os
import sys
import time
import weakref
from collections import deque
from collections.abc import Mapping
from typing import Any, Optional, Protocol

from ._libraries import OWN_PACKAGES, Libraries
from ._whole_run import WholeRun, Window

#: What a loop shows of being a training, best last: nothing but taking elements, something that takes time, calls of
#: compiled functions, gradients, and Model.fit.
NOTHING, WORK, FUNCTION, GRADIENT, FIT = range(5)

_BODIES = 10
_DEEPEST = 12

#: File, function and line of what takes an element: of a library, empty where it is the user herself, and of the user's
#: frames, the innermost first.
Line = tuple[str, str, int]
Path = tuple[Line, tuple[Line, ...]]
#: A fit that no line of the user's is known to call.
FIT_SOMEWHERE: Path = (("", "fit", 0), ())


class Frames:
    """Finds the user's lines on the stack."""

    def __init__(self) -> None:
        self._libraries = Libraries()

    def path(self) -> Optional[Path]:
        """Where this thread takes an element; None where Keras does for its own sake, as in adapt() and evaluate()."""
        library: Line = ("", "", 0)
        found: list[Line] = []
        frame: Any = sys._getframe(1)
        while frame is not None and len(found) < _DEEPEST:
            code = frame.f_code
            file = self._libraries.user_path(code.co_filename)
            module = "" if found else frame.f_globals.get("__name__", "").partition(".")[0]
            if module in ("keras", "tf_keras"):
                return None
            if file:
                found.append((file, code.co_name, frame.f_lineno))
            elif module and module not in ("tensorflow", *OWN_PACKAGES):
                library = (code.co_filename, code.co_name, frame.f_lineno)
            frame = frame.f_back
        return library, tuple(found)


class Listener(Protocol):
    """What hears the steps of all loops."""

    def begin_step(self, loop: Loop, step: int) -> None:
        """A step of a loop begins, whose number is `step`."""

    def end_epoch(self, loop: Loop, is_step: bool) -> None:
        """An epoch of a loop ends."""

    def recorder_of(self, loop: Loop) -> Any:
        """What hears the steps of a loop."""


class Loop:
    """One loop: what a recorder is told of steps, it hears, and tells `listener`."""

    def __init__(self, listener: Listener, path: Path, is_fit: bool) -> None:
        self._listener = listener
        self.path = path
        self.is_fit = is_fit
        #: The step that began last.
        self.step = 0
        self.has_markers = False
        #: Steps of the epochs that have ended.
        self.epoch_ends: list[int] = []
        self.rank = FIT if is_fit else NOTHING
        #: Whether it may go on: its iterator has not ended, or fit has not returned.
        self.is_open = True
        self.bodies: deque[float] = deque(maxlen=_BODIES)
        #: The iterator whose elements are the steps; others in the loop are taken in its steps.
        self.leader: Optional[weakref.ref[Any]] = None
        self.last_iterator: Optional[int] = None
        #: Elements that were taken since another loop took one.
        self.in_a_row = 0
        self.step_seconds: list[float] = []
        self._run = WholeRun()
        self.begun: Optional[float] = None
        self._body_ended: Optional[float] = None
        self.waited = 0.0
        #: Elements that Python saw taken in the step that goes on, and steps in which it saw none.
        self._taken = 0
        self._blind_steps = 0

    @property
    def typical_body(self) -> float:
        """Seconds between two elements; 0 before there are two."""
        return sorted(self.bodies)[len(self.bodies) // 2] if self.bodies else 0.0

    @property
    def where(self) -> str:
        """train.py:61; a loop that no line of the user's takes has none."""
        lines = self.path[1]
        return f"{os.path.basename(lines[0][0])}:{lines[0][2]}" if lines else ""

    def epoch_of(self, step: int) -> int:
        """The epoch of a step, both counted from 1, as far as epochs have ended."""
        return 1 + sum(end < step for end in self.epoch_ends)

    @property
    def epoch_begin(self) -> int:
        """The steps before the epoch that goes on."""
        return self.epoch_ends[-1] if self.epoch_ends else 0

    def is_at(self, line: str) -> bool:
        """Whether "train.py:33" takes its elements, or calls what does."""
        return any(f"/{file}:{number}".endswith(f"/{line}") for file, _, number in self.path[1])

    def key(self) -> dict[str, Any]:
        """What tells the same loop in another run of the program, whose lines may have moved."""
        library, lines = self.path
        texts = [(file, name, line, linecache.getline(file, line).strip()) for file, name, line in lines]
        return {"is_fit": self.is_fit, "library": list(library), "lines": texts}

    def is_like(self, key: Mapping[str, Any]) -> bool:
        """Whether it is the loop of a key: each line is where it was, or its text is."""
        own = self.key()
        pairs = list(zip(own["lines"], key["lines"]))
        return (
            own["is_fit"] == key["is_fit"]
            and own["library"] == key["library"]
            and len(own["lines"]) == len(key["lines"])
            and all(one[:2] == tuple(other[:2]) and (one[2] == other[2] or one[3] == other[3]) for one, other in pairs)
        )

    @property
    def facts(self) -> dict[str, Any]:
        """Which loop it is, for the file beside its trace."""
        file, _, line = self.path[1][0] if self.path[1] else ("", "", 0)
        return {"kind": "fit" if self.is_fit else "loop", "file": file, "line": line}

    @property
    def words(self) -> str:
        """The loop for people."""
        kind = "fit" if self.is_fit else "the loop"
        return f"{kind} at {self.where}" if self.where else kind

    def whole_run(self, window: Window) -> dict[str, Any]:
        """Facts of all steps from the first of the window on; empty where there are few.

        fit with TensorFlow takes its elements in its graph, where nobody sees it: then steps are told by their length.
        """
        is_blind = self._blind_steps > 0
        facts = self._run.lengths(window) if is_blind else self._run.waits(window)
        return {} if facts is None else {"other_steps" if is_blind else "whole_run": facts}

    def begin_step(self, step: Optional[int] = None) -> None:
        """A step begins."""
        self._listener.begin_step(self, self.step + 1 if step is None else step)

    def end_step(self) -> None:
        """What follows is in no step."""
        self.begun = None
        self._listener.recorder_of(self).end_step()

    def end_epoch(self, is_step: bool = True) -> None:
        """An epoch ends; not `is_step`: the step that began last found no more elements."""
        self._listener.end_epoch(self, is_step)

    def begin_iterator(self, iterator: object) -> None:
        """Keras makes an iterator, whose elements its graph may take."""

    def take(self, waited: float) -> None:
        """An element was taken, after so many seconds; outside of steps, as in a validation, it counts for nothing."""
        if self.begun is not None:
            self.waited += waited
            self._taken += 1

    def end_body(self) -> None:
        """The step has done its work; what follows, such as saving a checkpoint, is in none."""
        self._body_ended = time.perf_counter()

    def clock(self, now: float, window: Window, is_recorded: bool) -> None:
        """The step that began last is done."""
        if self.begun is None:
            return
        begun, ended, waited, is_blind = self.begun, self._body_ended, self.waited, self._taken == 0
        self.begun, self._body_ended, self.waited, self._taken = None, None, 0.0, 0
        self._blind_steps += is_blind
        if self.step < window.first:
            self.step_seconds.append(now - begun)
            return
        seconds = (ended if is_blind and ended is not None else now) - begun
        self._run.add((self.step - window.first) // window.length, seconds, waited, is_recorded)
