"""Theorem 11: calibration in the large, how far the mean score is from the base rate."""

from __future__ import annotations

from functools import partial
from typing import Literal

import numpy as np

from calcert.certificates.certificate import Certificate, Lower, any_rows, proved_for
from calcert.certificates.limits.cluster_moments import signs_squares
from calcert.certificates.limits.deviations import betting_upper
from calcert.certificates.limits.sampling_term import gap_limit, largest_mean_terms
from calcert.certificates.witnesses.cluster_lower import Pattern, clusters_lower, gap_pattern
from calcert.foundation.array_types import Floats
from calcert.foundation.rounding import ROUNDING
from calcert.summary.points import Points
from calcert.summary.summary import Summary

FEW = 60
"""With fewer rows than that, bets are on the gains themselves; the number of rows alone decides."""

Direction = Literal["too high", "too low", "overconfident", "underconfident", "mixed"]


@proved_for(any_rows)
def in_the_large(summary: Summary, *, delta: float = 0.05) -> Certificate:
    """Certify how far the mean score is from the base rate: calibration in the large.

    Guarantee
        With probability at least 1 - delta over the rows, E X and E Y are at most upper apart; likewise for lower.
        Nothing is assumed of the score distribution or the calibration function.
    Assumes
        Of the rows and the arguments, what :func:`calcert.certify` assumes.
    Terms
        ``plug-in``: the difference of the means of the rows; ``discretisation``: scores are known to 2^-40;
        ``sampling``.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(100_000)
    >>> c = calcert.bounds.in_the_large(calcert.summarize(x, rng.random(100_000) < x**2))
    >>> print(f"{c.lower:.3f} to {c.upper:.3f}; the truth is 0.167")
    0.165 to 0.169; the truth is 0.167
    """
    terms, lower = upper_terms(summary, delta), Lower(in_the_large_lower(summary, delta))
    return Certificate.of(summary, "calibration error in the large", terms, lower, delta, theorem="Theorem 11")


def upper_terms(summary: Summary, delta: float) -> dict[str, float]:
    """The terms of the upper bound of Theorem 11 at confidence 1 - delta: Largest mean, for x - y and for y - x."""
    gap = abs(summary.mean_score - summary.base_rate)
    if summary.clusters is None and summary.n < FEW:
        position, rows = rows_at_ends(summary.points)
        gain, shares = position - [[0.0], [1.0]], rows.ravel() / summary.n
        upper = max(betting_upper(sign * gain.ravel() + ROUNDING, shares, summary.n, delta) for sign in (1, -1))
        return {"plug-in": gap, "discretisation": ROUNDING, "sampling": max(upper - gap - ROUNDING, 0.0)}
    return largest_mean_terms(summary, gap, ROUNDING, delta, squares=partial(signs_squares, changes=0))


def rows_at_ends(points: Points) -> tuple[Floats, Floats]:
    """Positions at the ends of cells, and how many rows of each label lie there if the mean position is kept."""
    high = (points.count * points.fraction).T
    return np.concatenate([points.low, points.high]), np.concatenate([points.count.T - high, high], axis=1)


def in_the_large_lower(summary: Summary, delta: float) -> float:
    """A lower bound for |E X - E Y| at confidence 1 - delta."""
    if summary.clusters is not None:
        return clusters_lower(summary, [gap_pattern(summary)], delta)
    return gap_limit(summary, delta)


def direction_of(summary: Summary, delta: float) -> Direction:
    """Which way scores err on balance: the larger of two signed means, as far as its bound leaves 0 outside.

    Guarantee
        With probability at least 1 - delta over the rows, a direction other than "mixed" is that of the mean: E X > E Y
        for "too high", E[s(X) (X - Y)] > 0 for "overconfident", with s(x) = 1 from 1/2 on and -1 below; likewise for
        the other two. Theorem 11 (ii) for each at delta / 2: |s| = 1, so that no gain exceeds |x - y|.
    """
    excess = summary.score_sum.sum(axis=1) - summary.count[:, 1]
    # 1/2 is an edge of cells, so that the sign of a cell is that of its scores.
    outward = float(np.where(summary.left < 0.5, -excess, excess).sum()) / summary.n
    level = summary.mean_score - summary.base_rate
    words: tuple[tuple[Direction, Direction], ...] = (("too high", "too low"), ("overconfident", "underconfident"))
    sizes = [_least_size(summary, mean, changes, delta / 2) for changes, mean in enumerate((level, outward))]
    if max(sizes) <= 0:
        return "mixed"
    which = int(sizes[1] > sizes[0])
    return words[which][(level, outward)[which] < 0]


def _least_size(summary: Summary, mean: float, changes: int, delta: float) -> float:
    """A lower bound for the size of the mean of a gain whose sign changes so often along the scores."""
    if summary.clusters is None:
        return gap_limit(summary, delta, mean)
    pattern = Pattern(abs(mean) - ROUNDING, 1 / 2, partial(signs_squares, changes=changes))
    return clusters_lower(summary, [pattern], delta)
