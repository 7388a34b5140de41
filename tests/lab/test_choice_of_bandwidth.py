"""Why the bandwidth must not be chosen by looking at the scores of the rows that certify it, not even without labels.

A tenth of the rows has score 1/2 and label 0, the others score 1 and label 1, so that the scores tell everything. At a
tiny bandwidth the error is half the share of the former; at a huge one every score is served alike and the error falls
with that share. Few of them in the sample make the first bound too small, many the second: whoever takes the first when
they are few, and else the second, is wrong in both cases, and more often than delta. At delta/2 each he is not.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from calcert.certificates import perturbed
from calcert.perturbation.grids import coordinates
from calcert.perturbation.noise import Noise
from tests.lab.distributions import Law, summary_of, upper

LAW, N, DELTA = Law((0.5, 1.0), (0.1, 0.9), (0.0, 1.0)), 10**6, 0.05
TINY, HUGE = 2.0**-13, 10.0


def misses(few: int, h: float, delta: float) -> bool:
    """Whether the bound at bandwidth h is below the truth, given how many rows have score 1/2."""
    summary = summary_of(LAW.score, np.array([[few, 0], [0, N - few]]))
    return upper(perturbed.upper_terms(summary, Noise("additive", h), delta)) < LAW.served(h)[0]


def miss_probabilities(delta: float) -> tuple[float, float]:
    """Exactly: at the tiny bandwidth, missed below a count; at the huge one, missed above one."""
    spread = 10 * int(np.sqrt(N * 0.09))
    low, high = N // 10 - spread, N // 10
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if misses(middle, TINY, delta) else (low, middle)
    below = float(binom.cdf(low, N, 0.1))
    low, high = N // 10, N // 10 + spread
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if misses(middle, HUGE, delta) else (middle, high)
    return below, float(binom.sf(high - 1, N, 0.1))


def test_a_bandwidth_that_the_scores_choose_fails_more_often_than_delta_unless_delta_is_shared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(coordinates, "FINENESS", 128)
    each = miss_probabilities(DELTA)
    assert max(each) <= DELTA
    assert sum(each) > 1.1 * DELTA
    assert sum(miss_probabilities(DELTA / 2)) <= DELTA
