"""Compiled kernels against the Python they were written in, on the same input."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from calcert.kernels import clusters, counting
from calcert.summary import cells
from tests.as_python import as_python
from tests.sources.compiled_and_interpreted import both, same

LABEL_TYPES = [np.uint8, np.int64, np.float64]


def awkward_scores() -> NDArray[np.float64]:
    rng = np.random.default_rng(1)
    edges = np.array([0.0, -0.0, 1.0, 0.5, 2**-4, 2**-8, 2**-12, 1 - 2**-4, 1 - 2**-8, 1 - 2**-12, 5e-324])
    around = np.clip(np.concatenate([np.nextafter(edges, 0), edges, np.nextafter(edges, 1)]), 0, 1)
    return np.concatenate([around, rng.random(300), rng.beta(0.05, 3, 300), 1 - rng.beta(0.05, 3, 300)])


@pytest.mark.parametrize("label_type", LABEL_TYPES)
@pytest.mark.parametrize("score_type", [np.float32, np.float64])
def test_fill_compiled_equals_fill_interpreted(score_type: type, label_type: type) -> None:
    x = awkward_scores().astype(score_type)
    y = (np.arange(x.size) % 3 == 0).astype(label_type)
    compiled, interpreted = np.zeros((2, 2 * cells.CELLS), np.uint64)
    assert counting.fill(x, y, compiled) == as_python(counting.fill)(x, y, interpreted) == -1
    assert (compiled == interpreted).all()
    assert compiled.any()


@pytest.mark.parametrize(
    ("score", "label"),
    [(-1e-9, 0), (1 + 1e-9, 0), (np.nan, 1), (np.inf, 1), (-np.inf, 0), (0.5, 2), (0.5, -1), (0.5, np.nan)],
)
def test_fill_stops_at_the_first_row_that_is_not_a_row(score: float, label: float) -> None:
    x, y = np.array([0.2, 0.7, score, -5.0]), np.array([0.0, 1.0, label, 0.0])
    packed = np.zeros(2 * cells.CELLS, np.uint64)
    for fill in (counting.fill, as_python(counting.fill)):
        assert fill(x, y, packed.copy()) == 2


def test_flush_compiled_equals_flush_interpreted_and_clears_what_it_moved() -> None:
    rng = np.random.default_rng(2)
    packed = rng.integers(0, 1 << 63, 1000, dtype=np.uint64) * (rng.random(1000) < 0.5)
    packed = packed.astype(np.uint64)
    tables = [(packed.copy(), np.arange(1000), np.arange(1000) * 7) for _ in range(2)]
    counting.flush(*tables[0])
    as_python(counting.flush)(*tables[1])
    for compiled, interpreted in zip(*tables, strict=True):
        assert (compiled == interpreted).all()
    assert not tables[0][0].any()


def test_a_full_chunk_in_one_cell_fits_the_packed_word() -> None:
    # The largest offset of the widest cell, as often as a chunk has rows: neither count nor sum may spill over.
    x = np.full(counting.CHUNK, 0.5 - 2.0**-40)
    packed = np.zeros(2 * cells.CELLS, np.uint64)
    assert counting.fill(x, np.ones(x.size, np.uint8), packed) == -1
    count, offset = np.zeros((2, packed.size), np.int64)
    counting.flush(packed, count, offset)
    assert count.sum() == counting.CHUNK
    assert offset.sum() == counting.CHUNK * (cells.WIDEST - 1)


@pytest.mark.parametrize("label_type", LABEL_TYPES)
def test_tally_compiled_equals_tally_interpreted(label_type: type) -> None:
    rng = np.random.default_rng(3)
    values = np.concatenate([[0.0, 1.0, 5e-324], rng.random(200)])
    bits = rng.choice(values, 2000).view(np.int64)
    labels = (rng.random(2000) < 0.4).astype(label_type)
    results = []
    for run in (counting.tally, as_python(counting.tally)):
        keys, counts = np.full(clusters.SLOTS, -1), np.zeros(2 * clusters.SLOTS, np.int64)
        with np.errstate(over="ignore"):
            filled = run(bits[:900], labels[:900], keys, counts, 0, 4096)
            filled = run(bits[900:], labels[900:], keys, counts, filled, 4096)
        order = np.argsort(keys)
        results.append((filled, keys[order], counts.reshape(-1, 2)[order]))
    for filled, keys, counts in results:
        assert filled == np.unique(bits).size
        assert (keys == results[0][1]).all()
        assert (counts == results[0][2]).all()
        assert counts.sum() == 2000


def test_tally_gives_up_at_one_score_too_many() -> None:
    bits = np.linspace(0, 1, 11).view(np.int64)
    labels = np.zeros(11, np.uint8)
    with np.errstate(over="ignore"):
        for run in (counting.tally, as_python(counting.tally)):
            keys, counts = np.full(clusters.SLOTS, -1), np.zeros(2 * clusters.SLOTS, np.int64)
            assert run(bits, labels, keys, counts, 0, 11) == 11
            keys, counts = np.full(clusters.SLOTS, -1), np.zeros(2 * clusters.SLOTS, np.int64)
            assert run(bits, labels, keys, counts, 0, 10) == -1


def weights_of(kind: str, rows: int) -> NDArray[np.int64]:
    """Whole numbers, or nothing where no row has a weight of its own."""
    return np.random.default_rng(4).integers(1, 9, rows if kind == "weighted" else 0)


@pytest.mark.parametrize("kind", ["plain", "weighted"])
def test_rows_with_weights_are_placed_as_the_interpreted_kernel_places_them(kind: str) -> None:
    x = awkward_scores() + 0.0
    y = np.arange(x.size) % 2
    table, slot = np.zeros((2 * cells.CELLS, 2), np.int64), np.empty(x.size, np.int64)
    compiled, interpreted = both(clusters.place_rows, x, y, weights_of(kind, x.size), table, slot)
    assert same(compiled, interpreted)
    assert compiled[4].any()


@pytest.mark.parametrize("kind", ["plain", "weighted"])
@pytest.mark.parametrize("limit", [10_000, 100])
def test_weights_of_distinct_scores_are_tallied_as_the_interpreted_kernel_tallies_them(kind: str, limit: int) -> None:
    x = awkward_scores() + 0.0
    y = np.arange(x.size) % 2
    keys, counts = np.full(clusters.SLOTS, -1, np.int64), np.zeros(2 * clusters.SLOTS, np.int64)
    arguments = x.view(np.int64), y, weights_of(kind, x.size), keys, counts, 0, limit
    compiled, interpreted = both(clusters.tally_weights, *arguments)
    assert same(compiled, interpreted)
    assert (compiled[0] == -1) == (limit == 100)
