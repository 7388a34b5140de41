"""The p-value of perfect calibration: no more often small than it says, and as keen as Kuiper's test."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom, norm

import calcert
from calcert import Summary
from calcert.certificates import calibration_test as module
from calcert.certificates.calibration_test import calibration_test, mixing_distance
from tests.certificates.test_bernoulli_shares import coins, hits
from tests.certificates.test_l1_lower import by_cells
from tests.lab.distributions import summary_of, too_many

Floats = NDArray[np.float64]


def statistic(score: Floats, rows: Floats, positives: Floats) -> float:
    sums = np.concatenate([[0.0], np.cumsum(score * rows - positives)])
    return float((sums.max() - sums.min()) / rows.sum())


SCORES, ROWS = np.array([0.2, 0.5, 0.6]), np.array([3, 2, 4])


def test_the_p_value_is_no_more_often_small_than_it_says_over_all_labels_and_draws() -> None:
    """Given the labels, draws reach their statistic with a chance that is added up; so are the p-values."""
    draws = 19
    tables = list(itertools.product(*(range(rows + 1) for rows in ROWS)))
    chance = np.array([math.prod(binom.pmf(k, ROWS, SCORES)) for k in tables])
    seen = []
    for table in tables:
        count = np.stack([ROWS - table, table], axis=1)
        seen.append(calibration_test(summary_of(tuple(SCORES), count), draws=1).statistic)
        assert seen[-1] == pytest.approx(statistic(SCORES, ROWS, np.array(table)))
    reach = np.array([min(chance[np.array(seen) >= value * (1 - 1e-9)].sum(), 1.0) for value in seen])
    for alpha in np.arange(1, 21) / 20:
        small = (chance * binom.cdf(round(alpha * 20) - 1, draws, reach)).sum()
        assert small <= alpha + 1e-12
    # Ties left aside it would be small too often: that is why draws as bad as the labels count.
    beyond = np.array([chance[np.array(seen) > value * (1 + 1e-9)].sum() for value in seen])
    assert (chance * binom.cdf(0, draws, beyond)).sum() > 1 / 20


def test_draws_have_the_law_of_labels_under_the_scores() -> None:
    """The share of draws that reach what was seen, against its exact probability."""
    tables = list(itertools.product(*(range(rows + 1) for rows in ROWS)))
    chance = np.array([math.prod(binom.pmf(k, ROWS, SCORES)) for k in tables])
    seen = np.array([statistic(SCORES, ROWS, np.array(table)) for table in tables])
    for table in tables[:: len(tables) // 8]:
        found = calibration_test(summary_of(tuple(SCORES), np.stack([ROWS - table, table], axis=1)), draws=20_000)
        exact = chance[seen >= found.statistic * (1 - 1e-9)].sum()
        reached = round(found.p_value * 20_001) - 1
        assert min(binom.cdf(reached, 20_000, exact), binom.sf(reached - 1, 20_000, exact)) > 1e-6


def calibrated(n: int, rng: np.random.Generator) -> Summary:
    """n rows with scores spread over [0, 1], each the chance of its label."""
    x = np.sort(rng.random(n))
    y = rng.random(n) < x
    return summary_of(tuple(x), np.stack([~y, y], axis=1).astype(np.int64))


@pytest.mark.parametrize("form", ["listed", "cells"])
def test_a_calibrated_classifier_is_rejected_at_the_nominal_rate(form: str) -> None:
    """4,000 data sets at 0.05: neither too often nor, the statistic being nearly continuous, too seldom."""
    rng, runs, rejected = np.random.default_rng(1), 2000, 0
    for seed in range(runs):
        summary = calibrated(60, rng)
        found = calibration_test(by_cells(summary) if form == "cells" else summary, draws=19, seed=seed)
        assert found.hidden < 1e-3
        rejected += found.p_value <= 0.05 + found.hidden
    assert not too_many(rejected, runs, 0.05)
    assert rejected > binom.ppf(1e-6, runs, 0.05)


def test_counting_only_draws_that_are_worse_is_caught() -> None:
    """(number of worse draws) / draws is no p-value: with 19 draws it is 0 far too often."""
    rng, runs, rejected = np.random.default_rng(1), 600, 0
    for seed in range(runs):
        found = calibration_test(calibrated(60, rng), draws=9, seed=seed)
        rejected += (found.p_value * 10 - 1) / 9 <= 0.05
    assert too_many(rejected, runs, 0.05)


def kuiper(x: Floats, y: NDArray[np.bool_]) -> float:
    """Kuiper's p-value: the range of the running sums over its deviation, as if of Brownian motion (Feller 1951)."""
    order = np.argsort(x)
    sums = np.concatenate([[0.0], np.cumsum((y - x)[order])])
    r = (sums.max() - sums.min()) / math.sqrt((x * (1 - x)).sum())
    return 8 * math.fsum((-1) ** (k - 1) * k * norm.sf(k * r) for k in range(1, 60))


