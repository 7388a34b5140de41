"""What reviewers ask a page for: each of a few scores by itself."""

from __future__ import annotations

import numpy as np
import pytest

import calcert
from calcert.certificates.score_table import score_table
from calcert.show import as_page
from calcert.show.certificate_words import which_way
from calcert.show.report_details import score_tests

RNG = np.random.default_rng(4)
GRADES = RNG.integers(1, 10, 20_000) / 10


def test_few_scores_are_judged_one_by_one_by_limits_that_hold_together() -> None:
    report = calcert.certify(GRADES, RNG.random(GRADES.size) < GRADES**1.2)
    lines = score_tests(report)
    table = score_table(calcert.summarize(GRADES, RNG.random(GRADES.size) < 0.5))
    assert [line["score"] for line in lines] == table.score.tolist()
    for line in lines:
        judged = {"too high": line["upper"] < line["score"], "too low": line["lower"] > line["score"]}
        assert [verdict for verdict, holds in judged.items() if holds] == [line["verdict"]] * any(judged.values())
        side = {"too high": line["too_high"], "too low": line["too_low"]}.get(line["verdict"], 0.0)
        assert side <= 0.05
        assert line["too_high"] + line["too_low"] == pytest.approx(1.0), "Jeffreys tests in both directions"
    page = as_page(report)
    assert '<h2 id="score-by-score">Score by score</h2>' in page
    assert page.count("too high</td>") == sum(line["verdict"] == "too high" for line in lines) > 0


def test_many_scores_have_no_such_table_and_rows_in_clusters_one_without_limits() -> None:
    x = RNG.random(500)
    y = RNG.random(500) < x
    assert score_tests(calcert.certify(x, y)) == []
    report = calcert.certify(GRADES[:500], y, clusters=np.arange(500) // 2)
    lines = score_tests(report)
    assert which_way(report) == []
    assert sum(line["rows"] for line in lines) == 500
    assert {line["lower"] for line in lines} == {None}
    assert "p, if too high" in as_page(report)
    weighed = calcert.certify(calcert.Rows(GRADES[:500], y, weights=np.arange(500) % 3 + 1))
    assert score_tests(weighed) == []
