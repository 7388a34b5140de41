"""INVERT: from a plug-in and a second moment to an upper bound, for every limit of deviations; and turned round."""

from __future__ import annotations

import math

from calcert.certificates.limits.deviations import Limit, iid_limit
from calcert.kernels.limits import _largest, _largest_grouped, _least, bernstein, grouped_limit
from calcert.kernels.search import SLACK, largest_candidate


def invert(plug_in: float, second_moment: float, n: float, delta: float, limit: Limit) -> float:
    """INVERT: the largest c in [0, 1] with c - limit(second_moment - c^2, 1 + c, n, delta) <= plug_in.

    Guarantee
        If the plug-in is at least the sample mean of variables with mean CE whose deviations obey `limit`, and
        `second_moment` is at least theirs, then CE is at most the result with probability at least 1 - delta.
        The second moment is at least CE^2, so that the search ends at its square root.

    The set of such c need not be an interval. An interval [a, b] is passed over only if no c inside it can qualify,
    since limit grows with the variance and with the bound.
    """
    top = min(1.0, math.sqrt(second_moment) * (1 + SLACK))
    low = min(max(plug_in, 0.0), top)
    if limit is iid_limit or limit is grouped_limit:
        known = (float(value) for value in (low, top, plug_in, second_moment, n, delta))
        return (_largest if limit is iid_limit else _largest_grouped)(*known)

    def excess(a: float, b: float) -> float:
        return a - limit(max(second_moment - a * a, 0.0), 1 + b, n, delta) - plug_in

    return largest_candidate(excess, low, top)


def least_size(size: float, second_moment: float, n: float, delta: float) -> float:
    """The least |m| that n rows do not exclude as the mean m of gains in [-1, 1]; theorem 11 (ii).

    Guarantee
        If `size` is at most that of the mean of the rows and `second_moment` at least that of the distribution, |m| is
        at least the result with probability at least 1 - delta.
    """
    return max(size - _least(max(size, 0.0), second_moment, float(n), delta), 0.0)


def invert_squared(plug_in: float, n: float, delta: float) -> float:
    """The largest c in [0, 1] with c - bernstein(4c/3 - c^2, 1 + c) <= plug_in (theorem 7), by the same search."""

    def excess(a: float, b: float) -> float:
        peak = min(max(2 / 3, a), b)
        return a - bernstein(4 * peak / 3 - peak * peak, 1 + b, n, delta) - plug_in

    return largest_candidate(excess, min(max(plug_in, 0.0), 1.0), 1.0)
