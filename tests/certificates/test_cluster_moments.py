"""Squared gains of clusters, over whole classes: no gain that was tried has more than is said."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import calcert
from calcert import Summary
from calcert.certificates.limits import cluster_moments
from calcert.certificates.witnesses.cluster_lower import EDGES, PARTITIONS
from calcert.perturbation import odds_kernel, sech_kernel
from calcert.perturbation.noise import Noise
from calcert.summary import pair_sums
from tests.lab.clusters import units_of

Floats = NDArray[np.float64]


def rows(seed: int, *, equal: bool, scores: tuple[float, float] = (1, 1)) -> tuple[Floats, Floats, Any, Any, Summary]:
    """600 clusters of one to nine rows with weights; labels independent, or equal inside clusters."""
    rng = np.random.default_rng(seed)
    cluster = np.repeat(np.arange(600), rng.integers(1, 10, 600))
    x, weight = rng.beta(*scores, cluster.size), rng.integers(1, 4, cluster.size)
    uniform = rng.random(600)[cluster] if equal else rng.random(cluster.size)
    y = (uniform < x).astype(float)
    return x, y, cluster, weight, calcert.summarize(x, y, clusters=cluster, weights=weight, pair_sums=True)


def squares(gain: Floats, cluster: Any, weight: Any) -> float:
    return float((np.bincount(cluster, weight * gain) ** 2).sum())


def worst_signs(values: Floats, held: Floats) -> Floats:
    """Signs at places, improved one after another until none helps: what places hold of each cluster is `held`."""
    table = held.T @ held
    signs = np.where(values >= 0, 1.0, -1.0)
    for _ in range(20):
        for place in range(signs.size):
            rest = table[place] @ signs - table[place, place] * signs[place]
            signs[place] = 1.0 if rest >= 0 else -1.0
    return signs


@pytest.mark.parametrize("size", [1, 2, 5, 9])
def test_no_signs_have_a_larger_form_than_is_said(size: int) -> None:
    rng = np.random.default_rng(size)
    for _ in range(30):
        held = rng.normal(size=(int(rng.integers(1, 30)), size)) * rng.exponential(size=size) ** 3
        table = held.T @ held
        best = max(float(np.array(f) @ table @ np.array(f)) for f in itertools.product((-1, 1), repeat=size))
        found = cluster_moments.largest_form(table)
        assert best <= found <= np.abs(table).sum() * (1 + 1e-6)


@pytest.mark.parametrize("equal", [False, True])
@pytest.mark.parametrize("scores", [(1, 1), (0.3, 3)])
def test_ranges_and_signs_have_no_more_squares_than_is_said(equal: bool, scores: tuple[float, float]) -> None:
    x, y, cluster, weight, summary = rows(1, equal=equal, scores=scores)
    clusters, rng = units_of(summary), np.random.default_rng(2)
    most = {changes: cluster_moments.signs_squares(clusters, changes) for changes in (0, 1, 3)}
    in_range = cluster_moments.range_squares(clusters)
    for _ in range(300):
        first, stop = np.sort(np.where(rng.random(2) < 0.5, rng.choice(x, 2), rng.random(2)))
        inside = ((x >= first) & (x <= stop)).astype(float)
        assert squares(inside * (x - y), cluster, weight) <= in_range
        for changes, said in most.items():
            cuts = np.sort(rng.choice(x, changes))
            signs = 1.0 - 2 * (np.searchsorted(cuts, x) % 2)
            assert squares(signs * (x - y), cluster, weight) <= said


def test_the_whole_range_has_nearly_what_is_said_and_far_less_than_sizes_say() -> None:
    x, y, cluster, weight, summary = rows(3, equal=False)
    clusters = units_of(summary)
    seen = squares(x - y, cluster, weight)
    assert seen <= cluster_moments.signs_squares(clusters, 0) <= 1.01 * seen + 1
    assert seen <= 0.5 * squares(np.abs(x - y), cluster, weight)


@pytest.mark.parametrize("equal", [False, True])
def test_signs_and_runs_of_groups_have_no_more_squares_than_is_said(equal: bool) -> None:
    x, y, cluster, weight, summary = rows(4, equal=equal, scores=(0.5, 1))
    clusters = units_of(summary)
    for edges in PARTITIONS:
        group = np.searchsorted(edges, x, "right")
        held = np.zeros((600, edges.size + 1))
        np.add.at(held, (cluster, group), weight * (x - y))
        signs = worst_signs(held.sum(axis=0), held)
        assert squares(signs[group] * (x - y), cluster, weight) <= cluster_moments.group_squares(clusters, edges)
    said = cluster_moments.run_squares(clusters, EDGES)
    for first, stop in itertools.combinations(np.concatenate([[0.0], EDGES, [2.0]]), 2):
        inside = ((x >= first) & (x < stop)) * (x - y)
        assert squares(inside, cluster, weight) <= said


def test_edges_of_groups_are_edges_of_bins() -> None:
    assert set(EDGES) <= set(pair_sums.EDGES)
    assert all(set(edges) <= set(pair_sums.EDGES) for edges in PARTITIONS)


@pytest.mark.parametrize(
    "noise", [Noise("additive", 1 / 64), Noise("additive", 1 / 8), Noise("odds", 1 / 16), Noise("odds", 1 / 2)]
)
@pytest.mark.parametrize("equal", [False, True])
def test_functions_of_the_served_score_have_no_more_squares_than_is_said(noise: Noise, equal: bool) -> None:
    x, y, cluster, weight, summary = rows(5, equal=equal, scores=(0.7, 0.7))
    x = np.clip(x, 1e-9, 1 - 1e-9)
    # Chances that the score is served in each of 400 cells, exactly; the mean of t over a cell from its middle.
    edges = np.linspace(0, 1, 401) if noise.kind == "additive" else 1 / (1 + np.exp(-np.linspace(-9, 9, 401)))
    law = sech_kernel.distribution if noise.kind == "additive" else odds_kernel.distribution
    chance = np.diff(law(edges[None, :], x[:, None], noise.size), axis=1)
    middle = (edges[1:] + edges[:-1]) / 2
    gain = chance * (middle[None, :] - y[:, None])
    held = np.zeros((600, middle.size))
    np.add.at(held, cluster, weight[:, None] * gain)
    said = cluster_moments.perturbed_form(summary, units_of(summary), noise)
    rng = np.random.default_rng(6)
    for start in (held.sum(axis=0), rng.normal(size=400), np.ones(400), np.sin(80 * middle)):
        signs = worst_signs(start, held)
        seen = float(((held @ signs) ** 2).sum())
        # Half a cell, at most, is what the middle of a cell is off.
        assert np.sqrt(seen) <= np.sqrt(said) + np.diff(edges).max() / 2 * np.sqrt(float(units_of(summary).squares))
        # Wide noise moves scores far, which is charged as if it always did harm.
        assert noise.size > 1 / 10 or seen >= said / 3


def test_gains_of_units_are_smooth_enough_only_for_wide_noise() -> None:
    # Between nodes a bandwidth far below their distance hides anything: then sizes are all that is left.
    summary = rows(7, equal=False)[-1]
    said = [cluster_moments.perturbed_form(summary, units_of(summary), Noise("additive", h)) for h in (1 / 64, 1e-4)]
    assert said[1] > 4 * said[0]
