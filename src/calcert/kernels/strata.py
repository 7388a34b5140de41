"""Independent trials in two strata: how many of both may succeed, whatever their probabilities (D6)."""

from __future__ import annotations

import math

from calcert.kernels.few_values import at_most_so_many, probability

FAR = 6.5
"""Successes of the other stratum, further below their mean than so many standard deviations, are charged in full."""

DEEP = 9.0
"""Tails of the first stratum are taken to fall no further from so many standard deviations above its mean on."""

TAILS, ROUNDED = 1e-7, 1e-10
"""Widening of tails, relative and absolute: more than distribution functions and the sums over them are wrong by."""

LEAST = 1e-9
"""Smaller probabilities are raised to this, which only raises tails."""

_FAR, _DEEP, _TAILS, _ROUNDED, _LEAST = FAR, DEEP, TAILS, ROUNDED, LEAST  # Numbers in C.


def reaches(total: float, first: float, p: float, others: float, q: float, weight: float) -> float:
    """At least the probability that the trials reach `total`, those of `first` counting 1 and the others `weight`.

    Their mean probabilities are p and q. For the successes of others up to `last` it is the tail of Binomial(first, p),
    straight between whole numbers; beyond it grows by 1 each. That is convex, so that Binomial(others, q) is the worst.
    """
    p, q = min(max(p, _LEAST), 1.0), min(max(q, _LEAST), 1.0)
    total -= 1e-9 * (first + others)
    last = math.floor((total - math.floor(first * p + 1e-9) - 2) / weight)
    if last < 0:
        return 1.0
    spread = math.sqrt(others * q * (1 - q))
    b = max(math.floor(others * q - _FAR * spread - 8), 0.0) if q < 1 else others
    likely = probability(b, others, q)
    added = at_most_so_many(b - 1, others, q) if b > 0 and q < 1 else 0.0
    highest = min(first, math.floor(first * p + _DEEP * math.sqrt(first * p * (1 - p)) + 30))
    k, here = highest, probability(highest, first, p)
    above = at_most_so_many(first - k - 1, first, 1 - p) if k < first and p < 1 else 0.0
    while True:
        if b > last:
            added += likely * (b - last)
        else:
            needed = total - weight * b
            whole = math.floor(needed)
            while k > whole and k > 0:
                above += here
                here *= k / (first - k + 1) * (1 - p) / p
                k -= 1
            if whole <= highest:
                added += likely * (above + (1 - needed + whole) * here)
            elif highest < first:
                added += likely * (above + here)
        if b >= others:
            break
        ratio = (others - b) / (b + 1) * q / (1 - q)
        if b > others * q and b > last and likely < 1e-16 and ratio < 1:
            added += others * likely * ratio / (1 - ratio)
            break
        likely *= ratio
        b += 1
    # Logarithms of factorials are rounded relative to their size, some n ln n.
    n = first + others
    return min(added * (1 + _TAILS + 2e-15 * n * math.log(n + 2)) + _ROUNDED, 1.0)


def may_reach(
    total: float, first: float, others: float, successes: float, weight: float, level: float, finest: float
) -> bool:
    """True unless the trials reach `total` with probability at most `level`, however `successes` expected are spread.

    The mean probability of the first stratum is taken in steps, and both are the largest of a step: no smaller than
    `finest`, which may make the answer True too early.
    """
    a, high = max((successes - others) / first, 0.0), min(successes / first, 1.0)
    step = (high - a) / 8
    while True:
        b = min(a + step, high)
        if reaches(total, first, b, others, (successes - first * a) / others, weight) <= level:
            a = b
            step *= 2
            if a >= high:
                return False
        elif step <= finest:
            return True
        else:
            step = max(step / 4, finest)
