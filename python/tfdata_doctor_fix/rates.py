"""Steps per second of runs, and why a run has none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Optional

from .jobs import Answer
from .source import Refused

#: Steps before those that are measured: they trace functions and fill buffers.
WARM_UP = 10
#: With fewer, a run says nothing.
LEAST_STEPS = 5


def rate_of(answer: Answer, skip: int, most: Optional[int] = None) -> Optional[float]:
    """Steps per second after the first `skip`, with what lies between them; None where there are too few."""
    last = len(answer.ends) if most is None else min(most, len(answer.ends))
    if last - skip < LEAST_STEPS:
        return None
    return (last - skip) / max(answer.ends[last - 1] - answer.begins[skip], 1e-9)


def rates_of(answers: tuple[list[Answer], list[Answer]], skip: int) -> tuple[list[float], list[float]]:
    """Of the same steps of all runs."""
    most = min(len(answer.ends) for side in answers for answer in side)
    base, changed = ([rate_of(answer, skip, most) or 0.0 for answer in side] for side in answers)
    return base, changed


def check_run(answer: Answer, skip: int) -> None:
    """Refuses an answer without a rate, with the reason."""
    if answer.ended == "memory":
        raise Refused("the machine ran out of memory")
    if rate_of(answer, skip) is not None:
        return
    done = len(answer.ends)
    if answer.ended == "time":
        raise Refused(
            f"{done} steps in the time of a run, and the first {skip} do not count; --budget sets a longer one"
        )
    raise Refused(f"the program ends after {done} steps, and the first {skip} do not count: give it a longer run")


def too_little_recorded(steps: int, skip: int) -> str:
    """What to say where there is no recording, or one of hardly any steps."""
    if steps == 0:
        return "nothing was recorded: the program took no elements from datasets, or a tf.function contains its loop"
    return (
        f"too little was recorded: the program took {steps} steps, of which {skip} do not count; give it a longer run"
    )


def median(values: Sequence[float]) -> Optional[float]:
    """Of an odd number of values the one in the middle; None where there are none."""
    ordered = sorted(values)
    return ordered[len(ordered) // 2] if ordered else None
