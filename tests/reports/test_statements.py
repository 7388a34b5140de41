"""The table of statements: everything that a statement needs, and everything that reads it."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import calcert
from calcert.certificates.certificate import total
from calcert.reports.settings import Settings
from calcert.reports.statements import LEADING, OF_LINES, STATEMENTS, ByStatement, columns
from calcert.show import certificate_words as words

THEORY = Path(__file__).parents[2] / "docs" / "theory" / "index.md"


@pytest.fixture(scope="module")
def report() -> calcert.Report:
    rng = np.random.default_rng(0)
    x = rng.random(2_000)
    return calcert.certify(x, rng.random(2_000) < x)


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
    assert STATEMENTS[name].certify(report.summary, Settings()) == report.statement(name)


@pytest.mark.parametrize("name", STATEMENTS)
def test_the_upper_bound_alone_is_that_of_the_certificate(name: str, report: calcert.Report) -> None:
    assert report.summary is not None
    found = report.statement(name)
    assert total(STATEMENTS[name].upper_terms(report.summary, Settings(), found))[0] == found.upper


def test_a_report_is_in_the_order_of_the_table(report: calcert.Report) -> None:
    assert list(report.certificates) == list(STATEMENTS)
    shuffled = calcert.Report(dict(reversed(list(report.certificates.items()))), report.settings, {}, "")
    assert list(shuffled.certificates) == list(STATEMENTS)


def test_a_statement_that_is_not_there_is_refused_by_name(report: calcert.Report) -> None:
    with pytest.raises(ValueError, match=r"statement must be one of .*; got 'sharpness'"):
        report.statement("sharpness")


def test_many_lines_are_ordered_by_their_first_column() -> None:
    for names in (STATEMENTS, OF_LINES):
        assert columns(names)[0] == LEADING
        assert columns(names) == [name for name in STATEMENTS if name in names]
    assert columns()[:2] == ["distance", "ranges"]
