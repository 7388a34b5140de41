"""An assertion that passes only if an error is certified to be small, and says what else it is."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import calcert
from calcert.testing import assert_calibrated

RNG = np.random.default_rng(0)
X = RNG.random(4_000)
Y = RNG.random(4_000) < X


def test_it_passes_exactly_where_the_certificate_does() -> None:
    upper = calcert.distance(calcert.summarize(X, Y)).upper
    assert assert_calibrated(X, Y, max=upper).upper == upper
    with pytest.raises(AssertionError, match="It may yet be small enough: more rows would tighten the bound"):
        assert_calibrated(X, Y, max=upper - 1e-9)


@pytest.mark.parametrize("statement", ["ranges", "crossings", "unmodified", "perturbed"])
def test_every_statement_can_be_asserted(statement: str) -> None:
    expected = calcert.certify(X, Y, delta=0.1, crossings=2, variation=1.5, seed=7).statement(statement)
    found = assert_calibrated(X, Y, max=0.5, statement=statement, delta=0.1, crossings=2, variation=1.5, seed=7)
    assert found == expected


def test_it_says_where_more_rows_cannot_help() -> None:
    with pytest.raises(AssertionError, match=r"more rows cannot help\. Recalibrate the classifier") as raised:
        assert_calibrated(X, RNG.random(4_000) < X**3, max=0.05)
    assert str(raised.value).startswith("Not certified: at most 0.")


def test_clusters_are_certified_as_such() -> None:
    clusters = np.arange(4_000) // 4
    expected = calcert.distance(calcert.summarize(X, Y, clusters=clusters))
    assert assert_calibrated(X, Y, max=0.5, clusters=clusters).upper == expected.upper


def test_of_groups_the_worst_must_pass() -> None:
    site = np.repeat(["north", "south"], 2_000)
    worst = calcert.certify(X, Y, groups=site).worst["distance"]
    assert assert_calibrated(X, Y, groups=site, max=0.5) == worst
    table = pl.DataFrame({"p": X, "y": Y, "site": site})
    assert assert_calibrated(table, score="p", label="y", groups="site", max=0.5) == worst
    with pytest.raises(AssertionError, match="Not certified: at most"):
        assert_calibrated(X, Y, groups=site, max=worst.upper - 1e-9)


@pytest.mark.parametrize(
    ("given", "said"),
    [({"max": 1.5}, "max must lie strictly between 0 and 1"), ({"max": 0.1, "statement": "ece"}, "statement must be")],
)
def test_what_cannot_be_asserted_is_an_error_and_no_failure(given: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        assert_calibrated(X, Y, **given)
