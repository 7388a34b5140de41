"""Limits for means: the lemmas D1, D1b, D1c and D3, second moments, and INVERT, which makes upper bounds of them.

All are non-asymptotic. Rounding is on the safe side: a search returns the end of its last bracket that cannot be too
small. `delta` is the probability with which the statement may fail.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from calcert.foundation.array_types import Floats
from calcert.kernels.few_values import _lacking, _limit
from calcert.kernels.limits import (
    _convex_upper,
    _largest,
    _largest_grouped,
    _least,
    _mean_upper,
    bernstein,
    gaussian_sharp,
    grouped_limit,
    hoeffding,
    relative_entropy,
)
from calcert.kernels.search import SLACK, crossing, largest_candidate

normal_quantile = NormalDist().inv_cdf
"""Good to 16 digits, and ready in a tenth of the time that scipy.special takes to import."""


def mean_upper(mean: float, n: float, delta: float) -> float:
    """D1: upper limit for the mean of independent [0, 1] variables whose sample mean is `mean`.

    Guarantee
        With probability at least 1 - delta over the sample the average of the expectations is at most the result,
        max{c : n kl(mean, c) <= ln(1/delta)} (Chernoff).
    """
    return _mean_upper(min(max(float(mean), 0.0), 1.0), math.log(1 / delta) / n)


def mean_lower(mean: float, n: float, delta: float) -> float:
    """D1, the other tail: 1 - mean_upper(1 - mean), rounded down."""
    return max(0.0, math.nextafter(1 - mean_upper(1 - mean, n, delta), 0.0))


def share_beyond(mean: float, n: float, delta: float) -> float:
    """D1 before the rows are seen: the share that n independent [0, 1] variables of this mean reach seldom.

    Guarantee
        Their sample mean is as large as the result with probability at most delta; infinity where no share is so large.
    """
    budget = math.log(1 / delta) / n
    if relative_entropy(1.0, mean) < budget:
        return math.inf
    return crossing(lambda share: budget - relative_entropy(share, mean), mean, 1.0)[1] * (1 + SLACK)


def iid_limit(variance: float, bound: float, n: float, delta: float) -> float:
    """The smaller of D3 and Hoeffding for i.i.d. variables of range 2 (`variance` may be data-dependent)."""
    return min(gaussian_sharp(float(variance), float(bound), float(n), delta), hoeffding(1.0, n, delta))


Limit = Callable[[float, float, float, float], float]


BETS = np.array([1.6, 2.6, 4.2, 7.0, 12.0, 25.0])
"""The bets, times sqrt(2 ln(1/delta) / n): a list fixed beforehand, all with the same weight."""


def betting_upper(values: Floats, shares: Floats, n: float, delta: float, most: float = 1.0) -> float:
    """D1b: an upper limit for the mean of n independent variables, at most 1, with `shares` of them at `values`.

    Guarantee
        With probability at least 1 - delta the average of the expectations is at most the result; `most` where the
        rows refute nothing below it. So it is if values are larger, or spread out with their mean kept.
    """
    low = min(float(shares @ values), most)
    return _limit(low, most, values, shares, *_against(n, delta))


def refutes(c: float, values: Floats, shares: Floats, n: float, delta: float) -> float:
    """D1b: positive where c is refuted as the average of the expectations, as :func:`betting_upper` refutes it."""
    return -_lacking(c, values, shares, *_against(n, delta))


def _against(n: float, delta: float) -> tuple[Floats, float, float]:
    """Bets, number of rows and the evidence that is asked for."""
    evidence = math.log(1 / delta)
    return BETS * math.sqrt(2 * evidence / n), float(n), evidence


NODES = (np.arange(129) / 128.0) ** 2
"""Squares are known by how many rows lie at each of these: a row between two of them is split, its square kept."""

MANY = 1e5
"""Of so large a sum D1c says no more than D1."""


SPLIT = 0.98
"""The share of delta spent on the mean where the spread of the squares is not known; the rest pays for D1 or D1c."""


def share_for_mean(n: float) -> float:
    """The share of delta spent on the mean of n rows; the rest pays for the second moment.

    What a second moment lacks falls with the root of n, and so does what is worth spending on it.
    """
    return SPLIT - 2 * _share_for_bets(n)


def _share_for_bets(n: float) -> float:
    return min(0.02, 0.25 / math.sqrt(n))


@dataclass(frozen=True, eq=False)
class Squares:
    """At least the squared gains of the rows: their mean, and the share of rows at each of some nodes."""

    mean: float
    shares: Floats
    nodes: Floats

    @classmethod
    def of(cls, values: ArrayLike, counts: ArrayLike = 1.0, mean: float | None = None) -> Squares:
        """From values in [0, 1] and how many rows have them; a `mean` that is known better is used for D1c."""
        values, counts = np.broadcast_arrays(np.asarray(values, np.float64), np.asarray(counts, np.float64))
        at, rows = np.clip(values.ravel(), 0.0, 1.0), counts.ravel()
        node = np.minimum(np.floor(np.sqrt(at) * 128), 127).astype(np.int64)
        part = np.clip((at - NODES[node]) / (NODES[node + 1] - NODES[node]), 0.0, 1.0)
        size = NODES.size
        shares = np.bincount(node, rows * (1 - part), size) + np.bincount(node + 1, rows * part, size)
        known = float((rows * at).sum() / rows.sum()) + SLACK if mean is None else mean
        return cls(min(known, 1.0), shares / rows.sum(), NODES)

    @lru_cache(maxsize=16)  # noqa: B019  Statements about the same rows ask the same; few are kept.
    def upper(self, n: float, delta: float) -> float:
        """An upper limit for the mean square, from n independent rows of a statement that may fail with delta.

        Guarantee
            The average of the expected squares is above the result with probability at most what is left of delta
            beside their mean, (1 - share_for_mean(n)) delta: D1c and D1b, which share it.
        """
        bets = _share_for_bets(n) * delta
        most = convex_upper(self.mean, n, (1 - share_for_mean(n)) * delta - bets)
        return betting_upper(self.nodes, self.shares, n, bets, most)


def convex_upper(mean: float, n: float, delta: float) -> float:
    """D1c: upper limit for the mean of independent [0, 1] variables whose sample mean is `mean`; never above D1.

    Guarantee
        With probability at least 1 - delta over the sample the average of the expectations is at most the result.
    """
    mean, most = min(max(float(mean), 0.0), 1.0), mean_upper(mean, n, delta)
    return most if mean * n > MANY or most >= 1 else _convex_upper(mean, n, delta, most)


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
