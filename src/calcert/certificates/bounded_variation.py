"""Theorem 2: the L1 calibration error of the current scores, if their calibration function has bounded variation.

Theorem 2 and Theorem 3 hold for any groups of consecutive scores that do not depend on labels. A group costs bias (how
much the calibration function may vary inside it) and noise (its mean label is estimated); a *plain* group costs
neither, but counts the full |x - y| of its rows: nearly nothing where scores crowd at 0 or 1. The choice here minimises
the predicted sum of the three as if the classifier were calibrated, over a fixed family of groupings.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from calcert.certificates import several
from calcert.certificates.certificate import Certificate, any_rows, proved_for
from calcert.certificates.limits.sampling_term import brier_squares, upper_mean
from calcert.certificates.witnesses.betting import l1_lower
from calcert.foundation.array_types import Floats, Integers
from calcert.foundation.number_text import given
from calcert.foundation.rounding import ROUNDING
from calcert.foundation.validation import check_variation
from calcert.kernels.limits import grouped_limit
from calcert.kernels.signs import capped_runs, total_plug_in
from calcert.summary.points import Points, across_labels
from calcert.summary.summary import Summary


@dataclass(frozen=True)
class Rows:
    """What groupings look at: per point its share of rows, mean score and mean x(1 - x), never a label.

    `mass` is the share of all rows before each point, and 1 at the end: that of a group is a difference. As a position
    it makes groups of equal mass.
    """

    share: Floats
    mass: Floats
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
        mass = np.concatenate([[0], np.cumsum(rows)]) / n  # Whole numbers are added up, so that nothing is lost.
        return cls(rows / n, mass, score, score * (1 - score), points.low == points.high, n)

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


def best_groups(rows: Rows, bias: Bias, position: Floats) -> tuple[float, float]:
    """The cap on the growth of `position` inside a group with the smallest predicted bound, and that bound.

    `position` is increasing, one longer than the points: cumulated mass, or the score. Caps run down by halves until
    the prediction is far above the best or all groups are plain, as smaller ones would be, then by eighths of an octave
    around it.
    """
    predicted: dict[float, float] = {}

    def predict(cap: float) -> Groups:
        groups, noise = _capped(rows, position, cap)
        predicted[cap] = bias(rows, groups) + noise
        return groups

    for halvings in range(21):
        groups = predict(2.0**-halvings)
        if groups.plain.all() or predicted[2.0**-halvings] > 2 * min(predicted.values()):
            break
    middle = min(predicted, key=lambda cap: predicted[cap])
    for eighths in (-6, -4, -2, 2, 4, 6):
        predict(middle * 2.0 ** (eighths / 8))
    best = min(predicted, key=lambda cap: predicted[cap])
    return best, predicted[best]


def capped_groups(rows: Rows, position: Floats, cap: float) -> Groups:
    """Greedy groups under the cap, and which of them are plain: those cheaper so, and those heavier than the cap."""
    return _capped(rows, position, cap)[0]


def _capped(rows: Rows, position: Floats, cap: float) -> tuple[Groups, float]:
    start, plain, noise = capped_runs(position, rows.mass, rows.wobbling, rows.single.view(np.uint8), rows.n, cap)
    return Groups(start, plain), noise


def plug_in(points: Points, groups: Groups, n: int) -> float:
    """R: the mean of |x - mean label of the group|, or |x - y| in plain groups; over cells from above (convexity)."""
    rest = (points.fraction, points.count, groups.start, groups.plain.view(np.uint8))
    return total_plug_in(points.low, points.high, *rest) / n


def mean_apart(points: Points, rows: Rows, groups: Groups) -> Floats:
    """Per group the mean of |x - x'| over ordered pairs of rows; inside a cell from above, 2 f (1 - f) width."""
    size = rows.share.size
    total = groups.sums(rows.share)
    within = rows.share / groups.expand(total, size)
    before = np.cumsum(within) - within
    before -= groups.expand(before[groups.start], size)
    # sum over pairs of w w' |x - x'| = 2 sum_i w_i x_i (mass before - mass after), centred to avoid cancellation.
    centre = groups.expand(groups.sums(within * rows.score), size)
    apart = 2 * groups.sums(within * (rows.score - centre) * (2 * before + within - 1))
    width = points.high - points.low
    fraction = np.divide(rows.score - points.low, width, out=np.zeros(size), where=width > 0)
    inside = groups.sums(within**2 * 2 * fraction * (1 - fraction) * width)
    return np.asarray(np.maximum(apart, 0.0) + inside)


REFINEMENTS = (1.0, 1 / 4, 1 / 16)
"""Caps tried, as multiples of the best for a calibrated classifier; finer groups suit a miscalibrated one."""

Grouping = tuple[float, float]
"""What a bound takes of groups: their plug-in and their bias."""

