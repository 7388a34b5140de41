"""Sides: the parts of the plug-in add up, 1/2 is neither too high nor too low for it, and bets keep to their side."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

import calcert
from calcert.certificates import in_the_large, sides
from calcert.certificates.perturbed import plug_in
from calcert.certificates.sides import SIDES, Side, side_integrals, side_parts
from calcert.perturbation import sech_kernel
from calcert.perturbation.grids import coordinates
from calcert.perturbation.noise import Noise
from calcert.summary.cells import RESOLUTION
from tests.certificates.test_cutoff import check_bets_do_not_know_later_rows
from tests.certificates.test_l1_lower import by_cells

Floats = NDArray[np.float64]


def by_slices(t: Floats, gap: Floats) -> dict[Side, float]:
    """The sides of a linear interpolant, by thin slices."""
    s = (np.arange(10**5) + 0.5) / 10**5
    value = np.interp(s, t, gap)
    high, low = np.maximum(value, 0), np.maximum(-value, 0)
    return {
        "too high": high.mean(),
        "too low": low.mean(),
        "overconfident": high[s > 0.5].sum() / 10**5 + low[s < 0.5].sum() / 10**5,
        "underconfident": low[s > 0.5].sum() / 10**5 + high[s < 0.5].sum() / 10**5,
    }


@pytest.mark.parametrize("size", [2, 8, 64])
def test_integrals_are_exact_where_a_half_is_a_grid_point(size: int) -> None:
    rng = np.random.default_rng(size)
    t = np.arange(size + 1) / size
    for _ in range(5):
        gap = rng.normal(size=t.size)
        gap[rng.random(t.size) < 0.2] = 0.0
        found, expected = side_integrals(t, gap, 1 / size), by_slices(t, gap)
        assert found == {side: pytest.approx(expected[side], abs=1e-6) for side in SIDES}


@pytest.mark.parametrize("size", [1, 3, 9])
def test_a_grid_cell_that_holds_a_half_is_never_counted_too_little(size: int) -> None:
    rng = np.random.default_rng(size)
    t = np.arange(size + 1) / size
    for _ in range(20):
        gap = rng.normal(size=t.size)
        found, expected = side_integrals(t, gap, 1 / size), by_slices(t, gap)
        assert all(found[side] >= expected[side] - 1e-6 for side in SIDES)
        assert found["too high"] == pytest.approx(expected["too high"], abs=1e-6)


@pytest.mark.parametrize("h", [1 / 64, 1 / 63.3, 0.3])
def test_sides_add_up_to_the_error_and_their_difference_to_the_mean_gap(
    monkeypatch: pytest.MonkeyPatch, h: float
) -> None:
    monkeypatch.setattr(coordinates, "FINENESS", 64)
    rng = np.random.default_rng(0)
    x = rng.random(5000)
    y = rng.random(5000) < np.where(x < 0.3, 0.6, x**2)
    summary = calcert.summarize(x, y)
    found, all_of_it = (plug_in(summary, Noise("additive", h), *parts) for parts in ((side_parts,), ()))
    parts, hidden, error = dict(zip(SIDES, found.parts, strict=True)), found.hidden, all_of_it.parts[0]
    assert hidden == all_of_it.hidden
    assert parts["too high"] + parts["too low"] == pytest.approx(error, abs=1e-12)
    assert -1e-12 <= parts["overconfident"] + parts["underconfident"] - error <= 2 / (64 / h)
    served_mean = sech_kernel.mean(x, h).mean()
    assert parts["too high"] - parts["too low"] == pytest.approx(served_mean - y.mean(), abs=2 * hidden)


def test_finite_sides_are_sums_over_scores_and_a_half_is_underconfident() -> None:
    x = np.repeat([0.2, 0.5, 0.5, 0.7, 0.9], 100)
    y = np.concatenate([np.arange(100) < k for k in (40, 90, 90, 90, 50)])
    found = {side: terms["plug-in"] for side, terms in sides.finite_terms(calcert.summarize(x, y), 0.05).items()}
    assert found == {
        "too high": pytest.approx(0.4 / 5),
        "too low": pytest.approx((0.2 + 0.4 + 0.4 + 0.2) / 5),
        "overconfident": pytest.approx((0.2 + 0.4) / 5),
        "underconfident": pytest.approx((0.4 + 0.4 + 0.2) / 5),
    }


def test_certificates_say_their_side_and_know_their_classifier() -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(0, 11, 20_000) / 10
    summary = calcert.summarize(x, rng.random(20_000) < x**2)
    served, plain = calcert.bounds.sides(summary, bandwidth=1 / 32), calcert.bounds.sides(summary)
    for found, subject in ((served, "with perturbed scores, bandwidth 1/32"), (plain, "with its current scores")):
        for name in ("too_high", "too_low", "overconfident", "underconfident"):
            c = getattr(found, name)
            assert c.quantity.endswith(name.replace("_", " "))
            assert c.subject == subject
            assert c.theorem == "Theorem 12"
            assert sum(c.terms.values()) == pytest.approx(c.upper)
            assert 0 <= c.lower <= c.upper <= 1
        assert found.too_high.lower > 0.1
        assert found.too_low.lower == 0
        assert found.too_low.upper < 0.02
    # The curve x^2 lies below the diagonal: above 1/2 that is overconfident, below it underconfident.
    assert plain.overconfident.lower > 0.05
    assert plain.underconfident.lower > 0.03


def test_a_score_of_a_half_is_given_a_lower_bound_for_underconfident_only() -> None:
    rng = np.random.default_rng(0)
    found = calcert.bounds.sides(calcert.summarize(np.full(20_000, 0.5), rng.random(20_000) < 0.8))
    assert found.too_low.lower > 0.28
    assert found.underconfident.lower > 0.28
    assert found.overconfident.lower == 0
    assert found.overconfident.upper < 0.02


def test_cells_far_wider_than_the_bandwidth_say_nothing() -> None:
    rng = np.random.default_rng(0)
    x = rng.random(6000)
    found = calcert.bounds.sides(calcert.summarize(x, x > 0.5), bandwidth=1e-6)
    assert found.too_high.vacuous
    assert found.underconfident.vacuous


@pytest.mark.parametrize("side", SIDES)
def test_signs_are_cut_to_those_that_a_side_allows(side: Side) -> None:
    low, high = np.array([0.1, 0.4999, 0.5, 0.6]), np.array([0.2, 0.5, 0.5001, 0.7])
    for sign in (1.0, -1.0):
        kept = sides.allowed(side)(low, high, np.full(4, sign)) != 0
        expected = {
            ("too high", 1.0): [True] * 4,
            ("too high", -1.0): [False] * 4,
            ("too low", 1.0): [False] * 4,
            ("too low", -1.0): [True] * 4,
            ("overconfident", 1.0): [False, False, False, True],
            ("overconfident", -1.0): [True, True, False, False],
            ("underconfident", 1.0): [True, True, False, False],
            ("underconfident", -1.0): [False, False, True, True],
        }[side, sign]
        assert kept.tolist() == expected


@pytest.mark.parametrize("side", SIDES)
def test_bets_on_sides_do_not_know_later_rows(side: Side) -> None:
    check_bets_do_not_know_later_rows(lambda s: sides.finite_lower(s, side, 0.05, 0).limit)


def test_many_scores_are_refused_as_they_are() -> None:
    x = np.random.default_rng(0).random(5000)
    with pytest.raises(ValueError, match="the scores are not a finite set"):
        calcert.bounds.sides(calcert.summarize(x, x > 0.5))


@pytest.mark.parametrize("kind", ["additive", "odds"])
def test_rows_known_to_their_cells_are_given_no_less_than_rows_and_hardly_more(kind: str) -> None:
    rng = np.random.default_rng(0)
    x = rng.beta(0.5, 2, 3000)
    rows = calcert.summarize(x, rng.random(3000) < x**1.3)
    noise = Noise("additive", 1 / 32) if kind == "additive" else Noise("odds", 1 / 8)
    listed, cells = (sides.perturbed_terms(summary, noise, 0.05) for summary in (rows, by_cells(rows)))
    for side in SIDES:
        least = listed[side]["plug-in"] - listed[side]["discretisation"]
        assert least <= cells[side]["plug-in"] + cells[side]["discretisation"]
        assert math.fsum(cells[side].values()) <= math.fsum(listed[side].values()) + 2e-3
    gaps = [in_the_large.upper_terms(summary, 0.05)["plug-in"] for summary in (rows, by_cells(rows))]
    assert gaps[0] == pytest.approx(gaps[1], abs=2 * RESOLUTION)
