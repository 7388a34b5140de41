"""Where a function changes sign, and the last place that qualifies: searches that stop on the safe side."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

SLACK = 1e-12
"""Relative widening of every computed limit: far more than the rounding of the few operations behind it."""

PRECISION = 1e-10
"""How far a search may stop above what it searches for, relatively: nothing next to what a limit gives away."""

_SLACK, _PRECISION = SLACK, PRECISION  # Numbers in C, where kernels are compiled.

RuledOut = Callable[..., float]
"""Positive where no c in [a, b] qualifies."""


def largest_candidate(excess: RuledOut, low: float, high: float, known: tuple[float, ...] = ()) -> float:
    """Not below any c of [low, high] that qualifies, nor above the last of them by more than PRECISION; else `low`.

    Where candidates seem to end is found first. From there all of [c, high] is passed over in steps as wide as `excess`
    allows; a sliver that it cannot rule out moves c to its end. `excess` is told what is `known` beside the ends.
    """
    if excess(high, high, *known) <= 0:
        return min(high + _SLACK, 1.0)
    c = low
    while c < high:
        if excess(c, c, *known) <= 0:
            c = crossing(_short_of, c, high, _PRECISION, (excess, known))[1]
        sliver = _PRECISION * max(c - low, _PRECISION) + _SLACK
        a, step = c + sliver, sliver
        while a < high:
            b = min(a + step, high)
            if excess(a, b, *known) > 0:
                a, step = b, 64 * step
            elif step > sliver:
                step /= 8
            else:
                break
        if a >= high:
            return min(c + sliver, 1.0)
        c = min(a + step, high)
    return min(high + _SLACK, 1.0)


def _short_of(c: float, excess: RuledOut, known: tuple[float, ...]) -> float:
    return -excess(c, c, *known)


def crossing(
    falling: Callable[..., float], low: float, high: float, precision: float = PRECISION, known: tuple[Any, ...] = ()
) -> tuple[float, float]:
    """Where a function that is positive at `low` and not at `high` changes sign, to `precision` of the end (Illinois).

    It stays positive at the first number returned, and not at the second. It is told what is `known` beside the place.
    """
    at_low, at_high, side = falling(low, *known), falling(high, *known), 0
    for step in range(160):
        if high - low <= precision * abs(high):
            break
        # Every fourth step halves what is left, whatever jumps there are.
        share = at_low / (at_low - at_high) if math.isfinite(at_low - at_high) and step % 4 < 3 else 0.5
        middle = low + min(max(share, 1e-3), 1 - 1e-3) * (high - low)
        value = falling(middle, *known)
        if value > 0:
            low, at_low = middle, value
            at_high /= 2 if side > 0 else 1
            side = 1
        else:
            high, at_high = middle, value
            at_low /= 2 if side < 0 else 1
            side = -1
    return low, high
