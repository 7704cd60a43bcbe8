"""How numbers of a search are said."""

from __future__ import annotations

from typing import Optional

from .forecast import Prediction
from .outcome import Outcome, Trial
from .plan import NotTried

_CONDITIONS = {
    "fits_in_memory": "if it fits in memory",
    "python_releases_lock": "if Python's lock is free",
    "runs_on_batches": "if it runs on batches",
    "does_not_need_map": "if it does not need the map",
    "comes_from_files": "if it comes from files",
}


def gain_words(gain: float, low: float, high: float) -> str:
    """x1.83 (1.65 to 2.37)."""
    return f"x{gain:.2f} ({low:.2f} to {high:.2f})"


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


def result_words(trial: Trial) -> str:
    """Whether a change was kept."""
    if not trial.is_kept:
        return f"not kept: {trial.reason}"
    return "kept" + (f" ({trial.data})" if trial.data.startswith("not compared") else "")


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
    if count and outcome.before is not None and outcome.after is not None and outcome.total is not None:
        total = outcome.total
        changes = "1 change" if count == 1 else f"{count} changes"
        return (
            f"{outcome.before:.4g} -> {outcome.after:.4g} steps/s with {changes}: "
            f"x{total.gain:.2f} ({total.low:.2f} to {total.high:.2f}, {total.confidence:.0%} confidence)"
        )
    if count and outcome.before is not None and outcome.after is not None:
        return f"{outcome.before:.4g} -> {outcome.after:.4g} steps/s with {count} changes"
    now = f": {outcome.before:.4g} steps/s" if outcome.before is not None else ""
    return f"No change made it faster{now}" if outcome.trials else f"No change was tried: {outcome.stopped}"


def said_of_ready(outcome: Outcome) -> str:
    """The speed with an input that is ready; empty where it was not measured."""
    return "" if outcome.ready is None else f"{outcome.ready:.4g} steps/s, if every element were ready"


def said_how_it_did(outcome: Outcome) -> str:
    """How the predictions compare with what was measured; empty where nothing can be said."""
    both = [trial for trial in outcome.trials if trial.is_as_predicted is not None]
    if not both:
        return ""
    pairs = ", ".join(
        f"predicted x{trial.predicted.gain:.2f}, measured x{trial.measured.gain:.2f}"
        for trial in both
        if trial.predicted is not None and trial.measured is not None
    )
    inside = sum(bool(trial.is_as_predicted) for trial in both)
    return f"{pairs}; {inside} of {len(both)} in the predicted range"


def said_of_data(outcome: Outcome) -> str:
    """Whether what was kept left the data as they are; empty where nothing was kept."""
    if not outcome.kept:
        return ""
    other = sorted({trial.data for trial in outcome.kept if trial.data and trial.data != "same"})
    return "; ".join(other) or "the first elements are the same as before"


def said_of_left_out(outcome: Outcome) -> str:
    """What the runs did not do; empty where they did all."""
    return "; ".join(outcome.left_out[:_MOST_LEFT_OUT]) + ("; and more" if outcome.left_out[_MOST_LEFT_OUT:] else "")


def facts_of(outcome: Outcome) -> list[str]:
    """What there is to say beside the table, a sentence each."""
    said = {
        "Data": said_of_data(outcome),
        "What limits now": outcome.limit,
        "At most": said_of_ready(outcome),
        "Ended": f"{outcome.stopped}, after {outcome.seconds / 60:.1f} min",
        "The model": said_how_it_did(outcome),
        "Left out in these runs": said_of_left_out(outcome),
    }
    facts = [f"{name}: {words}" for name, words in said.items() if words]
    return facts + [f"Not tried: {not_tried_words(left)}" for left in outcome.not_tried]
