"""Knots stand where they may, as many as wanted, and rows put on them keep their number and their mean."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import calcert
from calcert.certificates.witnesses.random_splits import blocks
from calcert.kernels.knots import FINEST, lay, put
from calcert.summary.points import Points

DRAWS = {
    "uniform": lambda rng: rng.random(5000),
    "crowded": lambda rng: rng.beta(0.05, 0.05, 5000),
    "ties": lambda rng: rng.integers(0, 4, 5000) / 3,
    "two heaps far apart": lambda rng: np.where(rng.random(5000) < 0.5, 0.1, 0.9) + 1e-3 * rng.random(5000),
    "only 1": lambda rng: np.ones(7),
    "only 0": lambda rng: np.zeros(7),
    "next to each other": lambda rng: np.nextafter(0.25, rng.integers(0, 2, 50).astype(float)),
}


def points_of(name: str, form: str) -> Points:
    rng = np.random.default_rng(0)
    x = DRAWS[name](rng)
    summary = calcert.summarize(x, rng.random(x.size) < x)
    points = summary.points if form == "rows" and summary.is_finite else blocks(summary, 1e-3)
    return Points(points.low.copy(), points.high.copy(), points.fraction.copy(), points.count.copy())


def laid(points: Points, runs: int, grid: int) -> NDArray[np.float64]:
    return lay(points.low, points.high, points.count, runs, grid)


@pytest.mark.parametrize("form", ["rows", "blocks"])
@pytest.mark.parametrize("name", DRAWS)
def test_knots_rise_from_0_to_1_on_multiples_and_never_inside_a_cell(name: str, form: str) -> None:
    points = points_of(name, form)
    for runs, grid in ((16, 32), (200, 128)):
        knots = laid(points, runs, grid)
        assert knots[0] == 0.0
        assert knots[-1] == 1.0
        assert (np.diff(knots) > 0).all()
        assert (knots * FINEST == np.round(knots * FINEST)).all()
        assert np.isin(np.arange(grid + 1) / grid, knots).all()
        inside = (points.low[:, None] < knots) & (knots < points.high[:, None])
        assert not inside.any()


@pytest.mark.parametrize("name", DRAWS)
def test_there_are_about_as_many_knots_as_asked_for(name: str) -> None:
    points = points_of(name, "blocks")
    for runs, grid in ((16, 32), (200, 128)):
        # The grid, the runs, and both edges of empty stretches wider than the grid.
        assert laid(points, runs, grid).size <= runs + 3 * grid + 3


def test_few_points_have_a_knot_each() -> None:
    points = points_of("ties", "rows")
    assert np.isin(np.floor(points.low * FINEST) / FINEST, laid(points, 16, 32)).all()


@pytest.mark.parametrize("form", ["rows", "blocks"])
@pytest.mark.parametrize("name", DRAWS)
def test_rows_on_knots_keep_their_number_and_their_mean(name: str, form: str) -> None:
    points = points_of(name, form)
    knots = laid(points, 30, 32)
    mass, left = put(knots, points.low, points.high, points.fraction, points.count)
    share = points.count / points.count.sum()
    place = points.low[:, None] + points.fraction * (points.high - points.low)[:, None]
    assert mass.sum(axis=1) == pytest.approx(share.sum(axis=0), abs=1e-14)
    assert mass @ knots == pytest.approx((share * place).sum(axis=0), abs=1e-8)
    assert (knots[left] <= points.low + 1 / FINEST).all()
    assert (points.high <= knots[left + 1] + 1 / FINEST).all()


def test_points_without_rows_do_not_move_knots() -> None:
    points = points_of("uniform", "blocks")
    count = points.count.copy()
    count[::3] = 0
    held = count.any(axis=1)
    assert (
        lay(points.low, points.high, count, 20, 32)
        == lay(points.low[held].copy(), points.high[held].copy(), count[held].copy(), 20, 32)
    ).all()
