"""Your own warehouse, no driver: the query as text, to be run where the rows are."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from calcert.summary import query_result
from calcert.summary.cells import DISTINCT_LIMIT, PIECES, UNIT, WIDEST
from calcert.summary.clusters import HEAVIEST, SUMS
from calcert.summary.design import CLOSE, GAIN


class Dialect(NamedTuple):
    """What differs between SQL dialects: two type names, and how to ask if a label of any type is 1 or 0."""

    real: str
    integer: str
    one: str
    zero: str


DIALECTS = {
    "duckdb": Dialect("DOUBLE", "BIGINT", "CAST({} AS DOUBLE) = 1", "CAST({} AS DOUBLE) = 0"),
    "postgres": Dialect("DOUBLE PRECISION", "BIGINT", "({}) = '1'", "({}) = '0'"),
    "spark": Dialect("DOUBLE", "BIGINT", "CAST({} AS DOUBLE) = 1", "CAST({} AS DOUBLE) = 0"),
    "bigquery": Dialect(
        "FLOAT64", "INT64", "CAST({} AS STRING) IN ('1', 'true')", "CAST({} AS STRING) IN ('0', 'false')"
    ),
    "snowflake": Dialect("DOUBLE", "BIGINT", "({}) = 1", "({}) = 0"),
    "trino": Dialect("DOUBLE", "BIGINT", "CAST({} AS DOUBLE) = 1", "CAST({} AS DOUBLE) = 0"),
}

PLACED = """\
    SELECT
      score,
      label,{kept}
      CAST(CASE
        WHEN score IS NULL THEN {missing}
        WHEN NOT (score >= 0 AND score <= 1) THEN {invalid}
{pieces}
      END AS {integer}) AS cell,
      CAST(CASE
        WHEN score >= 0 AND score <= 1 THEN FLOOR(score * {unit}) - {widest} * FLOOR(score * {stretches})
        ELSE 0
      END AS {integer}) AS place
    FROM (
      SELECT
        CAST({score} AS {real}) AS score,{more}
        CASE WHEN {one} THEN 1 WHEN {zero} THEN 0 WHEN ({label}) IS NULL THEN {missing} ELSE {invalid} END AS label
      FROM {table}
    ) AS calcert_rows"""

# The rows stand in the text twice, not once in a WITH, because databases store what a WITH holds if it is read twice.
QUERY = """\
WITH calcert_cells AS (
  SELECT cell, label, COUNT(*) AS row_count, CAST(SUM(place) AS {integer}) AS offset_sum
  FROM (
{placed}
  ) AS calcert_placed
  GROUP BY cell, label
), calcert_scores AS (
  SELECT cell, label, COUNT(*) AS row_count, CAST(SUM(place) AS {integer}) AS offset_sum, score
  FROM (
{placed}
  ) AS calcert_placed
  WHERE cell >= 0 AND (SELECT COUNT(DISTINCT cell) FROM calcert_cells) <= {limit}
  GROUP BY cell, label, score
  LIMIT {listed}
), calcert_total AS (
  SELECT CAST(SUM(row_count) AS {integer}) AS table_rows FROM calcert_cells
)
SELECT cell, label, row_count, offset_sum, table_rows, CAST(NULL AS {real}) AS score
FROM calcert_cells CROSS JOIN calcert_total
UNION ALL
SELECT cell, label, row_count, offset_sum, table_rows, score
FROM calcert_scores CROSS JOIN calcert_total
"""

WEIGHED_ROWS = """\
    SELECT
      score,
      label,
      place,
      calcert_cluster,
      CAST(CASE WHEN scaled >= 0 AND scaled < {largest} THEN FLOOR(scaled + 0.5) ELSE 0 END AS {integer}) AS weight,
      CAST(CASE
        WHEN cell < 0 THEN 0
        WHEN label = 0 THEN CEIL(score * {gain})
        ELSE {gain} - FLOOR(score * {gain})
      END AS {integer}) AS gain,
      CASE
        WHEN scaled IS NULL THEN {missing_weight}
        WHEN NOT (scaled >= 0 AND scaled < {largest}) THEN {invalid_weight}
        WHEN NOT (ABS(scaled - FLOOR(scaled + 0.5)) <= {close} * (1 + scaled)) THEN {invalid_weight}
        WHEN scaled > 0 AND scaled < 0.5 THEN {invalid_weight}
        WHEN calcert_cluster IS NULL THEN {missing_cluster}
        ELSE cell
      END AS cell
    FROM (
{placed}
    ) AS calcert_placed"""

WEIGHED_QUERY = """\
WITH calcert_clusters AS (
{clusters}
), calcert_split AS (
  SELECT *, square - high * 2147483648 AS low, gained - whole * {gain} AS rest
  FROM (
    SELECT
      *,
      CAST(FLOOR(CAST(square AS {real}) / 2147483648) AS {integer}) AS high,
      CAST(FLOOR(CAST(gained AS {real}) / {gain}) AS {integer}) AS whole
    FROM (
      SELECT *, capped * capped AS square
      FROM (
        SELECT
          cluster_weight,
          cluster_gain,
          CASE WHEN cluster_weight < {heaviest} THEN cluster_weight ELSE 0 END AS capped,
          CASE WHEN cluster_weight < {heaviest} THEN cluster_gain ELSE 0 END AS gained
        FROM calcert_clusters
      ) AS calcert_capped
    ) AS calcert_squares
  ) AS calcert_high
), calcert_sums AS (
  SELECT
    COUNT(*) AS number,
    MAX(cluster_weight) AS largest,
    MAX(cluster_gain) AS largest_gain,
    CAST(SUM(high) AS {integer}) AS square_high,
    CAST(SUM(low) AS {integer}) AS square_low,
    CAST(SUM(high * high) AS {integer}) AS fourth_high,
    CAST(SUM(high * low) AS {integer}) AS fourth_middle,
    CAST(SUM(lower_part) AS {integer}) AS fourth_low,
    CAST(SUM(low * low - lower_part * 2147483648) AS {integer}) AS fourth_rest,
    CAST(SUM(whole * whole) AS {integer}) AS gain_high,
    CAST(SUM(whole * rest) AS {integer}) AS gain_middle,
    CAST(SUM(rest_part) AS {integer}) AS gain_low,
    CAST(SUM(rest * rest - rest_part * {gain}) AS {integer}) AS gain_rest,
    CAST(SUM(whole * capped) AS {integer}) AS mixed_high,
    CAST(SUM(rest * capped) AS {integer}) AS mixed_low
  FROM (
    SELECT
      *,
      CAST(FLOOR(CAST(low * low AS {real}) / 2147483648) AS {integer}) AS lower_part,
      CAST(FLOOR(CAST(rest * rest AS {real}) / {gain}) AS {integer}) AS rest_part
    FROM calcert_split
  ) AS calcert_parts
), calcert_cells AS (
  SELECT
    cell,
    label,
    COUNT(*) AS row_count,
    CAST(SUM(weight * place) AS {integer}) AS offset_sum,
    CAST(SUM(weight) AS {integer}) AS weight_sum,
    CAST(COALESCE(SUM(weight * {weight_of_cluster}), 0) AS {integer}) AS pair_sum
  FROM (
{weighed}
  ) AS calcert_weighed{join}
  GROUP BY cell, label
), calcert_scores AS (
  SELECT
    cell,
    label,
    COUNT(*) AS row_count,
    CAST(SUM(weight * place) AS {integer}) AS offset_sum,
    CAST(SUM(weight) AS {integer}) AS weight_sum,
    score
  FROM (
{weighed}
  ) AS calcert_weighed
  WHERE cell >= 0 AND weight > 0 AND (SELECT COUNT(DISTINCT cell) FROM calcert_cells) <= {limit}
  GROUP BY cell, label, score
  LIMIT {listed}
), calcert_total AS (
  SELECT CAST(SUM(row_count) AS {integer}) AS table_rows FROM calcert_cells
)
SELECT
  cell, label, row_count, offset_sum, table_rows, CAST(NULL AS {real}) AS score, weight_sum, pair_sum,
  {design} AS design, {quantum} AS quantum_bits,
  {nothing}
