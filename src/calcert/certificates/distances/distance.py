"""Theorem 6: the distance from calibration of the current scores, with no assumption."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

from calcert.certificates.certificate import Certificate
from calcert.certificates.limits.deviations import Limit, iid_limit
from calcert.certificates.limits.sampling_term import brier_squares, upper_mean
from calcert.foundation.rounding import ROUNDING
from calcert.foundation.validation import check_delta, check_seed, check_summary
from calcert.summary.points import Points
from calcert.summary.summary import Summary

if TYPE_CHECKING:
    from calcert.certificates.distances.distance_transport_plan import Plan

SCALE = 1.6e-4
"""Cells are put together up to this times the root of the distance from the nearer end: 2^-14 in the middle."""

PART = 0.2
"""No wider, though, than this times what so many rows can tell apart."""


def distance(summary: Summary, *, delta: float = 0.05, seed: int = 0) -> Certificate:
    """Certify the distance from calibration: how far the scores are, on average, from some calibrated score.

    Guarantee
        With probability at least 1 - delta over the rows, inf E|U - X| over all U with E[Y|U] = U is at most upper;
        likewise for lower, over the rows and the random split set by the seed. Nothing is assumed of the score
        distribution or the calibration function. The two meet as rows are added, up to what cells hide.
    Assumes
        Of the rows and the arguments, what :func:`calcert.certify` assumes.
    Terms
        ``plug-in``: what it costs to move the rows to a calibrated score, by a plan that is nearly the best;
        ``sampling``; ``discretisation``: what the cells may hide of the cost, and rounding.

    Parameters
    ----------
    summary
        What :func:`calcert.summarize` returned.
    delta
        Probability with which each bound may fail.
    seed
        Sets the random split of the rows for the lower bound; to be fixed before the rows are seen.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(100_000)
    >>> c = calcert.bounds.distance(calcert.summarize(x, rng.random(100_000) < x**2))
    >>> print(f"{c.lower:.3f} to {c.upper:.3f}; the truth is 1/6")
    0.164 to 0.169; the truth is 1/6
    """
    # Imported late: only those who ask for a distance wait for it.
    from calcert.certificates.distances.distance_lower import distance_lower

    check_summary(summary, clusters=True)
    delta, seed = check_delta(delta), check_seed(seed)
    return Certificate.from_terms(
        quantity="distance from calibration",
        subject="with its current scores",
        assumption="none",
        lower=distance_lower(summary, delta, seed),
        delta=delta,
        n=summary.rows,
        clusters=summary.clusters,
        theorem="Theorem 6",
        terms=upper_terms(summary, delta),
        parameters={"seed": seed},
    )


def upper_terms(summary: Summary, delta: float, limit: Limit = iid_limit) -> dict[str, float]:
    """The terms of the upper bound of Theorem 6 at confidence 1 - delta; `limit` bounds the deviation of the mean."""
    plan, rows = _cheapest(summary), brier_squares(summary)
    rounding = ROUNDING + summary.resolution
    # Theorem 6, upper: the cost of any plan is at least the distance of the rows, and |g| <= |y - x|.
    upper = upper_mean(summary, plan.cost + rounding, rows, delta, limit)
    return {
        "plug-in": plan.cost - plan.hidden,
        "discretisation": plan.hidden + rounding,
        "sampling": upper - plan.cost - rounding,
    }


@lru_cache(maxsize=2)
def _cheapest(summary: Summary) -> Plan:
    """A plan that is nearly the best; the same at every delta."""
    from calcert.certificates.distances.distance_transport_plan import best_plan

    return best_plan(placed(summary), math.sqrt(brier_squares(summary).mean / summary.equal_rows))


def placed(summary: Summary) -> Points:
    """The listed scores, or cells put together as far as costs little."""
    from calcert.certificates.witnesses.joined_cells import blocks

    return summary.points if summary.is_finite else blocks(summary, min(SCALE, PART / math.sqrt(summary.equal_rows)))
