"""From what the rows show to what may be true of their law: the one place where every upper bound pays for sampling."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from calcert.certificates.limits.deviations import SPLIT, Limit, grouped_limit, iid_limit, mean_upper
from calcert.certificates.limits.inversion import invert, least_size
from calcert.certificates.units.unit_deviations import FixedWeights, weights_of
from calcert.certificates.units.unit_moments import any_squares, second_limit, served_form, served_squares
from calcert.foundation.rounding import ROUNDING
from calcert.serving.noise import Noise
from calcert.summary.points import Points
from calcert.summary.summary import Summary
from calcert.summary.units import Units


def upper_mean(
    summary: Summary,
    seen: float,
    square: float,
    delta: float,
    limit: Limit = iid_limit,
    noise: Noise | None = None,
    squares: Callable[[Units], float] = any_squares,
) -> float:
    """An upper bound, at confidence 1 - delta, on the largest mean gain of the law.

    Guarantee
        If no gain of a row exceeds |y - x| in size (|y - E[S|x]| where `noise` is served), `seen` is at least the
        largest mean gain of the rows and `square` at least the mean of its square's bound, the result holds with
        probability at least 1 - delta: Theorem W for plain rows and for shares as labels, U1, U2 or U3 for units. There
        `squares` is at least the sum over units of the squared gains of the rows, for every gain (Lemma PS).
    """
    units = summary.units
    if units is None or units.design.only_soft:
        # Shares: rows are units of one weight and one law (theory, soft labels).
        number = summary.n if units is None else units.number
        return invert(seen, mean_upper(square, number, (1 - SPLIT) * delta), number, SPLIT * delta, limit)
    if limit is iid_limit:
        together = squares(units) if noise is None else served_form(summary, units, noise)
        weights, share = weights_of(summary, units, delta, noise, together)
        return weights.upper(seen, share * delta)  # U1, U2
    if limit is not grouped_limit or units.design.population:
        raise ValueError(
            f"this bound is proved for independent rows of equal weight alone; got {summary.rows:,} rows{units.words}."
        )
    second = second_limit(units, served_squares(summary, units), (1 - SPLIT) * delta)
    fixed = FixedWeights.knowing(summary, units, second)
    return fixed.upper(seen, SPLIT * delta, grouped=True)  # U3


def largest_mean_terms(
    summary: Summary,
    plug_in: float,
    discretisation: float,
    delta: float,
    limit: Limit = iid_limit,
    squares: Callable[[Units], float] = any_squares,
) -> dict[str, float]:
    """The terms of an upper bound at confidence 1 - delta.

    Guarantee
        If no gain exceeds |x - y| in size and plug_in + discretisation is at least the largest mean gain of the rows,
        the largest mean gain of the law is at most the sum of the terms, with probability at least 1 - delta. For units
        `squares` is as in :func:`upper_mean`.
    """
    seen = plug_in + discretisation
    upper = upper_mean(summary, seen, brier_above(summary), delta, limit, squares=squares)  # Largest mean
    return {"plug-in": plug_in, "discretisation": discretisation, "sampling": upper - seen}


def gap_limit(summary: Summary, delta: float) -> float:
    """Theorem 11 (ii): a lower bound for |E X - E Y| at confidence 1 - delta, from independent rows of equal weight."""
    gap = abs(summary.mean_score - summary.base_rate) - ROUNDING
    return least_size(gap, mean_upper(brier_above(summary), summary.n, (1 - SPLIT) * delta), summary.n, SPLIT * delta)


def brier_above(summary: Summary) -> float:
    """At least the mean of (y - x)^2 over the rows."""
    return min(brier(summary.points, summary.n) + 2 * summary.resolution + ROUNDING, 1.0)


@lru_cache(maxsize=4)
def brier(points: Points, n: int) -> float:
    """The mean of (y - x)^2; over cells from above (convexity)."""
    high = points.count * points.fraction
    total = 0.0
    for position, rows in ((points.low, points.count - high), (points.high, high)):
        total += float((rows[:, 0] * position**2 + rows[:, 1] * (1 - position) ** 2).sum())
    return min(total / n, 1.0)
