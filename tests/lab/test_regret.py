"""Theorem 16: no more is lost at a threshold than is certified, and what is certified to be lost is."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from scipy.stats import binom, multinomial

import calcert
from calcert.certificates import regret as module
from calcert.certificates.limits.share_limits import Gain
from calcert.certificates.regret import Decision, regret, regret_lower, upper_terms
from tests.lab.distributions import too_many

Law = dict[tuple[float, int], float]
"""The probability of each score and label."""

LAWS: list[Law] = [
    {(0.2, 1): 0.4, (0.2, 0): 0.6},
    {(0.2, 1): 0.35, (0.7, 1): 0.25, (0.7, 0): 0.4},
    {(0.2, 0): 0.5, (0.3, 0): 0.3, (0.6, 1): 0.2},
    {(0.1, 1): 0.1, (0.25, 1): 0.3, (0.25, 0): 0.6},
]


def truth(law: Law, decision: Decision) -> float:
    """What the best other threshold saves: over all of them, both kinds of ends, always and never."""
    scores = sorted({score for score, _ in law})
    saved = [0.0]
    for cut in range(len(scores) + 1):
        acted = {score: place >= cut for place, score in enumerate(scores)}
        saved.append(
            sum(p * (y - decision.level) * (acted[x] - (x >= decision.threshold)) for (x, y), p in law.items())
        )
    return max(saved)


def outcomes(law: Law, n: int) -> tuple[np.ndarray, np.ndarray]:
    """All counts of n rows, and their probabilities."""
    if len(law) == 2:
        counts = np.array([(k, n - k) for k in range(n + 1)])
    else:
        counts = np.array([(i, j, n - i - j) for i in range(n + 1) for j in range(n + 1 - i)])
    return counts, multinomial.pmf(counts, n, list(law.values()))


def summary_of(law: Law, counts: np.ndarray) -> calcert.Summary:
    scores, labels = np.array([x for x, _ in law]), np.array([y for _, y in law])
    return calcert.summarize(np.repeat(scores, counts), np.repeat(labels, counts))


def missed(law: Law, n: int, decision: Decision, delta: float, cut: float = 0.0) -> float:
    """The probability of all outcomes in which the bound, its sampling term cut, is below the truth."""
    total, true = 0.0, truth(law, decision)
    for counts, probability in zip(*outcomes(law, n), strict=True):
        if probability > 1e-9:
            terms = upper_terms(summary_of(law, counts), decision, delta)
            total += probability * (math.fsum(terms.values()) - cut * terms["sampling"] < true)
    return total


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("decision", [Decision(0.3, 0.3), Decision(0.3, 0.5), Decision(0.65, 0.2)])
def test_the_bound_covers_over_all_outcomes(law: Law, decision: Decision) -> None:
    for n, delta in ((12, 0.3), (40, 0.2)):
        assert missed(law, n, decision, delta) <= delta


def test_a_score_in_many_rows_is_covered_and_a_sampling_term_cut_by_a_tenth_is_caught() -> None:
    law, decision, delta = {(0.2, 1): 0.4, (0.2, 0): 0.6}, Decision(0.3, 0.3), 0.05
    assert 0.8 * delta < missed(law, 1_000, decision, delta) <= delta
    assert missed(law, 1_000, decision, delta, cut=0.1) > delta


def test_lower_bounds_stay_below_the_truth_over_all_outcomes() -> None:
    for law, decision in product(LAWS[:3], (Decision(0.3, 0.3), Decision(0.3, 0.5))):
        true = truth(law, decision)
        found = [
            (probability, regret_lower(summary_of(law, counts), decision, 0.2, 0).limit)
            for counts, probability in zip(*outcomes(law, 24), strict=True)
        ]
        assert sum(p for p, limit in found if limit > true) <= 0.2


def test_listed_thresholds_are_covered_and_four_at_full_delta_are_caught() -> None:
    """One score on either side of the threshold, so that limits below and above are missed at different outcomes."""
    n, rate, delta, listed, full = 30, 0.5, 0.08, 0.0, 0.0
    scores, decision = np.repeat([0.2, 0.8], n // 2), Decision(0.5, 0.5)
    for low in range(n // 2 + 1):
        for high in range(n // 2 + 1):
            likely = float(binom.pmf(low, n // 2, rate) * binom.pmf(high, n // 2, rate))
            # Nothing can be saved: only rows that seem to save are of interest.
            if likely > 1e-6 and (low > 9 or high < 6):
                labels = [k < ones for ones in (low, high) for k in range(n // 2)]
                rows = calcert.summarize(scores, labels)
                listed += likely * (module._saved_by_listed(rows, decision, delta) > 0)
                full += likely * (module._saved_by_listed(rows, decision, 4 * delta) > 0)
    assert delta / 4 < listed <= delta < full


def power_law(power: float, t: float) -> tuple[float, float]:
    """What is lost at t for uniform scores if the chance is x^power, power > 1, and its standard error for one row."""
    best = t ** (1 / power)
    ones = (best ** (power + 1) - t ** (power + 1)) / (power + 1)
    lost = t * (best - t) - ones
    return lost, math.sqrt(ones * (1 - t) ** 2 + (best - t - ones) * t**2 - lost**2)


@pytest.mark.parametrize(("n", "power"), [(300, 1.0), (300, 1.5), (2_000, 1.2)])
def test_bounds_cover_thousands_of_data_sets_of_many_scores(n: int, power: float) -> None:
    rng, delta, runs = np.random.default_rng(n), 0.1, 1_400
    true = power_law(power, 0.3)[0] if power > 1 else 0.0
    too_small = too_large = control = 0
    for run in range(runs):
        x = rng.random(n)
        rows = calcert.summarize(x, rng.random(n) < x**power)
        terms = upper_terms(rows, Decision(0.3, 0.3), delta)
        too_small += math.fsum(terms.values()) < true
        control += terms["plug-in"] + terms["discretisation"] < true
        if run < 300:
            too_large += regret_lower(rows, Decision(0.3, 0.3), delta, run).limit > true
    assert not too_many(too_small, runs, delta)
    assert not too_many(too_large, 300, delta)
    if power > 1:
        assert too_many(control, runs, delta), "without its sampling term the bound must miss"


def test_calibrated_scores_are_certified_to_lose_little() -> None:
    for n, runs, most in ((300, 40, 0.024), (1_000, 40, 0.0092), (10_000, 20, 0.0021), (100_000, 8, 0.00042)):
        rng = np.random.default_rng(n)
        uppers = []
        for _ in range(runs):
            x = rng.random(n)
            rows = calcert.summarize(x, rng.random(n) < x)
            uppers.append(math.fsum(upper_terms(rows, Decision(0.3, 0.3), 0.05).values()))
        assert np.median(uppers) <= most


def test_a_bent_curve_in_many_rows_is_bounded_near_the_truth() -> None:
    rng = np.random.default_rng(7)
    uppers = []
    for _ in range(9):
        x = rng.random(100_000)
        rows = calcert.summarize(x, rng.random(100_000) < x**1.1)
        uppers.append(math.fsum(upper_terms(rows, Decision(0.3, 0.3), 0.05).values()))
    assert power_law(1.1, 0.3)[0] < np.median(uppers) <= 0.0015


def test_most_losses_of_three_standard_errors_are_found() -> None:
    rng, found = np.random.default_rng(3), 0
    lost, error = power_law(1.5, 0.3)
    n = round((3 * error / lost) ** 2)
    for run in range(60):
        x = rng.random(n)
        found += regret_lower(calcert.summarize(x, rng.random(n) < x**1.5), Decision(0.3, 0.3), 0.05, run).limit > 0
    assert found >= 40


def test_a_lower_bound_that_is_tested_on_the_rows_that_chose_it_is_caught() -> None:
    """The control: calibrated rows lose nothing, and the best of all thresholds in the same rows seems to save."""
    rng, runs, found, control = np.random.default_rng(8), 300, 0, 0
    for run in range(runs):
        x = rng.random(500)
        rows = calcert.summarize(x, rng.random(500) < x)
        found += regret_lower(rows, Decision(0.3, 0.3), 0.1, run).limit > 0
        opposite = [
            Gain(float(side.most[k]), float(side.least_rows[k]), float(side.most_rows[k]), 500, side.pay).upper(0.1)
            for side in module.sides(rows.points, rows.points.count, Decision(0.3, 0.3), opposite=True)
            for k in [int(side.seen.argmin())]
        ]
        control += min(opposite) < 0
    assert not too_many(found, runs, 0.1)
    assert too_many(control, runs, 0.1)


def test_cells_hide_no_more_than_is_charged() -> None:
    rng = np.random.default_rng(5)
    x = 0.3 + rng.normal(0, 2e-5, 6_000)
    y = rng.random(6_000) < 0.5
    rows = calcert.summarize(x, y)
    assert not rows.is_finite
    for decision in (Decision(0.3, 0.3), Decision(0.30001, 0.6)):
        order = np.argsort(x)
        gain = (y[order] - decision.level) / x.size
        place = int(np.searchsorted(x[order], decision.threshold))
        exact = max(0.0, np.cumsum(gain[:place][::-1]).max(), np.cumsum(-gain[place:]).max())
        assert (
            max(side.most.max() for side in module.sides(rows.points, rows.points.count, decision)) / x.size
            >= exact - 1e-12
        )
        terms = upper_terms(rows, decision, 0.05)
        assert terms["plug-in"] + terms["discretisation"] >= exact


def test_blocks_of_thresholds_lose_next_to_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(6)
    x = rng.random(2_000)
    rows = calcert.summarize(x, rng.random(2_000) < x)
    coarse = math.fsum(upper_terms(rows, Decision(0.3, 0.3), 0.05).values())
    monkeypatch.setattr(module, "FINER", 1.0001)
    fine = math.fsum(upper_terms(rows, Decision(0.3, 0.3), 0.05).values())
    assert fine <= coarse <= 1.02 * fine


def test_rows_of_a_listed_score_that_is_the_threshold_are_acted_on() -> None:
    rows = calcert.summarize([0.3] * 400 + [0.1] * 400, [1] * 400 + [0] * 400)
    assert rows.is_finite
    assert regret(rows, threshold=0.3).terms["plug-in"] == 0
    assert regret(rows, threshold=0.31).terms["plug-in"] == pytest.approx(0.5 * 0.69)


def test_costs_and_threshold_say_each_other() -> None:
    rows = calcert.summarize([0.2, 0.8] * 300, [0, 1] * 300)
    assert regret(rows, costs=(30, 70)).upper == regret(rows, threshold=0.3).upper
    assert Decision.of(0.5, (30, 70, "EUR")) == Decision(0.5, 0.3)
    with pytest.raises(TypeError, match="threshold or costs must be given; got neither"):
        regret(rows)
    with pytest.raises(ValueError, match=r"threshold must lie strictly between 0 and 1; got 30\. For 30% pass 0\.3\."):
        regret(rows, threshold=30)
    with pytest.raises(ValueError, match=r"costs must be .*, both positive; got \(0, 70\)"):
        regret(rows, costs=(0, 70))
    with pytest.raises(
        ValueError, match="summary must be of independent rows of equal weight; got 4 rows in 2 clusters"
    ):
        regret(calcert.summarize([0.2, 0.8] * 2, [0, 1] * 2, clusters=[0, 0, 1, 1]), threshold=0.3)


@pytest.mark.parametrize(("n", "rate", "delta"), [(27, 0.6885, 0.05), (100, 0.736, 0.01)])
def test_at_the_default_seed_lower_bounds_are_above_the_truth_no_more_often_than_delta(
    n: int, rate: float, delta: float
) -> None:
    """All scores 0.2, nobody acted on. These are the worst distributions for a single split, seven times delta."""
    positives = np.arange(n + 1)
    likely = binom.pmf(positives, n, rate) > 1e-7
    lowers = [
        calcert.bounds.regret(
            calcert.summarize([0.2] * n, [1] * k + [0] * (n - k)), threshold=0.3, confidence=1 - delta
        ).lower
        for k in positives[likely].tolist()
    ]
    above = np.array(lowers) > rate - 0.3
    assert above.any(), "bounds that never reach the truth show nothing"
    assert binom.pmf(positives[likely][above], n, rate).sum() <= delta
