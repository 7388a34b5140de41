"""For databases: the perturbed score as one SQL expression."""

from __future__ import annotations

from calcert.perturbation.noise import Noise
from calcert.perturbation.sech_kernel import SMALLEST_PROBABILITY

REALS = {"duckdb": "DOUBLE", "postgres": "DOUBLE PRECISION", "spark": "DOUBLE"}
"""Dialects in which the expression is run against the real engine, and what they call float64."""

UNIFORM = {"duckdb": "random()", "postgres": "random()", "spark": "rand()"}

TEXT = """\
CASE WHEN {x} IN (0, 1) THEN {x}
     WHEN {x} > 0 AND {x} < 1 THEN
       least(1 - 1.1102230246251565e-16,
         1 / (1 + (1 - {x}) / greatest({x}, 1e-300) * power(tan(pi() / 2 * greatest({u}, {least!r})), -{b!r})))
END"""
"""No score inside (0, 1) is rounded to 0 or 1 (O5), and no odds are too large for an engine that refuses infinity."""


def perturb_sql(score: str, *, dialect: str, odds: float = 1 / 16) -> str:
    """The score to deploy as a SQL expression: fresh noise on the odds for every row, each time it is computed.

    Guarantee
        Draws of the distribution of :func:`calcert.perturb` with the same `odds`, as good as the database's random
        numbers. Scores 0 and 1 stay as they are, no other score becomes one of them, and what is no score becomes NULL.

    Parameters
    ----------
    score
        The column of scores in [0, 1], or an expression that gives the same each time it is read.
    dialect
        duckdb, postgres or spark.
    odds
        b in [1/256, 1/2], the one that is certified.

    Examples
    --------
    >>> import duckdb
    >>> perturbed = calcert.sql.perturb_sql("p", dialect="duckdb", odds=1/16)
    >>> _ = duckdb.execute("CREATE OR REPLACE TABLE scored AS SELECT 0.25 AS p FROM range(1000)")
    >>> duckdb.execute(f"SELECT count(DISTINCT {perturbed}) FROM scored").fetchone()
    (1000,)
    """
    if not isinstance(score, str) or not score.strip():
        raise TypeError(f"score must be SQL text, such as a name; got {score!r}.")
    if ";" in score or "--" in score:
        raise ValueError(f"score must be one name or expression, without ';' and '--'; got {score!r}.")
    if dialect not in REALS:
        raise ValueError(f"dialect must be one of {', '.join(REALS)}; got {dialect!r}.")
    x = f"CAST({score} AS {REALS[dialect]})"
    return TEXT.format(x=x, u=UNIFORM[dialect], least=SMALLEST_PROBABILITY, b=Noise("odds", odds).size)
