"""Pairs that bet on the distance: admissible whatever the solver found, and never promising more than they give."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import calcert
from calcert.certificates.distance import distance_lower, pair_gain
from calcert.certificates.witnesses.random_splits import middles
from calcert.kernels.knots import admit, promised
from calcert.summary.points import Points
from tests.as_python import as_python

Floats = NDArray[np.float64]

FINE = np.linspace(0, 1, 20_001)


def knots_and_pair(kind: str) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(len(kind))
    knots = np.unique(np.concatenate([[0.0, 1.0], np.round(rng.random(25) * 2**26) / 2**26]))
    tent = np.minimum(knots, 1 - knots)
    pair = {
        "good": np.stack([-knots / 2, (1 - knots) / 2]),
        "too steep": np.stack([-3 * knots, 2 * (1 - knots)]),
        "too large between knots": np.stack([knots, 1 - knots]) - np.stack([2 * knots * (1 - knots)] * 2),
        "both positive": np.stack([tent, tent]),
        "noise": rng.standard_normal((2, knots.size)),
        "far below": np.full((2, knots.size), -1.9),
        "not a number": np.full((2, knots.size), np.nan),
        "infinite": np.stack([np.full(knots.size, np.inf), np.zeros(knots.size)]),
    }[kind]
    return knots, pair.copy()


KINDS = [
    "good",
    "too steep",
    "too large between knots",
    "both positive",
    "noise",
    "far below",
    "not a number",
    "infinite",
]


@pytest.mark.parametrize("kind", KINDS)
def test_whatever_pair_comes_in_an_admissible_one_goes_out(kind: str) -> None:
    knots, pair = knots_and_pair(kind)
    admit(knots, pair)
    assert np.isfinite(pair).all()
    assert (np.abs(np.diff(pair)) <= np.diff(knots) * (1 + 1e-12)).all()
    zero, one = (np.interp(FINE, knots, pair[y]) for y in (0, 1))
    assert ((1 - FINE) * zero + FINE * one <= 1e-15).all()


def test_a_good_pair_is_left_as_it_was() -> None:
    knots, pair = knots_and_pair("good")
    before = pair.copy()
    admit(knots, pair)
    assert pair == pytest.approx(before, abs=1e-15)


def test_a_pair_that_holds_at_knots_only_is_not_admissible_between_them() -> None:
    """So what `admit` takes off is needed: here (1 - u) g0 + u g1 is 0 at both knots and positive between."""
    knots, pair = np.array([0.0, 1.0]), np.array([[0.0, 1.0], [1.0, 0.0]])
    tied = (1 - FINE) * np.interp(FINE, knots, pair[0]) + FINE * np.interp(FINE, knots, pair[1])
    assert tied[0] == tied[-1] == 0
    assert tied.max() == pytest.approx(0.5)
    admit(knots, pair)
    assert pair == pytest.approx(np.array([[-0.5, 0.5], [0.5, -0.5]]))


@pytest.mark.parametrize("kind", ["good", "noise", "both positive", "too large between knots"])
def test_no_row_is_promised_more_than_it_gets_wherever_in_its_block_it_is(kind: str) -> None:
    knots, pair = knots_and_pair(kind)
    admit(knots, pair)
    rng = np.random.default_rng(0)
    edges = np.sort(rng.random(60))
    low, high = edges[::2].copy(), edges[1::2].copy()
    low[0], high[-1] = 0.0, 1.0
    gain = promised(knots, pair, low, high)
    for share in np.linspace(0, 1, 11):
        place = low + share * (high - low)
        boxed = [
            np.maximum(np.interp(place, knots, pair[0]), -place),
            np.maximum(np.interp(place, knots, pair[1]), place - 1),
        ]
        assert (gain <= np.stack(boxed, axis=1) + 1e-15).all()
    assert (gain >= -1).all()
    assert (gain <= 1).all()


@pytest.mark.parametrize("kind", ["good", "noise"])
def test_compiled_kernels_do_what_their_python_does(kind: str) -> None:
    knots, pair = knots_and_pair(kind)
    again = pair.copy()
    admit(knots, pair)
    as_python(admit)(knots, again)
    assert pair == pytest.approx(again, abs=1e-15)
    low = np.sort(np.random.default_rng(1).random(20))
    high = np.append(low[1:], 1.0)
    assert promised(knots, pair, low, high) == pytest.approx(as_python(promised)(knots, pair, low, high), abs=1e-15)


def test_blocks_that_hold_only_later_rows_change_no_bet() -> None:
    rng = np.random.default_rng(2)
    x = rng.random(400)
    early = calcert.summarize(x, rng.random(400) < x)
    late = calcert.summarize(np.concatenate([[0.0, 1e-9], rng.random(300), [1.0]]), np.zeros(303, int))
    alone, together = middles(early), middles(early + late)
    place = np.searchsorted(together.low, alone.low)
    known = np.zeros_like(together.count)
    known[place] = alone.count
    assert (pair_gain(together, known)[place] == pair_gain(alone, alone.count)).all()


def test_few_known_rows_make_a_bet_all_the_same() -> None:
    points = Points(np.array([0.25]), np.array([0.5]), np.full((1, 2), 0.5), np.array([[1, 0]]))
    gain = pair_gain(points, points.count)
    assert gain[0, 0] > 0
    assert gain[0, 0] <= 0.25


@pytest.mark.parametrize(("n", "least"), [(10_000, 0.150), (100_000, 0.161)])
def test_a_common_shift_is_found_nearly_in_full(n: int, least: float) -> None:
    rng = np.random.default_rng(3)
    x = rng.random(n)
    assert least < distance_lower(calcert.summarize(x, rng.random(n) < x**2), 0.05, 0).limit < 1 / 6 + 0.01
