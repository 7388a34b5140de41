"""Rows chosen by coins: every outcome of small laws, coins that do what they say, and what forgetting weights does."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import multinomial

import calcert
from calcert.certificates import finite, in_the_large
from calcert.reports import rows_to_label
from calcert.reports.rows_to_label import KeepRule, sizes
from tests.lab.distributions import ROUNDING, too_many, upper

SCORES = np.array([0.0, 0.5])
SHARES = np.array([0.8, 0.2])
CHANCES = np.array([0.15, 0.5])
"""Many sure rows that are wrong, and a few doubtful ones that are right: all of the error is among the sure."""

TRUTH = float(SHARES @ np.abs(SCORES - CHANCES))


def outcomes(rule: KeepRule, *, by_label: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Scores, labels and weights of the kinds of rows, and the chance of each among those that are chosen."""
    x, y = np.repeat(SCORES, 2), np.tile(np.array([0, 1], np.int8), 2)
    law = np.repeat(SHARES, 2) * np.where(y == 1, np.repeat(CHANCES, 2), 1 - np.repeat(CHANCES, 2))
    weights = rule.weights(sizes(x, y if by_label else None))
    return x, y, weights, law / weights / (law / weights).sum()


@pytest.mark.parametrize("by_label", [False, True], ids=["scores alone", "labels too"])
@pytest.mark.parametrize("delta", [0.4, 0.05])
def test_chosen_rows_are_missed_no_more_often_than_delta_over_all_outcomes(by_label: bool, delta: float) -> None:
    rule = KeepRule(least=0.1, scale=1.0)
    x, y, weights, law = outcomes(rule, by_label=by_label)
    declared: dict[str, Any] = {"weight_unit": 1 / 64, "largest_weight": rule.largest_weight}
    if by_label:
        declared["largest_gain"] = rule.largest_gain
    number = 6
    below = above = bare = total = 0.0
    for counts in itertools.product(range(number + 1), repeat=4):
        if sum(counts) != number:
            continue
        chance = float(multinomial.pmf(counts, number, law))
        kinds = np.repeat(np.arange(4), counts)
        rows = calcert.summarize(x[kinds], y[kinds], weights=weights[kinds], **declared)
        terms = finite.upper_terms(rows, delta)
        below += chance * (upper(terms) < TRUTH - ROUNDING)
        bare += chance * (upper(terms, cut=1.0) < TRUTH - ROUNDING)
        above += chance * (in_the_large.in_the_large_lower(rows, delta) > abs(SHARES @ (SCORES - CHANCES)) + ROUNDING)
        total += chance
    assert math.isclose(total, 1.0)
    assert below <= delta
    assert above <= delta
    assert bare > 0.2, "the law must be one that rows alone would miss"


def test_coins_choose_every_row_as_often_as_its_weight_says(monkeypatch: pytest.MonkeyPatch) -> None:
    rule = KeepRule(least=0.05, scale=0.3)
    monkeypatch.setattr(rows_to_label, "best_rule", lambda *given: (rule, 0.5))
    x = np.random.default_rng(0).beta(0.1, 1, 2_048)
    off = variance = 0.0
    for seed in range(1_000):
        chosen = calcert.sample_for_labelling(x, 200, seed=seed)
        off += float(chosen.weights.sum()) - (x.size - chosen.aside)
        variance += float((rule.weights(sizes(x, None)) - 1).sum())
    # The weights of the chosen rows add up to the number of all, in the mean.
    assert abs(off) < 5 * math.sqrt(variance)
    assert math.sqrt(variance) < 0.02 / 5 * 1_000 * x.size, "coins that were off by a fiftieth would be seen"


def test_chosen_rows_are_covered_and_forgetting_their_weights_is_caught() -> None:
    # Sure rows are wrong, doubtful ones right; without weights the doubtful ones outvote them.
    rng = np.random.default_rng(1)
    runs, delta = 30, 0.2
    scores, shares, curve = np.array([0.001, 0.5]), (0.95, 0.05), np.array([0.05, 0.5])
    truth = float(np.asarray(shares) @ np.abs(scores - curve))
    missed = dict.fromkeys(["told", "forgotten"], 0)
    for run in range(runs):
        kind = rng.choice(2, 40_000, p=shares)
        chosen = calcert.sample_for_labelling(scores[kind], 4_000, seed=run)
        assert chosen.rule is not None
        x, y = scores[kind[chosen.rows]], rng.random(chosen.rows.size) < curve[kind[chosen.rows]]
        missed["told"] += upper(finite.upper_terms(calcert.summarize(x, y, **chosen.arguments), delta)) < truth
        missed["forgotten"] += upper(finite.upper_terms(calcert.summarize(x, y), delta)) < truth
    assert not too_many(missed["told"], runs, delta)
    assert too_many(missed["forgotten"], runs, delta)
