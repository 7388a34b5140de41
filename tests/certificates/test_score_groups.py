"""Groups of consecutive scores: both ways to find the same runs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calcert.certificates import score_groups


@given(
    steps=st.lists(st.sampled_from([0.0, 1e-12, 0.001, 0.3, 1.0, 7.0]), min_size=1, max_size=60),
    halvings=st.floats(0, 20),
)
def test_runs_are_the_same_one_by_one_and_all_at_once(steps: list[float], halvings: float) -> None:
    position = np.concatenate([[0.0], np.cumsum(steps)])
    cap = 2.0**-halvings * max(float(position[-1]), 1.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(score_groups, "MANY", np.inf)
        one_by_one = score_groups._greedy(position, cap)
        patch.setattr(score_groups, "MANY", -1.0)
        at_once = score_groups._greedy(position, cap)
    np.testing.assert_array_equal(one_by_one, at_once)
    # Each run grows by at most the cap unless it is one point, and would not with one point more.
    ends = np.append(one_by_one[1:], position.size - 1)
    for start, end in zip(one_by_one, ends, strict=True):
        assert position[end] - position[start] <= cap * (1 + 1e-8) or end == start + 1
        assert end == position.size - 1 or position[end + 1] - position[start] > cap
