"""Data frames, SQL and Spark: one expression for all engines, written with narwhals.

It is the GROUP BY of :mod:`calcert.summary.summary`. The engine places every row with arithmetic that is exact in
doubles (a product with a power of two, a floor) and sums integers, so all engines return the Summary that the array
kernel does, and only groups travel: at most 217,090 lines, and as many distinct scores as a Summary lists.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from calcert.foundation.validation import NoRows, label_message, missing_message, score_message
from calcert.sources.arrays import summarize_arrays
from calcert.sources.columns import Column, choose
from calcert.sources.overlooked_columns import LOOKED_AT, remark_on_clusters
from calcert.summary.cells import CELL_OF_ONE, DISTINCT_LIMIT, PIECES, UNIT, WIDEST
from calcert.summary.query_result import INVALID, LISTED, MISSING, Lines, Listing
from calcert.summary.summary import Summary

Frame = nw.DataFrame[Any] | nw.LazyFrame[Any]

# Arrow's cast of a decimal to a double is off by one bit for one in ten two-digit numbers; these engines use it, or, as
# Polars before 2.0, one that is off for long decimals.
ARROW_DECIMALS = (
    nw.Implementation.POLARS,
    nw.Implementation.PANDAS,
    nw.Implementation.MODIN,
    nw.Implementation.PYARROW,
    nw.Implementation.DASK,
)


def summarize_table(frame: Frame, score: str | None = None, label: str | None = None) -> Summary:
    """The Summary of a data frame: in memory by the array kernel, else computed where the rows are."""
    remark(frame, score, label)
    if isinstance(frame, nw.DataFrame):
        return summarize_arrays(*(frame[name].to_native() for name in columns_of(frame, score, label)))
    return summarize_query(frame, score, label)


def remark(frame: Frame, *taken: str | None) -> None:
    """Say where rows of one user, or the like, may not be independent."""
    columns = columns_in(frame)

    def examples(name: str) -> list[Any]:
        return list(frame.lazy().select(value=column_of(frame, name)).head(LOOKED_AT).collect()["value"].to_list())

    kind = "the data frame" if isinstance(frame, nw.DataFrame) else "the table"
    remark_on_clusters(columns, [column for column in columns if column.name in taken], kind, examples)


def columns_of(frame: Frame, score: str | None = None, label: str | None = None) -> tuple[str, str]:
    """The names of the columns of scores and labels."""
    kind = "the data frame" if isinstance(frame, nw.DataFrame) else "the table"
    found = choose(columns_in(frame), score, label, kind, lambda name: first(frame, name))
    return found[0].name, found[1].name


def summarize_query(frame: Frame, score: str | None = None, label: str | None = None) -> Summary:
    """The Summary of any frame that narwhals knows, by the engine's own GROUP BY."""
    table = frame.lazy()
    chosen = choose(columns_in(table), score, label, "the table", lambda name: first(table, name))
    rows = table.select(score=number(table, chosen[0]), label=number(table, chosen[1]))
    at = placed(rows)
    groups = at.group_by("cell", "label").agg(count=nw.len(), offset=nw.col("offset").sum())
    lines = Lines(*integers(groups, "cell", "label", "count", "offset"))
    if lines.rows.size == 0:
        raise NoRows("the table must hold at least one row; got none.")
    complaint(rows, lines, chosen)
    return Summary.from_lines(lines, distinct(at, lines))


def columns_in(frame: Frame) -> list[Column]:
    """All columns of a frame, and what they hold."""
    found = []
    for name, dtype in frame.collect_schema().items():
        if dtype.is_float() or dtype.is_decimal():
            found.append(Column(name, "real", str(dtype)))
        elif dtype.is_integer():
            found.append(Column(name, "integer", str(dtype)))
        elif dtype.is_boolean():
            found.append(Column(name, "boolean", str(dtype)))
        elif dtype == nw.Object and isinstance(frame, nw.DataFrame):
            found.append(Column(name, "unknown", str(dtype)))
        else:
            found.append(Column(name, "other", str(dtype)))
    return found


