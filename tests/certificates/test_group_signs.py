"""Signs of groups of scores, and lengths of transforms, are what they are said to be."""

from __future__ import annotations

import numpy as np
import pytest

import calcert
from calcert.certificates import unmodified_lower
from calcert.serving.grid import fast_length
from calcert.summary.summary import Summary


def some_rows(seed: int) -> Summary:
    """A few thousand rows, crowded more or less to one end, of a random miscalibration."""
    rng = np.random.default_rng(seed)
    x = rng.random(rng.integers(20, 5000)) ** rng.uniform(0.3, 3)
    return calcert.summarize(x, rng.random(x.size) < x ** rng.uniform(0.5, 2))


@pytest.mark.parametrize("groups", unmodified_lower.SCALES)
def test_group_signs_are_those_of_each_group_taken_alone(groups: int) -> None:
    points = some_rows(3).points
    score = (points.low + points.high) / 2
    count = points.count.copy()
    count[:5] = 0
    signs = unmodified_lower._GroupSigns(score, count)(groups)
    rows = count.sum(axis=1)
    group = (np.cumsum(rows) - rows) * groups // rows.sum()
    for g in np.unique(group[rows > 0]):
        here = (group == g) & (rows > 0)
        excess = (score * rows - count[:, 1])[here].sum()
        spread = np.sqrt((count[:, 0] * score**2 + count[:, 1] * (1 - score) ** 2)[here].sum())
        # Differences of running sums lose a few digits where a group is all but right.
        assert signs[here] == pytest.approx(np.clip(excess / spread, -1, 1), abs=1e-4)


def test_fast_lengths_are_the_smallest_products_of_twos_and_threes() -> None:
    products = sorted(2**a * 3**b for a in range(22) for b in range(14))
    for least in [*range(1, 700), 65_537, 106_497, 999_983]:
        assert fast_length(least) == next(product for product in products if product >= least)
