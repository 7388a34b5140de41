"""Lemma D1b: bets against a mean, from the values of the rows themselves; no second moment is needed."""

from __future__ import annotations

import math

import numpy as np

from calcert.foundation.array_types import Floats
from calcert.kernels.few_values import _lacking, _limit

BETS = np.array([1.6, 2.6, 4.2, 7.0, 12.0, 25.0])
"""The bets, times sqrt(2 ln(1/delta) / n): a list fixed beforehand, all with the same weight."""


def betting_upper(values: Floats, shares: Floats, n: float, delta: float, most: float = 1.0) -> float:
    """D1b: an upper limit for the mean of n independent variables, at most 1, with `shares` of them at `values`.

    Guarantee
        With probability at least 1 - delta the average of the expectations is at most the result; `most` where the
        rows refute nothing below it. So it is if values are larger, or spread out with their mean kept.
    """
    low = min(float(shares @ values), most)
    return _limit(low, most, values, shares, *_against(n, delta))


def refutes(c: float, values: Floats, shares: Floats, n: float, delta: float) -> float:
    """D1b: positive where c is refuted as the average of the expectations, as :func:`betting_upper` refutes it."""
    return -_lacking(c, values, shares, *_against(n, delta))


def _against(n: float, delta: float) -> tuple[Floats, float, float]:
    """Bets, number of rows and the evidence that is asked for."""
    evidence = math.log(1 / delta)
    return BETS * math.sqrt(2 * evidence / n), float(n), evidence
