"""Clusters with one score, by hand: kinds of clusters that are all alike, and how many there are of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from calcert import Summary
from calcert.summary import cells
from calcert.summary.clusters import Clusters
from calcert.summary.design import GAIN, Design
from calcert.summary.pair_sums import PairSums, pair_sums_of_rows


class Kind(NamedTuple):
    """So many clusters, each with a weight on label 0 and a weight on label 1, all at one score."""

    number: int
    zeros: int
    ones: int


def units_at(score: float, kinds: Sequence[Kind], design: Design, rows: int = 0) -> Summary:
    """The Summary of such clusters, from sums over kinds."""
    kinds = [kind for kind in kinds if kind.number]
    bits = np.array([score]).view(np.int64)
    cell, inside = cells.locate(np.array([int(score * cells.UNIT)]))
    count = [sum(kind.number * kind[1 + label] for kind in kinds) for label in (0, 1)]
    pairs = [sum(kind.number * kind[1 + label] * (kind.zeros + kind.ones) for kind in kinds) for label in (0, 1)]
    least, most = int(np.floor(score * GAIN)), int(np.ceil(score * GAIN))
    sizes = [kind.zeros + kind.ones for kind in kinds]
    gains = [kind.zeros * most + kind.ones * (GAIN - least) for kind in kinds]
    number = [kind.number for kind in kinds]
    clusters = Clusters(
        pairs=np.array([pairs]),
        rows=rows or sum(number),
        number=sum(number),
        largest=max(sizes),
        fourth=sum(n * size**4 for n, size in zip(number, sizes, strict=True)),
        gain_squares=sum(n * gain**2 for n, gain in zip(number, gains, strict=True)),
        gain_weights=sum(n * gain * size for n, gain, size in zip(number, gains, sizes, strict=True)),
        design=design,
    )
    if design.paired:
        each = [kind.number * _paired(score, kind, clusters).values for kind in kinds]
        clusters = replace(clusters, pair_sums=PairSums(np.array(each).sum(axis=0)))
    table = np.array([count])
    return Summary(cell, table, table * inside[:, None], bits, table.copy(), clusters)


def _paired(score: float, kind: Kind, clusters: Clusters) -> PairSums:
    """The pair sums of one cluster among these."""
    return _paired_once(score, kind, clusters.largest, clusters.design)


@lru_cache
def _paired_once(score: float, kind: Kind, largest: int, design: Design) -> PairSums:
    alone = Clusters(np.array([[1, 0]]), 2, 1, largest, 0, 0, 0, design)
    weight = np.array([kind.zeros, kind.ones])
    return pair_sums_of_rows(np.full(2, score), np.array([0, 1]), weight, np.zeros(2, np.int64), alone)


def units_of(summary: Summary) -> Clusters:
    """The clusters of a Summary that has them."""
    assert summary.clusters is not None
    return summary.clusters
