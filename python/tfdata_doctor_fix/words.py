"""How numbers of a search are said."""

from __future__ import annotations

from typing import Optional

from tfdata_doctor._words import rate, times

from .forecast import Prediction
from .outcome import Outcome, Trial
from .plan import NotTried

_CONDITIONS = {
    "fits_in_memory": "if it fits in memory",
    "python_releases_lock": "if the function lets go of Python's lock",
    "runs_on_batches": "if the function can work on batches",
    "does_not_need_map": "if the filter does not need what the map makes",
    "comes_from_files": "if what the generator makes can be read from files",
}


def gain_words(gain: float, low: float, high: float) -> str:
    """1.8x (1.6x to 2.4x)."""
    return f"{times(gain)} ({times(low)} to {times(high)})"


def steps_words(before: float, after: float) -> str:
    """100 -> 150 steps/s."""
    return f"{rate(before)} -> {rate(after)} steps/s"


def predicted_words(predicted: Optional[Prediction]) -> str:
    """The prediction of a change, with what it depends on."""
    if predicted is None:
        return "not predicted"
    condition = _CONDITIONS.get(predicted.condition or "", "")
    return gain_words(predicted.gain, predicted.low, predicted.high) + (f" {condition}" if condition else "")


def measured_words(trial: Trial) -> str:
    """What was measured of a change."""
    if trial.measured is None:
        return "not measured"
    return gain_words(trial.measured.gain, trial.measured.low, trial.measured.high)


def _said_of_result(trial: Trial) -> str:
    """Why a change was not kept, or that nobody compared the data of one that was; else empty."""
    if not trial.is_kept:
        return trial.reason
    return trial.data if trial.data.startswith("not compared") else ""


def result_words(trial: Trial) -> str:
    """Whether a change was kept."""
    said = _said_of_result(trial)
    if not trial.is_kept:
        return f"not kept: {said}"
    return "kept" + (f" ({said})" if said else "")


_MOST_LEFT_OUT = 6
#: Of a table of changes, as `cells_of` fills it.
HEADS = ("change", "line", "predicted", "measured", "result")


def cells_of(trial: Trial) -> tuple[str, ...]:
    """A row of the table."""
    words = (predicted_words(trial.predicted), measured_words(trial), result_words(trial))
    return (trial.words, trial.where, *words)


def not_tried_words(left: NotTried) -> str:
    """A change that is left to the user."""
    at = f" at {left.where}" if left.where else ""
    gain = f" ({predicted_words(left.predicted)})" if left.predicted else ""
    return f"{left.words}{at}{gain}: {left.reason}"


def headline(outcome: Outcome) -> str:
    """What the search came to, in a line."""
    count = len(outcome.kept)
    changes = "1 change" if count == 1 else f"{count} changes"
    if not count or outcome.before is None or outcome.after is None:
        now = f": {rate(outcome.before)} steps/s" if outcome.before is not None else ""
        return f"NO FASTER: no change helped{now}" if outcome.trials else f"NOT TRIED: {outcome.stopped}"
    rates = f"{steps_words(outcome.before, outcome.after)} with {changes}"
    if outcome.total is None:
        return f"FASTER: {rates}"
    total = outcome.total
    return (
        f"{times(total.gain)} FASTER: {rates} ({times(total.low)} to {times(total.high)}, "
        f"{total.confidence:.0%} confidence)"
    )


def said_of_ready(outcome: Outcome) -> str:
    """The speed with an input that is ready; empty where it was not measured, or where what was kept is faster."""
    if outcome.ready is None or (outcome.after or 0) > outcome.ready:
        return ""
    return f"{rate(outcome.ready)} steps/s if data were always ready"


def said_how_it_did(outcome: Outcome) -> str:
    """How the predictions compare with what was measured; empty where nothing can be said."""
    both = [trial for trial in outcome.trials if trial.is_as_predicted is not None]
    if not both:
        return ""
    inside = sum(bool(trial.is_as_predicted) for trial in both)
    return f"{inside} of {len(both)} measured gains in the predicted range"


def said_of_data(outcome: Outcome) -> str:
    """Whether what was kept left the data as they are; empty where nothing was kept."""
    if not outcome.kept:
        return ""
    other = sorted({trial.data for trial in outcome.kept if trial.data and trial.data != "same"})
    return "; ".join(other) or "the first elements are the same as before"


def said_of_left_out(outcome: Outcome) -> str:
    """What the runs did not do; empty where they did all."""
    return "; ".join(outcome.left_out[:_MOST_LEFT_OUT]) + ("; and more" if outcome.left_out[_MOST_LEFT_OUT:] else "")


def rows_of(outcome: Outcome) -> list[tuple[str, str]]:
    """What there is to say beside what was tried: a name and a sentence each."""
    said = [
        ("Data", said_of_data(outcome)),
        ("Limit", outcome.limit),
        ("At most", said_of_ready(outcome)),
        ("Model", said_how_it_did(outcome)),
        ("Left out", said_of_left_out(outcome)),
        ("Ended", f"after {outcome.seconds / 60:.1f} min: {outcome.stopped}"),
    ]
    rows = [(name, words) for name, words in said if words]
    return rows + [("Not tried", not_tried_words(left)) for left in outcome.not_tried]


def facts_of(outcome: Outcome) -> list[str]:
    """rows_of(), a line each."""
    return [f"{name}: {words}" for name, words in rows_of(outcome)]


def trial_rows(trial: Trial) -> list[tuple[str, str]]:
    """What became of a change: what it was, then what was measured and predicted of it."""
    said = _said_of_result(trial)
    what = f"{trial.words} at {trial.where}" + (f": {said}" if said else "")
    rows = [("Kept" if trial.is_kept else "Not kept", what)]
    if trial.measured is not None:
        rows.append(("", f"{measured_words(trial)} as measured; predicted {predicted_words(trial.predicted)}"))
    elif trial.predicted is not None:
        rows.append(("", f"predicted {predicted_words(trial.predicted)}"))
    return rows
