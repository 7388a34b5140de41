"""Data frames and tables of engines: what their columns hold, which are meant, and how one is read as numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import narwhals as nw

from calcert.sources.clusters.weighing_options import PLAIN_ROWS, Weighing
from calcert.sources.columns import Column, check_groups, choose_all
from calcert.sources.signs_of_dependence import LOOKED_AT, remark_on_clusters

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


class Chosen(NamedTuple):
    """The columns of scores and labels, those that say how rows come, by their arguments, and that of groups."""

    score: Column
    label: Column
    others: dict[str, Column]
    groups: str | None

    @property
    def names(self) -> list[str]:
        """What they are called in the table."""
        columns = (self.score, self.label, *self.others.values())
        return [*(column.name for column in columns), *([] if self.groups is None else [self.groups])]


def chosen_columns(
    frame: Frame,
    score: str | None,
    label: str | None,
    weighing: Weighing = PLAIN_ROWS,
    groups: Any = None,
    argument: str = "groups",
) -> Chosen:
    """The columns that are meant, by name or as the only plausible ones; `argument` is what groups are called."""
    columns = columns_in(frame)
    if groups is not None:
        check_groups(groups, columns, "the table", argument)
        columns = [column for column in columns if column.name != groups]
    found = choose_all(
        columns, score, label, weighing.columns, _kind(frame), lambda name: next(iter(_head(frame, name, 1)), None)
    )
    return Chosen(*found, groups)


def columns_in_memory(frame: nw.DataFrame[Any], chosen: Chosen, weighing: Weighing) -> tuple[Any, Any, Weighing]:
    """Scores, labels, and how rows come, as arrays of the frame's own library."""
    others = {name: frame[column.name].to_native() for name, column in chosen.others.items()}
    x, y = (frame[column.name].to_native() for column in (chosen.score, chosen.label))
    return x, y, replace(weighing, **others)


def remark(frame: Frame, *taken: str | None) -> list[str]:
    """Say where rows of one user, or the like, may not be independent, and return what was said."""
    columns = columns_in(frame)
    named = [column for column in columns if column.name in taken]
    return remark_on_clusters(columns, named, _kind(frame), lambda name: _head(frame, name, LOOKED_AT))


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


def column_of(frame: Frame, name: str) -> nw.Expr:
    """The column of that very name: Spark would rather take a field of a struct for a name with a dot."""
    quoted = f"`{name.replace('`', '``')}`"
    return nw.col(quoted if frame.implementation.is_spark_like() else name)


def number(table: Frame, column: Column) -> nw.Expr:
    """The column as a double, null where it is null."""
    value = column_of(table, column.name)
    if column.kind == "boolean":
        # PostgreSQL has no cast from boolean to double, and takes 1.0 for a decimal.
        return nw.when(value).then(nw.lit(1)).otherwise(nw.when(~value).then(nw.lit(0))).cast(nw.Float64)
    if column.type.startswith("Decimal") and table.implementation in ARROW_DECIMALS:
        return value.cast(nw.String).cast(nw.Float64)
    return value.cast(nw.Float64)


def _head(frame: Frame, name: str, rows: int) -> list[Any]:
    """The first values of a column."""
    return list(frame.lazy().select(value=column_of(frame, name)).head(rows).collect()["value"].to_list())


def _kind(frame: Frame) -> str:
    return "the data frame" if isinstance(frame, nw.DataFrame) else "the table"
