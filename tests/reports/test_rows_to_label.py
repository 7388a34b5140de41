"""Which rows to label or to keep: chances and weights, what they promise, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import calcert
from calcert.reports.rows_to_label import KeepRule, sizes

RNG = np.random.default_rng(0)
RARE = RNG.beta(0.5, 500, 200_000)
HAPPENED = RNG.random(200_000) < RARE
DOUBTFUL = np.where(np.arange(100_000) % 20, RNG.beta(1, 2000, 100_000), RNG.random(100_000))


def test_rare_events_with_labels_need_a_few_hundredths_of_the_rows() -> None:
    chosen = calcert.sample_for_labelling(RARE, 8_000, labels=HAPPENED, seed=0)
    assert chosen.rows.size == pytest.approx(8_000, rel=0.05)
    kept = calcert.summarize(RARE[chosen.rows], HAPPENED[chosen.rows], **chosen.arguments)
    whole = calcert.summarize(RARE, HAPPENED)
    for certify in (calcert.bounds.perturbed, calcert.bounds.distance, calcert.bounds.cutoff):
        assert certify(kept).upper <= 1.15 * certify(whole).upper
        assert certify(kept).upper <= 0.5 * certify(calcert.summarize(RARE[::25], HAPPENED[::25])).upper


def test_few_doubtful_scores_among_many_sure_ones_are_chosen_more_often() -> None:
    chosen = calcert.sample_for_labelling(DOUBTFUL, 5_000, seed=0)
    assert chosen.promise < 0.9
    assert (DOUBTFUL[chosen.rows] > 0.05).mean() > 4 * (DOUBTFUL > 0.05).mean()
    assert set(chosen.arguments) == {"weights", "weight_unit", "largest_weight"}, "labels may be anything"


@pytest.mark.parametrize(
    "scores", [RNG.random(50_000), RARE, np.zeros(20_000), np.full(20_000, 0.5)], ids=["flat", "rare", "zero", "half"]
)
def test_where_weights_promise_nothing_all_rows_have_one_chance(scores: Any) -> None:
    chosen = calcert.sample_for_labelling(scores, 2_000, seed=0)
    assert chosen.rule is None
    assert chosen.arguments == {}
    assert (chosen.weights == 1).all()
    assert chosen.rows.size == pytest.approx(2_000, rel=0.1)
    assert "all with the same probability: unequal weights would not give tighter bounds." in str(chosen)


def test_scores_are_not_looked_at_where_most_rows_are_wanted_or_few_are_there() -> None:
    many = calcert.sample_for_labelling(DOUBTFUL, 50_001, seed=0)
    assert many.aside == 0
    assert str(many).endswith("all with the same probability: rows are too few, or too many wanted, for weights.")
    assert calcert.sample_for_labelling(DOUBTFUL[:1_000], 100, seed=0).aside == 0
    assert calcert.sample_for_labelling(DOUBTFUL, 50_000, seed=0).aside == 100_000 // 16


def test_the_rule_does_not_depend_on_rows_that_can_be_chosen() -> None:
    chosen = calcert.sample_for_labelling(DOUBTFUL, 5_000, seed=0)
    moved = DOUBTFUL.copy()
    moved[chosen.rows] = 0.5
    again = calcert.sample_for_labelling(moved, 5_000, seed=0)
    assert again.rule == chosen.rule
    assert set(chosen.rows) <= set(again.rows), "a row in doubt is chosen if it was chosen as a sure one"


@pytest.mark.parametrize("rule", [KeepRule(0.01, 0.1), KeepRule(0.003, 7.3), KeepRule(0.9, 0.01), KeepRule(1 / 3, 1.0)])
def test_no_weight_and_no_gain_is_above_what_is_declared(rule: KeepRule) -> None:
    x = np.concatenate([np.linspace(0, 1, 100_001), 10.0 ** -np.arange(1, 300)])
    for label in (0, 1):
        size = sizes(x, np.full(x.size, label, np.int8))
        weights = rule.weights(size)
        assert weights.max() <= rule.largest_weight
        assert (weights * size).max() <= rule.largest_gain * (1 + 1e-12)
        assert (weights >= 1).all()
        assert (weights * 64 % 1 == 0).all()
        declared: dict[str, Any] = {"largest_weight": rule.largest_weight, "largest_gain": rule.largest_gain}
        calcert.summarize(x, np.full(x.size, label), weights=weights, weight_unit=1 / 64, **declared)


def test_the_same_seed_chooses_the_same_rows_and_a_fresh_one_others() -> None:
    one, same, other = (calcert.sample_for_labelling(DOUBTFUL, 500, seed=seed) for seed in (3, 3, None))
    assert one.rows.tolist() == same.rows.tolist()
    assert one.rows.tolist() != other.rows.tolist()
    assert calcert.sample_for_labelling(DOUBTFUL, 500, seed=other.seed).rows.tolist() == other.rows.tolist()


@pytest.mark.parametrize(
    ("scores", "budget", "more", "message"),
    [
        ([0.5] * 10, 0, {}, "budget must be a whole number of rows"),
        ([0.5] * 10, 2.0, {}, "budget must be a whole number"),
        ([0.5] * 10, 10, {}, "budget must be smaller than the number of rows; got 10 and 10 rows. Label all"),
        ([0.5, 1.5], 1, {}, r"scores must lie in \[0, 1\]"),
        ([0.5, np.nan], 1, {}, "scores must"),
        ([], 1, {}, "scores must hold at least one row"),
        ([0.5] * 10, 5, {"seed": -1}, "seed must be a non-negative integer"),
        ([0.5] * 10, 5, {"labels": [0, 1]}, "as long as|equal|same"),
        ([0.5] * 2, 1, {"labels": [0, 2]}, "labels must be 0 or 1"),
        ([0.5] * 500, 1, {"seed": 4}, "and none was chosen. Raise it"),
    ],
)
def test_what_cannot_be_chosen_from_is_refused(scores: Any, budget: Any, more: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        calcert.sample_for_labelling(scores, budget, **more)


def test_weights_that_were_changed_by_hand_are_refused_where_they_can_be_told() -> None:
    chosen = calcert.sample_for_labelling(DOUBTFUL, 5_000, seed=0)
    x = DOUBTFUL[chosen.rows]
    for change, message in ((lambda w: w * 40, "largest_weight must bound"), (lambda w: w + 0.001, "whole multiples")):
        with pytest.raises(ValueError, match=message):
            calcert.summarize(x, x > 0.5, weights=change(chosen.weights), **chosen.declared)
