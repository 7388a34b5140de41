"""Your own warehouse, no driver: the query as text, to be run where the rows are."""

from __future__ import annotations

import math

import numpy as np

from calcert.sources.engines import sql_templates
from calcert.summary import query_result
from calcert.summary.cells import DISTINCT_LIMIT, PIECES, UNIT, WIDEST
from calcert.summary.clusters import HEAVIEST, SUMS
from calcert.summary.design import CLOSE, GAIN

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
    if dialect not in sql_templates.DIALECTS:
        raise ValueError(f"dialect must be one of {', '.join(sql_templates.DIALECTS)}; got {dialect!r}.")
    chosen = sql_templates.DIALECTS[dialect]
    pieces = (
        f"        WHEN score >= {piece.start!r} THEN FLOOR(score * {piece.scale}) + {piece.base}"
        for piece in reversed(PIECES)
    )
    types = {"real": chosen.real, "integer": chosen.integer}
    weighed = clusters is not None or weights is not None
    if not 0 < weight_unit < math.inf:
        raise ValueError(f"weight_unit must be a positive number; got {weight_unit!r}.")
    scaled = "1.0" if weights is None else f"CAST({weights} AS {chosen.real}) / {float(weight_unit)!r}"
    placed = sql_templates.PLACED.format(
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
    return sql_templates.QUERY.format(**types, placed=placed, limit=DISTINCT_LIMIT, listed=query_result.LISTED)


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
    weighed = sql_templates.WEIGHED_ROWS.format(placed=placed, **constants)
    return sql_templates.WEIGHED_QUERY.format(
        clusters=(sql_templates.NAMED_CLUSTERS if clustered else sql_templates.SINGLE_ROWS).format(
            weighed=weighed, **types
        ),
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
