"""The table of scores: limits that hold together, over all outcomes."""

from __future__ import annotations

import math

import numpy as np
import pytest

import calcert
from calcert import Summary
from calcert.certificates.score_table import ScoreTable
from tests.lab.distributions import SMALL_LAWS, Law, summary_of, too_many


def misses(summary: Summary, law: Law, delta: float) -> bool:
    """Whether some limit misses the chance at its score."""
    table = calcert.curves.score_table(summary, confidence=1 - delta)
    chance = np.array([law.chance[law.score.index(x)] for x in table.score])
    return bool((table.lower > chance + 1e-12).any() or (table.upper < chance - 1e-12).any())


@pytest.mark.parametrize("name", SMALL_LAWS)
def test_the_limits_miss_together_no_more_often_than_delta_over_all_outcomes(name: str) -> None:
    law = SMALL_LAWS[name]
    for n, delta in ((1, 0.45), (4, 0.45), (9 if len(law.score) < 3 else 5, 0.3)):
        chances = [p for count, p in law.outcomes(n) if misses(summary_of(law.score, count), law, delta)]
        assert math.fsum(chances) <= delta


def test_the_limits_hold_together_for_ten_scores() -> None:
    score = tuple(np.arange(10) / 9)
    law = Law(score, (0.1,) * 10, tuple(x**2 for x in score))
    rng = np.random.default_rng(0)
    missed = sum(misses(law.draw(n, rng), law, 0.3) for n in (10, 300, 100_000) for _ in range(1400))
    assert not too_many(missed, 4200, 0.3)


def test_limits_at_full_delta_for_each_score_are_caught() -> None:
    score = tuple(np.arange(10) / 9)
    law = Law(score, (0.1,) * 10, (0.5,) * 10)
    rng = np.random.default_rng(0)
    missed = sum(misses(law.draw(100_000, rng), law, 0.45) for _ in range(300))
    assert too_many(missed, 300, 0.05)


def test_the_table_counts_rows_and_positives() -> None:
    table = calcert.curves.score_table(calcert.summarize([0.5, 0.25, 0.5, 0.5], [1, 0, 0, 1]))
    assert table.score.tolist() == [0.25, 0.5]
    assert table.rows.tolist() == [1, 3]
    assert table.positives.tolist() == [0, 2]
    assert table.estimate.tolist() == [0.0, pytest.approx(2 / 3)]
    assert (table.lower <= table.estimate).all()
    assert (table.estimate <= table.upper).all()


def test_many_scores_are_refused() -> None:
    x = np.random.default_rng(0).random(5000)
    with pytest.raises(ValueError, match="the scores are not a finite set"):
        calcert.curves.score_table(calcert.summarize(x, x > 0.5))


def test_the_text_says_what_each_score_said_what_happened_and_what_is_proven() -> None:
    x = np.repeat([0.5, 0.9, 0.2], 200)
    text = str(calcert.curves.score_table(calcert.summarize(x, np.tile([0, 1], 300))))
    lines = {line.split()[0]: line.split() for line in text.splitlines() if line.strip()}
    assert lines["said"] == ["said", "rows", "happened", "at", "least", "at", "most", "proven"]
    assert lines["0.5"][-1] == "nothing"
    assert lines["0.9"][-4:-1] == ["too", "high", "by"]
    assert lines["0.2"][-4:-1] == ["too", "low", "by"]
    # What is proven is the distance of the score from its limit.
    assert float(lines["0.9"][-1]) <= 0.9 - float(lines["0.9"][4]) + 1e-4
    assert "The scores take 3 values, so that the L1 error is certified without an assumption" in " ".join(text.split())


def test_a_report_on_few_scores_shows_what_each_said_and_what_happened() -> None:
    rng = np.random.default_rng(0)
    said = rng.choice([0.6, 0.8, 0.95], 1_000)
    happened = rng.random(1_000) < said - 0.1
    text = str(calcert.certify(said, happened))
    assert "The scores take 3 values" in text
    assert text.index("said   rows   happened") < text.index("Calibration error")
    assert f"{int((said == 0.8).sum()):,}" in text
    assert "said" not in str(calcert.certify(rng.random(1_000), happened))


def test_a_table_whose_scores_have_no_rows_is_refused() -> None:
    told = calcert.curves.score_table([0.25, 0.75] * 50, [0, 1] * 50).to_dict()
    told["rows"][0] = 0
    with pytest.raises(ValueError, match="a score table must have rows at every score"):
        ScoreTable.from_dict(told)
