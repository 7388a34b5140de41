"""How large a batch is may not depend on its rows, scores included, for W2 and W3; W1 does not mind. All exact.

The classifier gives score 1 to half of the rows and score 0 to the others, and every label is 0. So no rule whatever
can look at labels: what breaks the bounds is a first batch that ends when high scores are rare in it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from scipy.signal import fftconvolve
from scipy.stats import binom

from calcert.certificates.drifting_pool import drifting_limit
from calcert.certificates.limits.deviations import Limit, Squares, iid_limit, share_for_mean
from calcert.certificates.perturbed import upper_terms
from calcert.monitoring.betting_strategies import LIMITS, Wealth
from calcert.monitoring.looks import share
from calcert.monitoring.watched_statements import L1Memory, gains
from calcert.perturbation import sech_kernel
from calcert.perturbation.noise import Noise
from calcert.summary.summary import Summary
from tests.monitoring.lives import Law, finite_summary

NOISE, DELTA, CHANCE = Noise("additive", 1 / 4), 0.05, 0.5
SERVED = sech_kernel.mean(np.array([0.0, 1.0]), NOISE.size)
ERROR = float((1 - CHANCE) * SERVED[0] + CHANCE * SERVED[1])
"""Labels are 0, so the calibration error of the served classifier is the mean of what it serves."""

SIZES = list(itertools.accumulate(range(97), lambda size, _: math.ceil(1.1 * size), initial=10_000))
"""Where the first batch may end: from ten thousand rows to a hundred million, ten per cent apart."""

PROMISES: dict[str, tuple[Limit, float]] = {
    "W2": (drifting_limit, DELTA * share(1)),
    "W3": (iid_limit, DELTA / 2 * share(1) * share(1)),
}
"""The limit behind the upper bound, and what it may fail with at the first look (W3: of the first window)."""


def rows(high: int, size: int) -> Summary:
    return finite_summary(np.array([0.0, 1.0]), np.array([[size - high, 0], [high, 0]]))


def misses(high: int, size: int, limit: Limit, delta: float) -> bool:
    """Whether the bound falls short of the error; it grows with the number of high scores."""
    return sum(upper_terms(rows(high, size), NOISE, delta, limit).values()) < ERROR


def low_enough(size: int, limit: Limit, delta: float) -> int:
    """So few high scores that the bound misses, from one step of its inversion; a little fewer than need be."""
    hidden = upper_terms(rows(size // 2, size), NOISE, delta, limit)["discretisation"] + 1e-8

    def one_step(high: int) -> bool:
        first, level = float(np.average(SERVED, weights=[size - high, high])), share_for_mean(size) * delta
        moment = Squares.of(SERVED**2 + hidden, [size - high, high]).upper(size, delta)
        return ERROR - limit(moment - ERROR**2, 1 + ERROR, size, level) > first + hidden

    low, high = 0, size // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if one_step(middle) else (low, middle)
    return low


def ever_low_enough(thresholds: Sequence[int]) -> float:
    """The exact probability that the high scores are that few at one of SIZES; tails of 1e-13 are left out of it."""
    law, first, before, stopped = np.ones(1), 0, 0, 0.0
    for size, threshold in zip(SIZES, thresholds, strict=True):
        low, high = (int(tail(1e-14, size - before, CHANCE)) for tail in (binom.ppf, binom.isf))
        law = fftconvolve(law, binom.pmf(np.arange(low, high + 1), size - before, CHANCE))
        first, before = first + low, size
        stop = min(max(threshold - first + 1, 0), law.size)
        stopped += float(law[:stop].sum())
        going_on = np.flatnonzero(law > 1e-13)
        start = max(stop, int(going_on[0]))
        law, first = law[start : going_on[-1] + 1], first + start
    return stopped


@pytest.fixture(scope="module", params=PROMISES)
def promise(request: pytest.FixtureRequest) -> tuple[Limit, float, list[int]]:
    limit, delta = PROMISES[request.param]
    return limit, delta, [low_enough(size, limit, delta) for size in SIZES]


def test_a_first_batch_that_ends_when_its_scores_suit_breaks_the_promise(
    promise: tuple[Limit, float, list[int]],
) -> None:
    limit, delta, thresholds = promise
    assert all(misses(few, size, limit, delta) for few, size in zip(thresholds, SIZES, strict=True))
    missed = ever_low_enough(thresholds)
    # More than this look may fail with, and more than the whole life may.
    assert missed > 2 * delta
    assert missed > 1.1 * DELTA


def test_a_first_batch_of_any_size_fixed_in_advance_keeps_the_promise(promise: tuple[Limit, float, list[int]]) -> None:
    limit, delta, thresholds = promise
    for few, size in list(zip(thresholds, SIZES, strict=True))[::12]:
        step = max(math.isqrt(size) // 50, 1)
        enough = next(high for high in itertools.count(few, step) if not misses(high, size, limit, delta))
        assert binom.cdf(enough, size, CHANCE) <= delta


def stopped_batches(law: Law, stop: Callable[[list[tuple[int, int]]], bool]) -> list[tuple[float, Summary]]:
    """All batches of a law on two scores that end as soon as `stop` says so, or with the third row."""
    found, open_ends = [], [(1.0, list[tuple[int, int]]())]
    while open_ends:
        chance, seen = open_ends.pop()
        if len(seen) == 3 or (seen and stop(seen)):
            count = np.zeros((2, 2), np.int64)
            for place in seen:
                count[place] += 1
            found.append((chance, finite_summary(law.scores, count)))
            continue
        for score, label in itertools.product(range(2), range(2)):
            likely = law.chance[score] if label else 1 - law.chance[score]
            open_ends.append((chance * law.probability[score] * likely, [*seen, (score, label)]))
    return found


@pytest.mark.parametrize(
    "stop",
    [lambda seen: seen[-1][0] == 1, lambda seen: seen[-1][1] == 0, lambda seen: seen[-1] == (1, 0)],
    ids=["a high score", "a label 0", "a high score with label 0"],
)
def test_wealth_is_a_supermartingale_however_the_stream_is_cut_into_batches(
    stop: Callable[[list[tuple[int, int]]], bool],
) -> None:
    law = Law(np.array([0.3, 0.8]), np.array([0.5, 0.5]), np.array([0.1, 0.9]))
    outcomes = stopped_batches(law, stop)
    assert sum(chance for chance, _ in outcomes) == pytest.approx(1)
    expected = np.zeros(LIMITS.size)
    for first, batch in outcomes:
        memory, wealth = L1Memory.blank(), Wealth.blank().after(gains(batch, L1Memory.blank().witnesses()))
        memory = memory.after(batch)
        for second, later in outcomes:
            after = wealth.after(gains(later, memory.witnesses()))
            expected += first * second * np.exp(after.evidence())
    assert (expected[law.error <= LIMITS] <= 1 + 1e-9).all()
    assert expected[0] > 1 - 1e-9
