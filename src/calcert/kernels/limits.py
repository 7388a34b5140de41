"""Deviation lemmas as functions of numbers, tails of binomial variables behind them, and the searches that invert both.

Of the tails everything that is cut off is added, and the one probability that is computed is rounded up.
"""

from __future__ import annotations

import math

from calcert.kernels.search import PRECISION, SLACK, crossing, largest_candidate

LARGEST_COUNT = 1e6
"""D5 joins neighbouring variables until all variances add up to at most so many squared bounds: some 10,000 terms."""

NEGLIGIBLE = 1e-12
"""Atoms are summed up one by one until the rest is below this share of the sums; the rest is then added from above."""

ROUNDED_UP = 1 + 1e-9
"""More than the logarithm of a binomial probability and some 10,000 products and sums lose by rounding."""

FIRST_REMAINDERS = (0.0810614667953272, 0.0413406959554092)
"""ln k! less Stirling's formula at k = 1 and 2, rounded down."""

STRETCH, FINE, COARSE = 0.985, 30, 0.7
"""D3 cuts the variances that are possible into stretches: each end so many times the last, first finely."""

CLOSE = 1e-6
"""How far above its limit D1c's search may stop, relatively."""

# Numbers in C, where kernels are compiled.
_SLACK, _LARGEST, _NEGLIGIBLE, _ROUNDED_UP = SLACK, LARGEST_COUNT, NEGLIGIBLE, ROUNDED_UP
_STRETCH, _FINE, _COARSE = STRETCH, FINE, COARSE
_FIRST, _SECOND = FIRST_REMAINDERS


def relative_entropy(q: float, c: float) -> float:
    """kl(q, c) between Bernoulli distributions, without cancellation where q and c are close."""
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


def _mean_upper(mean: float, budget: float) -> float:
    if relative_entropy(mean, 1.0) <= budget:
        return 1.0
    highest = min(mean + math.sqrt(budget / 2) * (1 + _SLACK) + _SLACK, 1 - 1e-16)  # Pinsker
    if relative_entropy(mean, highest) <= budget:
        return 1.0
    return min(crossing(_left_of, mean, highest, 1e-14, (mean, budget))[1] * (1 + _SLACK), 1.0)


def _left_of(c: float, mean: float, budget: float) -> float:
    return budget - relative_entropy(mean, c)


def bernstein(variance: float, bound: float, n: float, delta: float) -> float:
    """D2: limit for the mean of n independent centred variables, each at most `bound`, of mean variance <= `variance`.

    Guarantee
        With probability at least 1 - delta the mean is at most the result. The variables need not be identical.
    """
    u = math.log(1 / delta)
    drift = bound * u / (3 * n)
    return (drift + math.sqrt(drift * drift + 2 * max(variance, 0.0) * u / n)) * (1 + _SLACK)


def berry_esseen_constant(ratio: float) -> float:
    """Shevtsova's bound on sqrt(n) sup|F_n - Phi| for i.i.d. variables with E|xi|^3 / sigma^3 <= ratio."""
    return min(0.4690 * ratio, 0.3322 * (ratio + 0.429), 0.3031 * (ratio + 0.646))


def hoeffding(proxy: float, n: float, delta: float) -> float:
    """Limit for the mean of n independent centred variables that are sub-Gaussian with variance proxy `proxy`."""
    return math.sqrt(2 * proxy * math.log(1 / delta) / n) * (1 + _SLACK)


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
        least = max(most * (_STRETCH if number < _FINE else _COARSE), left)
        normal = math.erfc(e * math.sqrt(n / (2 * most))) / 2
        normal += berry_esseen_constant(bound / math.sqrt(least)) / math.sqrt(n)
        if normal > delta:
            # Where the normal distribution is close enough to decide, D5 says no more.
            known = n * most > (bound / delta) ** 2
            tail = normal if known else min(normal, bentkus_tail(e, most, bound, n))
            break
        tail, most, number = max(tail, normal), least, number + 1
    return math.log(max(tail, 1e-300) / delta) + _SLACK


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
    return crossing(_excess, 0.0, high, PRECISION, (variance, bound, n, delta))[1] * (1 + _SLACK)


