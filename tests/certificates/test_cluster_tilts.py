"""Tilts are admissible pairs, and no law of scores shows them more than its distance from calibration."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import calcert
from calcert.certificates.distance import distance_lower
from calcert.certificates.witnesses.cluster_lower import EDGES, largest_tilt, tilt_patterns
from tests.lab.distances import by_joint_laws


@pytest.mark.parametrize("pivots", [1, 2])
def test_pairs_of_tilts_change_by_no_more_than_the_score_and_tilts_by_twice_as_much(pivots: int) -> None:
    x = np.linspace(0, 1, 4001)
    for chosen in itertools.combinations((*EDGES[::3], 0.5), pivots):
        signs = 1.0 - 2.0 * (np.searchsorted(np.sort(chosen), x) % 2)
        tilt = signs * np.min([largest_tilt(x, pivot) for pivot in chosen], axis=0)
        for pair, most in ((tilt * (1 - x), 1.0), (-tilt * x, 1.0), (tilt, 2.0)):
            assert np.abs(np.diff(pair)).max() <= most * (x[1] - x[0]) * (1 + 1e-9)
        assert np.abs(tilt).max() <= 1


def test_larger_tilts_would_change_too_fast() -> None:
    x = np.linspace(0, 1, 4001)
    for pivot in (0.2, 0.5, 0.9):
        tilt = 1.01 * np.where(x < pivot, 1, -1) * largest_tilt(x, pivot)
        steepest = max(np.abs(np.diff(pair)).max() for pair in (tilt * (1 - x), tilt * x))
        assert steepest > 1.005 * (x[1] - x[0])


def test_no_law_shows_tilts_more_than_its_distance() -> None:
    rng = np.random.default_rng(0)
    shown = []
    for _ in range(25):
        score = np.sort(rng.choice(np.arange(1, 64), 5, replace=False)) / 64
        count = rng.integers(1, 40, (5, 2))
        rows = calcert.summarize(np.repeat(score, 2), np.tile([0, 1], 5), clusters=range(10), weights=count.ravel())
        grid = np.unique(np.concatenate([score, np.linspace(0, 1, 129)]))
        truth = by_joint_laws(score, count / count.sum(), grid)
        best = max(pattern.seen for pattern in tilt_patterns(rows))
        # The calibrated score lies on a grid of 128ths, which can cost half a step.
        assert best <= truth + 1e-9
        shown.append(best / truth)
    assert np.median(shown) > 0.8


def test_shares_of_delta_add_up_to_one() -> None:
    rows = calcert.summarize([0.2, 0.7], [0, 1], clusters=[1, 2])
    numbers = 2, 2 * EDGES.size, EDGES.size * (EDGES.size - 1)
    spent = sum(number * pattern.share for number, pattern in zip(numbers, tilt_patterns(rows), strict=True))
    assert spent == pytest.approx(1)


def test_overconfident_clusters_are_found_though_their_mean_is_right() -> None:
    rng = np.random.default_rng(1)
    x = rng.random(40_000)
    y = rng.random(40_000) < np.where(x < 0.5, 0.3, 0.7)
    cluster = np.repeat(np.arange(10_000), 4)
    plain = calcert.bounds.distance(calcert.summarize(x, y))
    for pair_sums in (False, True):
        rows = calcert.summarize(x, y, clusters=cluster, pair_sums=pair_sums)
        assert 0.5 * plain.lower < distance_lower(rows, 0.05, 0).limit < plain.upper