def test_it_rejects_as_often_as_kuipers_test() -> None:
    ours = theirs = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        x = rng.random(1000)
        y = rng.random(1000) < x**1.1
        ours += calcert.bounds.calibration_test(x, y, draws=199).p_value <= 0.05
        theirs += kuiper(x, y) <= 0.05
    assert theirs > 0.3 * 100
    assert ours >= theirs - 2


@pytest.mark.parametrize("n", [1, 2, 3, 7, 40])
def test_coins_that_differ_are_as_near_to_coins_alike_as_is_charged(n: int) -> None:
    sharpest = 0.0
    for chances in coins(n):
        mean = chances.mean()
        spread = ((chances - mean) ** 2).sum()
        distance = np.abs(hits(chances) - binom.pmf(np.arange(n + 1), n, mean)).sum() / 2
        charged = float(mixing_distance(np.array([n]), np.array([mean]), np.array([spread]))[0])
        assert distance <= charged + 1e-12
        if charged > 0.01:
            sharpest = max(sharpest, distance / charged)
    # A charge of half as much would be caught.
    assert n == 1 or sharpest > 0.5


@pytest.mark.parametrize("chance", [0.0, 1.0, 1e-12, 1 - 1e-12, 0.3])
def test_the_charge_is_finite_at_every_chance_and_naught_without_spread(chance: float) -> None:
    for n in (1, 5, 10**9):
        charge = mixing_distance(np.array([n, n]), np.array([chance, chance]), np.array([0.0, 1e-20]))
        assert charge[0] == 0
        assert 0 <= charge[1] <= 1


def test_what_cells_hide_is_charged_and_covers_how_far_the_scores_are_apart() -> None:
    rng = np.random.default_rng(0)
    for scores in (rng.random(3000), 0.3 + 2.0**-12 * rng.random(3000), rng.beta(0.05, 0.05, 3000)):
        x = np.sort(scores)
        summary = by_cells(calcert.summarize(x, rng.random(x.size) < x))
        for bits in (0, 3, 6):
            coins_found = module._joined(summary, bits)
            group = np.repeat(np.arange(summary.cell.size), summary.count.sum(axis=1))
            joined = np.unique(summary.cell[group] >> bits, return_inverse=True)[1]
            rows = np.bincount(joined)
            mean = np.bincount(joined, x) / rows
            spread = np.bincount(joined, (x - mean[joined]) ** 2)
            assert (coins_found.rows == rows).all()
            assert coins_found.probability == pytest.approx(mean, abs=1e-11)
            exact = mixing_distance(rows, mean, spread).sum()  # type: ignore[arg-type]
            assert exact <= coins_found.hidden
            assert coins_found.hidden <= 3 * exact + 1e-6


def test_the_charge_is_added_to_the_p_value_and_stays_small() -> None:
    rng = np.random.default_rng(0)
    x = rng.random(20_000)
    found = calibration_test(calcert.summarize(x, rng.random(20_000) < x**1.2), draws=199)
    assert 0 < found.hidden <= 0.5 / 200
    assert found.p_value == pytest.approx(1 / 200 + found.hidden)
    listed = calibration_test(calcert.summarize(x[:4000], x[:4000] > 0.5), draws=19)
    assert (listed.hidden, listed.p_value) == (0.0, 0.05)


def test_labels_have_no_say_in_how_cells_are_joined() -> None:
    x = np.random.default_rng(0).random(6000)
    found = {calibration_test(calcert.summarize(x, y), draws=1).hidden for y in (x > 0.5, x > 2, x < 2)}
    assert len(found) == 1


def test_rows_tables_and_summaries_give_the_same_answer_and_seeds_others() -> None:
    import pandas as pd

    rng = np.random.default_rng(0)
    x = rng.random(300)
    y = rng.random(300) < x
    found = calcert.bounds.calibration_test(x, y, draws=99)
    assert calcert.bounds.calibration_test(calcert.summarize(x, y), draws=99) == found
    assert (
        calcert.bounds.calibration_test(calcert.Rows(pd.DataFrame({"p": x, "y": y}), score="p", label="y"), draws=99)
        == found
    )
    assert calcert.bounds.calibration_test(x, y, draws=99, seed=1).p_value != found.p_value


@pytest.mark.parametrize("wrong", [0, -1, 2.5, True])
def test_a_wrong_number_of_draws_is_refused_by_name(wrong: Any) -> None:
    with pytest.raises(ValueError, match="draws must be a whole number between 1 and 1,000,000; got"):
        calcert.bounds.calibration_test([0.5], [1], draws=wrong)
