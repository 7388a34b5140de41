"""Sums over the rows of a bet: as exact arithmetic has them, compiled and as written."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from calcert.certificates.witnesses.betting import Round
from calcert.foundation.rounding import LOG_ROUNDING
from calcert.kernels.bets import FEW, LARGEST_STAKE, TOGETHER, judged, log_growth
from tests.as_python import as_python

RNG = np.random.default_rng(0)
GAIN = RNG.uniform(-1, 1, (3 * TOGETHER + 5, 2))
ROWS = RNG.integers(0, 2 * FEW, GAIN.shape)


@pytest.mark.parametrize(("n", "delta"), [(10**6, 0.05), (5, 0.01)])
def test_stakes_suit_the_rows_before_and_moments_are_sums_of_powers_over_the_rows_judged(n: int, delta: float) -> None:
    splits = RNG.integers(0, 2 * FEW, (2, 3, *GAIN.shape))
    splits[1, 0] = 0
    gain = RNG.uniform(-1, 1, (2, 2, *GAIN.shape))
    found = judged(gain, splits, n, delta)
    written = as_python(judged)(gain, splits, n, delta)
    assert found == pytest.approx(written, rel=1e-12, abs=1e-11)
    assert found[1, 0, 0] == 0  # Nothing is known yet, and nothing staked.
    for t, b in ((0, 0), (0, 1), (1, 1)):
        known = splits[t, : b + 1].sum(axis=0)
        rows = np.repeat(gain[t, b].ravel(), known.ravel())
        best = math.sqrt(2 * math.log(1 / delta) / (n * (rows.var() + 1 / rows.size)))
        assert found[t, b, 0] == pytest.approx(min(best, LARGEST_STAKE), rel=1e-9)
        for power, value in enumerate(found[t, b, 1:]):
            assert value == pytest.approx(math.fsum((splits[t, b + 1] * gain[t, b] ** power).ravel()), rel=1e-12)


@pytest.mark.parametrize("rows", [ROWS, np.minimum(ROWS, FEW), 1000 * ROWS], ids=["all", "few", "many"])
@pytest.mark.parametrize("stake", [0.03, 0.49])
@pytest.mark.parametrize("c", [0.0, 0.3, 1.0])
def test_products_of_factors_are_sums_of_logarithms(rows: np.ndarray, stake: float, c: float) -> None:
    found = log_growth(stake, GAIN, rows, c)
    written = as_python(log_growth)(stake, GAIN, rows, c)
    assert found == pytest.approx(written, abs=1e-9)
    assert found == pytest.approx(math.fsum((rows * np.log1p(stake * (GAIN - c))).ravel()), rel=1e-13, abs=1e-11)


def test_products_neither_overflow_nor_vanish() -> None:
    one = np.ones((5000, 2))
    for gain, c in ((one, 0.0), (-one, 1.0)):
        expected = 10_000 * FEW * math.log1p(0.49 * (gain[0, 0] - c))
        assert log_growth(0.49, gain, np.full((5000, 2), FEW), c) == pytest.approx(expected, rel=1e-12)


def test_what_is_taken_off_for_rounding_covers_very_many_rows_of_nearly_one_gain() -> None:
    """Sums over 2^36 rows lose more than a millionth; the charge for so many is larger than what is lost."""
    rng = np.random.default_rng(3)
    gain, rows = 0.997 + 5e-5 * rng.uniform(-1, 1, (150, 2)), np.full((150, 2), (1 << 36) // 300)
    stake, c = 0.195, 0.99699
    moments = judged(gain[None, None], np.stack([rows, rows])[None], int(2 * rows.sum()), 0.05)[0, 0, 1:]
    one = Round(stake, gain, rows, tuple(moments.tolist()))
    with mpmath.workdps(40):
        z = [mpmath.mpf(stake) * (mpmath.mpf(float(g)) - mpmath.mpf(c)) for g in gain.ravel()]
        truth = sum(int(n) * mpmath.log1p(each) for n, each in zip(rows.ravel(), z, strict=True))
        above = float(one.log_wealth(c) - truth)
    assert LOG_ROUNDING < above <= one.rounding
    assert one.rounding < 0.01, "and it costs next to nothing"
