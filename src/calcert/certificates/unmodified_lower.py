"""Theorem 5: lower bounds, with no assumption at all.

Any function f into [-1, 1] is a witness: E[f(X)(X - Y)] is at most the L1 calibration error. One found on some rows and
judged on others gives a lower confidence limit; :mod:`calcert.certificates.betting` does the judging. Rows of a batch
are known only to their cell, so a gain is the smallest one that any place inside the cell could give. A witness may
look at the counts of earlier batches and at nothing else: not at offsets or distinct scores, which know of all rows.
The witness for the perturbed classifier is in :mod:`calcert.certificates.perturbed_lower`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from calcert.certificates.betting import Integers, lower_limit
from calcert.certificates.certificate import Lower
from calcert.certificates.score_groups import across_labels
from calcert.certificates.simple_witnesses import FOR_L1
from calcert.certificates.unit_bets import EVERY, lower_with_bets
from calcert.certificates.unit_lower import error_patterns
from calcert.summary.points import Points, relative
from calcert.summary.summary import Summary

Floats = NDArray[np.float64]

SCALES = (1, 8, 64, 512, 4096)
"""Numbers of groups in which a witness for the unmodified classifier may be constant."""


def unmodified_lower(summary: Summary, delta: float, seed: int) -> Lower:
    """A lower bound for E|X - E[Y|X]| at confidence 1 - delta: signs of groups, at the scale that did best so far."""
    if summary.units is not None:
        return lower_with_bets(summary, error_patterns(summary), EVERY, delta)
    points, start = relative(summary.cell_points)
    middle = (points.low + points.high) / 2

    def witness(known: Integers, last: Integers) -> Floats:
        before = known - last
        if before.any():
            # What the rows of all batches but the last of them taught, judged by the last.
            taught, rows = _GroupSigns(middle, before), across_labels(last)
            ends = running([points.low * rows - last[:, 1], points.high * rows - last[:, 1]])
            scale = max(SCALES, key=lambda s: taught.earned(s, ends))
        else:
            scale = max(s for s in SCALES if s == 1 or s**3 <= known.sum())
        return worst_gain(points, _GroupSigns(middle, known)(scale))

    return lower_limit(summary, delta, seed, witness, start, beside=FOR_L1)


def running(values: list[Floats]) -> Floats:
    """Sums of each up to every point, from 0 on: those over any run of points are a difference."""
    sums = np.zeros((len(values), values[0].size + 1))
    for total, value in zip(sums, values, strict=True):
        np.cumsum(value, out=total[1:])
    return sums


class _GroupSigns:
    """In each of some runs of points of equal mass: the mean of x - y in standard errors, cut to [-1, 1]."""

    def __init__(self, score: Floats, count: Integers) -> None:
        rows, positive = across_labels(count), count[:, 1]
        upto = np.cumsum(rows)
        self._rows = int(upto[-1])
        self._before = upto - rows
        # (x - y)^2 = x (x - y) - y (x - y)
        excess = score * rows - positive
        self._sums = running([excess, score * (excess - positive) + positive])

    def __call__(self, groups: int) -> Floats:
        edges, f = self._runs(groups)
        return np.repeat(f, np.diff(edges))

    def earned(self, groups: int, ends: Floats) -> float:
        """What the signs earn where `ends` has the running sums of x - y with x at either end of its cell."""
        edges, f = self._runs(groups)
        low, high = np.diff(ends.take(edges, axis=1))
        return float((f * np.where(f >= 0, low, high)).sum())

    def _runs(self, groups: int) -> tuple[Integers, Floats]:
        """Where runs begin, and the last one ends, and the sign of each."""
        # A run begins with the first point that has at least its share of the rows before it, if there is one: the run
        # of a score depends on the known rows below it alone.
        begin = np.searchsorted(self._before, -(-np.arange(groups) * self._rows // groups))
        begin = begin[(np.diff(begin, prepend=-1) > 0) & (begin < self._before.size)]
        edges = np.append(begin, self._before.size)
        excess, wobble = np.diff(self._sums.take(edges, axis=1))
        # Differences of running sums are rounded: what is far below that has no sign.
        return edges, np.clip(excess / np.sqrt(np.maximum(wobble, 0.0) + 1e-14), -1.0, 1.0)


def worst_gain(points: Points, f: Floats) -> Floats:
    """The smallest f (x - y) with x in [low, high], per point and label."""
    worst = np.where(f >= 0, points.low, points.high)
    return np.stack([f * worst, f * (worst - 1)], axis=1)
