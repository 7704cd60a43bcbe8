"""As much of JAX as its profiler: it logs into the fake TensorFlow's log, and writes a file."""

from pathlib import Path
from types import SimpleNamespace

import tensorflow

_running = []


def _start_trace(logdir, profiler_options=None):
    tensorflow.log.append(("start jax", profiler_options.python_tracer_level))
    _running.append(logdir)


def _stop_trace():
    tensorflow.log.append(("stop jax",))
    run = Path(_running.pop(), "plugins", "profile", "some time")
    run.mkdir(parents=True)
    (run / "host.xplane.pb").write_bytes(b"")


class _StepTraceAnnotation:
    def __init__(self, name, step_num):  # noqa: ARG002
        self._step = step_num

    def __enter__(self):
        tensorflow.log.append(("begin jax", self._step))

    def __exit__(self, *_):
        tensorflow.log.append(("end jax", self._step))


profiler = SimpleNamespace(
    start_trace=_start_trace,
    stop_trace=_stop_trace,
    StepTraceAnnotation=_StepTraceAnnotation,
    ProfileOptions=lambda: SimpleNamespace(python_tracer_level=1),
)


def value_and_grad(function):
    return lambda: function()
