"""D6: limits from two strata are missed by no trials more often than their level, and see that trials differ."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom

import calcert
from calcert.certificates.limits import strata_limits
from calcert.certificates.limits.deviations import normal_quantile
from calcert.certificates.limits.share_limits import share_lower
from calcert.certificates.limits.strata_limits import Strata
from calcert.kernels.strata import reaches

Floats = NDArray[np.float64]


def hits(chances: Floats) -> Floats:
    """The distribution of the number of successes of independent trials."""
    found = np.ones(1)
    for chance in chances:
        found = np.convolve(found, [1 - chance, chance])
    return found


def trials(rng: np.random.Generator, n: int) -> Iterator[Floats]:
    """Probabilities alike, as different as can be, and at random."""
    for mean in rng.random(3):
        yield np.full(n, mean)
        certain = int(mean * n)
        yield np.append(np.ones(certain), [mean * n - certain] + [0.0] * n)[:n]
        yield rng.beta(mean, 1 - mean, n)


def both(first: Floats, others: Floats) -> Floats:
    """The probability of each pair of numbers of successes."""
    return np.outer(hits(first), hits(others))


def test_tails_are_at_least_those_of_any_trials() -> None:
    rng, close = np.random.default_rng(0), []
    for first in trials(rng, 24):
        for others in trials(rng, 17):
            weight, probability = float(rng.uniform(0.6, 1.6)), both(first, others)
            total = np.arange(25)[:, None] + weight * np.arange(18)
            for reached in np.quantile(total, (0.3, 0.6, 0.9)).tolist():
                exact = float(probability[total >= reached - 1e-9].sum())
                tail = reaches(reached, 24.0, first.mean(), 17.0, others.mean(), weight)
                assert exact <= tail + 1e-12
                close.append(tail / exact if 1e-4 < exact < 0.05 and np.ptp(first) == np.ptp(others) == 0 else math.nan)
    assert np.nanmin(close) < 1.6, "a tail of trials alike is not far above the exact one"


@pytest.mark.parametrize(("means", "level"), [((0.2, 0.7), 0.2), ((0.1, 0.9), 0.05), ((0.4, 0.6), 0.05)])
def test_no_trials_are_missed_more_often_than_the_level_over_all_outcomes(
    means: tuple[float, float], level: float
) -> None:
    rows = (14.0, 11.0)
    lower = np.array([[Strata(rows, means, (a, b)).lower(level) for b in range(12)] for a in range(15)])
    rng, worst = np.random.default_rng(1), 0.0
    for first in trials(rng, 14):
        for others in trials(rng, 11):
            mean = (first.sum() + others.sum()) / 25
            worst = max(worst, float(both(first, others)[lower > mean + 1e-12].sum()))
    for p in np.linspace(0, 1, 21):
        for q in np.linspace(0, 1, 21):
            worst = max(
                worst, float(both(np.full(14, p), np.full(11, q))[lower > (14 * p + 11 * q) / 25 + 1e-12].sum())
            )
    assert level / 8 < worst <= level


def missed(p: tuple[float, float], n: int, level: float, cut: float = 0.0) -> float:
    """The probability that the limit, cut towards the rows, exceeds the mean: n trials of each probability."""
    mean, found = math.fsum(p) / 2, 0.0
    likely = [np.flatnonzero(binom.pmf(np.arange(n + 1), n, each) > 1e-7) for each in p]
    for a in likely[0].tolist():
        for b in likely[1].tolist():
            if (a + b) / (2 * n) > mean:
                limit = Strata((n, n), (0.25, 0.75), (a, b)).lower(level)
                limit += cut * ((a + b) / (2 * n) - limit)
                found += float(binom.pmf(a, n, p[0]) * binom.pmf(b, n, p[1])) * (limit > mean)
    return found


def test_negative_control_limits_cut_by_a_fifth_are_caught() -> None:
    """As likely as their scores say: the worst that there is, for what the weights are chosen."""
    assert 0.004 < missed((0.25, 0.75), 60, 0.01) <= 0.01 < missed((0.25, 0.75), 60, 0.01, cut=0.2)


def test_negative_control_taking_the_scores_for_the_probabilities_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    assert missed((0.5, 0.5), 60, 0.01) <= 0.01
    monkeypatch.setattr(strata_limits, "may_reach", lambda *_: False)
    monkeypatch.setattr(strata_limits, "normal_quantile", lambda level: 1e-9 * normal_quantile(level))
    assert missed((0.5, 0.5), 60, 0.01) > 0.01, "trials alike vary more than their scores say"


def test_limits_cover_in_thousands_of_data_sets() -> None:
    rng, runs, out, level = np.random.default_rng(2), 1_500, 0, 0.05
    for run in range(runs):
        x = rng.uniform(0.05, 0.95, 150)
        chance = (x, np.full(150, 0.5), (x > 0.5) * 0.8 + 0.1)[run % 3]
        strata = Strata.of(calcert.summarize(x, rng.random(150) < chance))
        assert strata is not None
        out += strata.lower(level) > chance.mean() or 1 - strata.opposite.lower(level) < chance.mean()
    assert binom.sf(out - 1, runs, 2 * level) > 1e-6


def test_scores_that_tell_rows_apart_make_limits_narrower() -> None:
    rng = np.random.default_rng(3)
    for x, most in ((rng.random(2_000), 0.9), (rng.beta(0.3, 0.3, 2_000), 0.74)):
        rows = calcert.summarize(x, rng.random(2_000) < x)
        strata = Strata.of(rows)
        assert strata is not None
        assert strata.is_worth(1e-3)
        assert sum(strata.rows) == 2_000
        alone = float(share_lower(np.array(rows.positives), np.array(rows.n), 1e-3))
        assert (rows.base_rate - strata.lower(1e-3)) < most * (rows.base_rate - alone)


def test_labels_do_not_choose_and_strata_are_left_out_where_they_do_not_help() -> None:
    rng = np.random.default_rng(4)
    x = rng.random(500)
    cuts = {Strata.of(calcert.summarize(x, rng.random(500) < chance))._replace(hits=(0, 0)) for chance in (0.1, x, 0.9)}  # type: ignore[union-attr]
    assert len(cuts) == 1
    assert Strata.of(calcert.summarize(0.45 + x / 10, x < 0.5)) is None
    assert Strata.of(calcert.summarize([0.5] * 500, x < 0.5)) is None
    few = Strata.of(calcert.summarize(x[:40], x[:40] < 0.5))
    assert few is not None
    assert not few.is_worth(1e-3)
