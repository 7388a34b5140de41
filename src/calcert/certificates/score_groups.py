"""Groups of consecutive scores, chosen from the scores alone.

Theorems 2 and 3 hold for any groups that do not depend on labels. A group costs bias (how much the calibration function
may vary inside it) and noise (its mean label is estimated); a *plain* group costs neither, but counts the full |x - y|
of its rows: nearly nothing where scores crowd at 0 or 1. The choice here minimises the predicted sum of the three as if
the classifier were calibrated, over a fixed family of groupings.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calcert.summary.points import Points

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

NOISE = 0.8
"""E|Z| for a standard normal Z, sqrt(2/pi), rounded: what an estimated mean adds to an absolute value."""

MANY = 8_000
"""Runs from which on one search for all points takes less time than one for each run."""


@dataclass(frozen=True)
class Rows:
    """What groupings look at: per point its share of rows, mean score and mean x(1 - x), never a label."""

    share: Floats
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
        return cls(rows / n, score, score * (1 - score), points.low == points.high, n)

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
Position = Sequence[float] | Floats
"""Increasing, one longer than the points. Where many groupings are tried, a list is faster."""


def best_groups(rows: Rows, bias: Bias, position: Position) -> tuple[float, float]:
    """The cap on the growth of `position` inside a group with the smallest predicted bound, and that bound.

    `position` is increasing, one longer than the points: cumulated mass, or the score. Caps run down by halves until
    the prediction is far above the best, then by eighths of an octave around it.
    """
    position = _listed(position)
    predicted: dict[float, float] = {}

    def predict(cap: float) -> float:
        groups = capped_groups(rows, position, cap)
        wobble = _wobble(rows, groups)
        noise = NOISE * np.sqrt(wobble / rows.n)
        predicted[cap] = bias(rows, groups) + float(np.where(groups.plain, 2 * wobble, noise).sum())
        return predicted[cap]

    for halvings in range(21):
        if predict(2.0**-halvings) > 2 * min(predicted.values()):
            break
    middle = min(predicted, key=lambda cap: predicted[cap])
    for eighths in (-6, -4, -2, 2, 4, 6):
        predict(middle * 2.0 ** (eighths / 8))
    best = min(predicted, key=lambda cap: predicted[cap])
    return best, predicted[best]


def capped_groups(rows: Rows, position: Position, cap: float) -> Groups:
    """Greedy groups under the cap, and which of them are plain: those cheaper so, and those heavier than the cap."""
    start = _greedy(position, cap)
    groups = Groups(start, np.zeros(start.size, bool))
    share, wobble = groups.sums(rows.share), _wobble(rows, groups)
    cheaper = 2 * wobble < NOISE * np.sqrt(wobble / rows.n)
    heavy = (share > cap * (1 + 1e-6)) & ~single(rows, groups)
    return Groups(start, cheaper | heavy)


def _wobble(rows: Rows, groups: Groups) -> Floats:
    return np.asarray(np.maximum(np.diff(rows.wobbling[np.append(groups.start, rows.share.size)]), 0.0))


def cumulated_mass(rows: Rows) -> Floats:
    """Mass before each point, and 1 at the end: the position that makes groups of equal mass."""
    return np.concatenate([[0.0], np.cumsum(rows.share)])


def _greedy(position: Position, cap: float) -> Integers:
    """Starts of maximal runs of points over which `position` grows by at most `cap`; one point at the least."""
    position = _listed(position)
    starts, at, last = [], 0, len(position) - 1
    reach, near = cap * (1 + 1e-9), 0
    if position[-1] - position[0] > MANY * reach:
        # Runs are many, so where a run from any point would end is found for all points at once.
        place = np.asarray(position)
        ends = place.searchsorted(place[:-1] + reach, "right") - 1
        following = np.maximum(ends, np.arange(1, last + 1)).tolist()
        while at < last:
            starts.append(at)
            at = following[at]
        return np.asarray(starts, np.int64)
    while at < last:
        starts.append(at)
        end = position[at] + reach
        # Runs are about as long as the one before, and a search among few takes less time.
        stop = at + 2 * near + 2
        stop = stop if stop <= last and position[stop] > end else last + 1
        near = max(bisect_right(position, end, at, stop) - 1 - at, 1)
        at += near
    return np.asarray(starts, np.int64)


def _listed(position: Position) -> Sequence[float]:
    """As a list, in which a search by halves takes a fraction of the time."""
    return position.tolist() if isinstance(position, np.ndarray) else position


def single(rows: Rows, groups: Groups) -> NDArray[np.bool_]:
    """Groups of one distinct score, in which the calibration function cannot vary."""
    size = np.diff(np.append(groups.start, rows.share.size))
    return np.asarray((size == 1) & rows.single[groups.start])


def plug_in(points: Points, groups: Groups, n: int) -> float:
    """R: the mean of |x - mean label of the group|, or |x - y| in plain groups; over cells from above (convexity)."""
    count, size = points.count, points.low.size
    rows = across_labels(count)
    label = groups.expand(groups.sums(count[:, 1]) / groups.sums(rows), size)
    high = across_labels(count * points.fraction)
    grouped = (rows - high) * np.abs(points.low - label) + high * np.abs(points.high - label)
    if not groups.plain.any():
        return float(grouped.sum() / n)
    score = points.positions
    plain = count[:, 0] * score[:, 0] + count[:, 1] * (1 - score[:, 1])
    return float(np.where(groups.expand(groups.plain, size), plain, grouped).sum() / n)


@lru_cache(maxsize=4)
def brier(points: Points, n: int) -> float:
    """The mean of (y - x)^2; over cells from above (convexity)."""
    high = points.count * points.fraction
    total = 0.0
    for position, rows in ((points.low, points.count - high), (points.high, high)):
        total += float((rows[:, 0] * position**2 + rows[:, 1] * (1 - position) ** 2).sum())
    return min(total / n, 1.0)


def across_labels(values: NDArray[Any]) -> NDArray[Any]:
    """Sums over the two labels; NumPy takes ten times as long to sum over an axis of two."""
    return np.asarray(values[:, 0] + values[:, 1])
