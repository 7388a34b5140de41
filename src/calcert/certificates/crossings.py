"""Theorem 10: the L1 calibration error of the current scores, if the true curve seldom crosses the diagonal.

Without that assumption the same numbers bound the error that a witness with so few changes of sign can show.
"""

from __future__ import annotations

import math
from functools import lru_cache, partial

import numpy as np

from calcert.certificates.certificate import Certificate, Lower, any_rows, proved_for
from calcert.certificates.cutoff import Excess
from calcert.certificates.limits.cluster_moments import group_squares, run_squares, signs_squares
from calcert.certificates.limits.sampling_term import largest_mean_terms
from calcert.certificates.witnesses import random_splits
from calcert.certificates.witnesses.betting import in_turn, lower_limit
from calcert.certificates.witnesses.cluster_lower import (
    CHANGES,
    EDGES,
    Pattern,
    clusters_lower,
    group_sums,
    lower_with_bets,
)
from calcert.certificates.witnesses.listed_witnesses import FOR_CROSSINGS, FOR_ONE_CROSSING
from calcert.certificates.witnesses.random_splits import middles, net_of, worst_gain
from calcert.foundation.rounding import ROUNDING
from calcert.kernels.signs import best_signs, most_gained
from calcert.summary.summary import Summary


@proved_for(any_rows)
def crossings(summary: Summary, *, crossings: int = 3, delta: float = 0.05, seed: int = 0) -> Certificate:
    """Certify the L1 calibration error of the current scores, given how often their curve crosses the diagonal.

    Guarantee
        With probability at least 1 - delta over the rows, E|X - E[Y|X]| <= upper. The lower bound holds with the same
        probability over the rows and the random split set by the seed, and needs no assumption on the calibration
        function.
    Assumes
        What :func:`calcert.certify` assumes, and that x - E[Y|X = x] changes its sign at most `crossings` times as x
        goes from 0 to 1. Scores that are too high everywhere never cross; overconfident or underconfident scores cross
        once.
    Terms
        ``plug-in``: the largest mean gain, over the rows, of signs that change that often, where cells end;
        ``discretisation``: what changes inside cells may add, and rounding; ``sampling``.

    Parameters
    ----------
    crossings
        How often the true curve changes sides of the diagonal, at most.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(100_000)
    >>> eta = 1 / (1 + ((1 - x) / x) ** 0.7)
    >>> c = calcert.bounds.crossings(calcert.summarize(x, rng.random(100_000) < eta))
    >>> print(f"{c.lower:.3f} to {c.upper:.3f}; the truth is 0.052")
    0.045 to 0.055; the truth is 0.052
    """
    lower = crossings_lower(summary, crossings, delta, seed)
    return statement(summary, crossings, upper_terms(summary, crossings, delta), lower, delta, seed)


def statement(
    summary: Summary, crossings: int, terms: dict[str, float], lower: Lower, delta: float, seed: int
) -> Certificate:
    """The certificate whose upper bound is made of `terms`."""
    often = f"changes sides of the diagonal at most {f'{crossings} times' if crossings != 1 else 'once'}"
    return Certificate.of(
        summary,
        "L1 calibration error",
        terms,
        lower,
        delta,
        theorem="Theorem 10",
        assumption=f"the true curve {often if crossings else 'stays on one side of the diagonal'}",
        parameters={"crossings": crossings, "seed": seed},
    )


def upper_terms(summary: Summary, crossings: int, delta: float) -> dict[str, float]:
    """The terms of the upper bound of Theorem 10 at confidence 1 - delta."""
    seen, hidden = _gained(summary, crossings)
    return largest_mean_terms(summary, seen, hidden, delta, squares=partial(signs_squares, changes=crossings))


@lru_cache(maxsize=2)
def _gained(summary: Summary, crossings: int) -> tuple[float, float]:
    """What the rows show at most, and what cells may hide of it; the same at every delta."""
    excess = Excess.of(summary)
    seen = most_gained(excess.net, np.abs(excess.net), crossings)
    reach = seen if excess.single else most_gained(excess.net, excess.up + excess.down, crossings)
    return seen, reach - seen + excess.rounding(2 * crossings + 1)


def crossings_lower(summary: Summary, crossings: int, delta: float, seed: int) -> Lower:
    """A lower bound for the visible error at confidence 1 - delta: betting on the best signs found so far."""
    if summary.clusters is not None:
        patterns = [crossing_pattern(summary, crossings)]
        if crossings == 0:
            # Without changes of sign only the mean is seen, and a distribution may be far from calibrated.
            return Lower(clusters_lower(summary, patterns, delta))
        return lower_with_bets(summary, patterns, np.where(crossings >= CHANGES, 1.0, np.inf), delta)
    points = middles(summary)
    witness = in_turn(lambda known, last: worst_gain(points, best_signs(net_of(points, known), crossings)))
    # Two changes of sign see what any range shows, one half of it; without any a distribution need not be near
    # calibration.
    beside = (None, FOR_ONE_CROSSING, FOR_CROSSINGS)[min(crossings, 2)]
    return lower_limit(summary, delta, seed, witness, beside=beside, splits=random_splits.splits(points, seed))


def crossing_pattern(summary: Summary, crossings: int) -> Pattern:
    """What signs with so few changes gain where they change at fixed edges, and how many such signs there are."""
    net = group_sums(summary, EDGES)
    changes = range(min(crossings, net.size - 1) + 1)
    signs = 2 * sum(math.comb(net.size - 1, k) for k in changes)
    squares = partial(group_squares if crossings else run_squares, edges=EDGES)
    return Pattern(most_gained(net, np.abs(net), crossings) - ROUNDING, 1 / signs, squares)
