"""The empirical Bernstein bound of the published methods, and how they share a probability of failure."""

from __future__ import annotations

import math

from calcert.foundation.array_types import Floats


def bernstein(n: int, delta: float, variance: float) -> float:
    """How far the mean of n values in [0, 1] may lie above their average, with probability at least 1 - delta.

    sqrt(2 variance ln(3/delta)/n) + 3 ln(3/delta)/n, with the empirical variance (divisor n) of the values: the
    version of Audibert, Munos and Szepesvari, which Mnih, Szepesvari and Audibert (2008) and then the paper use.

    Examples
    --------
    >>> from calcert.published.bernstein import bernstein
    >>> round(bernstein(10_000, 0.05, 0.01), 5)
    0.00409
    """
    log = math.log(3) - math.log(delta)
    return math.sqrt(2 * variance * log / n) + 3 * log / n


def share(delta: float, parts: int) -> float:
    """delta / parts, the level of each of several statements that must hold together."""
    return delta / parts


def judge(gap: Floats, error: Floats, scale: float, delta: float) -> dict[str, float]:
    """The terms of a bound whose surrogate has a pointwise error bound: `gap` and `error` on the validation rows.

    Both means get a Bernstein term at delta/2 (the paper leaves the parts open, and its proof speaks of half); `error`
    is divided by `scale`, which should bound it, to fit into [0, 1].
    """
    level = share(delta, 2)
    return {
        "gap to the curve": float(gap.mean()),
        "error of the curve": float(error.mean()),
        "Bernstein, gap": bernstein(gap.size, level, float(gap.var())),
        "Bernstein, error": scale * bernstein(gap.size, level, float((error / scale).var())),
    }
