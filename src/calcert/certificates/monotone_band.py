"""Theorem 13: a band for the calibration curve, if the probability of label 1 never falls as the score rises."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from calcert.certificates.certificate import plain_rows, proved_for
from calcert.certificates.limits.share_limits import share_lower, share_upper
from calcert.certificates.miscalibrated_ranges import MiscalibratedRange, miscalibrated_ranges_of
from calcert.foundation.array_types import Floats, Integers
from calcert.foundation.result import Result
from calcert.foundation.validation import check_scores, complement
from calcert.summary.points import across_labels
from calcert.summary.summary import Summary

SHORTEST = 16
"""Rows in the shortest runs: with fewer, no limit says anything."""

HALVINGS = 4
"""Runs are up to 2^4 times shorter than those that suit a calibrated classifier best."""

STEPS = 4
"""Runs of one length begin a quarter of it apart."""


@dataclass(frozen=True)
class MonotoneBand(Result):
    """The probability of label 1 given the score, simultaneously between `lower` and `upper`, if it never falls.

    Attributes
    ----------
    edges
        Scores at which a limit changes, increasing, from 0 to 1.
    lower, upper
        At every score from ``edges[i]`` on the probability is at least ``lower[i]``, and up to it at most ``upper[i]``:
        with probability at least 1 - delta, all together.
    refuted_at
        Where a lower limit from scores below exceeds an upper limit from scores above by the most: a probability
        that never falls shows this with probability at most delta. None where the rows show nothing like it.
    confidence, n
        As given, and the number of rows.
    share
        The shares of rows at the first edge, between it and the second, at the second, and so on.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(10_000)
    >>> band = calcert.curves.monotone_band(calcert.summarize(x, rng.random(10_000) < x**2))
    >>> lower, upper = band.at([0.2, 0.5, 0.8])
    >>> print(lower.round(2), upper.round(2))
    [0.01 0.17 0.5 ] [0.1  0.35 0.71]
    """

    kind: ClassVar = "monotone band"
    noun: ClassVar = "the band"
    derived: ClassVar = ("miscalibrated_ranges",)

    edges: Floats
    lower: Floats
    upper: Floats
    refuted_at: float | None
    confidence: float
    n: int
    share: Floats

    def __post_init__(self) -> None:
        sizes = [column.size for column in (self.edges, self.lower, self.upper, self.share)]
        if not sizes == [self.edges.size] * 3 + [2 * self.edges.size - 1] or sizes[0] < 2:
            raise ValueError(f"a band must have two limits at each edge, and a share beside; got {sizes} of them.")

    def at(self, scores: ArrayLike) -> tuple[Floats, Floats]:
        """Lower and upper limits at the given scores."""
        x = check_scores(scores)
        return (
            self.lower[np.searchsorted(self.edges, x, "right") - 1],
            self.upper[np.searchsorted(self.edges, x, "left")],
        )

    @property
    def miscalibrated_ranges(self) -> tuple[MiscalibratedRange, ...]:
        """Ranges of scores in which the probability is certainly off, if it never falls; none where rows refute it."""
        if self.refuted_at is not None:
            return ()
        # At an edge both of its limits hold, and there may be many rows.
        return miscalibrated_ranges_of(
            np.repeat(self.edges, 2), np.repeat(self.lower, 2)[:-1], np.repeat(self.upper, 2)[1:], self.share
        )

    @property
    def mean_width(self) -> float:
        """The mean distance of its sides over [0, 1]."""
        return float(((self.upper[1:] - self.lower[:-1]) * np.diff(self.edges)).sum())

    def _rows(self) -> list[dict[str, Any]]:
        columns = (self.edges[:-1], self.edges[1:], self.lower[:-1], self.upper[1:])
        names = ("from", "to", "lower", "upper")
        return [dict(zip(names, row, strict=True)) for row in zip(*(c.tolist() for c in columns), strict=True)]


@proved_for(plain_rows)
def monotone_band(summary: Summary, *, delta: float = 0.05) -> MonotoneBand:
    """Enclose the calibration curve of the current scores, given that a higher score never means a lower probability.

    Guarantee
        With probability at least 1 - delta over the labels, whatever the scores, lower <= P(Y = 1 | X = x) <= upper for
        all x in [0, 1] together.
    Assumes
        What :func:`calcert.certify` assumes, and a probability of label 1 that never falls as the score rises. Rows can
        refute that, and `refuted_at` says where.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(10_000)
    >>> band = calcert.curves.monotone_band(calcert.summarize(x, rng.random(10_000) < x))
    >>> print(f"mean width {band.mean_width:.3f}; refuted at {band.refuted_at}")
    mean width 0.178; refuted at None
    """
    points = summary.points
    begin, stop, share = runs(across_labels(points.count))
    rows, positives = (
        np.concatenate([[0], np.cumsum(column)]) for column in (across_labels(points.count), points.count[:, 1])
    )
    trials, hits = rows[stop] - rows[begin], positives[stop] - positives[begin]
    level = delta * share / 2
    # A run says at most its upper limit of scores up to where it begins, at least its lower of those from its end on.
    ends, lower = _best_so_far(points.high[stop - 1], share_lower(hits, trials, level))
    begins, upper = _best_so_far(-points.low[begin], -share_upper(hits, trials, level))
    begins, upper = -begins, -upper
    edges = np.unique(np.concatenate([[0.0], ends, begins, [1.0]]))
    lower = np.append(0.0, lower)[np.searchsorted(ends, edges, "right")]
    upper = np.append(1.0, upper)[np.searchsorted(-begins, -edges, "right")]
    worst = int((lower - upper).argmax())
    place = np.searchsorted(edges, points.high)
    place = 2 * place - 1 + (edges[place] == points.low)
    return MonotoneBand(
        edges=edges,
        lower=lower,
        upper=upper,
        refuted_at=float(edges[worst]) if lower[worst] > upper[worst] else None,
        confidence=complement(delta),
        n=summary.n,
        share=np.bincount(place, across_labels(points.count), 2 * edges.size - 1) / summary.n,
    )


def runs(rows: Integers) -> tuple[Integers, Integers, Floats]:
    """Runs of points: where each begins and stops, and its share of delta; chosen from numbers of rows alone.

    Lengths are n^(2/3) rows, which balances noise and slope for a calibrated classifier, halved and doubled again and
    again; lengths j doublings away share 1 / (1 + j^2) of what there is.
    """
    n = int(rows.sum())
    before = np.concatenate([[0], np.cumsum(rows)])
    doublings = range(-HALVINGS, max(math.ceil(math.log2(n) / 3), 0) + 1)
    lengths = {round(n ** (2 / 3) * 2.0**j): 1 / (1 + j * j) for j in doublings}
    lengths = {length: weight for length, weight in lengths.items() if SHORTEST <= length <= n} or {n: 1.0}
    begin, stop, share = [], [], []
    for length, weight in lengths.items():
        at = np.unique(np.append(np.arange(0, n - length, max(length // STEPS, 1)), n - length))
        # Rows of one point stay together: a run begins with the point of the row that it asks for.
        begin.append(np.searchsorted(before, at, "right") - 1)
        stop.append(np.searchsorted(before, before[begin[-1]] + length, "left"))
        share.append(np.full(at.size, weight / at.size))
    place = np.concatenate(begin) * (rows.size + 1) + np.concatenate(stop)
    place, which = np.unique(place, return_inverse=True)
    shares = np.bincount(which, np.concatenate(share))
    return place // (rows.size + 1), place % (rows.size + 1), shares / math.fsum(shares)


def _best_so_far(position: Floats, limit: Floats) -> tuple[Floats, Floats]:
    """In order of position, those limits that exceed all before them."""
    order = np.lexsort((-limit, position))
    position, limit = position[order], np.maximum.accumulate(limit[order])
    new = np.diff(limit, prepend=-np.inf) > 0
    return position[new], limit[new]
