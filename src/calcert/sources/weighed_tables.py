"""Tables with columns of clusters or weights: computed where the rows are, in two levels of GROUP BY.

First the rows of every cluster are added up, then each row meets the weight of its cluster again, by a join, and cells
are added up. Nothing but cells and a few sums over clusters leaves the engine.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from calcert.foundation.validation import missing_message
from calcert.sources.columns import Column
from calcert.sources.tables import Frame, columns_in, complaint, distinct, first, integers, number, placed
from calcert.sources.weigher import weigh_arrays
from calcert.sources.weighing import Weighing, WeightsByLabel, choose_all
from calcert.summary.consistency import ROW_LIMIT
from calcert.summary.counts import Summary
from calcert.summary.design import CLOSE, Design
from calcert.summary.query_result import Lines
from calcert.summary.unit_sums import SUMS, parts, refuse_heavy
from calcert.summary.units import GAIN, HEAVIEST

Integers = NDArray[np.int64]
MOST = 2.0**37
"""Weights beyond this many units are refused before they become integers."""


def weigh_table(frame: Frame, score: str | None, label: str | None, weighing: Weighing) -> Summary:
    """The Summary of a data frame with columns of clusters or weights: in memory by arrays, else by the engine."""
    kind = "the data frame" if isinstance(frame, nw.DataFrame) else "the table"
    score_column, label_column, others = choose_all(
        columns_in(frame), score, label, weighing, kind, lambda name: first(frame, name)
    )
    chosen = (score_column, label_column)
    if isinstance(frame, nw.DataFrame):
        given = {name: frame[column.name].to_native() for name, column in others.items()}
        x, y = (frame[column.name].to_native() for column in chosen)
        return weigh_arrays(x, y, replace(weighing, **given))
    if weighing.in_memory:
        raise TypeError(
            f"{weighing.in_memory} must come with rows in memory; got a table of an engine. Collect the columns first."
        )
    return _query(frame.lazy(), chosen, others, weighing.design)


def _query(
    table: nw.LazyFrame[Any], chosen: tuple[Column, Column], others: dict[str, Column], design: Design
) -> Summary:
    weight = number(table, others["weights"]) if "weights" in others else nw.lit(1.0)
    unit = {"unit": nw.col(others["clusters"].name)} if "clusters" in others else {}
    raw = table.select(score=number(table, chosen[0]), label=number(table, chosen[1]), weight=weight, **unit)
    rows = _checked(raw, others, design)
    at = placed(_weighed(raw, design), "w", *unit)
    total = {"unit_weight": nw.col("w").sum(), "unit_gain": nw.col("gain").sum()}
    gains = at.with_columns(gain=nw.col("w") * _gain())
    units = (
        gains.group_by("unit").agg(**total) if unit else gains.select(unit_weight=nw.col("w"), unit_gain=nw.col("gain"))
    )
    sums = _sums(units)
    refuse_heavy(sums, design)
    if unit:
        with_unit = at.join(units.select("unit", "unit_weight"), on="unit", how="inner")
    else:
        with_unit = at.with_columns(unit_weight=nw.col("w"))
    paired = with_unit.with_columns(pair=nw.col("w") * nw.col("unit_weight"), moved=nw.col("w") * nw.col("offset"))
    groups = paired.group_by("cell", "label").agg(
        count=nw.len(), weight=nw.col("w").sum(), offset=nw.col("moved").sum(), pairs=nw.col("pair").sum()
    )
    cell, label, count, weights, offset, pairs = integers(groups, "cell", "label", "count", "weight", "offset", "pairs")
    complaint(raw, Lines(cell, label, count, offset), chosen)
    lines = Lines(cell, label, weights, offset)
    summary = Summary.from_lines(lines, distinct(at, lines, nw.col("w").sum()))
    if summary.n != sums["total"]:
        raise ValueError(
            f"rows and clusters must be those of one table; got weights of {summary.n:,} and {sums['total']:,}. The "
            "table changed between two reads: summarise a fixed snapshot."
        )
    return summary.with_pairs(lines, pairs, sums, rows, design)


def _checked(raw: nw.LazyFrame[Any], others: dict[str, Column], design: Design) -> int:
    """The number of rows, when nothing is missing and all weights are whole multiples of their unit."""
    weight, scaled = nw.col("weight"), nw.col("weight") / design.quantum
    nearest = (scaled + 0.5).floor()
    off = ((scaled - nearest).abs() > CLOSE * nearest) & ((scaled - nearest).abs() > CLOSE)
    # A weight that would be rounded to nothing is no multiple either.
    fine = (weight >= 0) & (scaled < MOST) & ~off & ((nearest > 0) | (weight == 0))
    seen = {
        "rows": nw.len(),
        "missing": _counted(weight.is_null()),
        "wrong": nw.len() - _counted(fine),
        "total": nw.when(fine).then(nearest).otherwise(nw.lit(0.0)).cast(nw.Int64).sum(),
    }
    if design.clustered:
        seen["without"] = _counted(nw.col("unit").is_null())
    if design.weighted and not design.population:
        for value in (0, 1):
            here = nw.when(nw.col("label") == value).then(weight).otherwise(nw.lit(None, nw.Float64))
            seen |= {f"number_{value}": here.count(), f"least_{value}": here.min(), f"most_{value}": here.max()}
    frame = raw.select(**seen).collect()
    found = {name: frame[name].to_list()[0] for name in seen}
    if not found["rows"]:
        raise ValueError("the table must hold at least one row; got none.")
    if found.get("without"):
        raise ValueError(
            f"clusters must have no missing values; got {found['without']:,} in column {others['clusters'].name!r}. "
            "Give such rows a cluster of their own, or drop them, on purpose."
        )
    if design.weighted:
        where = f"in column {others['weights'].name!r}"
        if found["missing"]:
            raise ValueError(missing_message("weights", where))
        if found["wrong"]:
            raise ValueError(
                f"weights must be whole multiples of weight_unit = {design.quantum:g}, finite and not negative; got "
                f"{found['wrong']:,} others {where}. Pass a weight_unit that divides all of them, or round on purpose."
            )
        if found["total"] > ROW_LIMIT:
            raise OverflowError(
                f"weights must add up to at most 2^36 units; got {found['total']:,.0f}. Pass a larger weight_unit, or "
                "certify the parts."
            )
        if not found["total"]:
            raise ValueError("weights must not all be zero; got nothing else.")
        if not design.population and found["number_0"] and found["number_1"]:
            by_label = WeightsByLabel()
            for value in (0, 1):
                by_label.add_range(value, *(found[f"{name}_{value}"] for name in ("number", "least", "most")))
            by_label.refuse()
    return int(found["rows"])


def _counted(condition: nw.Expr) -> nw.Expr:
    """How many rows meet a condition."""
    # Not a cast, because PostgreSQL has none from boolean to numbers that are not integer.
    return nw.when(condition).then(nw.lit(1)).otherwise(nw.lit(0)).sum()


def _weighed(raw: nw.LazyFrame[Any], design: Design) -> nw.LazyFrame[Any]:
    """Rows with their weight in quanta; those of weight 0 count for nothing."""
    whole = raw.with_columns(w=(nw.col("weight") / design.quantum + 0.5).floor().cast(nw.Int64)).drop("weight")
    return whole.filter(nw.col("w") > 0) if design.weighted else whole


def _gain() -> nw.Expr:
    """|y - x| in multiples of 2^-20, rounded up."""
    scaled = nw.col("score") * float(GAIN)
    far = nw.when(nw.col("label") == 0).then(scaled.ceil()).otherwise(nw.lit(float(GAIN)) - scaled.floor())
    return far.cast(nw.Int64)


def _sums(units: nw.LazyFrame[Any]) -> dict[str, int]:
    weight, gain = nw.col("unit_weight"), nw.col("unit_gain")
    there = units.select(unit_weight=weight.cast(nw.Int64), unit_gain=gain.cast(nw.Int64))
    # Heavier units are refused; until then their powers must not overflow.
    capped = there.with_columns(
        capped=nw.when(weight < HEAVIEST).then(weight).otherwise(nw.lit(HEAVIEST - 1)),
        gained=nw.when(weight < HEAVIEST).then(gain).otherwise(nw.lit(0)),
    )
    split = capped.select(
        "unit_weight",
        "unit_gain",
        **parts(nw.col("capped"), nw.col("gained"), lambda value, bits: (value // (1 << bits)).cast(nw.Int64)),
    )
    seen = {
        "number": nw.len(),
        "largest": weight.max(),
        "largest_gain": gain.max(),
        "total": weight.sum(),
        **{name: nw.col(name).sum() for name in SUMS[3:]},
    }
    found = integers(split.select(**seen), *seen)
    return {name: int(values[0]) for name, values in zip(seen, found, strict=True)}
