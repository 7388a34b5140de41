"""Rows on a grid of log-odds against direct quadrature over the rows: never further off than is said to be hidden."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf
from numpy.typing import NDArray
from scipy.special import expit

import calcert
from calcert.certificates import perturbed, squared
from calcert.perturbation.grids import odds_discretisation
from calcert.perturbation.grids.grid import Grid
from calcert.perturbation.grids.grid_view import unlikely_ends
from calcert.perturbation.grids.odds_coordinate import COARSE, ENDS, FARTHEST, FEWEST, MOST, OddsCoordinate
from calcert.perturbation.noise import Noise
from calcert.perturbation.odds_kernel import logit, sample
from calcert.summary import cells
from calcert.summary.points import merged
from calcert.summary.summary import Summary

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

SIZES = (1 / 64, 1 / 16, 1 / 4, 1 / 2)


def by_cells(summary: Summary) -> Summary:
    """The same rows, known only to their cells."""
    return Summary(summary.cell, summary.count, summary.offset, None, None)


def direct(x: Floats, y: Integers, b: float) -> tuple[float, float]:
    """L1 and squared error of the perturbed rows: atoms by counting, the rest by Gauss panels between sign changes."""
    n, atom = x.size, (x == 0) | (x == 1)
    error = square = 0.0
    for value in (0.0, 1.0):
        wrong, rows = float((y[x == value] != value).sum()), float((x == value).sum())
        error, square = error + wrong / n, square + wrong**2 / (n * max(rows, 1))
    x, y = x[~atom], y[~atom]
    if not x.size:
        return error, square

    def gap_and_mass(z: Floats) -> tuple[Floats, Floats]:
        e = np.exp(-np.abs(z[..., None] - logit(x)) / b)
        k = 2 * e / (1 + e * e) / (np.pi * b)
        return ((expit(z)[..., None] - y) * k).sum(axis=-1) / n, k.sum(axis=-1) / n

    edges = np.unique(logit(x)[:, None] + b * np.arange(-42, 42.25, 0.5))
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
    share = weights * width / 2
    return error + float((np.abs(gap) * share).sum()), square + float((ratio * share).sum())


def brier(x: Floats, y: Integers, b: float) -> float:
    """The mean of E(y - S)^2 over the rows, over the middles of 20,000 equal parts of the chance."""
    u = (np.arange(20_000) + 0.5) / 20_000
    return float(np.mean([((sample(np.full(u.size, s), b, u) - t) ** 2).mean() for s, t in zip(x, y, strict=True)]))


def some_rows(kind: str) -> tuple[Floats, Integers]:
    """Rows whose error changes sign: spread out, in ties, rare, or crowded at and near both ends."""
    rng = np.random.default_rng(5)
    x = {
        "spread": rng.random(15),
        "ties": np.repeat([0.2, 0.2 + 2**-16, 0.7], 5),
        "rare": 10.0 ** -rng.uniform(2, 6, 15),
        "ends": np.concatenate([[0.0, 0.0, 0.0, 1.0, 1.0], rng.random(5), 1 - 10.0 ** -rng.uniform(2, 6, 5)]),
        "beyond": np.concatenate([10.0 ** -rng.uniform(6, 14, 8), 1 - 10.0 ** -rng.uniform(6, 14, 7)]),
    }[kind]
    return x, (rng.random(x.size) < np.where(kind == "spread", 0.5, 0.3 + 0.4 * (x > 0.5))).astype(np.int64)


@pytest.mark.parametrize("kind", ["spread", "ties", "rare", "ends", "beyond"])
@pytest.mark.parametrize("b", SIZES)
def test_plug_in_is_within_what_is_hidden_of_direct_quadrature(b: float, kind: str) -> None:
    x, y = some_rows(kind)
    noise, exact, quadrature = Noise("odds", b), calcert.summarize(x, y), 1e-10
    wanted, wanted_squared = direct(x, y, b)
    square = brier(x, y, b)
    # What is counted without cancellation near the ends is of the order of the odds there, and only ever too much.
    apart = ENDS[-1] * np.exp(4 * b) if kind in ("beyond", "rare") else 0.0
    for summary in (exact, by_cells(exact)):
        found = perturbed.plug_in(summary, noise)
        assert wanted <= found.parts[0] + found.hidden + quadrature
        assert found.parts[0] <= wanted + found.hidden + apart + quadrature
        # What is hidden is added to a sum that may itself be too large by as much (L7).
        assert square - 1e-6 <= found.square <= square + 2 * found.hidden + apart + 1e-6
        terms = squared.upper_terms(summary, noise, 0.05)
        if terms["discretisation"] < 1:
            assert wanted_squared <= terms["plug-in"] + terms["discretisation"] + quadrature
            if kind != "beyond" and not (kind == "rare" and b < 1 / 16):
                limit = 0.0 if kind in ("spread", "ties") or summary.is_finite else 0.2
                assert terms["plug-in"] <= wanted_squared + 3 * terms["discretisation"] + limit + quadrature


@settings(max_examples=25)
@given(
    st.lists(
        st.tuples(
            st.one_of(st.floats(0.0, 1.0), st.floats(1, 12).map(lambda e: 10.0**-e), st.sampled_from([0.0, 1.0])),
            st.integers(0, 1),
        ),
        min_size=1,
        max_size=8,
    ),
    st.sampled_from(SIZES),
)
def test_plug_in_and_what_is_hidden_cover_any_rows(rows: list[tuple[float, int]], b: float) -> None:
    x, y = np.array([r[0] for r in rows]), np.array([r[1] for r in rows])
    wanted, _ = direct(x, y, b)
    found = perturbed.plug_in(by_cells(calcert.summarize(x, y)), Noise("odds", b))
    assert found.parts[0] + found.hidden >= wanted - 1e-10
    assert found.parts[0] <= wanted + found.hidden + ENDS[-1] * np.exp(4 * b)


def test_rows_at_the_far_end_of_their_cells_are_enclosed_too() -> None:
    # Where cells are half as wide as the noise, the place of a row inside its cell changes the plug-in.
    b, width = 1 / 256, 2.0**-26
    x = np.arange(1100, 1140) * width + width * np.tile([0.01, 0.99, 0.5, 0.3], 10)
    y = np.tile([0, 1, 1, 0, 1], 8)
    wanted, _ = direct(x, y, b)
    found = perturbed.plug_in(by_cells(calcert.summarize(x, y)), Noise("odds", b))
    assert 1e-4 < found.hidden < 0.02
    assert abs(found.parts[0] - wanted) <= found.hidden


def test_without_the_end_rows_the_plug_in_would_be_too_small() -> None:
    x, y = np.array([1e-9, 0.0, 0.3, 1.0]), np.array([1, 1, 0, 0])
    wanted, _ = direct(x, y, 1 / 16)
    for summary in (calcert.summarize(x, y), by_cells(calcert.summarize(x, y))):
        found = perturbed.plug_in(summary, Noise("odds", 1 / 16))
        view = OddsCoordinate(1 / 16).joined(summary)
        assert found.parts[0] + found.hidden >= wanted
        assert found.parts[0] - sum(unlikely_ends(view)) / 4 + found.hidden < wanted


def test_likely_end_rows_are_charged_what_they_can_add() -> None:
    x, y = np.full(4, 2.0**-20 * 0.999), np.zeros(4, np.int64)
    for b in SIZES:
        where = OddsCoordinate(b)
        for summary in (calcert.summarize(x, y), by_cells(calcert.summarize(x, y))):
            view, grid = where.joined(summary), where.grid_for(4)
            wanted, wanted_squared = direct(x, y, b)
            rounding = where._rounding
            assert wanted <= where.hidden(view, grid) <= 1.001 * wanted + 2 * rounding
            if b < 1 / 2:
                assert wanted_squared <= where.hidden_squares(where.apart(summary), where.grid(256))


@pytest.mark.parametrize("b", SIZES)
def test_joined_cells_stay_narrow_in_log_odds_and_keep_the_edges_of_end_rows(b: float) -> None:
    every = np.arange(cells.CELLS)
    left, _ = cells.bounds(every)
    count = np.ones((every.size, 2), np.int64)
    points = Summary(every, count, count * 0, None, None).cell_points
    assert (points.low == left * cells.RESOLUTION).all()
    for parts in (MOST, COARSE, FEWEST):
        joined, start = merged(points, OddsCoordinate(b)._join_width(points, parts))
        assert joined.count.sum() == 2 * every.size
        edges = set(joined.low.tolist())
        for end in ENDS:
            assert {end, 1 - end} <= edges
        assert joined.low[-1] == joined.high[-1] == 1
        inner = (joined.low >= ENDS[0]) & (joined.high <= 1 - ENDS[0])
        several = inner & (np.diff(np.append(start, every.size)) > 1)
        stretch = logit(joined.high[several]) - logit(joined.low[several])
        assert (stretch <= b / parts).all()
        if b == 1 / 2:
            assert joined.low.size < every.size / 2
            assert stretch.max() > b / parts / 4


@pytest.mark.parametrize("b", SIZES)
def test_places_are_exact_to_what_is_charged_for_rounding(b: float) -> None:
    """L8: the places of scores on the grid, in units of log-odds, move the kernel by 2/(pi b) each."""
    where = OddsCoordinate(b)
    scores = np.concatenate([2.0 ** -np.linspace(1, 20, 200), 1 - 2.0 ** -np.linspace(1, 20, 200)])
    worst = 0.0
    with mp.workdps(40):
        for score, place in zip(scores.tolist(), where.place(scores).tolist(), strict=True):
            exact = (mp.log(mpf(score)) - mp.log(1 - mpf(score)) + mpf(where.half)) / (2 * mpf(where.half))
            worst = max(worst, abs(float(exact - mpf(place))) * 2 * where.half * 2 / np.pi / b)
    charged = odds_discretisation.rounded_places(where.half, b)
    # The rounding of place * size, half a unit in the last place, comes on top.
    total = worst + 2.0**-53 * 2 * where.half * 2 / np.pi / b
    assert charged / 20 < total <= charged


def test_all_rows_that_are_placed_are_forty_bandwidths_from_the_ends_of_the_grid() -> None:
    for b in (2.0**-8, 1 / 2):
        where = OddsCoordinate(b)
        place = where.place(np.array([ENDS[0], 1 - ENDS[0]]))
        assert (np.minimum(place, 1 - place) * 2 * where.half >= 40 * b).all()
        assert abs(float(logit(ENDS[0]))) < FARTHEST
        t = where.score(np.linspace(0, 1, 1001))
        assert where.place(t[300:700]) == pytest.approx(np.linspace(0, 1, 1001)[300:700], abs=1e-12)


def test_a_grid_too_fine_for_its_blocks_is_refused() -> None:
    Grid(1 / 64, 1600)
    with pytest.raises(ValueError, match=r"at most 1638 points to a bandwidth.*got 1639"):
        Grid(1 / 64, 1639)


@pytest.mark.parametrize("law", ["uniform", "rare", "confident"])
def test_what_is_hidden_is_half_a_percent_of_the_bound_at_a_million_rows(law: str) -> None:
    rng = np.random.default_rng(1)
    n = 1_000_000
    draw = {"uniform": rng.random, "rare": lambda m: rng.beta(0.5, 500, m)}
    x = draw[law](n) if law in draw else 1 / (1 + np.exp(-6 * rng.standard_normal(n)))  # type: ignore[operator]
    summary = calcert.summarize(x, rng.random(n) < x)
    for b in (1 / 16, 1 / 64):
        terms = perturbed.upper_terms(summary, Noise("odds", b), 0.05)
        assert terms["discretisation"] <= 0.005 * sum(terms.values())
