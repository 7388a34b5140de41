"""Rows with clusters and weights, chunk by chunk: any chunks, in memory or not, give the same Summary."""

from __future__ import annotations

import tempfile
from collections import Counter
from typing import Any

import numpy as np
import pytest

import calcert
from calcert.sources.clusters import clusters_on_disk, weighed_arrays
from calcert.sources.clusters.weighing_options import Weighing
from tests.lab.clusters import units_of

RNG = np.random.default_rng(0)
N = 20_000
SCORES, SHARES = RNG.beta(0.3, 0.3, N), RNG.integers(0, 4, N) / 4
CLUSTERS, WEIGHTS = RNG.integers(0, 3000, N) * 1_000_003, RNG.integers(0, 5, N)


@pytest.mark.parametrize("soft", [True, False])
def test_chunks_and_a_temporary_file_change_nothing(monkeypatch: pytest.MonkeyPatch, *, soft: bool) -> None:
    labels = SHARES if soft else SHARES > 0.5
    options: dict[str, Any] = {"clusters": CLUSTERS, "weights": WEIGHTS, "soft_labels": soft, "weight_unit": 0.25}
    at_once = calcert.summarize(SCORES, labels, **options)
    monkeypatch.setattr(weighed_arrays, "CHUNK", 999)
    monkeypatch.setattr(clusters_on_disk, "IN_MEMORY", 100_000)
    by_chunks = weighed_arrays.Weigher(Weighing(**options))
    for start in range(0, N, 7001):
        here = slice(start, start + 7001)
        by_chunks.add(SCORES[here], labels[here], {"clusters": CLUSTERS[here], "weights": WEIGHTS[here]})
    assert by_chunks._kept._file is not None
    assert by_chunks.summary() == at_once


def test_rows_of_a_cluster_may_be_far_apart_and_come_in_any_order() -> None:
    labels = SHARES > 0.5
    options: dict[str, Any] = {"clusters": CLUSTERS, "weights": WEIGHTS}
    found = calcert.summarize(SCORES, labels, **options)
    for order in (np.argsort(CLUSTERS, kind="stable"), RNG.permutation(N)):
        moved: dict[str, Any] = {name: values[order] for name, values in options.items()}
        assert calcert.summarize(SCORES[order], labels[order], **moved) == found
    sizes: Counter[int] = Counter()
    for name, weight in zip(CLUSTERS.tolist(), WEIGHTS.tolist(), strict=True):
        sizes[name] += weight
    assert units_of(found).squares == sum(size**2 for size in sizes.values())


def test_a_full_disk_is_told_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(clusters_on_disk, "IN_MEMORY", 0)
    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    with pytest.raises(MemoryError, match=r"No space left on device\. Let TMPDIR name a folder with more room"):
        calcert.summarize([0.5, 0.5], [0, 1], clusters=[1, 2])


@pytest.mark.parametrize(
    ("weights", "unit", "message"),
    [
        ([1e-300, 1e-300], None, "whole multiples of weight_unit = 1; got 1e-300 at row 0"),
        ([1e300, 1.0], None, r"add up to at most 2\^36 times weight_unit; got more with 1e\+300 at row 0"),
        ([1.0, 2.0**36], None, r"got more with 6.87195e\+10 at row 1"),
        ([1.0, 2.0**32], None, r"rows below 2\^31"),
        ([0.0, 0.0], None, "weights must not all be zero"),
        ([np.nan, 1.0], None, "weights must be finite and not negative; got nan at row 0"),
        ([1.0, 1.0], 1e-12, r"add up to at most 2\^36"),
        ([1e-300, 2e-300], 1e-300, None),
    ],
)
def test_weights_tiny_and_huge(weights: list[float], unit: float | None, message: str | None) -> None:
    if message is None:
        assert calcert.summarize([0.5, 0.6], [0, 1], weights=weights, weight_unit=unit).n == 3
        return
    with pytest.raises((ValueError, OverflowError), match=message):
        calcert.summarize([0.5, 0.6], [0, 1], weights=weights, weight_unit=unit)


@pytest.mark.parametrize("told", [{}, {"weights": True}, {"soft_labels": True}])
def test_few_rows_are_added_up_at_once_as_many_are_part_by_part(
    told: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    x, cluster, group = rng.random(3_000), rng.integers(0, 700, 3_000), rng.integers(0, 40, 3_000)
    y = rng.integers(0, 11, 3_000) / 10 if "soft_labels" in told else rng.random(3_000) < x
    if "weights" in told:
        told = {"weights": rng.integers(1, 4, 3_000)}
    at_once = calcert.summarize(x, y, clusters=cluster, **told)
    groups = calcert.Rows(x, y, clusters=cluster, groups=group, **told).by_group().summaries
    monkeypatch.setattr("calcert.sources.clusters.clusters_on_disk.SMALL", 0)
    assert calcert.summarize(x, y, clusters=cluster, **told) == at_once
    assert calcert.Rows(x, y, clusters=cluster, groups=group, **told).by_group().summaries == groups
