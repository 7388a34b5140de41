"""The grid against direct quadrature over the rows: never further off than the discretisation it declares."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import calcert
from calcert.certificates import perturbed, squared
from calcert.kernels.grids import placed_at_once, spread
from calcert.perturbation import sech_kernel
from calcert.perturbation.grids import grid as grid_module
from calcert.perturbation.grids.grid import Grid, absolute_integral
from calcert.perturbation.noise import Noise
from calcert.summary.points import Points
from calcert.summary.summary import Summary
from tests.as_python import as_python

Floats = NDArray[np.float64]

BANDWIDTHS = [2.0**-13, 2.0**-9, 1 / 64, 0.11, 0.5, 1.0, 4.0]


def by_cells(summary: Summary) -> Summary:
    """The same rows, known only to their cells."""
    return Summary(summary.cell, summary.count, summary.offset, None, None)


def some_rows(kind: str, h: float) -> tuple[Floats, NDArray[np.int64]]:
    """Fifteen rows whose error changes sign: spread out, crowded at the ends, or in ties."""
    rng = np.random.default_rng(5)
    if kind == "spread":
        x = rng.random(15)
    elif kind == "ends":
        x = np.concatenate([[0.0, 0.0, 1.0], h * rng.random(6), 1 - h * rng.random(6)])
        x = np.clip(x, 0, 1)
    else:
        x = np.repeat([0.2, 0.2 + 2**-16, 0.7], 5)
    return x, (rng.random(x.size) < 0.5).astype(np.int64)


def direct(x: Floats, y: NDArray[np.int64], h: float) -> tuple[float, float]:
    """L1 and squared calibration error of the perturbed rows: Gauss panels that end where the error changes sign."""

    def gap_and_mass(t: Floats) -> tuple[Floats, Floats]:
        k = sech_kernel.density(t[..., None], x, h)
        return ((t[..., None] - y) * k).mean(axis=-1), k.mean(axis=-1)

    near = x[:, None] + h * np.arange(-42, 42.25, 0.25)
    edges = np.unique(np.clip(np.append(near, [0, 1]), 0, 1))
    fine = np.unique(edges[:-1, None] + np.diff(edges)[:, None] * np.arange(4) / 4)
    sign = np.sign(gap_and_mass(fine)[0])
    change = np.flatnonzero(sign[:-1] * sign[1:] < 0)
    low, high = fine[change], fine[change + 1]
    for _ in range(45):
        middle = (low + high) / 2
        left = np.sign(gap_and_mass(middle)[0]) == sign[change]
        low, high = np.where(left, middle, low), np.where(left, high, middle)
    edges = np.unique(np.concatenate([edges, low]))
    nodes, weights = np.polynomial.legendre.leggauss(10)
    width = np.diff(edges)[:, None]
    gap, mass = gap_and_mass(edges[:-1, None] + width * (nodes + 1) / 2)
    ratio = np.divide(gap**2, mass, out=np.zeros_like(gap), where=mass > 1e-200)
    return float((np.abs(gap) * weights * width).sum() / 2), float((ratio * weights * width).sum() / 2)


@pytest.mark.parametrize("kind", ["spread", "ends", "ties"])
@pytest.mark.parametrize("h", BANDWIDTHS)
def test_plug_in_is_within_its_discretisation_of_direct_quadrature(h: float, kind: str) -> None:
    x, y = some_rows(kind, h)
    exact = calcert.summarize(x, y)
    wanted, wanted_squared = direct(x, y, h)
    moment = ((y - sech_kernel.mean(x, h)) ** 2).mean()
    quadrature = 1e-10
    for summary in (exact, by_cells(exact)):
        terms = perturbed.upper_terms(summary, Noise("additive", h), 0.05)
        if terms["discretisation"] >= 1:
            # The cells are wider than the bandwidth, and the bound says so.
            assert h < 1e-3
            assert not summary.is_finite
            continue
        assert abs(terms["plug-in"] - wanted) <= terms["discretisation"] + quadrature
        assert moment <= perturbed.additive_squares(summary, h).mean <= moment + 1e-3
        terms = squared.upper_terms(summary, Noise("additive", h), 0.05)
        assert wanted_squared <= terms["plug-in"] + terms["discretisation"] + quadrature
        assert terms["plug-in"] <= wanted_squared + 3 * terms["discretisation"] + quadrature


@pytest.mark.parametrize("h", [1 / 64, 0.11, 1.0])
def test_discretisation_at_ordinary_bandwidths_is_small(h: float) -> None:
    x, y = some_rows("spread", h)
    assert perturbed.upper_terms(by_cells(calcert.summarize(x, y)), Noise("additive", h), 0.05)["discretisation"] < 1e-5


@settings(max_examples=25)
@given(
    st.lists(st.tuples(st.floats(0.0, 1.0), st.integers(0, 1)), min_size=1, max_size=8),
    st.sampled_from([2.0**-9, 1 / 64, 0.3]),
)
def test_plug_in_and_discretisation_enclose_any_rows(rows: list[tuple[float, int]], h: float) -> None:
    x, y = np.array([r[0] for r in rows]), np.array([r[1] for r in rows])
    wanted, _ = direct(x, y, h)
    terms = perturbed.upper_terms(by_cells(calcert.summarize(x, y)), Noise("additive", h), 0.05)
    assert abs(terms["plug-in"] - wanted) <= terms["discretisation"] + 1e-10


def test_rows_at_the_far_end_of_their_cells_are_enclosed_too() -> None:
    # At a bandwidth of two cells, where a row lies inside its cell changes the plug-in by far more than rounding.
    h, width = 2.0**-13, 2.0**-14
    x = np.arange(4000, 4040) * width + width * np.tile([0.01, 0.99, 0.5, 0.3], 10)
    y = np.tile([0, 1, 1, 0, 1], 8)
    wanted, _ = direct(x, y, h)
    terms = perturbed.upper_terms(by_cells(calcert.summarize(x, y)), Noise("additive", h), 0.05)
    assert 0.001 < terms["discretisation"] < 0.2
    assert abs(terms["plug-in"] - wanted) <= terms["discretisation"]


def test_the_density_of_the_served_score_integrates_to_one_and_that_of_label_one_to_the_base_rate() -> None:
    x, y = some_rows("ends", 1 / 64)
    summary = calcert.summarize(x, y)
    grid = Grid(1 / 64, 512)
    blocks = list(grid.densities(grid.place(summary.points).masses(summary.points.count)))
    assert sum(np.trapezoid(d, t) for t, d, _, _ in blocks) == pytest.approx(1.0, abs=1e-6)
    assert sum(np.trapezoid(p, t) for t, _, p, _ in blocks) == pytest.approx(y.mean(), abs=1e-6)


@pytest.mark.parametrize("kind", ["spread", "ends", "ties"])
@pytest.mark.parametrize("h", [2.0**-9, 2.0**-7])
def test_results_do_not_depend_on_the_size_of_blocks(monkeypatch: pytest.MonkeyPatch, kind: str, h: float) -> None:
    summary = calcert.summarize(*some_rows(kind, h))
    grid = Grid(h, 32)
    masses = grid.place(summary.points).masses(summary.points.count)

    def total() -> float:
        return sum(absolute_integral(t * d - p, grid.step) for t, d, p, _ in grid.densities(masses))

    whole = total()
    seen = []
    for block in (1 << 11, 1 << 12, 1 << 13):
        monkeypatch.setattr(grid_module, "BLOCK", block)
        seen.append(len(list(grid.densities(masses))))
        assert total() == pytest.approx(whole, abs=1e-12)
    assert max(seen) > 1


@pytest.mark.parametrize("h", [2.0**-13, 1 / 64, 0.5])
def test_rounding_of_the_convolution_is_within_its_bound(h: float) -> None:
    x, y = some_rows("ends", h)
    summary = calcert.summarize(x, y)
    grid = Grid(h, 64)
    for t, d, _, rounding in grid.densities(grid.place(summary.points).masses(summary.points.count)):
        inside = np.linspace(0, t.size - 1, 400).astype(int)
        scaled = x * grid.size
        base = np.minimum(np.floor(scaled), grid.size - 1)
        share = scaled - base
        wanted = (
            (1 - share) * sech_kernel.density(t[inside, None], base / grid.size, h)
            + share * sech_kernel.density(t[inside, None], (base + 1) / grid.size, h)
        ).mean(axis=1)
        assert np.abs(d[inside] - wanted).max() <= rounding


@pytest.mark.parametrize(
    ("values", "area"),
    [
        ([1.0, 1.0], 1.0),
        ([0.0, 2.0], 1.0),
        ([1.0, -1.0], 0.5),
        ([3.0, -1.0], 1.25),
        ([-3.0, -1.0], 2.0),
        ([0.0, 0.0], 0.0),
        ([1.0, -1.0, 1.0], 1.0),
    ],
)
def test_the_integral_of_an_absolute_broken_line_is_exact(values: list[float], area: float) -> None:
    assert absolute_integral(np.array(values), 1.0) == pytest.approx(area, abs=1e-15)


@given(st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=30))
def test_the_trapezoid_of_absolute_values_is_above_the_integral_of_the_broken_line(values: list[float]) -> None:
    line = np.array(values)
    fine = np.interp(np.linspace(0, line.size - 1, 200_001), np.arange(line.size), line)
    area = absolute_integral(line, 1.0)
    assert area == pytest.approx(np.trapezoid(np.abs(fine)) * (line.size - 1) / 200_000, rel=1e-4, abs=1e-3)
    assert area <= np.trapezoid(np.abs(line)) * (1 + 1e-12)


def test_cells_far_wider_than_the_bandwidth_say_nothing_at_once() -> None:
    x = np.linspace(0.1, 0.9, 5000)
    summary = by_cells(calcert.summarize(x, x < 0.5))
    for theorem in (perturbed, squared):
        assert theorem.upper_terms(summary, Noise("additive", 2.0**-20), 0.05)["discretisation"] >= 1


@pytest.mark.parametrize("cubic", [False, True])
@pytest.mark.parametrize("exact", [False, True])
def test_masses_in_one_pass_are_those_of_the_placement(cubic: bool, exact: bool) -> None:
    rng = np.random.default_rng(0)
    low = 0.2 + 0.6 * np.sort(rng.random(200))
    high, fraction = (low, np.zeros((200, 2))) if exact else (low + 0.002, rng.random((200, 2)))
    points, grid = Points(low, high, fraction, rng.integers(0, 9, (200, 2))), Grid(1 / 64, 8, cubic)
    found, wanted = grid.masses(points, 5000), grid.place(points).masses(points.count, 5000)
    assert found.rows == wanted.rows
    assert found.dense(0, grid.size + 1) == pytest.approx(wanted.dense(0, grid.size + 1), abs=1e-15)
    rest = (points.low, points.high, points.fraction, points.count, 5000, grid.size, cubic)
    assert (placed_at_once(*rest) == as_python(placed_at_once)(*rest)).all()


def test_rows_are_spread_over_the_grid_as_it_is_written() -> None:
    rng = np.random.default_rng(5)
    count, fraction = rng.integers(0, 5, (40, 2)).astype(float), rng.random((40, 2))
    slot, part = rng.integers(0, 9, (4, 2, 40)), rng.random((4, 2, 40))
    for ends in (1, 2):
        found, written = np.zeros((2, 9)), np.zeros((2, 9))
        spread(count, fraction, 77.0, slot, part, ends, found)
        as_python(spread)(count, fraction, 77.0, slot, part, ends, written)
        assert found == pytest.approx(written, rel=1e-12)
        assert found.sum() > 0
