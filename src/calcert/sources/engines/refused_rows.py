"""Rows of a table that a Summary cannot hold: how an engine notices them, and what is said of them.

Engines drop comparisons, and signs, that the least and greatest value of a column seem to answer, and files tell these
without NaN, or wrongly. So values are checked by equations, which no range answers. What is none becomes a number below
or above all that are, by equations too: then an engine has to look, whatever is asked afterwards.
"""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
from narwhals import col, lit, when
from numpy.typing import NDArray

from calcert.foundation.array_types import Floats
from calcert.foundation.number_text import fraction
from calcert.foundation.refusal import Argument, NoRows, WrongValue
from calcert.foundation.refused_values import bad_label, bad_score, missing_value
from calcert.sources.clusters.cluster_names import split_message
from calcert.sources.clusters.weighed_arrays import WeightsByLabel
from calcert.sources.clusters.weighing_options import Weighing, too_many
from calcert.sources.columns import Column
from calcert.sources.engines.tables import Chosen
from calcert.summary.cells import CELL_OF_ONE
from calcert.summary.consistency import ROW_LIMIT
from calcert.summary.query_result import INVALID, INVALID_WEIGHT, MISSING, MISSING_WEIGHT

BROKEN_SHARE = -6
"""The cell of rows whose label is a share that is no whole multiple of the weight's unit."""

BLANKS = "".join(letter for letter in map(chr, range(0x3001)) if letter.isspace())
"""All that Python takes for blanks."""

AROUND, NOTHING_ELSE = f"^[{BLANKS}]|[{BLANKS}]$", f"^[{BLANKS}]*$"
"""Where they are; engines search much faster than they strip."""

MULTIPLES = ("whole multiples of ", Argument("weight_unit"))
DIVIDING = ("Pass a ", Argument("weight_unit"), " that divides all of them, or round on purpose.")

Found = dict[str, NDArray[Any]]
"""The columns of a result, by name."""


def inside(value: nw.Expr, most: float = 1.0) -> nw.Expr:
    """Whether a number lies in [0, most]."""
    return (value.clip(0.0, most) == value) & (value - value == 0)


def within(value: nw.Expr, most: float, above: float) -> nw.Expr:
    """A number in [0, most]; else -2 for a missing one, -1 for one below, `above` for one above, NaN being either."""
    low = when(value.is_null()).then(lit(float(MISSING))).otherwise(lit(float(INVALID)))
    other = when(value.clip(0.0) == value).then(lit(float(above))).otherwise(low)
    return when(inside(value, most)).then(value).otherwise(other)


def refuse_rows(raw: nw.LazyFrame[Any], cells: Found, chosen: Chosen, weighing: Weighing) -> None:
    """Refuse what a Summary cannot hold, in words; `cells` has how many rows there are of each kind."""
    unit, measure, rows = fraction(weighing.design.quantum), weighing.measure, int(cells["rows"].sum())
    wrong, labels = (
        {int(code): int(cells["rows"][cells[name] == code].sum()) for code in np.unique(cells[name]) if code < 0}
        for name in ("cell", "label")
    )

    def where(column: Column, number: int) -> str:
        return f"in column {column.name!r} ({number:,} of {rows:,} rows)"

    if not rows:
        raise NoRows.of("the table")
    if measure is not None and MISSING_WEIGHT in wrong:
        raise missing_value(measure, where(chosen.others[measure], wrong[MISSING_WEIGHT]))
    if measure is not None and INVALID_WEIGHT in wrong:
        whole = measure == "counts"
        of: tuple[str | Argument, ...] = ("whole numbers",) if whole else (*MULTIPLES, f" = {unit}")
        got, place = f"{wrong[INVALID_WEIGHT]:,} others", f"in column {chosen.others[measure].name!r}"
        way = "" if whole else DIVIDING
        raise WrongValue(measure, ("must be ", *of, ", finite and not negative"), got, place, way)
    broken = wrong.get(BROKEN_SHARE, 0) + wrong.get(INVALID_WEIGHT, 0)
    if broken:
        wanted, place = ("must be ", *MULTIPLES, f" = {unit}"), f"in column {chosen.label.name!r}"
        raise WrongValue("labels times weights", wanted, f"{broken:,} others", place, DIVIDING)
    if INVALID in wrong:
        raise bad_score(_wrong_score(raw), 0, where(chosen.score, wrong[INVALID]))
    if wrong:
        raise missing_value("scores", where(chosen.score, wrong[MISSING]))
    if INVALID in labels and weighing.design.soft:
        raise ValueError(f"labels must lie in [0, 1]; got others {where(chosen.label, labels[INVALID])}.")
    if INVALID in labels:
        extreme = np.isin(cells["cell"], (0, CELL_OF_ONE)).all()
        seen = _wrong_label(raw, whole=chosen.label.kind == "integer")
        words = where(chosen.label, labels[INVALID])
        raise bad_label(np.array([0.0 if extreme else 0.5]), seen, 0, words)
    if labels:
        raise missing_value("labels", where(chosen.label, labels[MISSING]))


