"""Any chunking of the rows gives the same Summary, also where packed counts and sums are at their limits."""

from __future__ import annotations

import numpy as np
import pytest

import calcert
from calcert.sources.arrays import Collector
from calcert.sources.count_numba import CHUNK

LARGEST_OFFSET = np.nextafter(0.5, 0)
"""The last score of a widest cell: its offset is 2^26 - 1."""


@pytest.mark.parametrize(
    "sizes", [[CHUNK], [CHUNK + 1], [1, CHUNK, 1], [300_000, 300_000, 300_000], [CHUNK - 1, 1, 1], [100_000] * 11]
)
def test_chunks_add_up_without_overflow(sizes: list[int]) -> None:
    collector = Collector()
    for size in sizes:
        collector.add(np.full(size, LARGEST_OFFSET), np.ones(size, np.int64))
    summary = collector.summary()
    assert collector.rows == sum(sizes)
    assert summary.count.tolist() == [[0, sum(sizes)]]
    assert summary.offset.tolist() == [[0, sum(sizes) * (2**26 - 1)]]


def test_a_summary_taken_on_the_way_changes_nothing() -> None:
    rng = np.random.default_rng(11)
    scores, labels = rng.random(1000), rng.integers(0, 2, 1000)
    collector = Collector()
    collector.add(scores[:400], labels[:400])
    assert collector.summary() == calcert.summarize(scores[:400], labels[:400])
    collector.add(scores[400:], labels[400:])
    assert collector.summary() == calcert.summarize(scores, labels)
