"""Theorem W, worst, as groups are certified: no group is worse than the largest of their bounds at full delta."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom

from calcert.certificates.certificate import Certificate, Lower
from calcert.certificates.cutoff import upper_terms
from calcert.certificates.several import OneOfMany
from calcert.reports.groups import GroupRows
from calcert.reports.settings import Settings
from calcert.summary.design import Design
from calcert.summary.summary import Summary
from tests.lab.clusters import Kind, units_at
from tests.lab.distributions import outcomes, summary_of

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

SCORES, ROWS, DELTA = (0.9, 0.1), 20, 0.3
LAWS = {
    "one is much worse": ((0.5, 0.5), (0.45, 0.1)),
    "both alike": ((0.4, 0.6), (0.6, 0.4)),
    "the worst is small": ((0.15, 0.85), (0.3, 0.1)),
}
"""Shares of two groups of one score each, and the probability of label 1 in each."""


@cache
def rows_of(group: int, zeros: int, ones: int) -> Summary:
    return summary_of((SCORES[group],), np.array([[zeros, ones]]))


@cache
def entry(group: int, zeros: int, ones: int) -> OneOfMany:
    """What a group with so many rows of either label says of the worst; its own bounds are no matter here."""
    rows = rows_of(group, zeros, ones)
    terms = upper_terms(rows, DELTA)
    found = Certificate.of(rows, "miscount", terms, Lower(0.0), DELTA, theorem="Theorem 9")
    return OneOfMany(found, terms)


def missed(name: str, count: Integers, smallest: int = 1) -> bool:
    """Whether a group that counts is worse than the certificate of the worst says."""
    there = {str(g): (g, *count[g].tolist()) for g in range(2) if count[g].any()}
    if all(zeros + ones < smallest for _, zeros, ones in there.values()):
        return False
    rows = GroupRows({key: rows_of(*group) for key, group in there.items()}, int(count.sum()), smallest=smallest)
    found = rows.worst({key: entry(*group) for key, group in there.items()}, DELTA)
    return found.upper < max(truths(name)[int(key)] for key in rows.counted) - 1e-12


def truths(name: str) -> Floats:
    return np.abs(np.array(SCORES) - np.array(LAWS[name][1]))


def probability(name: str) -> Floats:
    share, chance = (np.array(values) for values in LAWS[name])
    return np.stack([share * (1 - chance), share * chance], axis=1)


@pytest.mark.parametrize(("name", "smallest"), [*((name, 1) for name in LAWS), ("the worst is small", 5)])
def test_the_worst_group_is_covered_over_all_outcomes(name: str, smallest: int) -> None:
    total = sum(chance for count, chance in outcomes(probability(name), ROWS) if missed(name, count, smallest))
    assert total <= DELTA
    # Unlucky labels do get below it: the bound says something.
    assert name == "both alike" or total > 0


def test_groups_that_labels_left_out_are_caught() -> None:
    """To leave out the group whose labels look worst is to look at the others only."""
    name, total = "one is much worse", 0.0
    for count, chance in outcomes(probability(name), ROWS):
        uppers = [entry(g, *count[g].tolist()).upper for g in range(2) if count[g].any()]
        total += chance * (len(uppers) == 2 and min(uppers) < truths(name).max())
    assert total > 1.2 * DELTA


CLUSTERS = 12
"""Clusters with rows in both groups: all labels of a cluster are one coin's in the first, and its other side in the
second, so that the groups are as dependent as can be."""


def missed_by_clusters(chance: float, delta: float, *, plain: bool) -> float:
    """How often the worst of two groups that share all clusters is missed, over all outcomes of the coins."""
    total, sizes, shown = 0.0, (20, 30), (0.9, 0.1)
    truth = max(abs(shown[0] - chance), abs(shown[1] - (1 - chance)))
    for heads in range(CLUSTERS + 1):
        summaries = {}
        for group, (size, score, ones) in enumerate(zip(sizes, shown, (heads, CLUSTERS - heads), strict=True)):
            kinds = [Kind(CLUSTERS - ones, size, 0), Kind(ones, 0, size)]
            rows = units_at(score, kinds, Design(clustered=True), rows=CLUSTERS * size)
            summaries[str(group)] = replace(rows, clusters=None) if plain else rows
        settings = Settings(confidence=1 - delta)
        found, _ = GroupRows(summaries, CLUSTERS * sum(sizes)).certify_worst("cutoff", settings)
        total += binom.pmf(heads, CLUSTERS, chance) * (found.upper < truth - 1e-12)
    return total


@pytest.mark.parametrize("chance", [0.5, 0.7])
def test_the_worst_group_is_covered_where_clusters_span_groups(chance: float) -> None:
    assert missed_by_clusters(chance, DELTA, plain=False) <= DELTA


def test_groups_of_clusters_taken_for_plain_rows_are_caught() -> None:
    assert missed_by_clusters(0.5, 0.05, plain=True) > 2 * 0.05


def test_the_worst_group_is_covered_in_simulation() -> None:
    runs, rows, name = 4_000, 50, "one is much worse"
    drawn = np.random.default_rng(0).multinomial(rows, probability(name).ravel(), runs).reshape(-1, 2, 2)
    assert sum(missed(name, count) for count in drawn) <= binom.isf(1e-6, runs, DELTA)
