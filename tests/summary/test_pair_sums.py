"""Pair sums are exact, the same for any order and blocks, add up, travel, and cannot be mixed or forged."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import calcert
from calcert import Summary
from calcert.summary import pair_sums
from calcert.summary.consistency import check_clusters
from calcert.summary.pair_sums import BINS, EDGES, LOG_ODDS, NODES, SHARES, SIZES, STEP, PairSums
from tests.lab.clusters import units_of


def some_rows(seed: int, n: int = 600) -> tuple[NDArray[Any], ...]:
    """Scores of all kinds, labels, clusters and weights."""
    rng = np.random.default_rng(seed)
    x = np.where(rng.random(n) < 0.5, rng.beta(0.2, 0.2, n), rng.choice([0.0, 0.5, 1.0, 127 / 128], n))
    return x, rng.random(n) < x, rng.integers(0, n // 4, n), rng.integers(0, 5, n)


def paired(x: Any, y: Any, cluster: Any, weight: Any) -> Summary:
    return calcert.summarize(x, y, clusters=cluster, weights=weight, pair_sums=True)


def sums_of(summary: Summary) -> PairSums:
    found = units_of(summary).pair_sums
    assert found is not None
    return found


def test_pair_sums_are_products_of_what_places_hold_of_each_cluster() -> None:
    x, y, cluster, weight = some_rows(0)
    nodes, bins = np.zeros((NODES.size,) * 2), np.zeros((BINS,) * 2)
    gains, beyond = np.zeros(BINS), np.zeros(SHARES.size)
    for name in np.unique(cluster):
        held, whole, large = np.zeros(NODES.size), np.zeros(BINS), np.zeros(BINS)
        for row in np.flatnonzero(cluster == name):
            left = max(k for k in range(NODES.size - 1) if NODES[k] <= x[row])
            part = (x[row] - NODES[left]) / (NODES[left + 1] - NODES[left])
            gain, place = weight[row] * (x[row] - y[row]), int((x[row] >= EDGES).sum())
            held[left] += gain * (1 - part)
            held[left + 1] += gain * part
            whole[place] += gain
            large[place] += abs(gain)
        size = weight[cluster == name].sum()
        nodes += np.outer(held, held)
        bins += np.outer(whole, whole)
        gains += large**2
        beyond += np.maximum(large.sum() - SHARES * size, 0) * large.sum() ** 2
    found = sums_of(paired(x, y, cluster, weight))
    # Each of w (x - y) is rounded by up to a step or so, next to weights of up to 20.
    squares = float(units_of(paired(x, y, cluster, weight)).squares)
    assert np.abs(found.nodes - nodes).max() <= 3 * squares / STEP
    assert np.abs(found.bins - bins).max() <= squares / STEP
    assert (found.gains >= gains * (1 - 1e-12)).all()
    assert (found.gains <= gains + 4 * squares / STEP).all()
    assert (found.beyond >= beyond * (1 - 1e-12)).all()
    assert (found.beyond <= beyond + units_of(paired(x, y, cluster, weight)).number / 32 + 1e-2).all()


def test_order_and_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y, cluster, weight = some_rows(1)
    whole = paired(x, y, cluster, weight)
    order = np.random.default_rng(0).permutation(x.size)
    assert paired(x[order], y[order], -cluster[order], weight[order]) == whole
    monkeypatch.setattr(pair_sums, "BLOCK", 7)
    assert paired(x, y, cluster, weight) == whole


def test_parts_without_common_clusters_add_up_to_the_whole() -> None:
    x, y, cluster, weight = some_rows(2)
    first = cluster < 50
    parts = [paired(x[rows], y[rows], cluster[rows], weight[rows]) for rows in (first, ~first)]
    assert parts[0].plus(parts[1], disjoint=True) == paired(x, y, cluster, weight)


def test_pair_sums_travel_in_files_and_those_without_still_load() -> None:
    rows = some_rows(3)
    whole, without = paired(*rows), calcert.summarize(rows[0], rows[1], clusters=rows[2], weights=rows[3])
    assert Summary.from_bytes(whole.to_bytes()) == whole
    assert Summary.from_bytes(without.to_bytes()) == without
    assert whole != without
    assert len(whole.to_bytes()) < 500_000


def test_summaries_with_and_without_pair_sums_do_not_mix() -> None:
    one = calcert.summarize([0.2, 0.7], [0, 1], clusters=["a", "a"], pair_sums=True)
    two = calcert.summarize([0.2], [1], clusters=["b"])
    with pytest.raises(ValueError, match="pair_sums"):
        one.plus(two, disjoint=True)


@pytest.mark.parametrize("which", ["shape", "negative", "product", "gains", "beyond", "bets", "missing", "unasked"])
def test_forged_pair_sums_are_refused(which: str) -> None:
    summary = paired(*some_rows(4))
    clusters, values = units_of(summary), sums_of(summary).values.copy()
    starts = np.cumsum([0, *SIZES])
    if which == "shape":
        values = values[:-1]
    elif which == "negative":
        values[0] = -1
    elif which == "product":
        values[1] = 1 << 40
    elif which == "gains":
        values[starts[2] : starts[3]] = 0
    elif which == "beyond":
        values[starts[4] - 1] = values[starts[4] - 2] + 1
    elif which == "bets":
        values[-1] = 1 << 60
    forged = replace(clusters, pair_sums=PairSums(values))
    if which == "missing":
        forged = replace(clusters, pair_sums=None)
    elif which == "unasked":
        forged = replace(clusters, design=replace(clusters.design, paired=False))
    with pytest.raises(ValueError, match="pair_sums"):
        check_clusters(forged, summary.count)
    with pytest.raises(ValueError, match="damaged"):
        Summary.from_bytes(replace(summary, clusters=forged).to_bytes())


def test_pair_sums_are_refused_where_there_are_no_clusters_or_they_are_too_heavy() -> None:
    with pytest.raises(TypeError, match="pair_sums must come with clusters"):
        calcert.summarize([0.2], [0], weights=[1], pair_sums=True)
    with pytest.raises(TypeError, match="pair_sums must be True or False; got 'yes'"):
        calcert.summarize([0.2], [0], clusters=[1], pair_sums="yes")
    with pytest.raises(OverflowError, match="Leave pair_sums out"):
        calcert.summarize([0.2], [0], clusters=[1], weights=[1 << 20], pair_sums=True)


def test_nodes_are_the_same_wherever_exponentials_are_rounded_otherwise() -> None:
    place = 2.0**20 / (1 + np.exp(-LOG_ODDS))
    assert np.abs(np.abs(place - np.round(place)) - 0.5).min() > 1e-6
