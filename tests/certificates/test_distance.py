"""The certificate of the distance as a whole: consistent, tight, and the same for rows and their Summary."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

import calcert
from calcert import Summary
from calcert.certificates.distance import distance, upper_terms

Floats = NDArray[np.float64]


def uniform(n: int, eta: Callable[[Floats], Floats], seed: int = 0) -> Summary:
    rng = np.random.default_rng(seed)
    x = rng.random(n)
    return calcert.summarize(x, rng.random(n) < eta(x))


@pytest.mark.parametrize(
    ("eta", "truth", "most"),
    [(lambda x: x > 0.5, 0.0597, 0.062), (lambda x: x < 0.5, 0.25, 0.2545), (lambda x: x**2, 1 / 6, 0.1695)],
    ids=["a jump", "reversed", "square"],
)
def test_upper_and_lower_close_in_on_the_distance(eta: Callable[[Floats], Floats], truth: float, most: float) -> None:
    c = distance(uniform(200_000, eta, seed=1))
    assert c.lower - 1e-4 <= truth <= c.upper + 1e-4
    assert c.upper <= most
    assert truth - c.lower <= 0.004


def test_a_wiggle_that_the_l1_error_sees_is_forgiven() -> None:
    c = distance(
        uniform(200_000, lambda x: x + 0.2 * np.where((1000 * x).astype(int) % 2, 1, -1) * (np.abs(x - 0.5) < 0.3))
    )
    assert c.upper < 0.004


@pytest.mark.parametrize("turned", [False, True])
def test_rows_turned_upside_down_have_the_same_distance(turned: bool) -> None:
    """Score 1 - x and label 1 - y: cells, blocks and plans are symmetric, the program is not quite."""
    rng = np.random.default_rng(5)
    x = np.floor(rng.beta(0.4, 2, 6000) * 2**20) / 2**20
    y = rng.random(6000) < x**1.3
    one, other = (upper_terms(calcert.summarize(s, z), 0.05) for s, z in ((x, y), (1 - x, ~y)))
    assert sum(one.values()) == pytest.approx(sum(other.values()), rel=2e-3)


def test_terms_of_cells_are_those_of_rows_but_for_what_cells_hide() -> None:
    summary = uniform(3000, lambda x: x**2)
    cells = Summary(summary.cell, summary.count, summary.offset, None, None)
    exact, known = upper_terms(summary, 0.05), upper_terms(cells, 0.05)
    assert exact["discretisation"] < 3e-12
    assert sum(exact.values()) <= sum(known.values()) + 1e-4
    assert sum(known.values()) == pytest.approx(sum(exact.values()), abs=2e-4)


def test_a_summary_in_pieces_gives_the_same_certificate() -> None:
    rng = np.random.default_rng(1)
    x = rng.random(9000)
    y = rng.random(9000) < x
    whole = calcert.summarize(x, y)
    parts = calcert.summarize(x[:100], y[:100]) + calcert.summarize(x[100:], y[100:])
    assert distance(whole) == distance(parts)


def test_nothing_that_is_not_a_summary_is_taken() -> None:
    with pytest.raises(TypeError, match="summary must be"):
        distance([0.5])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="delta must lie"):
        distance(uniform(10, lambda x: x), delta=0.0)


@pytest.mark.parametrize(
    ("scores", "labels"),
    [
        ([0.3], [0]),
        ([0.0] * 20, [0] * 20),
        ([1.0] * 20, [0] * 20),
        ([0.5] * 10, [1] * 10),
        ([1e-300, 5e-324, 0.0], [0, 1, 0]),
    ],
    ids=["one row", "all 0", "all wrong", "one score", "next to nothing"],
)
def test_odd_rows_have_bounds_between_0_and_1(scores: list[float], labels: list[int]) -> None:
    c = distance(calcert.summarize(scores, labels))
    assert 0 <= c.lower <= c.upper <= 1
    assert c.upper >= abs(np.mean(scores) - np.mean(labels)) - 1e-9
