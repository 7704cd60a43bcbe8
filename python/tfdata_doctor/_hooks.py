"""Where steps begin in code that does not say so: at calls of next() on iterators of tf.data or Grain, and in fit."""

from __future__ import annotations

import functools
import importlib.abc
import importlib.machinery
import importlib.util
import inspect
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from types import ModuleType
from typing import Any, Optional

from ._guard import Guard
from ._keras_steps import KerasSteps
from ._loop import FUNCTION, GRADIENT, Frames, Loop
from ._loops import Loops
from ._recorder import Recorder

_TENSORFLOW = "tensorflow"
_ITERATORS = "tensorflow.python.data.ops.iterator_ops"
_DISTRIBUTED = "tensorflow.python.distribute.input_lib"
_KERAS = ("keras", "tf_keras")
#: Where Keras makes the batches of a PyDataset, or takes them from a queue that its workers fill.
_KERAS_QUEUE = "keras.src.trainers.data_adapters.py_dataset_adapter"
#: As Python's tracer names it: the program knows Grain by its file.
_GRAIN_FRAME = "$dataset.py:1 __next__"
_JAX, _TORCH, _GRAIN = "jax", "torch", "grain"
_MODULES = (_TENSORFLOW, _ITERATORS, _DISTRIBUTED, *_KERAS, _KERAS_QUEUE, _JAX, _TORCH, _GRAIN)


def _is_graph() -> bool:
    """Whether a call only builds the graph of a tf.function."""
    tensorflow = sys.modules.get(_TENSORFLOW)
    return tensorflow is not None and not tensorflow.executing_eagerly()


def _ends() -> tuple[type[Exception], ...]:
    """What an iterator raises that has no more elements."""
    tensorflow = sys.modules.get(_TENSORFLOW)
    return (StopIteration,) if tensorflow is None else (StopIteration, tensorflow.errors.OutOfRangeError)


class _AfterImport(importlib.abc.MetaPathFinder):
    """Calls a function with each of some modules as soon as it has been imported.

    A script may choose how TensorFlow starts before it imports it, so nobody may import it earlier.
    """

    def __init__(self, names: Sequence[str], action: Callable[[ModuleType], None]) -> None:
        self._names = names
        self._action = action

    def find_spec(
        self, fullname: str, path: Optional[Sequence[str]], target: Optional[ModuleType] = None
    ) -> Optional[importlib.machinery.ModuleSpec]:
        if fullname not in self._names:
            return None
        for finder in sys.meta_path:
            spec = finder.find_spec(fullname, path, target) if finder is not self else None
            if spec is not None and spec.loader is not None:
                self._extend(spec.loader)
                return spec
        return None

    def _extend(self, loader: Any) -> None:
        exec_module = loader.exec_module

        def exec_and_act(module: ModuleType) -> None:
            exec_module(module)
            self._action(module)

        # Of this loader alone: it is made for this module.
        loader.exec_module = exec_and_act


