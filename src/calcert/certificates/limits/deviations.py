"""Deviation lemmas D1, D2, D3 with D5: how far a mean may be from what is true.

All are non-asymptotic. Rounding is on the safe side: a search returns the end of its last bracket that cannot be too
small. `delta` is the probability with which the statement may fail.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist

from calcert.certificates.limits.binomial_moments import bentkus_tail
from calcert.certificates.limits.root_search import PRECISION, SLACK, crossing
from calcert.foundation.compiled import compiled_later, in_kernels

normal_quantile = NormalDist().inv_cdf
"""Good to 16 digits, and ready in a tenth of the time that scipy.special takes to import."""

STRETCH, FINE, COARSE = 0.985, 30, 0.7
"""D3 cuts the variances that are possible into stretches: each end so many times the last, first finely."""


@in_kernels
def relative_entropy(q: float, c: float) -> float:
    """kl(q, c) between Bernoulli laws, without cancellation where q and c are close."""
    if c == q:
        return 0.0
    shift = c - q
    return max(_part(q, shift) + _part(1 - q, -shift), 0.0)


@in_kernels
def _part(weight: float, shift: float) -> float:
    """weight ln(weight / (weight + shift)); infinite where the second weight is zero, if only by rounding."""
    if weight <= 0:
        return 0.0
    ratio = shift / weight
    return math.inf if ratio <= -1 else -weight * math.log1p(ratio)


def mean_upper(mean: float, n: float, delta: float) -> float:
    """D1: upper limit for the mean of independent [0, 1] variables whose sample mean is `mean`.

    Guarantee
        With probability at least 1 - delta over the sample the average of the expectations is at most the result,
        max{c : n kl(mean, c) <= ln(1/delta)} (Chernoff).
    """
    return _mean_upper(min(max(float(mean), 0.0), 1.0), math.log(1 / delta) / n)


@compiled_later
def _mean_upper(mean: float, budget: float) -> float:
    if relative_entropy(mean, 1.0) <= budget:
        return 1.0
    highest = min(mean + math.sqrt(budget / 2) * (1 + SLACK) + SLACK, 1 - 1e-16)  # Pinsker
    if relative_entropy(mean, highest) <= budget:
        return 1.0
    return min(crossing(_left_of, mean, highest, 1e-14, (mean, budget))[1] * (1 + SLACK), 1.0)


@in_kernels
def _left_of(c: float, mean: float, budget: float) -> float:
    return budget - relative_entropy(mean, c)


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


@in_kernels
def bernstein(variance: float, bound: float, n: float, delta: float) -> float:
    """D2: limit for the mean of n independent centred variables, each at most `bound`, of mean variance <= `variance`.

    Guarantee
        With probability at least 1 - delta the mean is at most the result. The variables need not be identical.
    """
    u = math.log(1 / delta)
    drift = bound * u / (3 * n)
    return (drift + math.sqrt(drift * drift + 2 * max(variance, 0.0) * u / n)) * (1 + SLACK)


@in_kernels
def berry_esseen_constant(ratio: float) -> float:
    """Shevtsova's bound on sqrt(n) sup|F_n - Phi| for i.i.d. variables with E|xi|^3 / sigma^3 <= ratio."""
    return min(0.4690 * ratio, 0.3322 * (ratio + 0.429), 0.3031 * (ratio + 0.646))


@in_kernels
def _excess(e: float, variance: float, bound: float, n: float, delta: float) -> float:
    """D3: negative where the mean of n i.i.d. variables is e or more with probability below delta.

    The variance is unknown but one number. Where normal tail and Berry-Esseen error together are at most delta, e is a
    limit; so it is up to any variance at which D5 is at most delta, or which Bernstein allows. Variances are cut into
    stretches, the normal tail being largest at the upper end of each and its error at the lower one. D5 is asked at the
    first stretch that fails, and what it says of that one is true of all below.
    """
    left = n * e * e / (2 * math.log(1 / delta)) - bound * e / 3
    tail, most, number = 0.0, variance, 0
    while most > left:
        least = max(most * (STRETCH if number < FINE else COARSE), left)
        normal = math.erfc(e * math.sqrt(n / (2 * most))) / 2
        normal += berry_esseen_constant(bound / math.sqrt(least)) / math.sqrt(n)
        if normal > delta:
            # Where the normal law is close enough to decide, D5 says no more.
            known = n * most > (bound / delta) ** 2
            tail = normal if known else min(normal, bentkus_tail(e, most, bound, n))
            break
        tail, most, number = max(tail, normal), least, number + 1
    return math.log(max(tail, 1e-300) / delta) + SLACK


@compiled_later
def gaussian_sharp(variance: float, bound: float, n: float, delta: float) -> float:
    """D3: limit for the mean of n i.i.d. centred variables, |xi| <= `bound`, variance <= `variance`.

    Guarantee
        With probability at least 1 - delta the mean is at most the result. For large n it approaches the normal
        quantile times the standard error; nowhere is it above D2.

    Every e that passes is a limit, so that the search for the smallest need not be exact.
    """
    if variance <= 0:
        return 0.0
    high = bernstein(variance, bound, n, delta)
    return crossing(_excess, 0.0, high, PRECISION, (variance, bound, n, delta))[1] * (1 + SLACK)


@in_kernels
def hoeffding(proxy: float, n: float, delta: float) -> float:
    """Limit for the mean of n independent centred variables that are sub-Gaussian with variance proxy `proxy`."""
    return math.sqrt(2 * proxy * math.log(1 / delta) / n) * (1 + SLACK)


def iid_limit(variance: float, bound: float, n: float, delta: float) -> float:
    """The smaller of D3 and Hoeffding for i.i.d. variables of range 2 (`variance` may be data-dependent)."""
    return min(gaussian_sharp(float(variance), float(bound), float(n), delta), hoeffding(1.0, n, delta))


@in_kernels
def beyond_iid_limit(e: float, variance: float, bound: float, n: float, delta: float) -> float:
    """Positive where `e` is above :func:`iid_limit`, negative where it is below; nowhere near how far.

    D3 passes `e` or does not: that takes one tail, where the limit itself is a search of many.
    """
    if e <= 0 or variance <= 0:
        return e
    closed = min(bernstein(variance, bound, n, delta), hoeffding(1.0, n, delta))
    if e >= closed:
        return e - closed
    excess = _excess(e / (1 + 2 * SLACK), variance, bound, n, delta)
    return max(-excess * e / (2 * math.log(1 / delta)), e - closed)


@in_kernels
def grouped_limit(variance: float, bound: float, n: float, delta: float) -> float:
    """The smaller of D2 and Hoeffding where signs depend on all the scores: label and score each have range 1."""
    return min(bernstein(variance, bound, n, delta), hoeffding(0.5, n, delta))


Limit = Callable[[float, float, float, float], float]
