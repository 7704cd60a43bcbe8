"""TensorFlow's profiler around some steps: the only part of the package, with its hooks, that needs TensorFlow."""

from __future__ import annotations

import os
import shutil
import threading
import time
import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, nullcontext
from pathlib import Path
from typing import Any, Optional, Union

from ._jax import JaxProfiler, python_tracer_level
from ._machine import MachineWatch
from ._program import DoctorError
from .lines import SourceLines, name_datasets

LogDirectory = Union[str, "os.PathLike[str]"]


class LineNames:
    """Names transformations after their source lines from `open` to `close`, where `is_wanted`."""

    def __init__(self, is_wanted: bool) -> None:
        self._is_wanted = is_wanted
        self._stack = ExitStack()
        self._names: Optional[SourceLines] = None

    def open(self) -> None:
        """Names the datasets that are made from here on. Imports TensorFlow."""
        if self._is_wanted and self._names is None:
            self._names = self._stack.enter_context(name_datasets())

    def write(self, directory: Path) -> None:
        """Puts the names made so far beside the trace."""
        try:
            if self._names is not None:
                self._names.write(directory)
        except OSError as error:
            warnings.warn(f"the lines of datasets are not beside the trace: {error}", stacklevel=2)

    def close(self) -> None:
        """Names nothing from here on."""
        self._stack.close()


def _traces(logdir: LogDirectory) -> set[tuple[Path, int]]:
    """The traces of a log directory and when they were written: runs of the same second are in the same folder."""
    found = Path(logdir, "plugins", "profile").glob("*/*.xplane.pb")
    return {(path, path.stat().st_mtime_ns) for path in found}


