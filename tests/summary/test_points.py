"""Cells put together: they hold the same rows, enclose them, and do not depend on which cells hold rows."""

from __future__ import annotations

import numpy as np
import pytest

import calcert
from calcert.certificates.perturbed import perturbed_lower
from calcert.perturbation.noise import Noise
from calcert.perturbation.sech_kernel import density
from calcert.summary.points import MERGED, Points, joined, merged, partition
from calcert.summary.summary import Summary

WIDTHS = [2.0**-20, 2.0**-16, 1e-4, 2.0**-10, 0.3, 1.0, 40.0]


def some_cells(seed: int = 0, rows: int = 5000) -> tuple[np.ndarray, np.ndarray, Summary]:
    rng = np.random.default_rng(seed)
    x = np.concatenate([[0.0, 1.0, 1.0], rng.random(rows), rng.random(rows) ** 6, 1 - rng.random(rows) ** 9])
    y = rng.integers(0, 2, x.size)
    summary = calcert.summarize(x, y)
    return x, y, Summary(summary.cell, summary.count, summary.offset, None, None)


@pytest.mark.parametrize("widest", WIDTHS)
def test_merged_cells_hold_every_row_once_and_keep_sums_of_scores(widest: float) -> None:
    x, y, summary = some_cells()
    points, start = merged(summary.cell_points, widest)
    assert (np.add.reduceat(summary.count, start, axis=0) == points.count).all()
    assert (points.low[1:] >= points.high[:-1]).all()
    assert ((points.fraction >= 0) & (points.fraction <= 1)).all()
    for label in (0, 1):
        place = np.searchsorted(points.low, x[y == label], "right") - 1
        assert (x[y == label] <= points.high[place]).all()
        sums = np.bincount(place, x[y == label], points.low.size)
        kept = points.count[:, label] * (points.low + points.fraction[:, label] * (points.high - points.low))
        assert sums == pytest.approx(kept, abs=x.size * 2.0**-40)


@pytest.mark.parametrize("widest", WIDTHS)
def test_only_cells_narrower_than_the_width_change(widest: float) -> None:
    _, _, summary = some_cells()
    before = summary.cell_points
    after, start = merged(before, widest)
    width = 2.0 ** np.floor(np.log2(widest))
    assert ((after.high - after.low <= width) | np.isin(after.high - after.low, before.high - before.low)).all()
    wide = before.high - before.low >= width
    assert np.isin(np.flatnonzero(wide), start).all()
    assert np.isin(before.low[wide], after.low).all()


@pytest.mark.parametrize("widest", WIDTHS)
def test_merged_cells_do_not_depend_on_which_cells_hold_rows(widest: float) -> None:
    _, _, summary = some_cells()
    whole, start = merged(summary.cell_points, widest)
    run = np.repeat(np.arange(start.size), np.diff(np.append(start, summary.cell.size)))
    rng = np.random.default_rng(1)
    for size in (1, 2, 50, 3000):
        part = np.sort(rng.choice(summary.cell.size, size, replace=False))
        some = Summary(summary.cell[part], summary.count[part], summary.offset[part], None, None)
        found, _ = merged(some.cell_points, widest)
        wanted = np.unique(run[part])
        assert (found.low == whole.low[wanted]).all()
        assert (found.high == whole.high[wanted]).all()


@pytest.mark.parametrize("widest", WIDTHS)
def test_cells_joined_by_a_table_are_those_that_are_merged(widest: float) -> None:
    _, _, summary = some_cells()
    table = partition(lambda points: np.full(points.low.size, widest))
    found, (wanted, _) = joined(summary.cell, summary.count, summary.offset, table), merged(summary.cell_points, widest)
    for ours, theirs in ((found.low, wanted.low), (found.high, wanted.high), (found.count, wanted.count)):
        assert (ours == theirs).all()
    assert found.fraction == pytest.approx(wanted.fraction, abs=1e-12)


def test_what_merging_hides_of_the_kernel_is_what_its_width_says() -> None:
    h = 1 / 64
    x, y, summary = some_cells(rows=40)
    points, _ = merged(summary.cell_points, h / MERGED)
    t = (np.arange(20_000) + 0.5) / 20_000
    exact = sum(density(t, score, h) for score in x[y == 1]) / x.size
    seen = np.zeros_like(t)
    for low, high, fraction, count in zip(
        points.low, points.high, points.fraction[:, 1], points.count[:, 1], strict=True
    ):
        seen += count * ((1 - fraction) * density(t, low, h) + fraction * density(t, high, h)) / x.size
    hidden = 0.68 / h**2 * (points.count[:, 1] * (points.high - points.low) ** 2).sum() / 8 / x.size
    assert 0 < hidden < 1.4e-6
    assert np.abs(exact - seen).mean() <= hidden + 1e-9


def test_a_lower_bound_on_rows_in_tiny_cells_is_that_of_the_same_rows_spread_over_merged_ones() -> None:
    # Scores of one merged cell are one point to the witness, wherever in it they lie.
    rng = np.random.default_rng(2)
    n = 4000
    near = rng.integers(0, 2, n) * 2.0**-25
    far = 0.75 + rng.integers(0, 2, n) * 2.0**-13
    scores = np.where(rng.random(n) < 0.5, near, far)
    lower = perturbed_lower(calcert.summarize(scores, rng.random(n) < 0.5), Noise("additive", 1 / 64), 0.05, 0).limit
    assert 0.2 < lower < 0.5


def test_one_cell_is_put_into_its_merged_cell_too() -> None:
    points = Points(np.array([2.0**-26]), np.array([2.0**-25]), np.full((1, 2), 0.5), np.array([[3, 4]]))
    found, start = merged(points, 2.0**-14)
    assert (found.low, found.high) == (0.0, 2.0**-14)  # type: ignore[comparison-overlap]
    assert found.fraction == pytest.approx(1.5 * 2.0**-12)
    assert start.tolist() == [0]
