"""INVERT: from a plug-in and a second moment to an upper bound, for every limit of deviations; and turned round."""

from __future__ import annotations

import math

from calcert.certificates.limits.deviations import Limit, bernstein, beyond_iid_limit, grouped_limit, iid_limit
from calcert.certificates.limits.root_search import SLACK, largest_candidate
from calcert.foundation.compiled import compiled_later, in_kernels


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


@in_kernels
def _beyond(a: float, b: float, plug_in: float, second_moment: float, n: float, delta: float) -> float:
    return beyond_iid_limit(a - plug_in, max(second_moment - a * a, 0.0), 1 + b, n, delta)


@in_kernels
def _beyond_grouped(a: float, b: float, plug_in: float, second_moment: float, n: float, delta: float) -> float:
    return a - plug_in - grouped_limit(max(second_moment - a * a, 0.0), 1 + b, n, delta)


@compiled_later
def _largest(low: float, top: float, plug_in: float, second_moment: float, n: float, delta: float) -> float:
    return largest_candidate(_beyond, low, top, (plug_in, second_moment, n, delta))


@compiled_later
def _largest_grouped(low: float, top: float, plug_in: float, second_moment: float, n: float, delta: float) -> float:
    return largest_candidate(_beyond_grouped, low, top, (plug_in, second_moment, n, delta))


def least_size(size: float, second_moment: float, n: float, delta: float) -> float:
    """The least |m| that n rows do not exclude as the mean m of gains in [-1, 1]; theorem 11 (ii).

    Guarantee
        If `size` is at most that of the mean of the rows and `second_moment` at least that of the law, |m| is at least
        the result with probability at least 1 - delta.
    """
    return max(size - _least(max(size, 0.0), second_moment, float(n), delta), 0.0)


@compiled_later
def _least(size: float, second_moment: float, n: float, delta: float) -> float:
    return largest_candidate(_excluded, 0.0, size, (size, second_moment, n, delta))


@in_kernels
def _excluded(a: float, b: float, size: float, second_moment: float, n: float, delta: float) -> float:
    """Positive where no mean of a size from size - b to size - a can be true, on the side of the rows or the other."""
    least, most = max(size - b, 0.0), size - a
    variance = max(second_moment - least * least, 0.0)
    same = beyond_iid_limit(a, variance, 1 + most, n, delta - _other_side(least, n, delta))
    if same <= 0:
        return same
    return min(same, beyond_iid_limit(size + least, variance, 1 + most, n, _other_side(most, n, delta)))


@in_kernels
def _other_side(c: float, n: float, delta: float) -> float:
    """The part of delta for rows whose mean is on the other side of 0 than one of size c: half of it where c is 0."""
    return delta / 2 * max(math.exp(-4 * c * math.sqrt(n)), 0.002)


def invert_squared(plug_in: float, n: float, delta: float) -> float:
    """The largest c in [0, 1] with c - bernstein(4c/3 - c^2, 1 + c) <= plug_in (theorem 7), by the same search."""

    def excess(a: float, b: float) -> float:
        peak = min(max(2 / 3, a), b)
        return a - bernstein(4 * peak / 3 - peak * peak, 1 + b, n, delta) - plug_in

    return largest_candidate(excess, min(max(plug_in, 0.0), 1.0), 1.0)
