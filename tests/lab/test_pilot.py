"""Why a pilot that chose the number of rows must not be among them.

All scores are 0.9 and the chance is 0.5, so that outcomes are binomial counts and nothing is drawn. Many positives make
the bound too small. A pilot with many of them is content with few rows, itself a large part of them, and misleads; one
with few asks for more rows, which mislead in their own right. Two looks at numbers of rows fixed in advance, at delta/2
each, do not.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

from calcert.certificates import finite
from tests.lab.distributions import summary_of, upper

SCORE, CHANCE, TRUTH, DELTA = 0.9, 0.5, 0.4, 0.05
PILOT, MANY = 10_000, 1_000_000
SETTING = Path(__file__).parents[2] / "docs" / "theory" / "setting.md"


@cache
def bound(positives: int, n: int, delta: float) -> float:
    return upper(finite.upper_terms(summary_of((SCORE,), np.array([[n - positives, positives]])), delta))


@cache
def fewest_that_mislead(n: int, delta: float) -> int:
    """The smallest number of positives at which the bound is below the truth; it falls as they become more."""
    low, high = int(n * CHANCE), int(n * CHANCE + 4 * math.sqrt(n))
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if bound(middle, n, delta) < TRUTH else (middle, high)
    return high


def miss(pilot: int, rows: Callable[[int], int], delta: float) -> float:
    """The exact probability of missing the truth with `rows` of the pilot's positives in all, the pilot among them."""
    missed = 0.0
    for positives in range(int(binom.ppf(1e-9, pilot, CHANCE)), int(binom.isf(1e-9, pilot, CHANCE)) + 1):
        n = rows(positives)
        needed = fewest_that_mislead(n, delta) - positives
        missed += binom.pmf(positives, pilot, CHANCE) * binom.sf(needed - 1, n - pilot, CHANCE)
    return missed


def alone(n: int, delta: float) -> float:
    return float(binom.sf(fewest_that_mislead(n, delta) - 1, n, CHANCE))


def test_a_pilot_that_is_content_with_itself_fails_more_often_than_delta_unless_delta_is_shared() -> None:
    def rows(delta: float) -> Callable[[int], int]:
        return lambda positives: PILOT if bound(positives, PILOT, delta) < TRUTH else MANY

    fixed, kept = max(alone(PILOT, DELTA), alone(MANY, DELTA)), miss(PILOT, rows(DELTA), DELTA)
    shared = miss(PILOT, rows(DELTA / 2), DELTA / 2)
    assert max(fixed, shared) <= DELTA
    assert kept > 1.5 * DELTA
    page = SETTING.read_text()
    assert f"at most ${fixed:.3f}$; the pilot's choice misses it with ${kept:.3f}$, and with ${shared:.3f}$" in page


def test_the_number_of_rows_that_a_plan_proposes_is_chosen_by_the_pilot() -> None:
    pilot, most, target = 2_000, 200_000, 0.4

    @cache
    def planned(positives: int) -> int:
        """The size at which the bound would reach the target if the share of positives stayed that of the pilot."""

        def reached(n: int) -> bool:
            return bound(round(n * positives / pilot), n, DELTA) <= target

        low, high = pilot, most
        if reached(low) or not reached(high):
            return low if reached(low) else high
        while high > 1.1 * low:
            middle = round(math.sqrt(low * high))
            low, high = (low, middle) if reached(middle) else (middle, high)
        return high

    sizes = {planned(positives) for positives in range(900, 1100)}
    assert len(sizes) > 5
    # A plan from other rows proposes one of these sizes, and fails as often as it does at that size.
    assert max(alone(n, DELTA) for n in sizes) <= DELTA
    assert miss(pilot, planned, DELTA) > 1.2 * DELTA


@pytest.mark.parametrize("n", [PILOT, MANY])
def test_positives_beyond_the_first_that_mislead_mislead_too(n: int) -> None:
    first = fewest_that_mislead(n, DELTA)
    for more in (0, 1, 10, n // 50):
        assert bound(first + more, n, DELTA) < TRUTH
    for fewer in (1, 10, n // 50):
        assert bound(first - fewer, n, DELTA) >= TRUTH
