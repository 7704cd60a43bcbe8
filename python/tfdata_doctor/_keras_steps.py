"""Hears of the batches of Model.fit, of Keras 2 and 3."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from ._loop import Loop
from ._recorder import Recorder


def keras_version(model: object) -> int:
    """The major version of the Keras that a model is of."""
    for base in type(model).__mro__:
        package = base.__module__.partition(".")[0]
        if package in ("keras", "tf_keras"):
            return int(sys.modules[package].__version__.partition(".")[0])
        if package == "tensorflow":
            return 2
    return 3


class KerasSteps:
    """Tells a recorder of the batches of a training.

    Neither Keras asks for its own class of callbacks, but both call every method: so this works with either, and with
    none installed.
    """

    # Keras 2: logs may stay tensors. Keras 3: the methods must be called in order.
    _supports_tf_logs = True
    async_safe = False

    def __init__(self, recorder: Recorder | Loop) -> None:
        self.recorder = recorder
        self.epoch = 0
        self.model: Any = None
        self.params: Mapping[str, Any] = {}
        self._before_epoch = 0
        self._in_epoch = 0

    def set_params(self, params: Mapping[str, Any]) -> None:
        """Keras: what it knows about the training."""
        self.params = params

    def set_model(self, model: object) -> None:
        """Keras: the model to be trained."""
        self.model = model
        # Keras 2 marks its steps.
        self.recorder.has_markers = keras_version(model) < 3

    def on_epoch_begin(self, epoch: int, logs: object = None) -> None:  # noqa: ARG002
        """Keras: an epoch begins; they count from 0."""
        self.epoch = epoch
        self._in_epoch = 0

    def on_train_batch_begin(self, batch: int, logs: object = None) -> None:  # noqa: ARG002
        """Keras: a batch begins; they count from 0 in each epoch."""
        self.recorder.begin_step(self._before_epoch + batch + 1)

    def on_train_batch_end(self, batch: int, logs: object = None) -> None:  # noqa: ARG002
        """Keras: a batch, or the last of several that are made at once, is done."""
        self._in_epoch = batch + 1

    def on_test_begin(self, logs: object = None) -> None:  # noqa: ARG002
        """Keras: an evaluation begins."""
        self.recorder.end_step()

    def on_epoch_end(self, epoch: int, logs: object = None) -> None:  # noqa: ARG002
        """Keras: an epoch and its evaluation are done."""
        self._before_epoch += self._in_epoch
        self.recorder.end_epoch()

    def on_train_end(self, logs: object = None) -> None:  # noqa: ARG002
        """Keras: the training is done."""
        self.recorder.end_step()

    def _ignore(self, *_: object, **__: object) -> None:
        """A method that Keras calls and that has nothing to do here."""

    on_train_begin = on_test_end = on_predict_begin = on_predict_end = _ignore
    on_batch_begin = on_batch_end = _ignore
    on_test_batch_begin = on_test_batch_end = on_predict_batch_begin = on_predict_batch_end = _ignore

    def _implements_train_batch_hooks(self) -> bool:
        return True

    def _implements_test_batch_hooks(self) -> bool:
        return False

    def _implements_predict_batch_hooks(self) -> bool:
        return False
