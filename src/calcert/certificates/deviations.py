"""Deviation lemmas D1, D2, D3 and the one inversion that every upper certificate uses.

All are non-asymptotic. Rounding is on the safe side: a search returns the end of its last bracket that cannot be too
small. `delta` is the probability with which the statement may fail.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist
from typing import Any

from calcert.foundation.compiled import compiled_later, in_kernels

SLACK = 1e-12
"""Relative widening of every computed limit: far more than the rounding of the few operations behind it."""

PRECISION = 1e-10
"""How far a search may stop above what it searches for, relatively: nothing next to what a limit gives away."""

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
    """D1, the other tail: 1 - mean_upper(1 - mean)."""
    return max(0.0, 1 - mean_upper(1 - mean, n, delta))


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


def invert_squared(plug_in: float, n: float, delta: float) -> float:
    """The largest c in [0, 1] with c - bernstein(4c/3 - c^2, 1 + c) <= plug_in (theorem 7), by the same search."""

    def excess(a: float, b: float) -> float:
        peak = min(max(2 / 3, a), b)
        return a - bernstein(4 * peak / 3 - peak * peak, 1 + b, n, delta) - plug_in

    return largest_candidate(excess, min(max(plug_in, 0.0), 1.0), 1.0)


Excess = Callable[..., float]
"""Positive where no c in [a, b] qualifies."""


@in_kernels
def largest_candidate(excess: Excess, low: float, high: float, known: tuple[float, ...] = ()) -> float:
    """Not below any c of [low, high] that qualifies, nor above the last of them by more than PRECISION; else `low`.

    Where candidates seem to end is found first. From there all of [c, high] is passed over in steps as wide as `excess`
    allows; a sliver that it cannot rule out moves c to its end. `excess` is told what is `known` beside the ends.
    """
    if excess(high, high, *known) <= 0:
        return min(high + SLACK, 1.0)
    c = low
    while c < high:
        if excess(c, c, *known) <= 0:
            c = crossing(_short_of, c, high, PRECISION, (excess, known))[1]
        sliver = PRECISION * max(c - low, PRECISION) + SLACK
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
    return min(high + SLACK, 1.0)


@in_kernels
def _short_of(c: float, excess: Excess, known: tuple[float, ...]) -> float:
    return -excess(c, c, *known)


@in_kernels
def crossing(
    falling: Callable[..., float], low: float, high: float, precision: float = PRECISION, known: tuple[Any, ...] = ()
) -> tuple[float, float]:
    """Where a function that is positive at `low` and not at `high` changes sign, to `precision` of the end (Illinois).

    It stays positive at the first number returned, and not at the second. It is told what is `known` beside the place.
    """
    at_low, at_high, side = falling(low, *known), falling(high, *known), 0
    for _ in range(100):
        if high - low <= precision * abs(high):
            break
        share = at_low / (at_low - at_high) if math.isfinite(at_low - at_high) else 0.5
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
