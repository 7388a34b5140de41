"""Two models on the same rows: the verdict follows from four bounds that hold together."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import calcert
from calcert.reports.comparison import Comparison, Verdict
from calcert.show import as_page
from tests.lab.laws import too_many

RNG = np.random.default_rng(0)
CHANCE = RNG.random(6_000)
LABELS = RNG.random(6_000) < CHANCE


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return calcert.compare(CHANCE**2, CHANCE, LABELS)


def test_every_bound_gets_a_quarter_of_delta(comparison: Comparison) -> None:
    for report, scores in ((comparison.a, CHANCE**2), (comparison.b, CHANCE)):
        assert report == calcert.certify(scores, LABELS, settings=calcert.Settings().shared(4))


def test_the_better_calibrated_model_is_named(comparison: Comparison) -> None:
    assert comparison.perturbed.smaller == comparison.unmodified.smaller == "b"
    assert 0 < comparison.unmodified.by < 1 / 6
    assert "b, by at least" in str(comparison)
    assert json.loads(json.dumps(comparison.to_dict()))["verdicts"]["unmodified"]["smaller"] == "b"


def test_equal_models_cannot_be_told_apart() -> None:
    same = calcert.compare(CHANCE, CHANCE, LABELS)
    assert {verdict.smaller for verdict in same.verdicts.values()} == {None}
    assert {verdict.by for verdict in same.verdicts.values()} == {0.0}
    assert "cannot tell" in str(same)


def test_no_word_of_the_table_is_cut_in_a_terminal(comparison: Comparison) -> None:
    lines = str(comparison).splitlines()
    assert max(map(len, lines)) <= 80
    assert not any("…" in line for line in lines)


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
    with pytest.raises(TypeError, match="scores_a: labels must be left out where scores is a Summary"):
        calcert.compare(a, b, LABELS)


def test_models_with_labels_of_their_own_are_compared_and_that_is_said() -> None:
    own = np.random.default_rng(1).random(6_000) < CHANCE**2
    found = calcert.compare(CHANCE, CHANCE**2, LABELS, labels_b=own)
    assert found.b == calcert.certify(CHANCE**2, own, confidence=1 - 0.05 / 4)
    assert {verdict.smaller for verdict in found.verdicts.values()} == {None}
    assert (
        found.to_dict()
        == calcert.compare(calcert.summarize(CHANCE, LABELS), calcert.summarize(CHANCE**2, own)).to_dict()
    )
    said = f"judged by labels of its own: {LABELS.mean():.4f} of 6,000 rows have label 1 for a, {own.mean():.4f} of"
    assert said in found.own_labels
    for text in (" ".join(str(found).split()), as_page(found), found._repr_html_() or ""):
        assert "labels of its own" in text
    with pytest.raises(TypeError, match="labels_b must come with labels"):
        calcert.compare(CHANCE, CHANCE, labels_b=own)
    with pytest.raises(ValueError, match="scores_b: scores and labels must have the same length"):
        calcert.compare(CHANCE, CHANCE, LABELS, labels_b=own[:5])


def test_what_looks_wrong_of_a_model_is_said_of_it(comparison: Comparison) -> None:
    assert comparison.own_labels == ""
    assert "Warning" not in str(comparison)
    found = calcert.compare(CHANCE, 1 - CHANCE, LABELS)
    for text in (str(found), as_page(found)):
        assert "Warning, b: scores rank labels backwards" in " ".join(text.split())


def test_a_mistake_names_the_model() -> None:
    with pytest.raises(ValueError, match=r"scores_b: scores must lie in \[0, 1\]; got 2 at row 0"):
        calcert.compare([0.5, 0.5], [2.0, 0.5], [0, 1])
    with pytest.raises(ValueError, match=r"confidence must lie strictly between 0\.5 and 1"):
        calcert.compare([0.5], [0.5], [0], confidence=2)


# Two models that are equally wrong: 0.06 above and 0.06 below a chance of 0.51. Every verdict is false.
USER = np.repeat(np.arange(20), 300)
EQUALLY_WRONG = np.full(USER.size, 0.45), np.full(USER.size, 0.57)


def test_clusters_make_no_verdict_where_plain_rows_make_false_ones() -> None:
    rng = np.random.default_rng(0)
    false = dict.fromkeys(["plain", "clusters"], 0)
    for _ in range(8):
        labels = (rng.random(20) < 0.51)[USER]
        for name, told in (("plain", None), ("clusters", USER)):
            found = calcert.compare(*(calcert.Rows(scores, labels, clusters=told) for scores in EQUALLY_WRONG))
            false[name] += any(verdict.smaller for verdict in found.verdicts.values())
    assert not too_many(false["clusters"], 8, 0.05)
    assert too_many(false["plain"], 8, 0.05)


def test_models_are_told_apart_in_clusters_and_with_weights() -> None:
    weights = np.arange(6_000) % 2 + 1
    for told in ({"clusters": np.arange(6_000) // 3}, {"weights": weights, "largest_weight": 2}):
        found = calcert.compare(*(calcert.Rows(scores, LABELS, **told) for scores in (CHANCE**2, CHANCE)))
        assert found.distance.smaller == "b"
        assert f"6,000 rows {'in 2,000 clusters' if 'clusters' in told else 'with weights'}" in str(found)
        assert Comparison.from_dict(json.loads(json.dumps(found.to_dict()))).verdicts == found.verdicts


def test_what_is_proved_for_one_model_alone_is_not_compared() -> None:
    found = calcert.compare(
        calcert.Rows(np.round(CHANCE, 1), LABELS, weights=np.ones(6_000), largest_weight=1),
        calcert.Rows(CHANCE, LABELS, weights=np.ones(6_000), largest_weight=1),
    )
    assert "unmodified" not in found.verdicts
    assert set(found.a.certificates) == set(found.b.certificates)


def test_models_on_other_units_are_not_compared() -> None:
    one, two = (calcert.summarize(CHANCE, LABELS, clusters=np.arange(6_000) // size) for size in (2, 3))
    for other in (two, calcert.summarize(CHANCE, LABELS)):
        with pytest.raises(ValueError, match="same clusters and with the same weights; got 6,000 rows in 3,000"):
            calcert.compare(one, other)
    with pytest.raises(TypeError, match="clusters must come with rows; got a Summary"):
        calcert.compare(calcert.Rows(one, clusters=np.arange(6_000)), calcert.Rows(one, clusters=np.arange(6_000)))