def first(frame: Frame, name: str) -> Any:
    """A value of a column, to show."""
    head = frame.lazy().select(value=column_of(frame, name)).head(1).collect()
    return head["value"].to_list()[0] if len(head) else None


def column_of(frame: Frame, name: str) -> nw.Expr:
    """The column of that very name: Spark would rather take a field of a struct for a name with a dot."""
    quoted = f"`{name.replace('`', '``')}`"
    return nw.col(quoted if frame.implementation.is_spark_like() else name)


def number(table: nw.LazyFrame[Any], column: Column) -> nw.Expr:
    """The column as a double, null where it is null."""
    value = column_of(table, column.name)
    if column.kind == "boolean":
        # PostgreSQL has no cast from boolean to double, and takes 1.0 for a decimal.
        return nw.when(value).then(nw.lit(1)).otherwise(nw.when(~value).then(nw.lit(0))).cast(nw.Float64)
    if column.type.startswith("Decimal") and table.implementation in ARROW_DECIMALS:
        return value.cast(nw.String).cast(nw.Float64)
    return value.cast(nw.Float64)


def placed(rows: nw.LazyFrame[Any], *kept: str) -> nw.LazyFrame[Any]:
    """Every row with its cell, label and offset from the last multiple of 2^-14; cell or label below 0 if invalid.

    Other columns are kept where they are named.
    """
    score, label = nw.col("score"), nw.col("label")
    checked = rows.select(
        score=nw.when((score >= 0) & (score <= 1)).then(score).otherwise(_refusal_code(score)),
        label=nw.when((label == 0) | (label == 1)).then(label).otherwise(_refusal_code(label)),
        **{name: nw.col(name) for name in kept},
    )
    cell = nw.lit(0.0)
    for piece in PIECES:
        here = (score * float(piece.scale)).floor() + float(piece.base)
        cell = nw.when(score >= piece.start).then(here).otherwise(cell)
    units = (score * float(UNIT)).floor()
    stretch = (score * float(UNIT // WIDEST)).floor()
    return checked.select(
        score=score,
        cell=nw.when(score >= 0).then(cell).otherwise(score).cast(nw.Int64),
        label=label.cast(nw.Int64),
        offset=(units - stretch * float(WIDEST)).cast(nw.Int64),
        **{name: nw.col(name) for name in kept},
    )


def _refusal_code(value: nw.Expr) -> nw.Expr:
    """A number below 0 that says why a value is none: missing, or invalid."""
    return nw.when(value.is_null()).then(nw.lit(float(MISSING))).otherwise(nw.lit(float(INVALID)))


def distinct(at: nw.LazyFrame[Any], lines: Lines, count: nw.Expr | None = None) -> Listing | None:
    """The distinct scores, asked for only where so few cells hold rows that there may be few of them."""
    if np.unique(lines.cell).size > DISTINCT_LIMIT:
        return None
    groups = at.group_by("score", "label").agg(count=nw.len() if count is None else count).head(LISTED).collect()
    return _listing(groups)


def cells_by_group(at: nw.LazyFrame[Any]) -> tuple[nw.Series[Any], Lines]:
    """What there is in every cell of every group: the column `group` of the lines, and the lines, by one query."""
    columns = ("cell", "label", "count", "offset")
    lines = at.group_by("group", "cell", "label").agg(count=nw.len(), offset=nw.col("offset").sum())
    frame = lines.select("group", **{name: nw.col(name).cast(nw.Int64) for name in columns}).collect()
    return frame["group"], Lines(*_columns_as_integers(frame, columns))


def scores_by_group(at: nw.LazyFrame[Any], values: Sequence[Any]) -> tuple[nw.Series[Any], Listing, NDArray[np.bool_]]:
    """The distinct scores of groups but for those of these `values`, by one query: the group of every line, and lines.

    Of a group that has too many scores to be listed there are some lines alone, which the last array says.
    """
    kind, group = at.collect_schema()["group"], nw.col("group")
    if values and (kind.is_integer() or kind == nw.String):  # Of other types, engines may not find a value again.
        at = at.filter(~group.is_in(values) | group.is_null())
    lines = at.group_by("group", "score", "label").agg(count=nw.len())
    known = lines.with_columns(lines=nw.col("label").count().over("group"), top=nw.col("score").max().over("group"))
    frame = known.filter((nw.col("lines") < LISTED) | (nw.col("score") == nw.col("top"))).drop("top").collect()
    return frame["group"], _listing(frame), frame["lines"].to_numpy() >= LISTED


def integers(groups: nw.LazyFrame[Any], *names: str) -> list[NDArray[np.int64]]:
    """The columns of a result, as 64-bit integers."""
    # Some engines sum 64-bit integers into wider types.
    frame = groups.select(**{name: nw.col(name).cast(nw.Int64) for name in names}).collect()
    return _columns_as_integers(frame, names)


def _columns_as_integers(frame: nw.DataFrame[Any], names: Sequence[str]) -> list[NDArray[np.int64]]:
    return [frame[name].to_numpy().astype(np.int64) for name in names]


def _listing(frame: nw.DataFrame[Any]) -> Listing:
    return Listing(frame["score"].to_numpy().astype(np.float64), *_columns_as_integers(frame, ("label", "count")))


def complaint(rows: nw.LazyFrame[Any], lines: Lines, chosen: tuple[Column, Column]) -> None:
    """Refuse rows that a Summary cannot hold, in words; `lines` has how many there are of each kind."""
    if (lines.cell < 0).any():
        raise ValueError(_score_complaint(rows, lines, chosen[0].name))
    if (lines.label < 0).any():
        raise ValueError(_label_complaint(rows, lines, chosen[1]))


def _score_complaint(rows: nw.LazyFrame[Any], lines: Lines, name: str) -> str:
    score = nw.col("score")
    if (lines.cell != INVALID).all():
        return missing_message("scores", _in_column(name, lines, lines.cell == MISSING))
    # No filter: engines skip blocks of rows by their least and greatest value, and NaN is neither.
    example = nw.when((score >= 0) & (score <= 1)).then(nw.lit(None, nw.Float64)).otherwise(score).min()
    seen = rows.select(example=example, low=score.min(), high=score.max()).collect()
    values = np.array([seen[key].to_list()[0] for key in ("example", "low", "high")], np.float64)
    if np.isinf(values[0]) and np.isfinite(values[1:]).all():
        values[0] = np.nan  # Arrow before 24 says that the least of nothing but NaN is infinite.
    return score_message(values, 0, _in_column(name, lines, lines.cell == INVALID))


def _label_complaint(rows: nw.LazyFrame[Any], lines: Lines, column: Column) -> str:
    label = nw.col("label")
    if (lines.label != INVALID).all():
        return missing_message("labels", _in_column(column.name, lines, lines.label == MISSING))
    example = nw.when((label == 0) | (label == 1)).then(nw.lit(None, nw.Float64)).otherwise(label).min()
    some = rows.filter(~label.is_null()).group_by("label").agg(count=nw.len()).head(3).collect()["label"].to_list()
    seen = np.array(rows.select(label=example).collect()["label"].to_list() + some, np.float64)
    extreme = np.isin(lines.cell, (0, CELL_OF_ONE)).all()
    return label_message(
        np.array([0.0 if extreme else 0.5]),
        seen.astype(np.int64) if column.kind == "integer" else seen,
        0,
        _in_column(column.name, lines, lines.label == INVALID),
    )


def _in_column(name: str, lines: Lines, bad: NDArray[np.bool_]) -> str:
    return f"in column {name!r} ({lines.rows[bad].sum():,} of {lines.rows.sum():,} rows)"
