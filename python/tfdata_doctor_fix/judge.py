"""Whether one of two programs is faster: the statistics with which `tfdata-doctor compare` judges times.

lib/compare/row_judge.cpp and lib/compare/comparison_thresholds.cpp are the same test in C++.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

#: Runs of each side with which the least ratio and the largest p-value are those of compare, and with fewer those of
#: compare --weak. 3 against 3 reach p = 0.05: one order in 20 puts all of one side before all of the other.
ENOUGH_RUNS = 5
LEAST_RUNS = 3
_MIN_RATIO = 1.03
_WEAK_MIN_RATIO = 1.05
_SIGNIFICANCE = 0.01
_WEAK_SIGNIFICANCE = 0.05
#: A p-value that equals a threshold on paper may miss it by the last bit.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Verdict:
    """`gain`: steps in a time of the changed program for one of the base, of the medians, and its interval."""

    gain: float
    low: float
    high: float
    confidence: float
    p_value: float
    is_faster: bool
    is_slower: bool


def _counts_of_u(first: int, second: int) -> list[int]:
    """In how many orders of two samples the statistic U of Mann and Whitney has each value."""
    counts = [[1] + [0] * (first * second) for _ in range(second + 1)]
    for _ in range(first):
        for column in range(1, second + 1):
            left = counts[column - 1]
            counts[column] = [
                left[u] + (counts[column][u - column] if u >= column else 0) for u in range(first * second + 1)
            ]
    return counts[second]


def rank_p_value(base: Sequence[float], changed: Sequence[float]) -> float:
    """The probability that like samples have one as far above the other as here, or further; ties are halves."""
    u = sum((b > a) + 0.5 * (b == a) for a, b in itertools.product(base, changed))
    counts = _counts_of_u(len(base), len(changed))
    return sum(counts[math.ceil(u) :]) / sum(counts)


def ratio_interval(base: Sequence[float], changed: Sequence[float], most: float = 0.95) -> tuple[float, float, float]:
    """The interval of the ratio between all pairs, of at most this confidence, and the confidence that it has."""
    ratios = sorted(b / a for a, b in itertools.product(base, changed))
    counts = _counts_of_u(len(base), len(changed))
    total, cut, below = sum(counts), 0, 0
    while below + counts[cut] <= (1 - most) / 2 * total:
        below += counts[cut]
        cut += 1
    # Where the samples are too small for it, all of the ratios; the confidence says so.
    outside = below if cut > 0 else counts[0]
    last = max(cut - 1, 0)
    return ratios[last], ratios[-1 - last], 1 - 2 * outside / total


def judge(base: Sequence[float], changed: Sequence[float], is_strong: bool) -> Verdict:
    """Judges steps per second of runs of both sides, `LEAST_RUNS` or more of each for it to be faster or slower.

    `is_strong`: as compare does with 5 recordings of each, else as with --weak.
    """
    gain = statistics.median(changed) / statistics.median(base)
    low, high, confidence = ratio_interval(base, changed)
    runs = min(len(base), len(changed))
    least = _MIN_RATIO if is_strong else _WEAK_MIN_RATIO
    significance = (_SIGNIFICANCE if is_strong else _WEAK_SIGNIFICANCE) + _ROUNDING
    above, under = rank_p_value(base, changed), rank_p_value(changed, base)
    is_enough = runs >= LEAST_RUNS
    return Verdict(
        gain,
        low,
        high,
        confidence,
        above,
        is_enough and gain >= least and above <= significance,
        is_enough and gain <= 1 / least and under <= significance,
    )
