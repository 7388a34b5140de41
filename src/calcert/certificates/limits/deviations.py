"""Deviation lemmas D1, D2, D3 with D5: how far a mean may be from what is true.

All are non-asymptotic. Rounding is on the safe side: a search returns the end of its last bracket that cannot be too
small. `delta` is the probability with which the statement may fail.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist

from calcert.kernels.limits import _mean_upper, gaussian_sharp, hoeffding, relative_entropy
from calcert.kernels.search import SLACK, crossing

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
