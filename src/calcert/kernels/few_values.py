"""What rows of few values show: bets against a mean (D1b), counts (D4), and gains that take three values (T)."""

from __future__ import annotations

import math

from calcert.foundation.array_types import Floats
from calcert.kernels.limits import _log_probability, _mean_upper
from calcert.kernels.search import SLACK, crossing

CLOSE = 1e-6
"""How far above its limit a search may stop, relatively: what a list of few bets gives away is far more."""

ROUNDING = 1e-9
"""More evidence than sums of some 1,000 logarithms lose by rounding."""

FAR = 5.5
"""Numbers of rows that take part, further out than so many standard deviations, are charged in full."""

TAILS, ROUNDED = 1e-7, 1e-10
"""Widening of tails, relative and absolute: more than distribution functions and the sums over them are wrong by."""

TINY = 1e-250
"""Smaller probabilities are not carried from one number of rows to the next, but computed anew."""

NEGLIGIBLE = 1e-12
"""What is left of a tail where it is not summed up any more, relatively: a geometric sequence above it is added."""

_FAR, _TAILS, _ROUNDED, _TINY, _ROUNDING = FAR, TAILS, ROUNDED, TINY, ROUNDING  # Numbers in C.
_NEGLIGIBLE = NEGLIGIBLE


def _limit(low: float, most: float, values: Floats, shares: Floats, bets: Floats, n: float, evidence: float) -> float:
    known = (values, shares, bets, n, evidence)
    if low >= most or _lacking(most, *known) > 0:
        return most
    return min(crossing(_lacking, low, most, CLOSE, known)[1] * (1 + SLACK), most)


def _lacking(c: float, values: Floats, shares: Floats, bets: Floats, n: float, evidence: float) -> float:
    """What the logarithm of the wealth against c lacks of the evidence; it falls as c grows."""
    highest, wealth = -math.inf, 0.0
    for b in range(len(bets)):
        bet = bets[b]
        capped = min(bet, 0.99 / (1 - c)) if c < 1 else bet
        log_wealth = 0.0
        for k in range(len(values)):
            if shares[k] > 0:
                log_wealth += shares[k] * math.log1p(capped * (c - values[k]))
        log_wealth *= n
        if log_wealth > highest:
            wealth = wealth * math.exp(highest - log_wealth) + 1.0
            highest = log_wealth
        else:
            wealth += math.exp(log_wealth - highest)
    return evidence - highest - math.log(wealth / len(bets)) + _ROUNDING


def at_most(total: float, gains: float, loses: float, n: float, pay: float) -> float:
    """The probability that n rows gain at most `total` together, or a little more.

    It is summed over the number N of rows that take part. The distribution function of Binomial(N, gains / share) at
    total + (1 - pay) N changes from one N to the next by a multiple of a probability, and by another where the whole
    part of total + (1 - pay) N grows.
    """
    share, total = gains + loses, total + 1e-9 * n
    if share <= 0:
        return 1.0 if total >= 0 else 0.0
    success = min(gains / share, 1.0)
    spread = _FAR * math.sqrt(n * share * max(1 - share, 0.0)) + 8
    first = max(math.floor(n * share - spread), 0.0) if share < 1 else n
    last = min(math.ceil(n * share + spread), n) if share < 1 else n
    weight, most, below, here = probability(first, n, share), -1.0, 0.0, -1.0
    added = covered = 0.0
    for taking in range(int(first), int(last) + 1):
        now = math.floor(total + (1 - pay) * taking)
        if now < 0 or now >= taking:
            below, here = 0.0 if now < 0 else 1.0, -1.0
        elif here < _TINY:
            here, below = probability(now, taking, success), at_most_so_many(now, taking, success)
        else:
            below -= success * here
            here *= taking / (taking - most) * (1 - success)
            if now > most:
                here *= (taking - most) / now * success / (1 - success)
                below += here
        most = now
        added += weight * min(max(below, 0.0), 1.0)
        covered += weight
        if share < 1:
            weight *= (n - taking) / (taking + 1.0) * share / (1 - share)
    # Logarithms of factorials are rounded relative to their size, some n ln n.
    return (added + max(1 - covered, 0.0)) * (1 + _TAILS + 2e-15 * n * math.log(n + 2)) + _ROUNDED


def at_most_so_many(most: float, trials: float, success: float) -> float:
    """The probability of at most `most` successes, from the shorter of both tails."""
    if success <= 0 or success >= 1:
        return 1.0 if success <= 0 else 0.0
    odds = success / (1 - success)
    upper = most >= trials * success
    k = most + 1 if upper else most
    term = probability(k, trials, success)
    total = 0.0
    while 0 <= k <= trials and term > 1e-18 * total:
        total += term
        term *= (trials - k) / (k + 1) * odds if upper else k / (trials - k + 1) / odds
        k += 1 if upper else -1
    return 1 - total if upper else total


def probability(hits: float, trials: float, success: float) -> float:
    """That of so many successes."""
    if success <= 0 or success >= 1:
        return 1.0 if hits == (0 if success <= 0 else trials) else 0.0
    ways = math.lgamma(trials + 1.0) - math.lgamma(hits + 1.0) - math.lgamma(trials - hits + 1.0)
    return math.exp(ways + hits * math.log(success) + (trials - hits) * math.log1p(-success))


def largest_shares(hits: Floats, trials: Floats, delta: Floats, found: Floats) -> None:
    """Clopper and Pearson's limits: where `trials` trials fall on 1 at most `hits` times with probability delta.

    From above, by Newton's method: the logarithm of the tail is concave in the share, so that steps from above end
    above, but for rounding, which callers allow for. Hits are whole numbers below those of the trials.
    """
    for i in range(len(hits)):
        found[i] = _largest_share(hits[i], trials[i], delta[i])


def _largest_share(hits: float, trials: float, delta: float) -> float:
    share, misses = _mean_upper(hits / trials, -math.log(delta) / trials), trials - hits
    for _ in range(60):
        if share >= 1:
            return 1.0
        tail = tail_by_atom(misses, trials, (1 - share) / share)
        over = _log_of_atom(hits, trials, share) + math.log(tail) - math.log(delta) + _ROUNDING
        if over >= 0:
            break
        step = over * (1 - share) * tail / misses
        share += step
        if -step <= _NEGLIGIBLE * share:
            break
    return share


def _log_of_atom(hits: float, trials: float, share: float) -> float:
    """At least ln P(K = hits), from the odds that are below 1: large ones lose what many trials need."""
    if share <= 0.5:
        return _log_probability(hits, trials, share / (1 - share))
    return _log_probability(trials - hits, trials, (1 - share) / share)


def tail_by_atom(least: float, trials: float, odds: float) -> float:
    """At least P(K >= least) / P(K = least), K binomial of so many trials and such odds, and next to it."""
    total = w = 1.0
    k = least
    while k < trials:
        ratio = (trials - k) / (k + 1) * odds
        if ratio < 1 and w * ratio <= _NEGLIGIBLE * total * (1 - ratio):
            # From here on ratios fall.
            total += w * ratio / (1 - ratio)
            break
        w *= ratio
        total += w
        k += 1
    return total


def tail(least: float, trials: float, share: float) -> float:
    """At least P(K >= least), K binomial of so many trials, each a success with probability `share`."""
    if least <= 0 or share >= 1:
        return 1.0
    if least > trials or share <= 0:
        return 0.0
    atom = math.exp(_log_of_atom(least, trials, share) + _ROUNDING)
    return min(1.0, atom * tail_by_atom(least, trials, share / (1 - share)))
