"""Candidates that share delta: whichever is chosen holds, and without sharing it would not."""

from __future__ import annotations

import numpy as np
from scipy.stats import binom

from calcert.certificates.limits.deviations import mean_upper
from calcert.certificates.several import share, smallest


def missed(each: float) -> float:
    """The exact probability that the smaller of two independent D1 limits for a mean of 0.1 lies below it."""
    n, mean = 300, 0.1
    limits = np.array([mean_upper(hits / n, n, each) for hits in range(n + 1)])
    low = float(binom.pmf(np.arange(n + 1), n, mean)[limits < mean].sum())
    return 1 - (1 - low) ** 2


def test_the_best_of_candidates_that_share_delta_fails_with_at_most_delta() -> None:
    assert 0 < missed(share(1e-3, 2)) <= 1e-3


def test_negative_control_candidates_at_ten_times_their_share_are_caught() -> None:
    assert missed(10 * share(1e-3, 2)) > 1e-3


def test_the_smallest_bound_is_chosen_and_the_first_of_equals() -> None:
    assert smallest([{"plug-in": 0.75}, {"plug-in": 0.25, "sampling": 0.25}, {"plug-in": 0.5}]) == 1
