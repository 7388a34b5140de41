"""Signs of groups of scores, and lengths of transforms, are what they are said to be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import calcert
from calcert.certificates.witnesses import betting
from calcert.kernels.signs import signed_gains
from calcert.perturbation.grids.grid import fast_length
from calcert.summary.summary import Summary
from tests.as_python import as_python

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def some_rows(seed: int) -> Summary:
    """A few thousand rows, crowded more or less to one end, of a random miscalibration."""
    rng = np.random.default_rng(seed)
    x = rng.random(rng.integers(20, 5000)) ** rng.uniform(0.3, 3)
    return calcert.summarize(x, rng.random(x.size) < x ** rng.uniform(0.5, 2))


@pytest.mark.parametrize("groups", betting.SCALES)
def test_group_signs_are_those_of_each_group_taken_alone(groups: int) -> None:
    points = some_rows(3).points
    score = (points.low + points.high) / 2
    count = points.count.copy()
    count[:5] = 0
    gain = signed_gains(score, score, count, np.zeros_like(count), np.array([groups]))
    signs = gain[:, 0] - gain[:, 1]
    rows = count.sum(axis=1)
    group = (np.cumsum(rows) - rows) * groups // rows.sum()
    for g in np.unique(group[rows > 0]):
        here = (group == g) & (rows > 0)
        excess = (score * rows - count[:, 1])[here].sum()
        spread = np.sqrt((count[:, 0] * score**2 + count[:, 1] * (1 - score) ** 2)[here].sum())
        assert signs[here] == pytest.approx(np.clip(excess / spread, -1, 1), abs=1e-4)


def test_the_scale_that_earned_most_from_the_last_batch_is_taken_and_python_finds_the_same() -> None:
    scales = betting.SCALES

    def kernel(low: Floats, high: Floats, known: Integers, last: Integers, scales: Integers) -> Floats:
        signed: Any = signed_gains
        gain: Floats = signed(low, high, known, last, scales)
        assert gain == pytest.approx(as_python(signed)(low, high, known, last, scales), abs=1e-9)
        return gain

    for seed in range(3):
        points, rng = some_rows(seed).points, np.random.default_rng(seed)
        low, high, known = points.low, points.low + 1e-4, points.count
        for last in (rng.binomial(known, 0.4), known):
            gain = kernel(low, high, known, last, scales)
            alone = [kernel(low, high, known, last, np.array([scale])) for scale in scales]
            chosen = [(gain == other).all() for other in alone]
            if (last == known).all():
                best = max(k for k, scale in enumerate(scales) if scale == 1 or scale**3 <= known.sum())
            else:
                taught = [kernel(low, high, known - last, 0 * last, np.array([scale])) for scale in scales]
                best = int(np.argmax([(last * gains).sum() for gains in taught]))
            assert chosen[best]


def test_fast_lengths_are_the_smallest_products_of_twos_and_threes() -> None:
    products = sorted(2**a * 3**b for a in range(22) for b in range(14))
    for least in [*range(1, 700), 65_537, 106_497, 999_983]:
        assert fast_length(least) == next(product for product in products if product >= least)
