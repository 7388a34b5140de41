"""Theorem 2: the L1 calibration error of the current scores, if their calibration function has bounded variation."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np

from calcert.certificates import several
from calcert.certificates.certificate import Certificate, any_rows, proved_for
from calcert.certificates.limits.sampling_term import brier_squares, upper_mean
from calcert.certificates.score_groups import Groups, Rows, best_groups, capped_groups, plug_in
from calcert.certificates.witnesses.betting import l1_lower
from calcert.foundation.number_text import given
from calcert.foundation.rounding import ROUNDING
from calcert.foundation.validation import check_variation
from calcert.kernels.limits import grouped_limit
from calcert.summary.summary import Summary

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
