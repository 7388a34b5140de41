"""The table of statements: everything that a statement needs, and everything that reads it."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import calcert
from calcert.certificates.certificate import total
from calcert.reports.settings import Settings
from calcert.reports.statements import OF_LINES, STATEMENTS, ByStatement, columns
from calcert.show import certificate_words as words

THEORY = Path(__file__).parents[2] / "docs" / "theory" / "index.md"


@pytest.fixture(scope="module")
def report() -> calcert.Report:
    rng = np.random.default_rng(0)
    x = rng.random(2_000)
    return calcert.certify(x, rng.random(2_000) < x, settings=Settings(odds=1 / 16, threshold=0.3))


def test_every_statement_has_words_and_no_words_are_left_over() -> None:
    assert words.STATEMENTS.keys() == STATEMENTS.keys()


@pytest.mark.parametrize("name", STATEMENTS)
def test_every_statement_is_proved_where_it_says(name: str) -> None:
    for theorem in STATEMENTS[name].theorem.split(", "):
        assert re.search(rf"\b{theorem}\b", THEORY.read_text()), theorem


@pytest.mark.parametrize("name", STATEMENTS)
def test_every_statement_is_an_attribute_of_a_report(name: str, report: calcert.Report) -> None:
    assert getattr(report, name) is report.certificates[name]
    assert report.certificates[name].theorem in STATEMENTS[name].theorem.split(", ")
    assert isinstance(getattr(ByStatement, name), property)


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_statement_alone_is_that_of_the_report(name: str, report: calcert.Report) -> None:
    assert report.summary is not None
    assert STATEMENTS[name].certify(report.summary, Settings(threshold=0.3)) == report.statement(name)


@pytest.mark.parametrize("name", STATEMENTS)
def test_the_upper_bound_alone_is_that_of_the_certificate(name: str, report: calcert.Report) -> None:
    assert report.summary is not None
    found = report.statement(name)
    assert total(STATEMENTS[name].upper_terms(report.summary, Settings(threshold=0.3), found))[0] == found.upper


def test_a_report_is_in_the_order_of_the_table(report: calcert.Report) -> None:
    assert list(report.certificates) == list(STATEMENTS)
    shuffled = calcert.Report(dict(reversed(list(report.certificates.items()))), report.settings, {}, ())
    assert list(shuffled.certificates) == list(STATEMENTS)


def test_a_statement_that_is_not_there_is_refused_by_name(report: calcert.Report) -> None:
    with pytest.raises(ValueError, match=r"statement must be one of .*; got 'sharpness'"):
        report.statement("sharpness")


def test_columns_come_in_the_order_of_the_table() -> None:
    for names in (OF_LINES, ("distance", "l1"), ("in_the_large",)):
        assert columns(names) == [name for name in STATEMENTS if name in names]
    assert columns() == ["perturbed", "l1", "cutoff", "distance"]


def test_perturbed_scores_are_spoken_of_only_where_noise_is_asked_for() -> None:
    usual = ["in_the_large", "l1", "cutoff", "distance"]
    assert list(calcert.certify([0.2, 0.8], [0, 1]).certificates) == usual
    for settings in (Settings(odds=1 / 8), Settings(bandwidth=1 / 64)):
        assert list(calcert.certify([0.2, 0.8], [0, 1], settings=settings).certificates) == ["perturbed", *usual]
    alone = calcert.certify([0.2, 0.8], [0, 1], settings=Settings(statements="perturbed"))
    assert alone.perturbed.parameters["odds"] == 1 / 16
    assert list(alone.certificates) == ["perturbed"]


def test_l1_assumes_as_little_as_the_scores_allow() -> None:
    rng = np.random.default_rng(0)
    x = rng.random(5_000)
    y = rng.random(5_000) < x
    few, many = calcert.certify(np.round(x, 1), y).l1, calcert.certify(x, y).l1
    assert (few.theorem, few.assumption) == ("Theorem 4", "none")
    assert few.upper == calcert.bounds.finite(np.round(x, 1), y).upper, "at full delta"
    assert (many.theorem, many.upper) == ("Theorem 10", calcert.bounds.crossings(x, y).upper)
    assert "at most 3 times" in many.assumption
    asked = calcert.certify(x, y, settings=Settings(variation=1)).l1
    assert asked.theorem == "Theorem 2"
    assert len({few.lower, calcert.bounds.finite(np.round(x, 1), y).lower}) == 1
    assert many.lower == asked.lower == calcert.bounds.bounded_variation(x, y).lower, "it assumes nothing"


def test_observed_over_expected_is_in_every_report_that_it_is_proved_for() -> None:
    rng = np.random.default_rng(0)
    x = rng.random(4_000)
    y, site = rng.random(4_000) < x / 2, np.arange(4_000) % 2
    report = calcert.certify(x, y)
    assert report.observed_over_expected == calcert.bounds.observed_over_expected(x, y)
    assert report.observed_over_expected.upper < 1 < report.observed_over_expected.upper * 2.2
    again = calcert.Report.from_dict(report.to_dict())
    assert again.observed_over_expected == report.observed_over_expected
    by_site = calcert.certify(x, y, groups=site).groups["1"].observed_over_expected
    assert by_site == calcert.bounds.observed_over_expected(x[site == 1], y[site == 1], confidence=0.975)
    user = np.arange(4_000) // 4
    clustered = calcert.certify(x, y, clusters=user)
    wider = clustered.observed_over_expected
    assert wider is not None
    assert wider.lower < report.observed_over_expected.lower < report.observed_over_expected.upper < wider.upper < 1
    assert "Observed / expected" in str(clustered)
    assert calcert.check(x, y, clusters=user, max_ratio=1.25).verdict.kind == "beyond"
    weighted = calcert.summarize(x, y, weights=np.ones(4_000), weight_unit=1.0)
    assert calcert.certify(weighted).observed_over_expected is None, "not computed for weights"