class Hooks:
    """Tells a recorder where steps begin, from `install` to `remove`, which restores everything.

    `on_tensorflow` is called once TensorFlow has been imported, `on_keras` with each Keras.
    """

    def __init__(
        self,
        recorder: Recorder | Loops,
        on_tensorflow: Callable[[], None] = lambda: None,
        on_keras: Callable[[ModuleType], None] = lambda _: None,
    ) -> None:
        self._recorder = recorder
        self._on_tensorflow = on_tensorflow
        self._on_keras = on_keras
        self._replaced: list[tuple[Any, str, Optional[Any]]] = []
        self._finder = _AfterImport(_MODULES, self._replace_in)
        self._local = threading.local()
        self._frames = Frames()
        #: Classes of Grain's iterators that tell of their elements.
        self._grains: set[type] = set()
        self._fits = 0
        #: The loop of the fit that goes on.
        self._fit: Optional[Loop] = None

    @property
    def is_in_fit(self) -> bool:
        """Whether Keras is training, so that its progress bar may stand in the line."""
        return self._fits > 0

    def install(self) -> None:
        """Acts on modules that are there and on those that will be imported."""
        for name in _MODULES:
            if name in sys.modules:
                self._replace_in(sys.modules[name])
        sys.meta_path.insert(0, self._finder)

    def remove(self) -> None:
        """Takes all of it back."""
        if self._finder in sys.meta_path:
            sys.meta_path.remove(self._finder)
        for owner, name, original in reversed(self._replaced):
            if original is None:
                delattr(owner, name)
            else:
                setattr(owner, name, original)
        self._replaced.clear()

    def _replace_in(self, module: ModuleType) -> None:
        if isinstance(self._recorder, Loops):
            self._look_for_training(module, self._recorder)
        if module.__name__ in (_JAX, _TORCH):
            return
        if module.__name__ == _GRAIN:
            self._replace(getattr(module, "DatasetIterator", type(None)), "__init__", self._with_counted_class)
            self._replace(getattr(module, "DataLoaderIterator", type(None)), "__next__", self._counted_of_grain)
            return
        if module.__name__ == _KERAS_QUEUE:
            for name in ("get_numpy_iterator", "get_jax_iterator"):
                self._replace(getattr(module, "PyDatasetAdapter", type(None)), name, self._clocked_in_fit)
            return
        if module.__name__ == _TENSORFLOW:
            self._on_tensorflow()
            return
        if module.__name__ in _KERAS:
            model = getattr(module, "Model", None)
            if model is not None:
                self._replace(model, "fit", self._with_steps)
            self._on_keras(module)
            return
        owner = getattr(module, "OwnedIterator" if module.__name__ == _ITERATORS else "DistributedIteratorBase", None)
        if owner is not None:
            for name in ("__next__", "get_next", "get_next_as_optional"):
                self._replace(owner, name, self._counted)
            if isinstance(self._recorder, Guard) and module.__name__ == _ITERATORS:
                self._replace(owner, "__init__", self._noticed_in_fit)

    def _look_for_training(self, module: ModuleType, loops: Loops) -> None:
        """Tells loops of what only a training does."""
        package: Any = module
        if module.__name__ == _TENSORFLOW:
            function = getattr(package, "function", None)
            if function is not None:
                self._replace(type(function(lambda: None)), "__call__", _telling(loops, FUNCTION))
            for name in ("gradient", "jacobian"):
                self._replace(getattr(package, "GradientTape", type(None)), name, _telling(loops, GRADIENT))
        elif module.__name__ == _TORCH:
            self._replace(getattr(package, "autograd", type(None)), "backward", _telling(loops, GRADIENT))
        elif module.__name__ == _JAX:
            for name in ("grad", "value_and_grad"):
                self._replace(package, name, _telling_when_called(loops, GRADIENT))
            # A step of JAX is compiled the first time; nothing can be put around its later calls.
            listen = getattr(getattr(package, "monitoring", None), "register_event_duration_secs_listener", None)
            if listen is not None:
                listen(lambda event, *_, **__: loops.saw(FUNCTION) if "compile" in event else None)

    def _replace(self, owner: Any, name: str, wrap: Callable[[Any], Any]) -> None:
        if hasattr(owner, name):
            # One that is inherited is replaced in the class itself, and goes away again.
            self._replaced.append((owner, name, owner.__dict__.get(name)))
            setattr(owner, name, wrap(getattr(owner, name)))

    def _counted(self, method: Callable[..., Any], frame: str = "") -> Callable[..., Any]:
        """A method that takes an element, as the begin of a step; `frame`: its name for a trace that lacks it."""

        @functools.wraps(method)
        def take(iterator: object, *arguments: Any, **options: Any) -> Any:
            # An iterator of several devices takes its elements from others, as those of Grain do.
            if getattr(self._local, "is_inside", False) or _is_graph() or self._is_thread_of_library():
                return method(iterator, *arguments, **options)
            if self._fits > 0:
                return self._take_in_fit(lambda: method(iterator, *arguments, **options))
            self._local.is_inside = True
            try:
                taken = self._recorder.begin_take(iterator)
                begun = time.perf_counter()
                try:
                    with self._recorder.frame(frame) if frame else nullcontext():
                        return method(iterator, *arguments, **options)
                except _ends():
                    self._recorder.end_iterator(taken)
                    raise
                finally:
                    self._recorder.end_take(taken, time.perf_counter() - begun)
            finally:
                self._local.is_inside = False

        return self._clocked_ahead(self._recorder, method, take) if isinstance(self._recorder, Guard) else take

    def _clocked_ahead(self, guard: Guard, method: Callable[..., Any], take: Callable[..., Any]) -> Callable[..., Any]:
        """The same, with nothing but a clock around the elements of most steps."""
        ahead, this_thread, clock = guard.ahead, threading.get_ident, time.perf_counter

        # A name is all that get_next() takes; a call that hands on *arguments and **options costs more than the clock.
        @functools.wraps(method)
        def take_ahead(iterator: object, name: Optional[str] = None) -> Any:
            if ahead.leader() is not iterator or not ahead.room or ahead.thread != this_thread() or name is not None:
                is_nested = ahead.is_inside and ahead.thread == this_thread()
                return (method if is_nested else take)(iterator, *([] if name is None else [name]))
            ahead.room -= 1
            ahead.is_inside = True
            begun = clock()
            try:
                element = method(iterator)
            except _ends():
                guard.end_ahead()
                raise
            finally:
                ahead.is_inside = False
            ahead.times += (begun, clock())
            return element

        return take_ahead

    def _counted_of_grain(self, method: Callable[..., Any]) -> Callable[..., Any]:
        """The same of Grain, of which the profilers record Python's calls alone, and not every profiler does."""
        return self._counted(method, _GRAIN_FRAME)

    def _with_counted_class(self, init: Callable[..., None]) -> Callable[..., None]:
        """The constructor that all iterators of Grain have in common: each class takes elements in its own way."""

        @functools.wraps(init)
        def make(iterator: object, *arguments: Any, **options: Any) -> None:
            if type(iterator) not in self._grains:
                self._grains.add(type(iterator))
                self._replace(type(iterator), "__next__", self._counted_of_grain)
            init(iterator, *arguments, **options)

        return make

    def _is_thread_of_library(self) -> bool:
        """Whether this is a thread in which a library makes elements ahead: no line of the user's began it."""
        if threading.current_thread() is threading.main_thread():
            return False
        if not hasattr(self._local, "is_of_library"):
            path = self._frames.path()
            self._local.is_of_library = path is not None and not path[1]
        return bool(self._local.is_of_library)

    def _clocked_in_fit(self, method: Callable[..., Any]) -> Callable[..., Any]:
        """A method that returns the batches of a fit, with a clock around each."""

        @functools.wraps(method)
        def clocked(*arguments: Any, **options: Any) -> Iterator[Any]:
            batches, end = iter(method(*arguments, **options)), object()
            while (batch := self._take_in_fit(lambda: next(batches, end))) is not end:
                yield batch

        return clocked

    def _noticed_in_fit(self, init: Callable[..., None]) -> Callable[..., None]:
        """The constructor of iterators, which tells the training of those whose elements only TensorFlow sees taken."""

        @functools.wraps(init)
        def make(iterator: object, dataset: object = None, *arguments: Any, **options: Any) -> None:
            init(iterator, dataset, *arguments, **options)
            if self._fit is not None and dataset is not None and getattr(self._local, "is_fit", False):
                self._fit.begin_iterator(iterator)

        return make

    def _take_in_fit(self, take: Callable[[], Any]) -> Any:
        """Takes an element where Keras says in which step: what its thread waits is told, not what others do."""
        loop = self._fit if getattr(self._local, "is_fit", False) else None
        self._local.is_inside = True
        begun = time.perf_counter()
        try:
            return take()
        finally:
            self._local.is_inside = False
            if loop is not None:
                loop.take(time.perf_counter() - begun)

    def begin_fit(self, recorder: Recorder | Loop) -> None:
        """Keras trains from here on, in this thread."""
        self._fits += 1
        self._fit = recorder if isinstance(recorder, Loop) else None
        self._local.is_fit = True

    def end_fit(self) -> None:
        """The training of Keras is done."""
        self._fits -= 1
        self._local.is_fit = False

    def _with_steps(self, fit: Callable[..., Any]) -> Callable[..., Any]:
        """Model.fit with one more callback, the first: what others do at the end of a batch is not of its step."""
        signature = inspect.signature(fit)

        @functools.wraps(fit)
        def fit_with_steps(*arguments: Any, **options: Any) -> Any:
            bound = signature.bind(*arguments, **options)
            callbacks = bound.arguments.get("callbacks")
            steps = self._steps_of_fit()
            if callbacks is None or isinstance(callbacks, (list, tuple)):
                bound.arguments["callbacks"] = [steps, *(callbacks or [])]
            elif hasattr(callbacks, "append"):
                callbacks.append(steps)
            else:
                bound.arguments["callbacks"] = [steps, callbacks]
            self.begin_fit(steps.recorder)
            try:
                return fit(*bound.args, **bound.kwargs)
            finally:
                self.end_fit()
                steps.recorder.end_step()
                steps.recorder.has_markers = False
                if isinstance(steps.recorder, Loop):
                    steps.recorder.is_open = False

        return fit_with_steps

    def _steps_of_fit(self) -> KerasSteps:
        """Counts on from the steps before, of this training alone where loops are told apart."""
        return _CountedOn(self._recorder.begin_fit() if isinstance(self._recorder, Loops) else self._recorder)


def _telling(loops: Loops, rank: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Puts a call of `loops.saw(rank)` before a function."""

    def wrap(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(*arguments: Any, **options: Any) -> Any:
            loops.saw(rank)
            return function(*arguments, **options)

        return call

    return wrap


def _telling_when_called(loops: Loops, rank: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The same for what a function returns, which is a function."""

    def wrap(transform: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(transform)
        def call(*arguments: Any, **options: Any) -> Any:
            return _telling(loops, rank)(transform(*arguments, **options))

        return call

    return wrap


class _CountedOn(KerasSteps):
    """Counts on from the steps before this training."""

    def __init__(self, recorder: Recorder | Loop) -> None:
        super().__init__(recorder)
        self._before_epoch = recorder.step

    def on_train_batch_end(self, batch: int, logs: object = None) -> None:
        """Keras: a batch is done."""
        super().on_train_batch_end(batch, logs)
        if isinstance(self.recorder, Loop):
            self.recorder.end_body()
