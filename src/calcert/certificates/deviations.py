"""Deviation lemmas D1, D2, D3 and the one inversion that every upper certificate uses.

All are non-asymptotic. Rounding is on the safe side: a search returns the end of its last bracket that cannot be too
small. `delta` is the probability with which the statement may fail.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist

SLACK = 1e-12
"""Relative widening of every computed limit: far more than the rounding of the few operations behind it."""

SLIVER = 1e-10
"""A piece this narrow that an inversion cannot rule out ends it; the answer is the upper end."""

normal_quantile = NormalDist().inv_cdf
"""Good to 16 digits, and ready in a tenth of the time that scipy.special takes to import."""

SPLIT = 0.98
"""The share of delta spent on the mean; the rest pays for the second moment."""


def relative_entropy(q: float, c: float) -> float:
    """kl(q, c) between Bernoulli laws, without cancellation where q and c are close."""
    if c == q:
        return 0.0
    shift = c - q
    return max(_part(q, shift) + _part(1 - q, -shift), 0.0)


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
    budget = math.log(1 / delta) / n
    mean = min(max(mean, 0.0), 1.0)
    return _last_within(lambda c: relative_entropy(mean, c) <= budget, mean, 1.0)


def mean_lower(mean: float, n: float, delta: float) -> float:
    """D1, the other tail: 1 - mean_upper(1 - mean)."""
    return max(0.0, 1 - mean_upper(1 - mean, n, delta))


def bernstein(variance: float, bound: float, n: float, delta: float) -> float:
    """D2: limit for the mean of n independent centred variables, each at most `bound`, of mean variance <= `variance`.

    Guarantee
        With probability at least 1 - delta the mean is at most the result. The variables need not be identical.
    """
    u = math.log(1 / delta)
    drift = bound * u / (3 * n)
    return (drift + math.sqrt(drift * drift + 2 * max(variance, 0.0) * u / n)) * (1 + SLACK)


def berry_esseen_constant(ratio: float) -> float:
    """Shevtsova's bound on sqrt(n) sup|F_n - Phi| for i.i.d. variables with E|xi|^3 / sigma^3 <= ratio."""
    return min(0.4690 * ratio, 0.3322 * (ratio + 0.429), 0.3031 * (ratio + 0.646))


def gaussian_sharp(variance: float, bound: float, n: float, delta: float) -> float:
    """D3: limit for the mean of n i.i.d. centred variables, |xi| <= `bound`, variance <= `variance`.

    Guarantee
        With probability at least 1 - delta the mean is below the result. For large n it approaches the normal
        quantile times the standard error; where the Berry-Esseen term leaves nothing of delta it is infinite.

    For every t in (0, 1): either the standard deviation is below t sqrt(variance) and Bernstein applies with the
    smaller variance, or Berry-Esseen applies with ratio bound / (t sqrt(variance)). The first limit grows with t and
    the second falls, so that the best t is where they cross.
    """
    if variance <= 0:
        return math.inf
    deviation = math.sqrt(variance)

    def normal(t: float) -> float:
        left = delta - berry_esseen_constant(bound / (t * deviation)) / math.sqrt(n)
        return math.inf if left <= 0 else -normal_quantile(left) * deviation / math.sqrt(n)

    def surplus(t: float) -> float:
        return normal(t) - bernstein(t * t * variance, bound, n, delta)

    # The limit holds for every t, so the crossing need not be exact. Below t = low nothing is left of delta.
    low, high = bound / (deviation * _largest_ratio(delta * math.sqrt(n))), 1.0
    if low >= high or surplus(high) >= 0:
        return math.inf
    high = crossing(surplus, low, high, SLIVER * deviation / math.sqrt(n))
    return bernstein(high * high * variance, bound, n, delta) * (1 + SLACK)


def _largest_ratio(constant: float) -> float:
    """The largest ratio at which the Berry-Esseen constant is at most `constant`."""
    return max(constant / 0.4690, constant / 0.3322 - 0.429, constant / 0.3031 - 0.646)


def crossing(falling: Callable[[float], float], low: float, high: float, close: float) -> float:
    """Where a falling function, positive at `low`, comes down to 0, from above: there it is between -close and 0.

    Secants, where the end that stays twice is held to half its value (Illinois), or else the other would creep.
    """
    at_low, at_high, moved = falling(low), falling(high), 0
    held = at_high
    for _ in range(60):
        if at_high >= -close:
            break
        aim = high - (held + close / 2) * (high - low) / (held - at_low) if held < at_low < math.inf else low
        middle = aim if low < aim < high else (low + high) / 2
        value = falling(middle)
        if value > 0:
            low, at_low, held = middle, value, held / 2 if moved > 0 else held
            moved = 1
        else:
            high, at_high, held, at_low = middle, value, value, at_low / 2 if moved < 0 else at_low
            moved = -1
    return high


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

    The set of such c need not be an interval. The search is a branch and bound from above: an interval [a, b] is
    thrown away only if no c inside it can qualify, since limit grows with the variance and with the bound. Most of
    [0, 1] is thrown away before that in a few large pieces.
    """
    top = min(1.0, math.sqrt(second_moment) * (1 + SLACK))
    bottom = min(max(plug_in, 0.0), top)

    def room(a: float, b: float) -> float:
        return plug_in - a + limit(max(second_moment - a * a, 0.0), 1 + b, n, delta)

    return _largest(lambda a, b: room(a, b) >= 0, bottom, _lowered(room, bottom, top))


def invert_squared(plug_in: float, n: float, delta: float) -> float:
    """The largest c in [0, 1] with c - bernstein(4c/3 - c^2, 1 + c) <= plug_in (theorem 7), by the same search."""

    def possible(a: float, b: float) -> bool:
        peak = min(max(2 / 3, a), b)
        return a - bernstein(4 * peak / 3 - peak * peak, 1 + b, n, delta) <= plug_in

    return _largest(possible, min(max(plug_in, 0.0), 1.0), 1.0)


def _lowered(room: Callable[[float, float], float], low: float, high: float) -> float:
    """A smaller `high`: what lies above it was thrown away piece by piece, each [a, high] for a room(a, high) below 0.

    Where pieces do not soon become small, the search by halves does the rest.
    """
    for _ in range(6):
        below = _below(room, low, high)
        if high - below <= SLIVER / 2:
            return below
        high = below
    return high


def _below(room: Callable[[float, float], float], low: float, high: float) -> float:
    """The least `a`, or nearly so, for which [a, high] may be thrown away; `high` if there is none to speak of.

    room(., high) falls by at least as much as its argument grows, which says how far down to look.
    """
    lack = -room(high, high)
    if lack <= SLIVER / 2:
        return high
    close = max(1e-4 * lack, SLIVER / 4)
    return crossing(lambda a: room(a, high) + SLACK, max(low, high - lack), high, close)


def _largest(possible: Callable[[float, float], bool], low: float, high: float) -> float:
    """The top of the highest sliver of [low, high] that `possible` does not rule out; `low` if all are ruled out."""
    sliver = max(high - SLIVER, low)
    stack = [(low, sliver), (sliver, high)]
    while stack:
        a, b = stack.pop()
        if not possible(a, b):
            continue
        if b - a <= SLIVER:
            return min(b + SLACK, 1.0)
        middle = (a + b) / 2
        stack += [(a, middle), (middle, b)]
    return low


def _last_within(within: Callable[[float], bool], low: float, high: float) -> float:
    """The end of [low, high] up to which `within` holds, from above; `within` holds at low and then fails for good."""
    if within(high):
        return high
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if within(middle):
            low = middle
        else:
            high = middle
    return min(high * (1 + SLACK), 1.0)
