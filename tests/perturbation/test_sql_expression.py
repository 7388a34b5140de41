"""The perturbed score as a SQL expression: its cases and the command. Its law is tried in tests/sources, on engines."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import calcert
from calcert.cli import main
from calcert.perturbation import noise as perturbation_noise


@pytest.mark.parametrize("dialect", perturbation_noise.REALS)
def test_a_chance_of_zero_serves_a_number(dialect: str) -> None:
    """Of the two ends that a random number may have, 0 is the one that engines include."""
    duckdb = pytest.importorskip("duckdb")
    text = calcert.sql.perturb_sql("p", dialect=dialect).replace(perturbation_noise.UNIFORM[dialect], "0.0")
    found = duckdb.execute(f"SELECT {text} FROM (SELECT unnest([1e-300, 0.3, 1 - 2^(-53), 1.0]) AS p)").fetchall()
    tail = np.tan(np.pi / 2 * 2.0**-54) ** (1 / 16)
    for x, (value,) in zip([1e-300, 0.3, 1 - 2.0**-53, 1.0], found, strict=True):
        odds = np.inf if x == 1 else x / (1 - x) * tail
        assert value == pytest.approx(1 if x == 1 else odds / (1 + odds), rel=1e-12)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        (("p", "oracle"), ValueError, "dialect must be one of duckdb, postgres, spark; got 'oracle'"),
        (("p; DROP TABLE t", "duckdb"), ValueError, "score must be one name or expression"),
        (("", "duckdb"), TypeError, "score must be SQL text"),
    ],
)
def test_arguments_are_checked(arguments: tuple[str, str], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        calcert.sql.perturb_sql(arguments[0], dialect=arguments[1])
    with pytest.raises(ValueError, match="odds must lie between 1/256 and 1/2"):
        calcert.sql.perturb_sql("p", dialect="duckdb", odds=0.9)


def test_the_command_prints_a_query_that_serves(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    done = CliRunner().invoke(main, ["sql", "scored", "--score", "p", "--dialect", "duckdb", "--perturb"])
    assert done.exit_code == 0, done.output
    with duckdb.connect() as database:
        database.execute("CREATE TABLE scored AS SELECT 0.25 AS p, 7 AS id FROM range(10)")
        rows = database.execute(done.output).fetchall()
    assert all(row[:2] == (0.25, 7) and 0.1 < row[2] < 0.5 for row in rows)
    missing = CliRunner().invoke(main, ["sql", "scored", "--score", "p", "--dialect", "duckdb"])
    assert missing.exit_code == 2
    assert "--label" in missing.output
