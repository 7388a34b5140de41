"""Sums over the rows of a bet: as exact arithmetic has them, compiled and as written."""

from __future__ import annotations

import math

import numpy as np
import pytest

from calcert.certificates.bet_sums import FEW, TOGETHER, log_growth, moments

RNG = np.random.default_rng(0)
GAIN = RNG.uniform(-1, 1, (3 * TOGETHER + 5, 2))
ROWS = RNG.integers(0, 2 * FEW, GAIN.shape)


def test_moments_are_the_sums_of_powers() -> None:
    found = moments(GAIN, ROWS)
    assert found == moments.py_func(GAIN, ROWS)
    for power, value in enumerate(found):
        assert value == pytest.approx(math.fsum((ROWS * GAIN**power).ravel()), rel=1e-13, abs=1e-12)


@pytest.mark.parametrize("rows", [ROWS, np.minimum(ROWS, FEW), 1000 * ROWS], ids=["all", "few", "many"])
@pytest.mark.parametrize("stake", [0.03, 0.49])
@pytest.mark.parametrize("c", [0.0, 0.3, 1.0])
def test_products_of_factors_are_sums_of_logarithms(rows: np.ndarray, stake: float, c: float) -> None:
    found = log_growth(stake, GAIN, rows, c)
    assert found == pytest.approx(log_growth.py_func(stake, GAIN, rows, c), abs=1e-9)
    assert found == pytest.approx(math.fsum((rows * np.log1p(stake * (GAIN - c))).ravel()), rel=1e-13, abs=1e-11)


def test_products_neither_overflow_nor_vanish() -> None:
    one = np.ones((5000, 2))
    for gain, c in ((one, 0.0), (-one, 1.0)):
        expected = 10_000 * FEW * math.log1p(0.49 * (gain[0, 0] - c))
        assert log_growth(0.49, gain, np.full((5000, 2), FEW), c) == pytest.approx(expected, rel=1e-12)
