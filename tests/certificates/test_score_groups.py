"""Groups of consecutive scores are as long as they may be, and plain where that is cheaper."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calcert.certificates import bounded_variation
from calcert.kernels import signs
from calcert.summary.points import Points
from tests.as_python import as_python


@given(
    steps=st.lists(st.sampled_from([0.0, 1e-12, 0.001, 0.3, 1.0, 7.0]), min_size=1, max_size=60),
    halvings=st.floats(0, 20),
)
def test_runs_grow_as_far_as_the_cap_allows(steps: list[float], halvings: float) -> None:
    position = np.concatenate([[0.0], np.cumsum(steps)])
    cap = 2.0**-halvings * max(float(position[-1]), 1.0)
    mass, single = position / max(position[-1], 1.0), np.arange(len(steps)) % 2 == 0
    rest = (mass, position / 8, single, 100, cap)
    start, plain, noise = signs.capped_runs(position, *rest)
    for compiled, written in zip((start, plain, noise), as_python(signs.capped_runs)(position, *rest), strict=True):
        np.testing.assert_array_equal(compiled, written)
    ends = np.append(start[1:], position.size - 1)
    cost = 0.0
    for first, end, as_it_is in zip(start, ends, plain, strict=True):
        # Each run grows by at most the cap unless it is one point, and would not with one point more.
        assert position[end] - position[first] <= cap * (1 + 1e-8) or end == first + 1
        assert end == position.size - 1 or position[end + 1] - position[first] > cap
        wobble = (position[end] - position[first]) / 8
        noise_of_mean = signs.NOISE * np.sqrt(wobble / 100)
        heavy = mass[end] - mass[first] > cap * (1 + 1e-6) and not (end == first + 1 and single[first])
        assert as_it_is == (heavy or 2 * wobble < noise_of_mean)
        cost += 2 * wobble if as_it_is else noise_of_mean
    assert noise == pytest.approx(cost, abs=1e-12)


def test_distances_are_those_of_rows_at_both_ends_of_their_cells() -> None:
    rng = np.random.default_rng(0)
    low = np.sort(0.9 * rng.random(30))
    points = Points(low, low + 0.01, rng.random((30, 2)), rng.integers(1, 5, (30, 2)))
    groups = bounded_variation.Groups(np.array([0, 4, 5, 21]), np.array([False, True, False, True]))
    total = 0.0
    for start, stop, plain in ((0, 4, False), (4, 5, True), (5, 21, False), (21, 30, True)):
        label = points.count[start:stop, 1].sum() / points.count[start:stop].sum()
        for i in range(start, stop):
            for y in range(2):
                for end, weight in ((low[i], 1 - points.fraction[i, y]), (low[i] + 0.01, points.fraction[i, y])):
                    total += points.count[i, y] * weight * abs(end - (y if plain else label))
    assert bounded_variation.plug_in(points, groups, 7) == pytest.approx(total / 7, rel=1e-13)
    rest = (points.low, points.high, points.fraction, points.count, groups.start, groups.plain.view(np.uint8))
    assert signs.total_plug_in(*rest) == as_python(signs.total_plug_in)(*rest)
