"""JAX's own profiler beside TensorFlow's: each records its library alone, so a loop that uses both needs both."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import warnings
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, Optional

#: Loaders written in Python: its calls alone show what they do. Elsewhere they would only slow down what is measured.
_PYTHON_LOADERS = ("grain", "torch.utils.data")


def python_tracer_level() -> int:
    """The level at which a profiler records Python's calls where the program needs them, else 0."""
    return int(any(loader in sys.modules for loader in _PYTHON_LOADERS))


class JaxProfiler:
    """Runs while TensorFlow's does, where the program computes with JAX; does nothing elsewhere.

    What it writes goes into the run of the other one, as the second file of the same host: both have the markers of the
    steps, by which their clocks are set against each other. A recording never fails because of it: what goes wrong is a
    warning.
    """

    def __init__(self) -> None:
        self._folder: Optional[Path] = None
        #: Whether its trace has Python's calls.
        self.records_python = False

    @staticmethod
    def is_wanted() -> bool:
        """Whether the program computes with JAX so far; never imports it. Keras imports it whatever its backend is."""
        if not hasattr(sys.modules.get("jax"), "profiler"):
            return False
        is_used = getattr(sys.modules.get("jax._src.xla_bridge"), "backends_are_initialized", None)
        return bool(is_used()) if callable(is_used) else True

    def start(self, logdir: str) -> None:
        """Starts it if it is wanted."""
        if not self.is_wanted():
            return
        jax: Any = sys.modules["jax"]
        os.makedirs(logdir, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=".jax-", dir=logdir))
        try:
            options = jax.profiler.ProfileOptions()
            options.python_tracer_level = python_tracer_level()
            jax.profiler.start_trace(str(folder), profiler_options=options)
        except (AttributeError, TypeError):  # before jax 0.8 it takes no options
            self._start_without_options(jax, folder)
        except (RuntimeError, ValueError) as error:
            self._give_up(folder, error)
        else:
            self._folder = folder
            self.records_python = options.python_tracer_level > 0

    def _start_without_options(self, jax: Any, folder: Path) -> None:
        try:
            jax.profiler.start_trace(str(folder))
        except (RuntimeError, ValueError) as error:
            self._give_up(folder, error)
        else:
            self._folder = folder

    @staticmethod
    def _give_up(folder: Path, error: Exception) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        warnings.warn(f"JAX's profiler does not record: {error}", stacklevel=5)

    def stop(self) -> None:
        """Stops it if it runs. Before `keep`."""
        if self._folder is None:
            return
        try:
            sys.modules["jax"].profiler.stop_trace()
        except (RuntimeError, ValueError) as error:
            warnings.warn(f"JAX's profiler wrote nothing: {error}", stacklevel=4)

    def keep(self, run: Optional[Path]) -> None:
        """Puts what it wrote into the folder of a run, or away where there is none."""
        if self._folder is None:
            return
        folder, self._folder = self._folder, None
        for trace in sorted(folder.glob("plugins/profile/*/*.xplane.pb")) if run is not None else []:
            shutil.move(trace, Path(run or "", trace.name.replace(".xplane.pb", ".jax.xplane.pb")))
        shutil.rmtree(folder, ignore_errors=True)

    def marker(self, name: str, step: int) -> AbstractContextManager[object]:
        """The marker of a step in its trace."""
        if self._folder is None:
            return nullcontext()
        marker: AbstractContextManager[object] = sys.modules["jax"].profiler.StepTraceAnnotation(name, step_num=step)
        return marker
