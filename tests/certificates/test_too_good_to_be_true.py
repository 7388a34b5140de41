"""Rows that agree with the scores too well: refits are caught, and fresh rows never."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression
from scipy.special import expit, logit
from scipy.stats import binom

import calcert
from calcert.certificates.too_good_to_be_true import RARE, is_too_good, range_probability, sums_agree
from tests.lab.distributions import summary_of

Floats = NDArray[np.float64]
Labels = NDArray[np.bool_]
Draw = Callable[[np.random.Generator, int], Floats]

FRESH: dict[str, tuple[int, Draw]] = {
    "smooth": (1_000, lambda rng, n: rng.beta(2, 3, n)),
    "rare events": (100, lambda rng, n: rng.beta(0.5, 500, n)),
    "one in ten thousand": (1_000, lambda rng, n: np.full(n, 1e-4)),
    "one score": (1_000, lambda rng, n: np.full(n, 0.5)),
    "one score of six digits": (10_000, lambda rng, n: np.full(n, 0.0374)),
    "ties": (300, lambda rng, n: rng.integers(60, 100, n) / 100),
    "two decimals in single precision": (
        2_000,
        lambda rng, n: (rng.integers(1, 100, n) / 100).astype(np.float32).astype(float),
    ),
    "near the ends": (50, lambda rng, n: rng.choice([0.001, 0.999], n)),
    "a hundred steps, few rows": (60, lambda rng, n: rng.integers(0, 101, n) / 100),
    "more scores than are listed": (20_000, lambda rng, n: rng.random(n)),
}
"""Ten distributions of scores, and how many rows."""


@pytest.mark.parametrize("name", FRESH)
def test_fresh_rows_are_not_warned_of(name: str) -> None:
    """Two thousand data sets in all, calibrated or nearly."""
    n, draw = FRESH[name]
    for seed in range(200):
        rng = np.random.default_rng(seed)
        x = draw(rng, n)
        y = rng.random(n) < (x if seed % 2 else x**1.1)
        assert not is_too_good(calcert.summarize(x, y)), seed


def isotonic(x: Floats, y: Labels) -> Floats:
    order, fitted = np.argsort(x), np.empty(x.size)
    fitted[order] = isotonic_regression(y[order].astype(float)).x
    return np.clip(fitted, 0.0, 1.0)


def binned(bins: int) -> Callable[[Floats, Labels], Floats]:
    def fitted(x: Floats, y: Labels) -> Floats:
        inside = np.minimum((x * bins).astype(int), bins - 1)
        rows = np.bincount(inside, minlength=bins)
        return np.asarray((np.bincount(inside, y, bins) / np.maximum(rows, 1))[inside])

    return fitted


def logistic(x: Floats, y: Labels) -> Floats:
    """Maximum likelihood of an intercept and a slope, by Newton's method."""
    features, weights = np.stack([np.ones(x.size), logit(x)]), np.zeros(2)
    for _ in range(30):
        p = expit(weights @ features)
        weights += np.linalg.solve((features * (p * (1 - p))) @ features.T, features @ (y - p))
    return np.asarray(expit(weights @ features))


MAPS = {"isotonic": isotonic, "ten bins": binned(10), "fifteen bins": binned(15), "logistic": logistic}


@pytest.mark.parametrize("fit", MAPS.values(), ids=MAPS)
@pytest.mark.parametrize(("rows", "sets"), [(1_000, 40), (10_000, 10), (100_000, 3)])
def test_a_map_that_was_fitted_on_the_rows_is_noticed(
    fit: Callable[[Floats, Labels], Floats], rows: int, sets: int
) -> None:
    for seed in range(sets):
        rng = np.random.default_rng(seed)
        x = rng.beta(2, 3, rows)
        y = rng.random(rows) < x**1.6
        assert is_too_good(calcert.summarize(fit(x, y), y)), seed


def test_a_map_that_was_fitted_on_other_rows_is_not() -> None:
    for seed in range(40):
        rng = np.random.default_rng(seed)
        x, fresh = rng.beta(2, 3, (2, 1_000))
        fitted = isotonic(x, rng.random(1_000) < x**1.6)
        order = np.argsort(x)
        mapped = np.interp(fresh, x[order], fitted[order])
        assert not is_too_good(calcert.summarize(mapped, rng.random(1_000) < fresh**1.6))


SCORES, ROWS = np.array([0.2, 0.5, 0.6]), np.array([16, 9, 12])
TABLES = list(itertools.product(*(range(rows + 1) for rows in ROWS)))


def misses(bound: Callable[[float], float]) -> float:
    """The largest ratio, over levels, of how often the probability is at most the level to the level; exact."""
    found = np.array([bound(range_probability(_rows(table))) for table in TABLES])
    weight = np.array([math.prod(binom.pmf(table, ROWS, SCORES)) for table in TABLES])
    return max(float(weight[found <= level].sum() / level) for level in np.unique(found))


def _rows(table: tuple[int, ...]) -> calcert.Summary:
    return summary_of(tuple(SCORES), np.stack([ROWS - table, np.array(table)], axis=1))


def test_the_first_rule_is_no_more_often_true_than_it_says_over_all_labels() -> None:
    assert misses(lambda found: found) <= 1 + 1e-9


def test_a_probability_that_is_too_small_is_caught() -> None:
    assert misses(lambda found: found**2) > 1


def test_sums_that_meet_by_themselves_say_nothing() -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(200, 800, 2_000) / 1_000
    x[0] = 0.5
    x[0] += round(x.sum()) - x.sum()
    y = np.arange(2_000) % 2_000 < round(x.sum())
    assert x.sum() == pytest.approx(y.sum(), abs=1e-9)
    assert not sums_agree(calcert.summarize(x, y)), "three decimals: their sum is often a whole number"
    x += rng.normal(0, 1e-5, x.size)
    x[1] += y.sum() - x.sum()
    assert sums_agree(calcert.summarize(x, y)), "no decimals: their sum is not"


def test_rows_with_weights_or_clusters_are_left_alone() -> None:
    x = np.repeat(np.linspace(0.05, 0.95, 19), 100)
    y = np.concatenate([np.arange(100) < round(100 * score) for score in np.linspace(0.05, 0.95, 19)])
    assert is_too_good(calcert.summarize(x, y))
    assert range_probability(calcert.summarize(x, y)) < RARE
    assert not is_too_good(calcert.summarize(x, y, clusters=np.arange(1_900) // 10))
