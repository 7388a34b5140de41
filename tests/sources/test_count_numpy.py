"""Rows counted without numba: the same words, counts and table as the compiled kernels make."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import calcert
from calcert.sources import count_numba, count_numpy
from calcert.summary import cells

LABEL_TYPES = [np.uint8, np.int64, np.float64]


def awkward_scores() -> NDArray[np.float64]:
    rng = np.random.default_rng(1)
    edges = np.array([0.0, -0.0, 1.0, 0.5, 2**-4, 2**-8, 2**-12, 1 - 2**-4, 1 - 2**-8, 1 - 2**-12, 5e-324])
    around = np.clip(np.concatenate([np.nextafter(edges, 0), edges, np.nextafter(edges, 1)]), 0, 1)
    return np.concatenate([around, rng.random(300), rng.beta(0.05, 3, 300), 1 - rng.beta(0.05, 3, 300)])


@pytest.mark.parametrize("label_type", LABEL_TYPES)
@pytest.mark.parametrize("score_type", [np.float32, np.float64])
def test_fill_and_flush_count_what_the_kernel_counts(score_type: type, label_type: type) -> None:
    x = awkward_scores().astype(score_type)
    y = (np.arange(x.size) % 3 == 0).astype(label_type)
    ours, theirs = np.zeros((2, 2 * cells.CELLS), np.uint64)
    assert count_numpy.fill(x, y, ours) == count_numba.fill(x, y, theirs) == -1
    assert (ours == theirs).all()
    tables = [[words, np.arange(words.size), np.arange(words.size) * 7] for words in (ours, theirs)]
    count_numpy.flush(*tables[0])  # type: ignore[arg-type]
    count_numba.flush(*tables[1])
    assert all((a == b).all() for a, b in zip(*tables, strict=True))


@pytest.mark.parametrize(
    ("score", "label"),
    [(-1e-9, 0), (1 + 1e-9, 0), (np.nan, 1), (np.inf, 1), (-np.inf, 0), (0.5, 2), (0.5, -1), (0.5, np.nan)],
)
def test_fill_stops_at_the_first_row_that_is_not_a_row(score: float, label: float) -> None:
    x, y = np.array([0.2, 0.7, score, -5.0]), np.array([0.0, 1.0, label, 0.0])
    assert count_numpy.fill(x, y, np.zeros(2 * cells.CELLS, np.uint64)) == 2


def test_a_full_chunk_in_one_cell_fits_the_packed_word() -> None:
    x = np.full(count_numpy.CHUNK, 0.5 - 2.0**-40)
    ours, theirs = np.zeros((2, 2 * cells.CELLS), np.uint64)
    labels = np.ones(x.size, np.uint8)
    count_numpy.fill(x, labels, ours)
    count_numba.fill(x, labels, theirs)
    assert (ours == theirs).all()


@pytest.mark.parametrize("distinct", [1, 1000, 4096, 4097, 50_000])
def test_tally_finds_the_distinct_scores_that_the_kernel_finds(distinct: int) -> None:
    rng = np.random.default_rng(3)
    x = np.concatenate([rng.permutation(distinct), rng.integers(0, distinct, 5000)]) / distinct
    y = (rng.random(x.size) < 0.3).astype(np.uint8)
    found = {}
    for way in (count_numpy, count_numba):
        keys, counts, filled = np.full(way.SLOTS, -1), np.zeros(2 * way.SLOTS, np.int64), 0
        for half in (slice(0, 3000), slice(3000, None)):
            if filled >= 0:
                filled = way.tally(x[half].view(np.int64), y[half], keys, counts, filled, 4096)
        used = np.flatnonzero(keys >= 0)
        table = {int(keys[slot]): (int(counts[2 * slot]), int(counts[2 * slot + 1])) for slot in used}
        found[way] = filled, table if filled >= 0 else None
    assert found[count_numpy] == found[count_numba]


def test_a_small_file_needs_neither_numba_nor_arrow(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    x = rng.random(2000)
    y = (rng.random(2000) < x).astype(int)
    path = tmp_path / "rows.csv"
    path.write_text("p,y\n" + "".join(f"{a!r},{b}\n" for a, b in zip(x.tolist(), y.tolist(), strict=True)))
    program = (
        "import sys, calcert; s = calcert.summarize(sys.argv[1]); s.save(sys.argv[2]);"
        "print(sorted({'numba', 'pyarrow', 'scipy', 'narwhals', 'pandas'} & set(sys.modules)))"
    )
    saved = tmp_path / "rows.calcert"
    done = subprocess.run(
        [sys.executable, "-c", program, path, saved], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "[]\n"
    assert calcert.Summary.load(saved) == calcert.summarize(x, y)
