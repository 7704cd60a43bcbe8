"""Predictions for the program as it runs without the profiler.

A recording shows the program with the profiler, whose cost is large where a step is short. How fast the steps are with
an input that is ready is measured without it, and the model replays the recording with a consumer of that speed.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Optional

from tfdata_doctor._commands import whatif
from tfdata_doctor._program import DoctorError
from tfdata_doctor.report import Change, WhatIf

#: Of --consumer. Without the profiler nothing is slower: a run that is was held up by others on the machine.
_LEAST_FACTOR, _MOST_FACTOR = 1.0, 1000.0


@dataclass(frozen=True)
class Prediction:
    """The factor of steps in a time, from the model, and its range."""

    gain: float
    low: float
    high: float
    condition: Optional[str]
    #: Steps per second before it, as the model replays them; None where only the report is known.
    now: Optional[float] = None

    def document(self) -> dict[str, Any]:
        """As JSON has it."""
        return {"gain": self.gain, "low": self.low, "high": self.high, "condition": self.condition}


def prediction_of(change: Change) -> Optional[Prediction]:
    """As the report has it."""
    gain = change.gain
    return None if gain is None else Prediction(gain.factor, gain.low, gain.high, gain.condition)


def as_measured(predicted: Optional[Prediction], base: Sequence[float]) -> Optional[Prediction]:
    """With the range of what can be measured, from runs of the program before the change, steps per second each.

    It holds what the model says of the rate after the change as well as of the ratio, which differ where the program
    runs at another rate than the model's, and as much as these runs differ from each other.
    """
    if predicted is None or not base:
        return predicted
    middle = statistics.median(base)
    fit = predicted.now / middle if predicted.now is not None else 1.0
    low, high = min(base) / middle * min(1.0, fit), max(base) / middle * max(1.0, fit)
    return replace(predicted, low=predicted.low * low, high=predicted.high * high)


class Forecast:
    """Asks the model of one recording. `ready`: steps per second of runs with an input that was ready, or none."""

    def __init__(self, run_directory: str, ready: Sequence[float]) -> None:
        self._run_directory = run_directory
        self._factors = self._consumers(ready)

    def _consumers(self, ready: Sequence[float]) -> list[float]:
        """How much faster the consumer is than in the recording, by the slowest and by the fastest run, in order."""
        try:
            pipelines = whatif(self._run_directory).pipelines if ready else []
        except DoctorError:
            return []
        if not pipelines or pipelines[0].without_input is None:
            return []
        recorded = pipelines[0].without_input.steps_per_s.estimate
        return sorted({min(max(rate / recorded, _LEAST_FACTOR), _MOST_FACTOR) for rate in (min(ready), max(ready))})

    def prediction(self, change: Change, fixes: Sequence[str]) -> Optional[Prediction]:
        """Of a change that is made by these fixes, as `whatif --fix` takes them."""
        told = prediction_of(change)
        gains = [gain for factor in self._factors if (gain := self._gain(fixes, factor)) is not None]
        if not gains:
            # What the report says is of the fixes that it names.
            return told if list(fixes) == [fix.fix for fix in change.fixes] else None
        # The fastest run is the one that others on the machine held up least.
        return replace(gains[-1], low=min(gain.low for gain in gains), high=max(gain.high for gain in gains))

    def _gain(self, fixes: Sequence[str], factor: float) -> Optional[Prediction]:
        try:
            page: WhatIf = whatif(self._run_directory, fix=list(fixes), consumer=f"{factor:.4g}")
        except DoctorError:
            return None
        now = page.pipelines[0].steps_per_s if page.pipelines else None
        if page.asked is None or now is None:
            return None
        rates = page.asked.steps_per_s
        gain, low, high = (rate / now.model for rate in (rates.estimate, rates.low, rates.high))
        return Prediction(gain, low, high, page.asked.condition, now.model)
