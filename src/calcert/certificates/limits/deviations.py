"""Deviation lemmas D1, D2, D3: how far a mean may be from what is true.

All are non-asymptotic. Rounding is on the safe side: a search returns the end of its last bracket that cannot be too
small. `delta` is the probability with which the statement may fail.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist

from calcert.certificates.limits.root_search import SLACK, crossing
from calcert.foundation.compiled import compiled_later, in_kernels

normal_quantile = NormalDist().inv_cdf
"""Good to 16 digits, and ready in a tenth of the time that scipy.special takes to import."""

STRETCHES = (0.96, 0.87, 0.65, 0.0)
"""Where D3 cuts the variances that may be: as shares of the largest."""

SPLIT = 0.98
"""The share of delta spent on the mean; the rest pays for the second moment."""


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


def gaussian_sharp(variance: float, bound: float, n: float, delta: float) -> float:
    """D3: limit for the mean of n i.i.d. centred variables, |xi| <= `bound`, variance <= `variance`.

    Guarantee
        With probability at least 1 - delta the mean is below the result. For large n it approaches the normal
        quantile times the standard error; where the Berry-Esseen term leaves nothing of delta it is infinite.

    The variance is unknown but one number. Where it is so small that Bernstein's limit is at most e, e is a limit;
    where it is larger, if normal tail and Berry-Esseen error at that variance are at most delta together. What is
    searched is the smallest e for which one or the other is true of every variance up to the largest. Every e that
    passes is a limit, so the search need not be exact.
    """
    return sharp(variance, bound, n, delta, lambda least: _shevtsova(least, bound))


@in_kernels
def _shevtsova(least: float, bound: float) -> float:
    return berry_esseen_constant(bound / math.sqrt(least))


def sharp(variance: float, bound: float, n: float, delta: float, constant: Callable[[float], float]) -> float:
    """D3 with any bound `constant` on sqrt(n) sup|F_n - Phi|, a falling function of what the variance is at least."""
    if variance <= 0:
        return math.inf

    def excess(e: float) -> float:
        return _tail_over_delta(e, variance, bound, n, delta, lambda least, bound: constant(least))

    high = bernstein(variance, bound, n, delta)
    if excess(high) > 0:
        return math.inf
    least = 2 * math.log(1 / delta) * bound / (3 * n) * (1 + 1e-6)
    low = max(-normal_quantile(delta) * math.sqrt(variance / n), least)
    return crossing(excess, low, high)[1] * (1 + SLACK) if low < high else high


@in_kernels
def _tail_over_delta(
    e: float, variance: float, bound: float, n: float, delta: float, constant: Callable[[float, float], float]
) -> float:
    """D3: the logarithm of the bound on the tail beyond e, over delta. Where it is negative, e is a limit."""
    left = n * e * e / (2 * math.log(1 / delta)) - bound * e / 3
    if left <= 0:
        return math.inf
    # Up to the variance `left` Bernstein applies; from there on stretch by stretch, the normal tail being largest at
    # the upper end of each and the error of the normal law at the lower one.
    tail, most = 0.0, variance
    for share in STRETCHES:
        least = max(share * variance, left)
        error = constant(least, bound) / math.sqrt(n)
        tail = max(tail, math.erfc(e * math.sqrt(n / (2 * most))) / 2 + error)
        if least == left:
            break
        most = least
    return math.log(tail / delta) + SLACK


@in_kernels
def hoeffding(proxy: float, n: float, delta: float) -> float:
    """Limit for the mean of n independent centred variables that are sub-Gaussian with variance proxy `proxy`."""
    return math.sqrt(2 * proxy * math.log(1 / delta) / n) * (1 + SLACK)


def iid_limit(variance: float, bound: float, n: float, delta: float) -> float:
    """The smallest of D2, D3 and Hoeffding for i.i.d. variables of range 2 (`variance` may be data-dependent)."""
    return min(
        bernstein(variance, bound, n, delta),
        gaussian_sharp(variance, bound, n, delta),
        hoeffding(1.0, n, delta),
    )


@in_kernels
def beyond_iid_limit(e: float, variance: float, bound: float, n: float, delta: float) -> float:
    """Positive where `e` is above :func:`iid_limit`, negative where it is below; nowhere near how far.

    D3 passes `e` or does not: that takes one tail, where the limit itself is a search of many.
    """
    closed = min(bernstein(variance, bound, n, delta), hoeffding(1.0, n, delta))
    if e >= closed or e <= 0 or variance <= 0:
        return e - closed
    tail = _tail_over_delta(e / (1 + 2 * SLACK), variance, bound, n, delta, _shevtsova)
    return max(-tail * e / (2 * math.log(1 / delta)), e - closed)


@in_kernels
def grouped_limit(variance: float, bound: float, n: float, delta: float) -> float:
    """The smaller of D2 and Hoeffding where signs depend on all the scores: label and score each have range 1."""
    return min(bernstein(variance, bound, n, delta), hoeffding(0.5, n, delta))


Limit = Callable[[float, float, float, float], float]