FROM calcert_cells CROSS JOIN calcert_total
UNION ALL
SELECT
  cell, label, row_count, offset_sum, table_rows, score, weight_sum, 0,
  {design}, {quantum},
  {zeros}
FROM calcert_scores CROSS JOIN calcert_total
UNION ALL
SELECT
  {cluster_line}, 0, 0, 0, table_rows, CAST(NULL AS {real}), 0, 0,
  {design}, {quantum},
  {sums}
FROM calcert_sums CROSS JOIN calcert_total
"""

NAMED_CLUSTERS = """\
  SELECT
    calcert_cluster AS cluster_key,
    CAST(SUM(weight) AS {integer}) AS cluster_weight,
    CAST(SUM(weight * gain) AS {integer}) AS cluster_gain
  FROM (
{weighed}
  ) AS calcert_weighed
  WHERE cell >= 0 AND label >= 0 AND weight > 0
  GROUP BY calcert_cluster"""

SINGLE_ROWS = """\
  SELECT weight AS cluster_weight, weight * gain AS cluster_gain
  FROM (
{weighed}
  ) AS calcert_weighed
  WHERE cell >= 0 AND label >= 0 AND weight > 0"""


LARGEST = 1 << 37
"""Weights beyond this many units are invalid: a Summary holds fewer."""


def summary_query(
    table: str,
    score: str,
    label: str,
    dialect: str,
    *,
    clusters: str | None = None,
    weights: str | None = None,
    weight_unit: float = 1.0,
) -> str:
    """The query that summarises a table inside the database: its rows stay where they are.

    Run it with any driver or console, and pass what it returned to :meth:`calcert.Summary.from_cells`. Rows without a
    valid score or label are counted as well and refused there, so nothing is dropped in silence. At most 217,090 cells
    and 8,195 distinct scores come back, and it does not matter in which order.

    Parameters
    ----------
    table
        A table, a view, or a subquery in parentheses with an alias, as you write it after FROM.
    score
        The column of scores in [0, 1], or an expression: ``"1 / (1 + EXP(-logit))"``.
    label
        The column of labels 0/1 or boolean, or an expression: ``"CASE WHEN outcome = 'won' THEN 1 ELSE 0 END"``.
    dialect
        duckdb, postgres, spark, bigquery, snowflake or trino. The project runs the first three against the real
        engines; the others are checked for syntax.
    clusters, weights
        The column that says which rows belong together, that of weights, or expressions, where rows are not independent
        or not equal; as in :func:`calcert.summarize`.
    weight_unit
        What all weights are whole multiples of.

    Examples
    --------
    >>> query = calcert.sql.summary_query("predictions", score="p", label="y", dialect="postgres")
    >>> print("\\n".join(query.splitlines()[-5:]))
    SELECT cell, label, row_count, offset_sum, table_rows, CAST(NULL AS DOUBLE PRECISION) AS score
    FROM calcert_cells CROSS JOIN calcert_total
    UNION ALL
    SELECT cell, label, row_count, offset_sum, table_rows, score
    FROM calcert_scores CROSS JOIN calcert_total
    """
    given = {"table": table, "score": score, "label": label, "clusters": clusters, "weights": weights}
    for name, value in given.items():
        if value is None and name in ("clusters", "weights"):
            continue
        if not isinstance(value, str) or not value.strip():
            raise TypeError(f"{name} must be SQL text, such as a name; got {value!r}.")
        if ";" in value or "--" in value:
            raise ValueError(f"{name} must be one name or expression, without ';' and '--'; got {value!r}.")
    if dialect not in DIALECTS:
        raise ValueError(f"dialect must be one of {', '.join(DIALECTS)}; got {dialect!r}.")
    chosen = DIALECTS[dialect]
    pieces = (
        f"        WHEN score >= {piece.start!r} THEN FLOOR(score * {piece.scale}) + {piece.base}"
        for piece in reversed(PIECES)
    )
    types = {"real": chosen.real, "integer": chosen.integer}
    weighed = clusters is not None or weights is not None
    if not 0 < weight_unit < math.inf:
        raise ValueError(f"weight_unit must be a positive number; got {weight_unit!r}.")
    scaled = "1.0" if weights is None else f"CAST({weights} AS {chosen.real}) / {float(weight_unit)!r}"
    placed = PLACED.format(
        kept="\n      scaled,\n      calcert_cluster," if weighed else "",
        more=f"\n        {scaled} AS scaled,\n        {clusters or '0'} AS calcert_cluster," if weighed else "",
        **types,
        table=table,
        score=score,
        label=label,
        one=chosen.one.format(label),
        zero=chosen.zero.format(label),
        pieces="\n".join(pieces).replace("+ -", "- ").replace(" + 0", ""),
        unit=UNIT,
        widest=WIDEST,
        stretches=UNIT // WIDEST,
        missing=query_result.MISSING,
        invalid=query_result.INVALID,
    )
    if weighed:
        clustered, weighted = clusters is not None, weights is not None
        return _weighed_query(placed, types, clustered=clustered, weighted=weighted, quantum=float(weight_unit))
    return QUERY.format(**types, placed=placed, limit=DISTINCT_LIMIT, listed=query_result.LISTED)


def _weighed_query(placed: str, types: dict[str, str], *, clustered: bool, weighted: bool, quantum: float) -> str:
    """The query for clusters or weights: sums over clusters first, then cells, all in the database.

    `placed` is the subquery that places rows, with their weight as `scaled` and their `calcert_cluster`.
    """
    constants = {
        **types,
        "gain": GAIN,
        "heaviest": HEAVIEST,
        "largest": LARGEST,
        "close": f"{CLOSE:.9f}",
        "missing_weight": query_result.MISSING_WEIGHT,
        "invalid_weight": query_result.INVALID_WEIGHT,
        "missing_cluster": query_result.MISSING_CLUSTER,
    }
    weighed = WEIGHED_ROWS.format(placed=placed, **constants)
    return WEIGHED_QUERY.format(
        clusters=(NAMED_CLUSTERS if clustered else SINGLE_ROWS).format(weighed=weighed, **types),
        weighed=weighed,
        weight_of_cluster="cluster_weight" if clustered else "weight",
        join=" LEFT JOIN calcert_clusters ON calcert_cluster = cluster_key" if clustered else "",
        limit=DISTINCT_LIMIT,
        listed=query_result.LISTED,
        cluster_line=query_result.CLUSTER_LINE,
        design=int(clustered) + 2 * int(weighted),
        quantum=int(np.float64(quantum).view(np.int64)),
        nothing=", ".join(f"0 AS {name}" for name in SUMS),
        zeros=", ".join("0" for _ in SUMS),
        sums=", ".join(SUMS),
        **constants,
    )
