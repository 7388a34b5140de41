"""Which rows to keep: with a chance that grows with what a row may gain, and a weight of one over that chance."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calcert.certificates.deviations import SPLIT, iid_limit, invert, mean_upper
from calcert.certificates.unit_deviations import POPULATION_SPLIT, DrawnWeights, Gains
from calcert.summary.units import HEAVIEST

Floats = NDArray[np.float64]
Labels = NDArray[np.int8]

WEIGHT_UNIT = 1 / 64
"""Weights are whole multiples of it, and chances one over them."""

EVENLY = (0.0625, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875)
"""Parts of the budget that may be spread evenly; the one that promises most is taken."""

WORTH = 0.95
"""Weights that promise less than a twentieth are not worth having."""

DELTA = 0.05
"""For what is promised."""


@dataclass(frozen=True)
class KeepRule:
    """A row of some size is kept with the chance size / scale, but at least `least` and at most 1.

    Weights are rounded down to multiples of 1/64, and the coin has the chance of one over the weight.

    Examples
    --------
    >>> KeepRule(least=0.01, scale=0.125).weights(np.array([0.0005, 0.03125, 0.9]))
    array([100.,   4.,   1.])
    """

    least: float
    scale: float

    def weights(self, size: Floats) -> Floats:
        """The weight that each row has if it is kept."""
        chance = np.clip(size / self.scale, self.least, 1.0)
        return np.asarray(np.floor(1 / chance / WEIGHT_UNIT) * WEIGHT_UNIT)

    @property
    def largest_weight(self) -> float:
        """No weight is above it, whatever the row."""
        return math.floor(1 / self.least / WEIGHT_UNIT) * WEIGHT_UNIT

    @property
    def largest_gain(self) -> float:
        """No weight times size is above it where sizes are at most 1.

        A size below the scale weighs at most scale / size, any other weighs 1.
        """
        return min(max(self.scale, 1.0), self.largest_weight)


def sizes(scores: Floats, labels: Labels | None) -> Floats:
    """|label - score| where labels are known, else the standard deviation of a label whose score is right."""
    return np.sqrt(scores * (1 - scores)) if labels is None else np.abs(labels - scores)


def best_rule(scores: Floats, labels: Labels | None, rows: int, budget: int) -> tuple[KeepRule | None, float]:
    """The rule with the smallest bound to expect (Theorem U2) where scores are right, next to that of equal chances.

    None where equal chances are as good. About `budget` of so many rows like these are kept.
    """
    size = sizes(scores, labels)
    # E|y - x| and E (y - x)^2.
    first, second = (2 * size**2, size**2) if labels is None else (size, size**2)
    square = mean_upper(float(second.mean()), budget, (1 - SPLIT) * DELTA)
    plain = invert(0.0, square, budget, SPLIT * DELTA, iid_limit)
    best: KeepRule | None = None
    promise = WORTH
    for part in EVENLY:
        least = part * budget / rows
        rule = KeepRule(least, _scale(size, least, budget / rows))
        if rule.largest_weight / WEIGHT_UNIT >= HEAVIEST:
            continue  # A Summary would not hold them.
        weights, cap = rule.weights(size), rule.largest_weight
        share = float((1 / weights).mean())
        number = max(round(rows * share), 1)
        gains = Gains(
            squares=number * float((weights * second).mean()) / share,
            mixed=number * float((weights * first).mean()) / share,
            cap=cap if labels is None else rule.largest_gain,
        )
        squares, level = float(weights.mean()) / share, (1 - POPULATION_SPLIT) * DELTA
        units = DrawnWeights.from_moments(number, 1 / share, squares, cap, gains, level)
        found = units.upper(0.0, POPULATION_SPLIT * DELTA) / plain
        if found < promise:
            best, promise = rule, found
    return best, promise if best is not None else 1.0


def _scale(size: Floats, least: float, share: float) -> float:
    """The scale at which this share of the rows is kept; a tiny one where too few rows have a size for that."""
    low, high = 1e-12, 1e12
    for _ in range(80):
        middle = math.sqrt(low * high)
        many = float((1 / KeepRule(least, middle).weights(size)).mean()) > share
        low, high = (middle, high) if many else (low, middle)
    return high
