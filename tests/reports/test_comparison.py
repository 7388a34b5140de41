"""Two models on the same rows: the verdict follows from four bounds that hold together."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import calcert
from calcert.reports.comparison import Comparison, Verdict

RNG = np.random.default_rng(0)
CHANCE = RNG.random(6_000)
LABELS = RNG.random(6_000) < CHANCE


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return calcert.compare(CHANCE**2, CHANCE, LABELS)


def test_every_bound_gets_a_quarter_of_delta(comparison: Comparison) -> None:
    for report, scores in ((comparison.a, CHANCE**2), (comparison.b, CHANCE)):
        assert report == calcert.certify(scores, LABELS, delta=0.05 / 4)


def test_the_better_calibrated_model_is_named(comparison: Comparison) -> None:
    assert comparison.perturbed.smaller == comparison.unmodified.smaller == "b"
    assert 0 < comparison.unmodified.by < 1 / 6
    assert "b, by at least" in str(comparison)
    assert json.loads(json.dumps(comparison.to_dict()))["verdicts"]["unmodified"]["smaller"] == "b"


def test_equal_models_cannot_be_told_apart() -> None:
    same = calcert.compare(CHANCE, CHANCE, LABELS)
    assert {verdict.smaller for verdict in same.verdicts.values()} == {None}
    assert {verdict.by for verdict in same.verdicts.values()} == {0.0}
    assert "the data cannot tell" in str(same)


def test_a_verdict_needs_intervals_that_do_not_meet(comparison: Comparison) -> None:
    one = comparison.a.unmodified
    low, high = replace(one, lower=0.0, upper=0.1), replace(one, lower=0.2, upper=0.3)
    touching = replace(one, lower=0.1, upper=0.3)
    assert Verdict(low, high).smaller == "a"
    assert Verdict(high, low).smaller == "b"
    assert Verdict(low, high).by == pytest.approx(0.1)
    assert Verdict(low, touching).smaller is None


def test_summaries_may_be_compared_and_bring_their_labels() -> None:
    a, b = calcert.summarize(CHANCE**2, LABELS), calcert.summarize(CHANCE, LABELS)
    assert calcert.compare(a, b).unmodified.smaller == "b"
    with pytest.raises(TypeError, match="labels must be left out where scores_a is a Summary"):
        calcert.compare(a, b, LABELS)


def test_a_mistake_names_the_model() -> None:
    with pytest.raises(ValueError, match=r"scores_b: scores must lie in \[0, 1\]; got 2 at row 0"):
        calcert.compare([0.5, 0.5], [2.0, 0.5], [0, 1])
    with pytest.raises(ValueError, match=r"delta must lie strictly between 0 and 0\.5"):
        calcert.compare([0.5], [0.5], [0], delta=2)
