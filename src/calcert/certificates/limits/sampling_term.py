"""From what the rows show to what may be true of the population: where every upper bound pays for sampling."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from calcert.certificates.limits.cluster_deviations import FixedWeights, weights_of
from calcert.certificates.limits.cluster_moments import any_squares, perturbed_form, perturbed_squares, second_limit
from calcert.certificates.limits.deviations import SPLIT, Limit, Squares, iid_limit, invert, least_size, share_for_mean
from calcert.foundation.rounding import ROUNDING
from calcert.kernels.limits import grouped_limit
from calcert.perturbation.noise import Noise
from calcert.summary.clusters import Clusters
from calcert.summary.points import Points
from calcert.summary.summary import Summary


def upper_mean(
    summary: Summary,
    seen: float,
    rows: Squares,
    delta: float,
    limit: Limit = iid_limit,
    noise: Noise | None = None,
    squares: Callable[[Clusters], float] = any_squares,
) -> float:
    """An upper bound, at confidence 1 - delta, on the largest mean gain of the distribution.

    Guarantee
        If no gain of a row exceeds |y - x| in size (|y - E[S|x]| with `noise`), `seen` is at least the
        largest mean gain of the rows and `rows` at least the squares of what bounds it, row by row, the result holds
        with probability at least 1 - delta: Theorem W for plain rows and for shares as labels, U1, U2 or U3 for
        clusters. There `squares` is at least the sum over clusters of the squared gains of the rows, for every gain
        (Lemma PS).
    """
    clusters = summary.clusters
    if clusters is None or clusters.design.only_soft:
        # Shares: rows are clusters of one weight and one distribution (theory, soft labels).
        number = summary.n if clusters is None else clusters.number
        level = share_for_mean(number) * delta
        return invert(seen, rows.upper(number, delta), number, level, limit)
    if limit is iid_limit:
        together = squares(clusters) if noise is None else perturbed_form(summary, clusters, noise)
        weights, share = weights_of(summary, clusters, delta, noise, together)
        return weights.upper(seen, share * delta)  # U1, U2
    if limit is not grouped_limit or clusters.design.population:
        raise ValueError(
            "this bound is proved only for independent rows of equal weight; "
            f"got {summary.rows:,} rows{clusters.words}."
        )
    second = second_limit(clusters, perturbed_squares(summary, clusters), (1 - SPLIT) * delta)
    fixed = FixedWeights.knowing(summary, clusters, second)
    return fixed.upper(seen, SPLIT * delta, grouped=True)  # U3


def largest_mean_terms(
    summary: Summary,
    plug_in: float,
    discretisation: float,
    delta: float,
    limit: Limit = iid_limit,
    squares: Callable[[Clusters], float] = any_squares,
) -> dict[str, float]:
    """The terms of an upper bound at confidence 1 - delta.

    Guarantee
        If no gain exceeds |x - y| in size and plug_in + discretisation is at least the largest mean gain of the rows,
        the largest mean gain of the distribution is at most the sum of the terms, with probability at least 1 - delta.
        For clusters `squares` is as in :func:`upper_mean`.
    """
    seen = plug_in + discretisation
    upper = upper_mean(summary, seen, brier_squares(summary), delta, limit, squares=squares)  # Largest mean
    return {"plug-in": plug_in, "discretisation": discretisation, "sampling": upper - seen}


def gap_limit(summary: Summary, delta: float, mean: float | None = None) -> float:
    """Theorem 11 (ii): a lower bound for |E X - E Y| at confidence 1 - delta, from independent rows of equal weight.

    With `mean`, that of the rows of another gain, up to |x - y| in size, it is one for the size of the mean of that.
    """
    gap = abs(summary.mean_score - summary.base_rate if mean is None else mean) - ROUNDING
    level = share_for_mean(summary.n) * delta
    return least_size(gap, brier_squares(summary).upper(summary.n, delta), summary.n, level)


@lru_cache(maxsize=4)
def brier_squares(summary: Summary) -> Squares:
    """At least the squares (y - x)^2 of the rows: those of a cell lie at its ends, their mean kept."""
    points = summary.points
    share = np.stack([1 - points.fraction, points.fraction])
    position = np.stack([points.low, points.high])
    squares = np.stack([position**2, (1 - position) ** 2], axis=2) + 2 * summary.resolution + ROUNDING
    return Squares.of(squares, points.count * share)


@lru_cache(maxsize=4)
def brier(points: Points, n: int) -> float:
    """The mean of (y - x)^2; over cells from above (convexity)."""
    high = points.count * points.fraction
    total = 0.0
    for position, rows in ((points.low, points.count - high), (points.high, high)):
        total += float((rows[:, 0] * position**2 + rows[:, 1] * (1 - position) ** 2).sum())
    return min(total / n, 1.0)
