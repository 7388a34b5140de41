"""The statement on regret: certified where a threshold or costs are given, in reports, gates and money."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import calcert
from calcert.cli import main
from calcert.show import as_page

RNG = np.random.default_rng(0)
SCORES = RNG.random(6_000)
LABELS = RNG.random(6_000) < SCORES**1.5
MONEY = calcert.Settings(costs=(30, 70, "EUR"))


def test_it_is_certified_where_a_threshold_is_given_and_only_there() -> None:
    assert "regret" not in calcert.certify(SCORES, LABELS).certificates
    report = calcert.certify(SCORES, LABELS, threshold=0.3)
    assert report.regret == calcert.bounds.regret(SCORES, LABELS, threshold=0.3)
    assert report.regret.upper < report.cutoff.upper / 3
    assert calcert.Report.from_dict(json.loads(json.dumps(report.to_dict()))) == report


def test_costs_stand_for_a_threshold_and_are_told_in_money() -> None:
    report = calcert.certify(SCORES, LABELS, settings=MONEY)
    assert report.regret.upper == calcert.certify(SCORES, LABELS, threshold=0.3).regret.upper
    exact = 1e8 * report.regret.upper
    said = re.search(r"and ([\d,]+) EUR in a million rows", " ".join(str(report).split()))
    assert said is not None
    assert exact <= int(said[1].replace(",", "")) <= 1.01 * exact
    assert calcert.Settings.from_dict(json.loads(json.dumps(MONEY.to_dict()))) == MONEY
    assert "Loss at the threshold" in as_page(report)


def test_clusters_are_refused_by_name_and_other_statements_certified() -> None:
    rows = calcert.Rows(SCORES, LABELS, clusters=np.arange(6_000) // 2)
    assert "regret" not in calcert.certify(rows, settings=MONEY).certificates
    with pytest.raises(ValueError, match="regret is not certified: not proved for rows in 3,000 clusters"):
        calcert.certify(rows, settings=calcert.Settings(threshold=0.3, statements="regret"))


def test_groups_and_classes_have_it_too() -> None:
    found = calcert.certify(SCORES, LABELS, groups=np.arange(6_000) % 2, settings=MONEY)
    assert found.worst["regret"].upper >= found.groups["0"].regret.upper / 2
    p = RNG.dirichlet([2.0, 1.0, 1.0], 2_000)
    classes = (RNG.random((2_000, 1)) > p.cumsum(axis=1)).sum(axis=1)
    of_classes = calcert.certify(calcert.Rows(p, classes), settings=MONEY)
    assert 0 < of_classes.mean["regret"].upper < 0.2


def test_it_is_a_gate(tmp_path: Path) -> None:
    path = str(tmp_path / "rows.csv")
    pd.DataFrame({"p": SCORES, "y": LABELS.astype(int)}).to_csv(path, index=False)
    words = ["check", path, "--score", "p", "--label", "y", "--statement", "regret"]
    for said, most, code in (("--threshold", "0.3", 0), ("--costs", "30,70,EUR", 0), ("--threshold", "0.3", 1)):
        ended = CliRunner().invoke(main, [*words, said, most, "--max", "0.03" if code == 0 else "0.001"])
        assert ended.exit_code == code, ended.output
        said_of_it = "Within 0.03 (95% confidence): the loss is at most" if code == 0 else "the loss is at least"
        assert said_of_it in ended.output
    named = calcert.check(SCORES, LABELS, max=0.03, statement="regret", threshold=0.3)
    assert named.certificate == calcert.certify(SCORES, LABELS, threshold=0.3).regret
    ended = CliRunner().invoke(main, [*words, "--max", "0.03"])
    assert ended.exit_code == 2
    assert "--threshold or --costs must be given; got neither. Pass --threshold 0.3." in ended.output
    ended = CliRunner().invoke(main, [*words, "--max", "0.03", "--costs", "30"])
    assert ended.exit_code == 2
    assert "must be the costs of a false positive and a false negative: 30,70 or 30,70,EUR" in ended.output
    assert calcert.check(SCORES, LABELS, max=0.03, statement="regret", settings=MONEY).passed


def test_money_is_rounded_outward_to_three_digits() -> None:
    from dataclasses import replace

    from calcert.show.certificate_words import in_money

    c = replace(calcert.bounds.regret([0.2, 0.8] * 300, [0, 1] * 300, threshold=0.3), lower=0.00123456, upper=0.0048505)
    assert "between 123,000 and 486,000 EUR in a million rows" in in_money({"regret": c}, (30, 70, "EUR"))
    assert "at most 5 EUR" in in_money({"regret": replace(c, lower=0.0, upper=4.1e-8)}, (30, 70, "EUR"))


@pytest.mark.parametrize("costs", [(1, 1e-17), (5e-324, 1), (1, 1)])
@pytest.mark.parametrize("delta", [0.05, 4e-16])
def test_decisions_at_the_ends_and_tiny_deltas_have_bounds(costs: tuple[float, float], delta: float) -> None:
    found = calcert.bounds.regret(SCORES, LABELS, costs=costs, confidence=1 - delta)
    assert 0 <= found.lower <= found.upper <= 1
    assert calcert.bounds.regret(SCORES, LABELS, threshold=5e-324).lower >= 0
