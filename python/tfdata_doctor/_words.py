"""Numbers as people read them."""

from __future__ import annotations


def percent(share: float) -> str:
    """66% or 1.1%: two significant digits."""
    value = 100 * share
    return f"{value:.0f}%" if value >= 9.95 else f"{value:.2g}%"


def times(factor: float) -> str:
    """1.13x, 2.4x or 35x: how much faster."""
    digits = 2 if factor < 1.25 else 1 if factor < 10 else 0
    return f"{factor:.{digits}f}x"


def rate(steps_per_s: float) -> str:
    """12.5, 151 or 1,562: no digits that nobody needs."""
    return f"{steps_per_s:,.0f}" if steps_per_s >= 100 else f"{steps_per_s:.3g}"