OWN_SCORE = ", and given its score a label depends neither on other scores of its cluster nor on sizes and weights"
OWN_WEIGHT = ", and given its score a label does not depend on its weight"
"""What Theorem U3 assumes beyond Theorem 2, of clusters and of weights alone."""


@proved_for(any_rows)
def bounded_variation(summary: Summary, *, variation: float = 1.0, delta: float = 0.05, seed: int = 0) -> Certificate:
    """Certify the L1 calibration error of the current scores, given a bound on a variation.

    Guarantee
        With probability at least 1 - delta over the rows, E|X - E[Y|X]| <= upper. The lower bound holds with the same
        probability over the rows and the random split set by the seed, and needs no assumption on the calibration
        function.
    Assumes
        What :func:`calcert.certify` assumes, and that x -> E[Y|X = x] has total variation at most `variation`: 1 if it
        is monotone, that is if a higher score never means a lower probability of label 1.
    Terms
        ``plug-in``: mean distance of scores to the mean label of their group; ``binning bias``: what the calibration
        function may hide inside groups; ``sampling``; ``discretisation``: rounding of scores to 2^-40. Three
        groupings are tried at delta/3 each.

    Parameters
    ----------
    variation
        V, the bound on the total variation.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(100_000)
    >>> c = calcert.bounds.bounded_variation(calcert.summarize(x, rng.random(100_000) < x**2))
    >>> print(f"{c.lower:.3f} to {c.upper:.3f}; the truth is 0.167")
    0.164 to 0.171; the truth is 0.167
    """
    variation = check_variation(variation)
    return statement(summary, variation, upper_terms(summary, variation, delta), delta, seed)


def statement(summary: Summary, variation: float, terms: dict[str, float], delta: float, seed: int) -> Certificate:
    """The certificate whose upper bound is made of `terms`."""
    monotone = " (as any monotone one)" if variation >= 1 else ""
    return Certificate.of(
        summary,
        "L1 calibration error",
        terms,
        l1_lower(summary, delta, seed),
        delta,
        theorem="Theorem 2",
        assumption=f"calibration function of total variation at most {given(variation)}{monotone}{_beyond(summary)}",
        parameters={"variation": variation, "seed": seed},
    )


def _beyond(summary: Summary) -> str:
    clusters = summary.clusters
    if clusters is None or clusters.design.only_soft:
        return ""
    return OWN_SCORE if clusters.design.clustered else OWN_WEIGHT


def upper_terms(summary: Summary, variation: float, delta: float) -> dict[str, float]:
    """The terms of the upper bound of Theorem 2 at confidence 1 - delta."""
    return best_terms(summary, _groupings(summary, variation), delta)


@lru_cache(maxsize=2)
def _groupings(summary: Summary, variation: float) -> list[Grouping]:
    """Groupings that promise most; the same at every delta."""
    rows = replace(Rows.of(summary.points), n=summary.equal_rows)

    def bias(rows: Rows, groups: Groups) -> float:
        return variation_bias(rows, groups, variation)

    cap, _ = best_groups(rows, bias, rows.mass)
    options = [capped_groups(rows, rows.mass, cap * refinement) for refinement in REFINEMENTS]
    return [(plug_in(summary.points, groups, summary.n), bias(rows, groups)) for groups in options]


def best_terms(summary: Summary, options: list[Grouping], delta: float) -> dict[str, float]:
    """The smallest of R + bias, inverted, of several groupings that share delta equally, as theorems 2 and 3 do."""
    discretisation = summary.resolution + ROUNDING
    each = several.share(delta, len(options))
    terms = []
    for mean_distance, bias in options:
        base = mean_distance + bias + discretisation
        upper = upper_mean(summary, base, brier_squares(summary), each, grouped_limit)
        terms.append(
            {
                "plug-in": mean_distance,
                "binning bias": bias,
                "discretisation": discretisation,
                "sampling": upper - base,
            }
        )
    return terms[several.smallest(terms)]


def variation_bias(rows: Rows, groups: Groups, variation: float) -> float:
    """Half the largest mass that a total variation of `variation` can reach, at most 1 a group.

    In a group of one distinct score the calibration function cannot vary, and what it does in a plain one is counted.
    """
    inner = np.flatnonzero(~groups.plain)
    start, end = groups.start[inner], np.append(groups.start, rows.share.size)[inner + 1]
    share = (rows.mass[end] - rows.mass[start])[(end > start + 1) | ~rows.single[start]]
    whole = min(int(variation), share.size)
    if whole == share.size:
        return 0.5 * float(share.sum())
    lightest = share.size - whole - 1
    heaviest = np.partition(share, lightest)[lightest:]
    return 0.5 * float(heaviest[1:].sum() + (variation - whole) * heaviest[0])
