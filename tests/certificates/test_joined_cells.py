"""Blocks are unions of cells that do not depend on which cells hold rows, and lose neither rows nor means."""

from __future__ import annotations

import numpy as np
import pytest

from calcert.certificates.witnesses.random_splits import FOR_WITNESSES, blocks, middles
from calcert.kernels.bets import by_block, by_place
from calcert.summary.cells import CELLS
from tests.as_python import as_python
from tests.lab.distributions import by_cells

SCALES = (1e-6, 1.6e-4, 5e-4, 0.02, 1.0)


def scattered() -> np.ndarray:
    rng = np.random.default_rng(0)
    ends = [rng.random(300) * 2.0**-k for k in (4, 8, 12, 20, 30)]
    return np.concatenate([rng.random(500), *ends, *(1 - end for end in ends), [0.0, 0.5, 1.0, np.nextafter(1, 0)]])


@pytest.mark.parametrize("scale", SCALES)
def test_edges_of_blocks_are_the_same_whichever_cells_hold_rows(scale: float) -> None:
    score = scattered()
    together = blocks(by_cells(score, np.ones(score.size, int)), scale)
    alone = set()
    for x in score[::7]:
        one = blocks(by_cells(np.array([x]), np.array([1])), scale)
        assert one.low[0] <= x <= one.high[0]
        alone.add((one.low[0], one.high[0]))
    assert alone <= set(zip(together.low, together.high, strict=True))


@pytest.mark.parametrize("scale", SCALES)
def test_blocks_rise_do_not_overlap_and_are_no_wider_than_said(scale: float) -> None:
    score = scattered()
    summary = by_cells(score, (score > 0.3).astype(int))
    points = blocks(summary, scale)
    assert (points.low[1:] >= points.high[:-1]).all()
    assert (points.high >= points.low).all()
    far = np.minimum(points.high, 1 - points.low)
    wide = points.high - points.low
    finest = np.interp(
        np.minimum(points.low, 1 - points.high), [0, 2**-12, 2**-8, 2**-4], 2.0 ** np.array([-26, -22, -18, -14])
    )
    assert (wide <= np.maximum(scale * np.sqrt(2 * far), 16 * finest) + 1e-15).all()
    cells = summary.cell_points
    place = np.searchsorted(points.low, cells.low, "right") - 1
    assert (points.low[place] <= cells.low).all()
    assert (cells.high <= points.high[place]).all()


@pytest.mark.parametrize("scale", SCALES)
def test_blocks_keep_counts_and_mean_positions(scale: float) -> None:
    score = scattered()
    label = (np.arange(score.size) % 3 == 0).astype(int)
    points = blocks(by_cells(score, label), scale)
    place = points.low[:, None] + points.fraction * (points.high - points.low)[:, None]
    for y in (0, 1):
        assert points.count[:, y].sum() == (label == y).sum()
        # Scores are known to 2^-40, and read from below.
        assert 0 <= score[label == y].sum() - (points.count[:, y] * place[:, y]).sum() <= 2.0**-40 * score.size
    assert ((points.fraction >= 0) & (points.fraction <= 1)).all()


def test_middles_are_the_same_blocks_without_positions() -> None:
    summary = by_cells(scattered(), np.zeros(scattered().size, int))
    known, unknown = blocks(summary, FOR_WITNESSES), middles(summary)
    assert (known.low == unknown.low).all()
    assert (known.high == unknown.high).all()
    assert (known.count == unknown.count).all()
    assert (unknown.fraction == 0.5).all()


def test_a_small_scale_leaves_cells_as_they_are() -> None:
    summary = by_cells(scattered(), np.zeros(scattered().size, int))
    points, cells = blocks(summary, 1e-12), summary.cell_points
    assert (points.low == cells.low).all()
    assert (points.high == cells.high).all()
    assert points.fraction == pytest.approx(cells.fraction, abs=1e-12)


def test_the_kernels_do_as_they_are_written_and_lose_nothing() -> None:
    score = scattered()
    summary = by_cells(score, (np.arange(score.size) % 3 == 0).astype(int))
    rows = (summary.cell, summary.count, summary.offset)
    cells = np.arange(CELLS, dtype=np.float64)
    left = cells // 7 * 7
    tables = (left, left + 6, cells - left)
    for ours, written in zip(by_block(*rows, *tables), as_python(by_block)(*rows, *tables), strict=True):
        assert (ours == written).all()
    place = np.arange(CELLS) % 5
    sums = by_place(*rows, summary.left, place, 5)
    assert (sums == as_python(by_place)(*rows, summary.left, place, 5)).all()
    of_cells = (summary.count.sum(axis=1), summary.score_sum.sum(axis=1), summary.count[:, 1])
    for values, total in zip(of_cells, sums, strict=True):
        assert total == pytest.approx(np.bincount(place[summary.cell], values, 5), rel=1e-12)