def beyond_iid_limit(e: float, variance: float, bound: float, n: float, delta: float) -> float:
    """Positive where `e` is above :func:`iid_limit`, negative where it is below; nowhere near how far.

    D3 passes `e` or does not: that takes one tail, where the limit itself is a search of many.
    """
    if e <= 0 or variance <= 0:
        return e
    closed = min(bernstein(variance, bound, n, delta), hoeffding(1.0, n, delta))
    if e >= closed:
        return e - closed
    excess = _excess(e / (1 + 2 * _SLACK), variance, bound, n, delta)
    return max(-excess * e / (2 * math.log(1 / delta)), e - closed)


def grouped_limit(variance: float, bound: float, n: float, delta: float) -> float:
    """The smaller of D2 and Hoeffding where signs depend on all the scores: label and score each have range 1."""
    return min(bernstein(variance, bound, n, delta), hoeffding(0.5, n, delta))


def _beyond(a: float, b: float, plug_in: float, second_moment: float, n: float, delta: float) -> float:
    return beyond_iid_limit(a - plug_in, max(second_moment - a * a, 0.0), 1 + b, n, delta)


def _beyond_grouped(a: float, b: float, plug_in: float, second_moment: float, n: float, delta: float) -> float:
    return a - plug_in - grouped_limit(max(second_moment - a * a, 0.0), 1 + b, n, delta)


def _largest(low: float, top: float, plug_in: float, second_moment: float, n: float, delta: float) -> float:
    return largest_candidate(_beyond, low, top, (plug_in, second_moment, n, delta))


def _largest_grouped(low: float, top: float, plug_in: float, second_moment: float, n: float, delta: float) -> float:
    return largest_candidate(_beyond_grouped, low, top, (plug_in, second_moment, n, delta))


def _least(size: float, second_moment: float, n: float, delta: float) -> float:
    return largest_candidate(_excluded, 0.0, size, (size, second_moment, n, delta))


def _excluded(a: float, b: float, size: float, second_moment: float, n: float, delta: float) -> float:
    """Positive where no mean of a size from size - b to size - a can be true, on the side of the rows or the other."""
    least, most = max(size - b, 0.0), size - a
    variance = max(second_moment - least * least, 0.0)
    same = beyond_iid_limit(a, variance, 1 + most, n, delta - _other_side(least, n, delta))
    if same <= 0:
        return same
    return min(same, beyond_iid_limit(size + least, variance, 1 + most, n, _other_side(most, n, delta)))


def _other_side(c: float, n: float, delta: float) -> float:
    """The part of delta for rows whose mean is on the other side of 0 than one of size c: half of it where c is 0."""
    return delta / 2 * max(math.exp(-4 * c * math.sqrt(n)), 0.002)


def _convex_upper(mean: float, n: float, delta: float, most: float) -> float:
    if _convex_excess(most, mean, n, delta) > 0:
        return most
    return min(crossing(_convex_excess, mean, most, CLOSE, (mean, n, delta))[1] * (1 + _SLACK), most)


def _convex_excess(c: float, mean: float, n: float, delta: float) -> float:
    """Positive where the sum may be so small although the expectations average c."""
    if c <= mean:
        return math.log(1 / delta)
    return math.log(max(tail_ratio(n * (1 - mean), n, (1 - c) / c, 1), 1e-300) / delta) + _SLACK


