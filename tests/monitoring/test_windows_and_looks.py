"""When looks are due, and the shares of delta that they have."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from calcert.monitoring.looks import schedule, share


def test_shares_of_all_looks_add_up_to_one() -> None:
    assert sum(share(look) for look in range(1, 10_000)) + 1 / 10_000 == pytest.approx(1.0, abs=1e-9)


def test_a_look_is_due_when_rows_have_grown_by_a_quarter() -> None:
    sizes = np.random.default_rng(0).integers(1, 500, 300).tolist()
    looks = schedule(sizes)
    rows = np.cumsum(sizes)
    assert looks[0] == 0
    for before, after in pairwise(looks):
        assert rows[after] >= 1.25 * rows[before] > rows[after - 1]


def test_the_schedule_of_a_longer_life_begins_like_that_of_a_shorter_one() -> None:
    sizes = [7, 1, 9, 30, 2, 2, 80, 5, 5, 400]
    for end in range(1, len(sizes)):
        assert schedule(sizes)[: len(schedule(sizes[:end]))] == schedule(sizes[:end])
