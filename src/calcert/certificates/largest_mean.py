"""Largest mean, in code: from the largest mean gain of the rows to a bound on the largest mean gain of the law.

Theorems 9, 10 and 11 are each the largest mean of a class of gains, none of which exceeds |x - y| in size. One gain of
the class is the largest for the law, unknown but fixed; its mean over the rows is at most the largest mean over the
rows. So one deviation is all there is to bound, however large the class.
"""

from __future__ import annotations

from calcert.certificates.deviations import Limit, iid_limit
from calcert.certificates.sampling import upper_mean
from calcert.certificates.score_groups import brier
from calcert.serving.grid import ROUNDING
from calcert.summary.counts import Summary


def largest_mean_terms(
    summary: Summary, plug_in: float, discretisation: float, delta: float, limit: Limit = iid_limit
) -> dict[str, float]:
    """The terms of an upper bound at confidence 1 - delta.

    Guarantee
        If no gain exceeds |x - y| in size and plug_in + discretisation is at least the largest mean gain of the rows,
        the largest mean gain of the law is at most the sum of the terms, with probability at least 1 - delta.
    """
    seen = plug_in + discretisation
    upper = upper_mean(summary, seen, brier_above(summary), delta, limit)  # Largest mean
    return {"plug-in": plug_in, "discretisation": discretisation, "sampling": upper - seen}


def brier_above(summary: Summary) -> float:
    """At least the mean of (y - x)^2 over the rows."""
    return min(brier(summary.points, summary.n) + 2 * summary.resolution + ROUNDING, 1.0)