def settled_rate(seconds: list[float]) -> Optional[float]:
    """Steps a second of the second half of these steps, at least five; None where there are fewer.

    The first ones trace functions and fill buffers, or take what was made meanwhile.
    """
    last = seconds[len(seconds) // 2 :]
    return len(last) / sum(last) if len(last) >= 5 and sum(last) > 0 else None


class Recorder:
    """Records the steps `first` to `last`, counted from 1, each inside of a marker.

    A step begins before its GetNext call and ends where the next one begins, so that the time in which it waits for its
    data is in it. The profiler and its markers belong to a thread: steps of other threads are not counted.
    """

    def __init__(
        self, logdir: LogDirectory, first: int, last: int, names: LineNames, watch: Optional[MachineWatch] = None
    ) -> None:
        if not 1 <= first <= last:
            raise ValueError(f"steps {first} to {last}: the first is 1 or more, and not after the last")
        self.logdir = logdir
        self.first = first
        self.last = last
        #: The step that began last.
        self.step = 0
        #: Whether Keras marks the steps itself.
        self.has_markers = False
        #: Where the trace is, from the moment on at which it is complete.
        self.run_directory: Optional[Path] = None
        #: The loop whose steps they are, for the facts beside the trace.
        self.loop: dict[str, Any] = {}
        #: Whether the memory is noted after the recording, too, until `end_samples`.
        self.samples_on = False
        #: Called once the trace is complete.
        self.on_stopped: Callable[[], None] = lambda: None
        #: Called where an epoch ends.
        self.on_epoch_end: Callable[[], None] = lambda: None
        self._names = names
        self._is_recording = False
        self._was_recording = False
        self._marker: Optional[ExitStack] = None
        self._jax = JaxProfiler()
        self._thread: Optional[int] = None
        self._traces_before: set[tuple[Path, int]] = set()
        self._watch = watch or MachineWatch()
        self._bytes_before: Optional[int] = None
        #: The step that runs, and when it began; None outside of steps.
        self._begun: Optional[tuple[int, float]] = None
        self._steps = 0
        self._seconds = 0.0
        #: What each step before the recording took.
        self.seconds_before: list[float] = []

    @property
    def steps_per_s(self) -> Optional[float]:
        """How fast the recorded steps were; None before the first is done."""
        return self._steps / self._seconds if self._seconds > 0 else None

    @property
    def memory_bytes(self) -> Optional[int]:
        """Memory of the process when it was last looked at; None where the system does not say."""
        return self._watch.resident_bytes

    @property
    def grown_bytes(self) -> int:
        """How much memory the process has taken since the profiler began, which keeps its events; 0 if not known."""
        now = self.memory_bytes
        return 0 if now is None or self._bytes_before is None else now - self._bytes_before

    @property
    def is_done(self) -> bool:
        """Whether nothing more will be recorded."""
        return self._was_recording and not self._is_recording

    def begin_step(self, step: Optional[int] = None) -> None:
        """Says that a step begins; `step` is its number where that is not the next one. Raises DoctorError."""
        if self._is_other_thread():
            return
        self._end_marker()
        self.step = self.step + 1 if step is None else step
        self._watch.begin_step(self.step)
        if self.is_done:
            return
        self._clock()
        if not self._is_recording:
            if self.step < self.first:
                self._begun = (self.step, time.perf_counter())
                return
            # Also where several steps are made at once and the first of them to be recorded is after `last`.
            self.start()
        elif self.step > self.last:
            self.stop()
            return
        self._mark()
        self._begun = (self.step, time.perf_counter())

    def end_step(self) -> None:
        """Ends the step: what follows, such as an evaluation, is in none."""
        if not self._is_other_thread():
            self._end_marker()
            self._begun = None

    def _clock(self) -> None:
        """Adds the step that this one follows; of one that ends otherwise, how many it was is unknown."""
        if self._begun is None:
            return
        steps, seconds = self.step - self._begun[0], time.perf_counter() - self._begun[1]
        if self._is_recording:
            self._steps += steps
            self._seconds += seconds
        else:
            self.seconds_before.extend([seconds / max(1, steps)] * steps)

    def _end_marker(self) -> None:
        if self._marker is not None:
            self._marker.close()
            self._marker = None

    def end_epoch(self, is_step: bool = True) -> None:
        """An epoch of a dataset or of Keras ends; not `is_step`: the step that began last found no more elements."""
        if self._is_other_thread():
            return
        self.end_step()
        if not is_step and self.step > 0:
            self.step -= 1
        self.on_epoch_end()

    def start(self) -> None:
        """Starts the profiler. Raises DoctorError where another one runs."""
        import tensorflow as tf

        self._traces_before = _traces(self.logdir)
        # 2: what tf.data records. Devices, and Python's calls, can be recorded by one profiler at a time: where JAX is
        # used, they are JAX's.
        is_with_jax = self._jax.is_wanted()
        options = tf.profiler.experimental.ProfilerOptions(
            host_tracer_level=2,
            python_tracer_level=0 if is_with_jax else python_tracer_level(),
            device_tracer_level=0 if is_with_jax else 1,
        )
        self._was_recording = True
        try:
            tf.profiler.experimental.start(os.fspath(self.logdir), options=options)
        except tf.errors.AlreadyExistsError:
            raise DoctorError("another profiler is running in this process: nothing was recorded") from None
        self._is_recording = True
        self._jax.start(os.fspath(self.logdir))
        self._watch.enter("during")
        self._bytes_before = self.memory_bytes
        self._thread = threading.get_ident()

    def begin_take(self, _iterator: object) -> None:
        """An element is asked for: a step begins. Raises DoctorError."""
        self.begin_step()

    def end_take(self, _taken: object, _waited: float) -> None:
        """The element is there: the step goes on."""

    def end_iterator(self, _taken: object) -> None:
        """There are no more elements."""
        self.end_epoch(False)

    def discard(self) -> None:
        """Stops the profiler, and keeps nothing of what it recorded."""
        self.on_stopped = lambda: None
        self.stop()
        if self.run_directory is not None:
            shutil.rmtree(self.run_directory, ignore_errors=True)

    def stop(self) -> None:
        """Stops the profiler if it runs, and writes the trace."""
        if not self._is_recording:
            return
        import tensorflow as tf

        self.end_step()
        self._is_recording = False
        self._jax.stop()
        self._watch.enter("after")
        tf.profiler.experimental.stop()
        written = _traces(self.logdir) - self._traces_before
        self._jax.keep(max(path for path, _ in written).parent if written else None)
        if not written:
            raise DoctorError(f"the profiler wrote no trace below {os.fspath(self.logdir)}")
        run = max(path for path, _ in written).parent
        self._names.write(run)
        self._write_facts(run)
        self.run_directory = run
        self.on_stopped()

    def _write_facts(self, run: Path) -> None:
        rates = {"before": settled_rate(self.seconds_before), "during": self.steps_per_s}
        if self.loop:
            self._watch.loop = {**self.loop, "first": self.first, "last": min(self.last, self.step)}
        self._watch.steps_per_s = {phase: rate for phase, rate in rates.items() if rate}
        try:
            self._watch.write(run)
            self._watch.is_over = not self.samples_on
        except OSError as error:
            warnings.warn(f"the facts of the recording are not beside the trace: {error}", stacklevel=2)

    def end_samples(self) -> None:
        """Puts all samples of the memory beside the trace: the program has ended."""
        self._watch.is_over = True
        if self.run_directory is not None:
            self._watch.write_samples(self.run_directory)

    def _is_other_thread(self) -> bool:
        return self._thread is not None and threading.get_ident() != self._thread

    def frame(self, name: str) -> AbstractContextManager[object]:
        """A call that only Python's tracer would show, under the name that it would give it."""
        if not self._is_recording or self._is_other_thread() or self._jax.records_python:
            return nullcontext()
        import tensorflow as tf

        frame: AbstractContextManager[object] = tf.profiler.experimental.Trace(name)
        return frame

    def _mark(self) -> None:
        if self.has_markers:
            return
        import tensorflow as tf

        self._marker = ExitStack()
        self._marker.enter_context(tf.profiler.experimental.Trace("train", step_num=self.step, _r=1))
        self._marker.enter_context(self._jax.marker("train", self.step))
