"""Theorem 4: the L1 calibration error of a classifier with finitely many scores, with no assumption."""

from __future__ import annotations

import numpy as np

from calcert.certificates.bounded_variation import Groups, plug_in
from calcert.certificates.certificate import Certificate, any_rows, proved_for
from calcert.certificates.limits.sampling_term import brier_squares, upper_mean
from calcert.certificates.witnesses.betting import l1_lower
from calcert.foundation.rounding import ROUNDING
from calcert.summary.summary import Summary


@proved_for(any_rows)
def finite(summary: Summary, *, delta: float = 0.05, seed: int = 0) -> Certificate:
    """Certify the L1 calibration error of a classifier whose scores repeat: trees, deciles, rounded scores.

    Guarantee
        With probability at least 1 - delta over the rows, E|X - E[Y|X]| <= upper; likewise for lower, over the
        rows and the random split set by the seed. It holds for every score distribution, and is useful where rows
        are many to a distinct score.
    Assumes
        Of the rows and the arguments, what :func:`calcert.certify` assumes; at most 4,096 distinct scores.
    Terms
        ``plug-in``: mean distance of scores to the mean label at that score; ``sampling``; ``discretisation``:
        rounding of sums.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.integers(1, 20, 100_000) / 20
    >>> c = calcert.bounds.finite(calcert.summarize(x, rng.random(100_000) < x))
    >>> print(f"{c.lower:.3f} to {c.upper:.4f}; the truth is 0")
    0.000 to 0.0064; the truth is 0
    """
    return statement(summary, upper_terms(summary, delta), delta, seed)


def statement(summary: Summary, terms: dict[str, float], delta: float, seed: int) -> Certificate:
    """The certificate whose upper bound is made of `terms`."""
    lower, asked = l1_lower(summary, delta, seed), {"distinct scores": summary.values.size, "seed": seed}
    return Certificate.of(summary, "L1 calibration error", terms, lower, delta, theorem="Theorem 4", parameters=asked)


def upper_terms(summary: Summary, delta: float) -> dict[str, float]:
    """The terms of the upper bound of Theorem 4 at confidence 1 - delta."""
    groups = Groups(np.arange(summary.values.size), np.zeros(summary.values.size, bool))
    mean_distance = plug_in(summary.points, groups, summary.n)
    upper = upper_mean(summary, mean_distance + ROUNDING, brier_squares(summary), delta)
    return {
        "plug-in": mean_distance,
        "discretisation": ROUNDING,
        "sampling": upper - mean_distance - ROUNDING,
    }