def bentkus_tail(e: float, variance: float, bound: float, n: float) -> float:
    """D5: at least the probability that the mean of n independent centred variables, each at most `bound`, reaches e.

    Guarantee
        Holds if no variable has a variance above `variance`; they need not be identical.
    """
    if e <= 0:
        return 1.0
    if variance <= 0:
        return 0.0
    number = float(math.floor(n))
    width = float(math.ceil(math.sqrt(max(number * variance / (_LARGEST * bound * bound), 1.0))))
    # Sums of `width` neighbours are at most width * bound, with variances of at most width * variance.
    size, odds = float(math.ceil(number / width)), max(variance / (width * bound * bound), 1e-300)
    mean = size * odds / (1 + odds)
    return tail_ratio(mean + number * e / (width * bound * (1 + odds)), size, odds, 2)


def tail_ratio(reached: float, n: float, odds: float, power: int) -> float:
    """At least the infimum over t < reached of E(K - t)_+^power / (reached - t)^power, and next to it.

    K is binomial of n trials, each a success with probability odds / (1 + odds); `power` is 1 or 2, `reached` above its
    mean. Every t gives a bound, so that the search for the best one may stop anywhere.
    """
    if reached > n:
        return 0.0 if reached > n * (1 + 1e-14) else math.exp(-n * math.log1p(1 / odds)) * _ROUNDED_UP
    first = float(math.ceil(reached))
    # Sums of w, w d and w d^2 over the atoms above t, w relative to the atom at `first`, d the distance from `reached`.
    zeroth = linear = square = 0.0
    w, k = 1.0, first
    while True:
        d = k - reached
        zeroth += w
        linear += w * d
        square += w * d * d
        if k >= n:
            break
        ratio = (n - k) / (k + 1) * odds
        if ratio < 1:
            rest, mean = w * ratio / (1 - ratio), 1 / (1 - ratio)
            spread = d * d + 2 * d * mean + (1 + ratio) * mean * mean
            if rest * spread <= _NEGLIGIBLE * square and rest <= _NEGLIGIBLE * zeroth:
                # From here on ratios fall: a geometric sequence is above all that is left out.
                zeroth += rest
                linear += rest * (d + mean)
                square += rest * spread
                break
        w *= ratio
        k += 1
    w, k = 1.0, first
    while k > 0 and zeroth < 1e200:
        back = reached - k + 1  # No further back than the next atom, the sums apply.
        if linear < 0 and (power == 1 or -square / linear <= back):
            break
        w *= k / ((n - k + 1) * odds)
        k -= 1
        d = k - reached
        zeroth += w
        linear += w * d
        square += w * d * d
    if linear >= 0:
        return 1.0
    if power == 1:
        back = max(reached - k, 1e-300)
        found = zeroth + linear / back
    else:
        # Further back than the next atom that atom would count; below 0 there is none.
        back = max(min(-square / linear, reached - k + 1 if k > 0 else math.inf), reached - k, 1e-300)
        found = (square + 2 * back * linear + back * back * zeroth) / (back * back)
    return min(1.0, found * math.exp(_log_probability(first, n, odds)) * _ROUNDED_UP)


def _log_probability(k: float, n: float, odds: float) -> float:
    """At least ln P(K = k), K binomial."""
    if k >= n:
        return -n * math.log1p(1 / odds)
    if k <= 0:
        return -n * math.log1p(odds)
    misses = n - k
    # n kl(k / n, p), without cancellation.
    shift, expected = (n * odds - k * (1 + odds)) / (1 + odds), n * odds / (1 + odds)
    entropy = -k * (math.log(expected / k) if expected < k / 2 else math.log1p(shift / k))
    entropy -= misses * math.log1p(-shift / misses)
    most = 1 / (12 * n) - 1 / (360 * n**3) + 1 / (1260 * n**5)
    return (
        most - _least_remainder(k) - _least_remainder(misses) - entropy - math.log(2 * math.pi * k * (misses / n)) / 2
    )


def _least_remainder(k: float) -> float:
    """At most ln k! - (k + 1/2) ln k + k - ln(2 pi) / 2: Stirling's series alternates."""
    if k <= 2:
        return _FIRST if k <= 1 else _SECOND
    return 1 / (12 * k) - 1 / (360 * k**3) + 1 / (1260 * k**5) - 1 / (1680 * k**7)