def refuse_nameless(raw: nw.LazyFrame[Any], named: nw.Expr, clusters: Column) -> None:
    """Refuse rows of which nothing exact says to which cluster they belong."""
    count = raw.select(count=when(named).then(lit(0)).otherwise(lit(1)).sum()).collect()["count"].to_list()[0]
    raise ValueError(
        f"clusters must have no missing values, and be told apart; got {count:,} without a value, NaN or floats from "
        f"2^53 on in column {clusters.name!r}. Give such rows a cluster of their own, or drop them, on purpose; large "
        "numbers are exact as integers or text."
    )


def bare(name: nw.Expr) -> nw.Expr:
    """A name without the blanks around it."""
    return name.str.strip_chars_start(BLANKS).str.strip_chars_end(BLANKS)


def refuse_split(raw: nw.LazyFrame[Any], clusters: Column) -> None:
    """Refuse clusters whose names differ by blanks alone."""
    names = raw.group_by("cluster").agg(count=nw.len()).select(name=col("cluster"), bare=bare(col("cluster")))
    spellings = names.group_by("bare").agg(name=col("name").max(), number=nw.len())
    split = spellings.filter(col("number") > 1).head(1).collect()["name"].to_list()
    if split:
        raise ValueError(split_message(split[0], f"in column {clusters.name!r}"))


def refuse_weights(cells: Found, group: str | None, weighing: Weighing) -> None:
    """Refuse weights that a Summary cannot hold though each by itself is one: too many, none, or one a label."""
    measure, design, total = weighing.measure, weighing.design, int(cells["weight"].sum())
    if measure is not None and total > ROW_LIMIT:
        raise too_many(measure, f"{total:,}")
    if measure is not None and not total:
        named = "; got nothing else" if group is None else f" in any group; got nothing else in {group!r}"
        raise ValueError(f"{measure} must not all be zero{named}.")
    if design.weighted and not design.population:
        by_label = WeightsByLabel()
        for label in (0, 1):
            here = (cells["label"] == label) & (cells["told"] > 0)
            if here.any():
                least, most = cells["least"][here].min() * design.quantum, cells["most"][here].max() * design.quantum
                by_label.add_range(label, int(cells["told"][here].sum()), least, most)
        by_label.refuse()


def _wrong_score(raw: nw.LazyFrame[Any]) -> Floats:
    """One that is none, and the least and the greatest of all."""
    score = col("score")
    # No filter: engines skip blocks of rows by their least and greatest value, and NaN is neither.
    wrong = when(inside(score)).then(lit(None, nw.Float64)).otherwise(score).min()
    seen = raw.select(wrong=wrong, low=score.min(), high=score.max()).collect()
    values = np.array([seen[key].to_list()[0] for key in ("wrong", "low", "high")], np.float64)
    if np.isinf(values[0]) and np.isfinite(values[1:]).all():
        values[0] = np.nan  # Arrow before 24 says that the least of nothing but NaN is infinite.
    return values


def _wrong_label(raw: nw.LazyFrame[Any], *, whole: bool) -> NDArray[Any]:
    """One that is none, and some that there are."""
    label = col("label")
    wrong = when(label * (1 - label) == 0).then(lit(None, nw.Float64)).otherwise(label).min()
    some = raw.filter(~label.is_null()).group_by("label").agg(count=nw.len()).head(3).collect()["label"].to_list()
    seen = np.array(raw.select(label=wrong).collect()["label"].to_list() + some, np.float64)
    return seen.astype(np.int64) if whole else seen
