"""Tails from truncated moments of binomial variables: Lemmas D5 (Bentkus) and D1c.

Everything that is cut off is added, and the one probability that is computed is rounded up.
"""

from __future__ import annotations

import math

from calcert.foundation.compiled import in_kernels

LARGEST_COUNT = 1e6
"""D5 joins neighbouring variables until all variances add up to at most so many squared bounds: some 10,000 terms."""

NEGLIGIBLE = 1e-12
"""Atoms are summed up one by one until the rest is below this share of the sums; the rest is then added from above."""

ROUNDED_UP = 1 + 1e-9
"""More than the logarithm of a binomial probability and some 10,000 products and sums lose by rounding."""

FIRST_REMAINDERS = (0.0810614667953272, 0.0413406959554092)
"""ln k! less Stirling's formula at k = 1 and 2, rounded down."""


@in_kernels
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
    width = float(math.ceil(math.sqrt(max(number * variance / (LARGEST_COUNT * bound * bound), 1.0))))
    # Sums of `width` neighbours are at most width * bound, with variances of at most width * variance.
    size, odds = float(math.ceil(number / width)), max(variance / (width * bound * bound), 1e-300)
    mean = size * odds / (1 + odds)
    return tail_ratio(mean + number * e / (width * bound * (1 + odds)), size, odds, 2)


@in_kernels
def tail_ratio(reached: float, n: float, odds: float, power: int) -> float:
    """At least the infimum over t < reached of E(K - t)_+^power / (reached - t)^power, and next to it.

    K is binomial of n trials, each a success with probability odds / (1 + odds); `power` is 1 or 2, `reached` above its
    mean. Every t gives a bound, so that the search for the best one may stop anywhere.
    """
    if reached > n:
        return 0.0 if reached > n * (1 + 1e-14) else math.exp(-n * math.log1p(1 / odds)) * ROUNDED_UP
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
            if rest * spread <= NEGLIGIBLE * square and rest <= NEGLIGIBLE * zeroth:
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
    return min(1.0, found * math.exp(_log_probability(first, n, odds)) * ROUNDED_UP)


@in_kernels
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


@in_kernels
def _least_remainder(k: float) -> float:
    """At most ln k! - (k + 1/2) ln k + k - ln(2 pi) / 2: Stirling's series alternates."""
    if k <= 2:
        return FIRST_REMAINDERS[0] if k <= 1 else FIRST_REMAINDERS[1]
    return 1 / (12 * k) - 1 / (360 * k**3) + 1 / (1260 * k**5) - 1 / (1680 * k**7)
