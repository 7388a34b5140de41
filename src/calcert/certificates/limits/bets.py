"""Lemma D1b: bets against a mean, from the values of the rows themselves; no second moment is needed."""

from __future__ import annotations

import math

import numpy as np

from calcert.certificates.limits.root_search import SLACK, crossing
from calcert.foundation.array_types import Floats
from calcert.foundation.compiled import compiled_later, in_kernels

BETS = np.array([1.6, 2.6, 4.2, 7.0, 12.0, 25.0])
"""The bets, times sqrt(2 ln(1/delta) / n): a list fixed beforehand, all with the same weight."""

CLOSE = 1e-6
"""How far above its limit a search may stop, relatively: what a list of few bets gives away is far more."""

ROUNDING = 1e-9
"""More evidence than sums of some 1,000 logarithms lose by rounding."""


def betting_upper(values: Floats, shares: Floats, n: float, delta: float, most: float = 1.0) -> float:
    """D1b: an upper limit for the mean of n independent variables, at most 1, with `shares` of them at `values`.

    Guarantee
        With probability at least 1 - delta the average of the expectations is at most the result; `most` where the
        rows refute nothing below it. So it is if values are larger, or spread out with their mean kept.
    """
    low = min(float(shares @ values), most)
    return float(_limit(low, most, values, shares, *_against(n, delta)))


def refutes(c: float, values: Floats, shares: Floats, n: float, delta: float) -> float:
    """D1b: positive where c is refuted as the average of the expectations, as :func:`betting_upper` refutes it."""
    return -float(_lacking_evidence(c, values, shares, *_against(n, delta)))


def _against(n: float, delta: float) -> tuple[Floats, float, float]:
    """Bets, number of rows and the evidence that is asked for."""
    evidence = math.log(1 / delta)
    return BETS * math.sqrt(2 * evidence / n), float(n), evidence


@compiled_later
def _limit(low: float, most: float, values: Floats, shares: Floats, bets: Floats, n: float, evidence: float) -> float:
    known = (values, shares, bets, n, evidence)
    if low >= most or _lacking(most, *known) > 0:
        return most
    return min(crossing(_lacking, low, most, CLOSE, known)[1] * (1 + SLACK), most)


@compiled_later
def _lacking_evidence(c: float, values: Floats, shares: Floats, bets: Floats, n: float, evidence: float) -> float:
    return _lacking(c, values, shares, bets, n, evidence)


@in_kernels
def _lacking(c: float, values: Floats, shares: Floats, bets: Floats, n: float, evidence: float) -> float:
    """What the logarithm of the wealth against c lacks of the evidence; it falls as c grows."""
    highest, wealth = -math.inf, 0.0
    for bet in bets:
        stake = min(bet, 0.99 / (1 - c)) if c < 1 else bet
        log_wealth = 0.0
        for k in range(values.size):
            if shares[k] > 0:
                log_wealth += shares[k] * math.log1p(stake * (c - values[k]))
        log_wealth *= n
        if log_wealth > highest:
            wealth = wealth * math.exp(highest - log_wealth) + 1.0
            highest = log_wealth
        else:
            wealth += math.exp(log_wealth - highest)
    return evidence - highest - math.log(wealth / bets.size) + ROUNDING
