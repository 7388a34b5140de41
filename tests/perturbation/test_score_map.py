"""A map in memory and as SQL: the same numbers, and a column's name that can be nothing but a name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.special import expit, logit

from calcert.perturbation.score_map import LEAST, ScoreMap

LEVELS = ScoreMap(edges=(0.1, 0.25, 0.5), values=(0.013, 0.2, 0.35, 0.98765))
LOGISTIC = ScoreMap(coefficients=(-0.25, 1.5, 0.75))
SCORES = np.array([0.0, 5e-324, 1e-12, 0.1, 0.2499999, 0.25, 0.5, 0.7, 1 - 1e-12, np.nextafter(1, 0), 1.0])


def test_levels_change_at_their_edges() -> None:
    np.testing.assert_array_equal(
        LEVELS([0.0, 0.0999, 0.1, 0.3, 0.5, 1.0]), [0.013, 0.013, 0.2, 0.35, 0.98765, 0.98765]
    )


def test_a_logistic_map_is_one() -> None:
    x = np.linspace(0.001, 0.999, 101)
    np.testing.assert_allclose(LOGISTIC(x), expit(-0.25 + 1.5 * np.log(x) - 0.75 * np.log1p(-x)), rtol=1e-12)
    np.testing.assert_allclose(ScoreMap(coefficients=(0.0, 1.0, 1.0))(x), x, rtol=1e-12)
    assert (np.diff(LOGISTIC(SCORES)) >= 0).all()
    assert LOGISTIC([0.0])[0] == pytest.approx(expit(-0.25 + 1.5 * logit(LEAST)), rel=1e-6)


@pytest.mark.parametrize(
    "broken",
    [
        {},
        {"values": (0.1, 0.2)},
        {"edges": (0.5,), "values": (0.7, 0.2)},
        {"edges": (0.5, 0.5), "values": (0.1, 0.2, 0.3)},
        {"edges": (0.5,), "values": (0.1, 1.2)},
        {"values": (float("nan"),)},
        {"coefficients": (0.0, -1.0, 1.0)},
        {"coefficients": (0.0, 1.0)},
        {"coefficients": (0.0, 1.0, 1.0), "values": (0.1,)},
    ],
)
def test_what_is_no_map_is_refused(broken: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="map must"):
        ScoreMap(**broken)


def test_scores_are_checked() -> None:
    with pytest.raises(ValueError, match=r"scores must lie in \[0, 1\]; got 1.5"):
        LEVELS([0.2, 1.5])


@pytest.mark.parametrize("found", [LEVELS, LOGISTIC, ScoreMap(values=(0.5,))])
@pytest.mark.parametrize("name", ["p", 'the "best" score', "p; DROP TABLE scored", "p) OR (1=1"])
def test_duckdb_computes_the_same(found: ScoreMap, name: str) -> None:
    import duckdb

    expression = found.sql(name, dialect="duckdb")
    quoted = '"' + name.replace('"', '""') + '"'
    with duckdb.connect() as database:
        database.execute(f"CREATE TABLE scored ({quoted} DOUBLE)")
        database.executemany("INSERT INTO scored VALUES (?)", [[float(x)] for x in SCORES])
        rows = [row[0] for row in database.execute(f"SELECT {expression} FROM scored").fetchall()]
        np.testing.assert_allclose(rows, found(SCORES), rtol=1e-12)
        strange = f"SELECT {expression} FROM (SELECT unnest([-0.1, 1.1, 'nan'::DOUBLE, NULL]) AS {quoted})"
        assert database.execute(strange).fetchall() == [(None,)] * 4
        decimals = database.execute(f"SELECT {expression} FROM (SELECT 0.25 AS {quoted})").fetchone()
        assert decimals is not None
        assert decimals[0] == pytest.approx(found([0.25])[0], rel=1e-12)


@pytest.mark.parametrize("name", ['p"', "p; DROP TABLE scored", "p q", "", "1p", "p--", "p\0"])
def test_without_a_dialect_only_plain_names_are_taken(name: str) -> None:
    with pytest.raises((ValueError, TypeError), match="score must be"):
        LEVELS.sql(name)


def test_a_dialect_must_be_known() -> None:
    with pytest.raises(ValueError, match="dialect must be one of duckdb, postgres, spark; got 'oracle'"):
        LEVELS.sql("p", dialect="oracle")
    assert LEVELS.sql("a`b", dialect="spark").startswith("CASE WHEN `a``b` >= 0")
