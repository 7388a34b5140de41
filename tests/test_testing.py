"""An assertion that passes only if an error is certified to be small, and says what else it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import calcert
import calcert.metrics
from calcert.cli import main
from calcert.reports.classes import ClassReport
from calcert.testing import assert_calibrated

RNG = np.random.default_rng(0)
X = RNG.random(4_000)
Y = RNG.random(4_000) < X


def test_it_passes_exactly_where_the_certificate_does() -> None:
    upper = calcert.certify(X, Y).l1.upper
    assert assert_calibrated(X, Y, max=upper).upper == upper
    with pytest.raises(AssertionError, match="Cannot tell yet whether the error is within"):
        assert_calibrated(X, Y, max=upper - 1e-9)


@pytest.mark.parametrize("statement", ["cutoff", "in_the_large", "l1", "perturbed"])
def test_every_statement_can_be_asserted(statement: str) -> None:
    expected = calcert.certify(
        X, Y, settings=calcert.Settings(confidence=0.9, odds=1 / 8, crossings=2, seed=7)
    ).statement(statement)
    found = assert_calibrated(
        X,
        Y,
        max=0.5,
        statement=statement,
        settings=calcert.Settings(confidence=0.9, odds=1 / 8, crossings=2, seed=7),
    )
    assert found == expected


def test_it_says_where_more_rows_cannot_help() -> None:
    with pytest.raises(AssertionError, match=r"Next: recalibrate on held-out rows") as raised:
        assert_calibrated(X, RNG.random(4_000) < X**3, max=0.05)
    assert str(raised.value).startswith("Beyond 0.05 (95% confidence): the error is at least 0.")


def test_predicted_classes_are_told_to_ask_for_probabilities() -> None:
    with pytest.raises(AssertionError, match=r"Next: certify probabilities, such as predict_proba returns"):
        assert_calibrated((X > 0.5).astype(float), Y, max=0.05)


def test_clusters_are_certified_as_such() -> None:
    clusters = np.arange(4_000) // 4
    expected = calcert.certify(X, Y, clusters=clusters).l1
    assert assert_calibrated(X, Y, max=0.5, clusters=clusters).upper == expected.upper


def test_of_groups_the_worst_must_pass() -> None:
    site = np.repeat(["north", "south"], 2_000)
    worst = calcert.certify(X, Y, groups=site).worst["l1"]
    assert assert_calibrated(X, Y, groups=site, max=0.5) == worst
    table = pl.DataFrame({"p": X, "y": Y, "site": site})
    assert assert_calibrated(table, score="p", label="y", groups="site", max=0.5) == worst
    with pytest.raises(AssertionError, match="Cannot tell yet"):
        assert_calibrated(X, Y, groups=site, max=worst.upper - 1e-9)


def test_of_many_classes_the_prediction_the_worst_or_their_mean_must_pass() -> None:
    p = RNG.dirichlet([2.0, 1.0, 1.0], 1_000)
    y = (RNG.random((1_000, 1)) > p.cumsum(axis=1)).sum(axis=1)
    report = calcert.certify(p, y, confidence=0.9)
    assert isinstance(report, ClassReport)
    assert assert_calibrated(p, y, max=0.5, confidence=0.9).upper == report.l1.upper
    assert assert_calibrated(p, y, max=0.5, of="worst", statement="cutoff", confidence=0.9) == report.worst["cutoff"]
    table = pl.DataFrame({"a": p[:, 0], "b": p[:, 1], "c": p[:, 2], "y": y})
    named = assert_calibrated(table, class_columns=["a", "b", "c"], label="y", max=0.5, of="mean", confidence=0.9)
    assert named == report.mean["l1"]
    with pytest.raises(AssertionError, match="prediction among 3 classes"):
        assert_calibrated(p, y, max=0.001)
    for given, said in (({"clusters": y}, "not proved together"), ({"of": "all"}, "of must be 'prediction'")):
        with pytest.raises((TypeError, ValueError), match=said):
            assert_calibrated(p, y, max=0.5, **given)
    for given, said in (({"of": "worst"}, "many classes"), ({"smallest_group": 9}, "must come with groups")):
        with pytest.raises(TypeError, match=said):
            assert_calibrated(X, Y, max=0.5, **given)


@pytest.mark.parametrize(
    ("given", "said"),
    [({"max": 1.5}, "max must lie strictly between 0 and 1"), ({"max": 0.1, "statement": "ece"}, "statement must be")],
)
def test_what_cannot_be_asserted_is_an_error_and_no_failure(given: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        assert_calibrated(X, Y, **given)


def test_rows_that_the_scores_were_fitted_on_fail_unless_they_are_said_to_be_others() -> None:
    x = np.repeat(np.arange(1, 20) / 20, 100)
    y = np.concatenate([np.arange(100) < 5 * k for k in range(1, 20)])
    with pytest.raises(AssertionError, match=r"(?s)better than fresh rows can.*pass fitted_on_other_rows=True"):
        assert_calibrated(x, y, max=0.1)
    assert assert_calibrated(x, y, max=0.1, fitted_on_other_rows=True).upper < 0.1
    assert calcert.certify(x, y).warnings[0].startswith("these rows agree with the scores better")
    with pytest.warns(UserWarning, match="better than fresh rows can"):
        calcert.metrics.distance_upper(y, x)


def test_it_says_what_check_says_in_python_and_in_the_shell(tmp_path: Path) -> None:
    labels = RNG.random(4_000) < X**3
    with pytest.raises(AssertionError) as raised:
        assert_calibrated(X, labels, max=0.05)
    pl.DataFrame({"p": X, "y": labels.astype(int)}).write_csv(tmp_path / "rows.csv")
    command = ["check", str(tmp_path / "rows.csv"), "--score", "p", "--label", "y", "--max", "0.05"]
    printed = CliRunner().invoke(main, command).stdout
    assert printed == f"{raised.value}\n"
    outcome = calcert.check(X, labels, max=0.05)
    assert f"{outcome}\n" == f"{outcome!r}\n" == printed
    html = outcome._repr_html_() or ""
    assert "<strong>Beyond 0.05 (95% confidence)" in html
    assert "Next: recalibrate" in html


def test_an_outcome_says_why_rows_do_not_count() -> None:
    x = np.repeat(np.arange(1, 20) / 20, 100)
    y = np.concatenate([np.arange(100) < 5 * k for k in range(1, 20)])
    doubted = calcert.check(x, y, max=0.001)
    assert str(doubted).startswith("Cannot tell yet")
    assert "\nWarning: these rows agree with the scores better" in str(doubted)
    assert '<p class="warning"><strong>Warning:</strong> these rows agree' in (doubted._repr_html_() or "")


def test_observed_over_expected_can_be_asserted() -> None:
    assert assert_calibrated(X, Y, max_ratio=1.25).upper < 1.25
    named = calcert.check(X, Y, max_ratio=1.25, statement="in_the_large")
    assert str(named) == str(calcert.check(X, Y, max_ratio=1.25))
    limits: list[dict[str, Any]] = [{"max_ratio": 1.25}, {"max_observed": 1.0}]
    for limit in limits:
        with pytest.raises(ValueError, match=f"statement must be in_the_large with {min(limit)}; got 'l1'"):
            calcert.check(X, Y, statement="l1", **limit)
    with pytest.raises(AssertionError, match="Observed / expected"):
        assert_calibrated(X, Y, max_ratio=1.0001)
