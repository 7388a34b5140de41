"""Theorem W over every outcome: the largest of many means, the worst of several groups, and what it does not cover."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import beta

from calcert.certificates.limits.deviations import Squares, iid_limit, invert, share_for_mean
from tests.lab.distributions import SMALL_LAWS, Law, outcomes

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

DELTAS = (0.5, 0.2, 0.05)


def sums_up_to(probability: Floats, score: Floats) -> Floats:
    """E (Y - X) 1{X <= t} for t below, at and between the scores: a class of witnesses with both signs."""
    return np.append(0.0, np.cumsum(probability[:, 1] - score * probability.sum(axis=1)))


@pytest.mark.parametrize("name", SMALL_LAWS)
def test_the_largest_of_many_means_is_below_one_inversion_of_the_largest_average(name: str) -> None:
    law, n = SMALL_LAWS[name], 5
    score = np.array(law.score)
    truth = float(np.abs(sums_up_to(law.probability, score)).max())
    square = np.stack([score**2, (1 - score) ** 2], axis=1)
    missed = dict.fromkeys(DELTAS, 0.0)
    for count, chance in law.outcomes(n):
        plug_in = float(np.abs(sums_up_to(count / n, score)).max())
        for delta in DELTAS:
            level = share_for_mean(n) * delta
            moment = Squares.of(square, count).upper(n, delta)
            missed[delta] += chance * (invert(plug_in, moment, n, level, iid_limit) < truth - 1e-12)
    assert all(missed[delta] <= delta for delta in DELTAS)


def test_without_its_sampling_term_the_largest_average_misses() -> None:
    law = Law((0.9,), (1.0,), (0.4,))
    score = np.array(law.score)
    truth = float(np.abs(sums_up_to(law.probability, score)).max())
    below = [p for count, p in law.outcomes(5) if np.abs(sums_up_to(count / 5, score)).max() < truth - 1e-12]
    assert math.fsum(below) > 0.3


def clopper_pearson(positives: int, rows: int, delta: float) -> float:
    """The exact upper limit for a chance: 1 where all rows, or none, are positive or there are none."""
    return 1.0 if positives == rows else float(beta.ppf(1 - delta, positives + 1, rows - positives))


GROUPS = {
    "one is much worse": ((0.2, 0.5, 0.3), (0.1, 0.2, 0.7)),
    "all alike": ((0.3, 0.3, 0.4), (0.5, 0.5, 0.5)),
    "the worst is small": ((0.1, 0.8, 0.1), (0.9, 0.4, 0.6)),
}
"""Shares of three groups, and the probability of label 1 in each: the number that is to be bounded."""


def group_outcomes(name: str, n: int) -> Iterator[tuple[Integers, float]]:
    share, chance = (np.array(values) for values in GROUPS[name])
    return outcomes(np.stack([share * (1 - chance), share * chance], axis=1), n)


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("name", GROUPS)
def test_the_worst_of_several_disjoint_groups_is_below_the_worst_of_their_limits_at_full_delta(
    name: str, delta: float
) -> None:
    chance = np.array(GROUPS[name][1])
    missed = 0.0
    for count, probability in group_outcomes(name, 6):
        there = count.sum(axis=1) > 0
        limits = [clopper_pearson(k, m + k, delta) for m, k in count[there].tolist()]
        missed += probability * (chance[there].max() > max(limits))
    assert missed <= delta


def test_the_smallest_of_several_limits_at_full_delta_is_not_covered() -> None:
    """Where all are alike, some group exceeds its own limit exactly when it exceeds the smallest: too often."""
    name, delta = "all alike", 0.2
    missed = 0.0
    for count, probability in group_outcomes(name, 12):
        limits = np.array([clopper_pearson(k, m + k, delta) for m, k in count.tolist()])
        missed += probability * bool((np.array(GROUPS[name][1]) > limits).any())
    assert missed > 1.2 * delta


def overlapping_miss(r: float, delta: float, absent: float | None) -> float:
    """Two rows; a row of both groups has label 1 (chance r), of the first alone 0 (r/4), of the second alone 0.

    The probability that a group which occurs is worse than all limits of groups; a group without rows has the limit
    `absent`, or is left out where that is None.
    """
    kinds = {(True, True, 1): r, (True, False, 0): r / 4, (False, True, 0): 1 - 5 * r / 4}
    truths = (r / (r + r / 4), r / (1 - r / 4))
    missed = 0.0
    for pair in itertools.product(kinds, repeat=2):
        limits, worst = [], 0.0
        for group in (0, 1):
            labels = [row[2] for row in pair if row[group]]
            if labels:
                limits.append(clopper_pearson(sum(labels), len(labels), delta))
                worst = max(worst, truths[group])
            elif absent is not None:
                limits.append(absent)
        missed += kinds[pair[0]] * kinds[pair[1]] * (worst > max(limits))
    return missed


def test_overlapping_groups_need_a_list_that_was_fixed_beforehand() -> None:
    """Left out where they have no rows, overlapping groups are missed too often; with the limit 1 they are not."""
    r, delta = 0.486, 0.201
    assert overlapping_miss(r, delta, None) > 1.3 * delta
    assert max(overlapping_miss(r, delta, 1.0) for r in np.linspace(0.01, 0.79, 79)) <= delta
