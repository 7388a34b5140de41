"""Lemma T: limits for the mean of a gain that takes three values, by its exact distribution."""

from __future__ import annotations

import math

import numpy as np

from calcert.certificates.limits.root_search import crossing
from calcert.certificates.limits.share_limits import share_lower, share_upper
from calcert.foundation.compiled import compiled_later, in_kernels

STRETCHES = 256
"""So many stretches of the probability to take part are looked at, each with its worst case."""

SPENT = 0.02
"""The share of delta for the limits of that probability."""

FAR = 5.5
"""Numbers of rows that take part, further out than so many standard deviations, are charged in full."""

SLACK, ROUNDED = 1e-7, 1e-10
"""Widening of tails, relative and absolute: more than distribution functions and the sums over them are wrong by."""

TINY = 1e-250
"""Smaller probabilities are not carried from one number of rows to the next, but computed anew."""


def gain_upper(won: float, lost: float, least: float, most: float, n: int, pay: float, delta: float) -> float:
    """An upper limit at confidence 1 - delta for the mean of a gain that is `pay`, pay - 1 or 0.

    Guarantee
        `won` is at least the number of rows that gain `pay`, and `lost` at most that of rows that lose 1 - pay. `least`
        and `most` enclose the number of both. The mean exceeds the result with probability at most delta.
    """
    level = SPENT * delta / 2
    lowest = float(share_lower(np.array(least), np.array(n), level))
    highest = float(share_upper(np.array(most), np.array(n), level))
    total = won * pay - lost * (1 - pay)
    return float(_upper(lowest, highest, float(total), float(n), float(pay), (1 - SPENT) * delta))


@compiled_later
def _upper(lowest: float, highest: float, total: float, n: float, pay: float, level: float) -> float:
    """The largest mean that is not excluded, over all stretches of the probability to take part."""
    limit, width = -1.0, (highest - lowest) / STRETCHES
    for step in range(STRETCHES):
        # From the middle outward: where nothing is found above the limit so far, one tail tells.
        place = STRETCHES // 2 + (step // 2 if step % 2 == 0 else -(step // 2) - 1)
        low, high = lowest + place * width, lowest + (place + 1) * width + 1e-15
        end = min(pay, high * pay)
        known = (low, high, total, n, pay, level)
        if limit >= end or beyond(limit, *known) <= 0:
            continue
        limit = end if beyond(end, *known) > 0 else crossing(beyond, limit, end, 1e-5, known)[1]
    return limit


@in_kernels
def beyond(mean: float, low: float, high: float, total: float, n: float, pay: float, level: float) -> float:
    """Positive where a mean may be true, if a share from `low` to `high` of the rows takes part."""
    # At least so many gain and at most so many lose, whatever the share: fewer gains make small totals more likely.
    loses = min(max(high * pay - mean, 0.0), 1.0)
    gains = min(max(mean + low * (1 - pay), 0.0), 1 - loses)
    return math.log(max(at_most(total, gains, loses, n, pay), 1e-300) / level)


@in_kernels
def at_most(total: float, gains: float, loses: float, n: float, pay: float) -> float:
    """The probability that n rows gain at most `total` together, or a little more.

    It is summed over the number N of rows that take part. The distribution function of Binomial(N, gains / share) at
    total + (1 - pay) N changes from one N to the next by a multiple of a probability, and by another where the whole
    part of total + (1 - pay) N grows.
    """
    share, total = gains + loses, total + 1e-9 * n
    if share <= 0:
        return 1.0 if total >= 0 else 0.0
    chance = min(gains / share, 1.0)
    spread = FAR * math.sqrt(n * share * max(1 - share, 0.0)) + 8
    first = max(math.floor(n * share - spread), 0.0) if share < 1 else n
    last = min(math.ceil(n * share + spread), n) if share < 1 else n
    weight, most, below, here = probability(first, n, share), -1.0, 0.0, -1.0
    added = covered = 0.0
    for taking in range(int(first), int(last) + 1):
        now = math.floor(total + (1 - pay) * taking)
        if now < 0 or now >= taking:
            below, here = 0.0 if now < 0 else 1.0, -1.0
        elif here < TINY:
            here, below = probability(now, taking, chance), at_most_so_many(now, taking, chance)
        else:
            below -= chance * here
            here *= taking / (taking - most) * (1 - chance)
            if now > most:
                here *= (taking - most) / now * chance / (1 - chance)
                below += here
        most = now
        added += weight * min(max(below, 0.0), 1.0)
        covered += weight
        if share < 1:
            weight *= (n - taking) / (taking + 1.0) * share / (1 - share)
    # Logarithms of factorials are rounded relative to their size, some n ln n.
    return (added + max(1 - covered, 0.0)) * (1 + SLACK + 2e-15 * n * math.log(n + 2)) + ROUNDED


@in_kernels
def at_most_so_many(most: float, coins: float, chance: float) -> float:
    """The probability of at most `most` successes, from the shorter of both tails."""
    if chance <= 0 or chance >= 1:
        return 1.0 if chance <= 0 else 0.0
    odds = chance / (1 - chance)
    upper = most >= coins * chance
    k = most + 1 if upper else most
    term = probability(k, coins, chance)
    total = 0.0
    while 0 <= k <= coins and term > 1e-18 * total:
        total += term
        term *= (coins - k) / (k + 1) * odds if upper else k / (coins - k + 1) / odds
        k += 1 if upper else -1
    return 1 - total if upper else total


@in_kernels
def probability(hits: float, coins: float, chance: float) -> float:
    """That of so many successes."""
    if chance <= 0 or chance >= 1:
        return 1.0 if hits == (0 if chance <= 0 else coins) else 0.0
    ways = math.lgamma(coins + 1.0) - math.lgamma(hits + 1.0) - math.lgamma(coins - hits + 1.0)
    return math.exp(ways + hits * math.log(chance) + (coins - hits) * math.log1p(-chance))
