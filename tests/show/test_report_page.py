"""What reviewers ask a page for: each of a few scores by itself."""

from __future__ import annotations

import numpy as np

import calcert
from calcert.certificates.score_table import score_table
from calcert.show import as_page
from calcert.show.pages.report import reviewed

RNG = np.random.default_rng(4)
GRADES = RNG.integers(1, 10, 20_000) / 10


def test_few_scores_are_judged_one_by_one_by_limits_that_hold_together() -> None:
    report = calcert.certify(GRADES, RNG.random(GRADES.size) < GRADES**1.2)
    lines = reviewed(report)["by_score"]
    table = score_table(calcert.summarize(GRADES, RNG.random(GRADES.size) < 0.5))
    assert [line["score"] for line in lines] == table.score.tolist()
    for line in lines:
        judged = {"too high": line["upper"] < line["score"], "too low": line["lower"] > line["score"]}
        assert [verdict for verdict, holds in judged.items() if holds] == [line["verdict"]] * any(judged.values())
        assert line["jeffreys"] <= (0.5 if line["verdict"] == "cannot tell" else 0.05), "of the side that it is on"
    page = as_page(report)
    assert '<h2 id="by-score">Score by score</h2>' in page
    assert page.count("too high</td>") == sum(line["verdict"] == "too high" for line in lines) > 0


def test_many_scores_and_rows_in_clusters_have_no_such_table() -> None:
    x = RNG.random(500)
    y = RNG.random(500) < x
    assert reviewed(calcert.certify(x, y))["by_score"] == []
    units = reviewed(calcert.certify(GRADES[:500], y, clusters=np.arange(500) // 2))
    assert units["by_score"] == units["which_way"] == []
