"""Groups of consecutive scores, chosen from the scores alone.

Theorems 2 and 3 hold for any groups that do not depend on labels. A group costs bias (how much the calibration function
may vary inside it) and noise (its mean label is estimated); a *plain* group costs neither, but counts the full |x - y|
of its rows: nearly nothing where scores crowd at 0 or 1. The choice here minimises the predicted sum of the three as if
the classifier were calibrated, over a fixed family of groupings.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from calcert.foundation.array_types import Floats, Integers
from calcert.kernels.signs import capped_runs, total_plug_in
from calcert.summary.points import Points, across_labels


@dataclass(frozen=True)
class Rows:
    """What groupings look at: per point its share of rows, mean score and mean x(1 - x), never a label.

    `mass` is the share of all rows before each point, and 1 at the end: that of a group is a difference. As a position
    it makes groups of equal mass.
    """

    share: Floats
    mass: Floats
    score: Floats
    wobble: Floats
    single: NDArray[np.bool_]
    n: int

    @classmethod
    def of(cls, points: Points) -> Rows:
        """From the points of a Summary."""
        rows = across_labels(points.count)
        fraction = across_labels(points.count * points.fraction) / rows
        score = points.low + fraction * (points.high - points.low)
        n = int(rows.sum())
        mass = np.concatenate([[0], np.cumsum(rows)]) / n  # Whole numbers are added up, so that nothing is lost.
        return cls(rows / n, mass, score, score * (1 - score), points.low == points.high, n)

    @cached_property
    def wobbling(self) -> Floats:
        """The wobble of all rows before each point, and of all: that of a group is a difference."""
        return np.concatenate([[0.0], np.cumsum(self.share * self.wobble)])


@dataclass(frozen=True)
class Groups:
    """Group b holds points start[b] .. start[b + 1] - 1; `plain[b]` says how its rows enter."""

    start: Integers
    plain: NDArray[np.bool_]

    def sums(self, values: NDArray[np.generic]) -> Floats:
        """Sums over groups of a quantity given per point."""
        return np.asarray(np.add.reduceat(values, self.start, axis=0))

    def expand(self, values: NDArray[np.generic], points: int) -> Floats:
        """Per point, the value of its group."""
        return np.asarray(np.repeat(values, np.diff(np.append(self.start, points)), axis=0))


Bias = Callable[[Rows, Groups], float]


def best_groups(rows: Rows, bias: Bias, position: Floats) -> tuple[float, float]:
    """The cap on the growth of `position` inside a group with the smallest predicted bound, and that bound.

    `position` is increasing, one longer than the points: cumulated mass, or the score. Caps run down by halves until
    the prediction is far above the best or all groups are plain, as smaller ones would be, then by eighths of an octave
    around it.
    """
    predicted: dict[float, float] = {}

    def predict(cap: float) -> Groups:
        groups, noise = _capped(rows, position, cap)
        predicted[cap] = bias(rows, groups) + noise
        return groups

    for halvings in range(21):
        groups = predict(2.0**-halvings)
        if groups.plain.all() or predicted[2.0**-halvings] > 2 * min(predicted.values()):
            break
    middle = min(predicted, key=lambda cap: predicted[cap])
    for eighths in (-6, -4, -2, 2, 4, 6):
        predict(middle * 2.0 ** (eighths / 8))
    best = min(predicted, key=lambda cap: predicted[cap])
    return best, predicted[best]


def capped_groups(rows: Rows, position: Floats, cap: float) -> Groups:
    """Greedy groups under the cap, and which of them are plain: those cheaper so, and those heavier than the cap."""
    return _capped(rows, position, cap)[0]


def _capped(rows: Rows, position: Floats, cap: float) -> tuple[Groups, float]:
    start, plain, noise = capped_runs(position, rows.mass, rows.wobbling, rows.single.view(np.uint8), rows.n, cap)
    return Groups(start, plain), noise


def plug_in(points: Points, groups: Groups, n: int) -> float:
    """R: the mean of |x - mean label of the group|, or |x - y| in plain groups; over cells from above (convexity)."""
    rest = (points.fraction, points.count, groups.start, groups.plain.view(np.uint8))
    return total_plug_in(points.low, points.high, *rest) / n


def mean_apart(points: Points, rows: Rows, groups: Groups) -> Floats:
    """Per group the mean of |x - x'| over ordered pairs of rows; inside a cell from above, 2 f (1 - f) width."""
    size = rows.share.size
    total = groups.sums(rows.share)
    within = rows.share / groups.expand(total, size)
    before = np.cumsum(within) - within
    before -= groups.expand(before[groups.start], size)
    # sum over pairs of w w' |x - x'| = 2 sum_i w_i x_i (mass before - mass after), centred to avoid cancellation.
    centre = groups.expand(groups.sums(within * rows.score), size)
    apart = 2 * groups.sums(within * (rows.score - centre) * (2 * before + within - 1))
    width = points.high - points.low
    fraction = np.divide(rows.score - points.low, width, out=np.zeros(size), where=width > 0)
    inside = groups.sums(within**2 * 2 * fraction * (1 - fraction) * width)
    return np.asarray(np.maximum(apart, 0.0) + inside)
