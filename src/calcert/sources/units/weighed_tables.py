"""Tables with columns of clusters or weights: computed where the rows are, in two levels of GROUP BY.

First the rows of every cluster are added up, then each row meets the weight of its cluster again, by a join, and cells
are added up. Nothing but cells and a few sums over clusters leaves the engine.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import narwhals as nw

from calcert.foundation.validation import missing_message
from calcert.sources.columns import Column, choose_all
from calcert.sources.engines.tables import (
    Frame,
    column_of,
    columns_in,
    complaint,
    distinct,
    first,
    integers,
    number,
    placed,
)
from calcert.sources.units.cluster_names import EXACT
from calcert.sources.units.weighed_arrays import WeightsByLabel, weigh_arrays
from calcert.sources.units.weighing_options import Weighing
from calcert.summary.consistency import ROW_LIMIT
from calcert.summary.design import CLOSE, GAIN, Design
from calcert.summary.query_result import Lines
from calcert.summary.summary import Summary
from calcert.summary.units import HEAVIEST, SUMS, powers_in_parts, refuse_heavy

MOST_UNITS = 2.0**37
"""Weights beyond this many units are refused before they become integers."""


def weigh_table(frame: Frame, score: str | None, label: str | None, weighing: Weighing) -> Summary:
    """The Summary of a data frame with columns of clusters or weights: in memory by arrays, else by the engine."""
    kind = "the data frame" if isinstance(frame, nw.DataFrame) else "the table"
    score_column, label_column, others = choose_all(
        columns_in(frame), score, label, weighing.columns, kind, lambda name: first(frame, name)
    )
    chosen = (score_column, label_column)
    if isinstance(frame, nw.DataFrame):
        given = {name: frame[column.name].to_native() for name, column in others.items()}
        x, y = (frame[column.name].to_native() for column in chosen)
        return weigh_arrays(x, y, replace(weighing, **given))
    if weighing.pair_sums:
        raise TypeError("pair_sums must come with rows in memory; got a table of an engine. Collect the columns first.")
    return _weigh_by_query(frame.lazy(), chosen, others, weighing)


def _weigh_by_query(
    table: nw.LazyFrame[Any], chosen: tuple[Column, Column], others: dict[str, Column], weighing: Weighing
) -> Summary:
    design, measure = weighing.design, weighing.measure
    weight = number(table, others[measure]) if measure is not None else nw.lit(1.0)
    unit = {"unit": column_of(table, others["clusters"].name)} if "clusters" in others else {}
    raw = table.select(score=number(table, chosen[0]), label=number(table, chosen[1]), weight=weight, **unit)
    rows = _checked(raw, {"labels": chosen[1], **others}, weighing)
    if design.soft:
        # Before shares make two rows of one, so that rows are counted once.
        whole = placed(raw.with_columns(label=nw.lit(0.0))).group_by("cell", "label")
        seen = integers(whole.agg(count=nw.len(), offset=nw.col("offset").sum()), "cell", "label", "count", "offset")
        complaint(raw, Lines(*seen), chosen)
    lines = _lines(raw, weighing)
    at = placed(lines, "w", "total", *unit)
    gains = at.with_columns(gain=nw.col("w") * _gain())
    if weighing.counts is None:
        units = _units(gains, raw, weighing)
        sums = _sums_over_units(units)
        refuse_heavy(sums, design)
    if unit:
        with_unit = at.join(units.select("unit", "unit_weight"), on="unit", how="inner")
    else:
        with_unit = at.with_columns(unit_weight=nw.col("total"))
    paired = with_unit.with_columns(pair=nw.col("w") * nw.col("unit_weight"), moved=nw.col("w") * nw.col("offset"))
    groups = paired.group_by("cell", "label").agg(
        count=nw.len(), weight=nw.col("w").sum(), offset=nw.col("moved").sum(), pairs=nw.col("pair").sum()
    )
    cell, label, count, weights, offset, pairs = integers(groups, "cell", "label", "count", "weight", "offset", "pairs")
    complaint(raw, Lines(cell, label, count, offset), chosen)
    found = Lines(cell, label, weights, offset)
    summary = Summary.from_lines(found, distinct(at, found, nw.col("w").sum()))
    if weighing.counts is not None:
        return summary
    if summary.n != sums["total"]:
        raise ValueError(
            f"rows and clusters must be those of one table; got weights of {summary.n:,} and {sums['total']:,}. The "
            "table changed between two reads: summarise a fixed snapshot."
        )
    return summary.with_pairs(found, pairs, sums, rows, design)


def _quanta(value: nw.Expr, design: Design) -> nw.Expr:
    """The whole multiple of the quantum next to a value."""
    return (value / design.quantum + 0.5).floor()


def _checked(raw: nw.LazyFrame[Any], named: dict[str, Column], weighing: Weighing) -> int:
    """The number of rows, when nothing is missing and all weights are whole multiples of their unit."""
    design, measure = weighing.design, weighing.measure
    weight, label = nw.col("weight"), nw.col("label")
    seen = {
        "rows": nw.len(),
        "missing": _counted(weight.is_null()),
        "wrong": nw.len() - _counted(_is_whole(weight, design)),
        "total": nw.when(_is_whole(weight, design))
        .then(_quanta(weight, design))
        .otherwise(nw.lit(0.0))
        .cast(nw.Int64)
        .sum(),
    }
    if design.clustered:
        seen["nameless"] = _counted(_is_nameless(raw))
    if design.soft:
        inside = (label >= 0) & (label <= 1)
        seen |= {
            "outside": nw.len() - _counted(inside),
            "broken": _counted(inside) - _counted(inside & _is_whole(weight * label, design)),
        }
    if design.weighted and not design.population:
        for value in (0, 1):
            here = nw.when(label == value).then(weight).otherwise(nw.lit(None, nw.Float64))
            seen |= {f"number_{value}": here.count(), f"least_{value}": here.min(), f"most_{value}": here.max()}
    frame = raw.select(**seen).collect()
    found = {name: frame[name].to_list()[0] for name in seen}
    if not found["rows"]:
        raise ValueError("the table must hold at least one row; got none.")
    if found.get("nameless"):
        raise ValueError(
            f"clusters must have no missing values, and be told apart; got {found['nameless']:,} without a value, NaN "
            f"or floats from 2^53 on in column {named['clusters'].name!r}. Give such rows a cluster of their own, or "
            "drop them, on purpose; large numbers are exact as integers or text."
        )
    if measure is not None:
        _refuse_weights(found, measure, f"in column {named[measure].name!r}", design)
    if found.get("outside"):
        where = f"in column {named['labels'].name!r} ({found['outside']:,} of {found['rows']:,} rows)"
        raise ValueError(f"labels must lie in [0, 1] and not be missing; got others {where}.")
    if found.get("broken") or (design.soft and found["wrong"]):
        raise ValueError(
            f"labels times weights must be whole multiples of weight_unit = {design.quantum:g}; got "
            f"{found['broken'] or found['wrong']:,} others in column {named['labels'].name!r}. Pass a weight_unit that "
            "divides all of them, or round on purpose."
        )
    if design.weighted and not design.population and found["number_0"] and found["number_1"]:
        by_label = WeightsByLabel()
        for value in (0, 1):
            by_label.add_range(value, *(found[f"{name}_{value}"] for name in ("number", "least", "most")))
        by_label.refuse()
    return int(found["rows"])


def _refuse_weights(found: dict[str, Any], measure: str, where: str, design: Design) -> None:
    counts = measure == "counts"
    if found["missing"]:
        raise ValueError(missing_message(measure, where))
    if found["wrong"]:
        of = "whole numbers" if counts else f"whole multiples of weight_unit = {design.quantum:g}"
        way = "" if counts else " Pass a weight_unit that divides all of them, or round on purpose."
        raise ValueError(
            f"{measure} must be {of}, finite and not negative; got {found['wrong']:,} others {where}.{way}"
        )
    if found["total"] > ROW_LIMIT:
        of, way = ("rows", "Certify") if counts else ("units", "Pass a larger weight_unit, or certify")
        raise OverflowError(f"{measure} must add up to at most 2^36 {of}; got {found['total']:,.0f}. {way} the parts.")
    if not found["total"]:
        raise ValueError(f"{measure} must not all be zero; got nothing else.")


def _is_whole(value: nw.Expr, design: Design) -> nw.Expr:
    """Whether a value is, up to rounding, a whole multiple of the quantum."""
    scaled, nearest = value / design.quantum, _quanta(value, design)
    off = ((scaled - nearest).abs() > CLOSE * nearest) & ((scaled - nearest).abs() > CLOSE)
    # What would be rounded to nothing is no multiple either.
    return (value >= 0) & (scaled < MOST_UNITS) & ~off & ((nearest > 0) | (value == 0))


def _is_nameless(raw: nw.LazyFrame[Any]) -> nw.Expr:
    """Whether nothing says to which cluster a row belongs, or nothing exact does."""
    unit, kind = nw.col("unit"), raw.collect_schema()["unit"]
    if kind.is_float():
        return unit.is_null() | ~(unit.cast(nw.Float64).abs() < EXACT)
    return unit.is_null() | (unit == "") if kind == nw.String else unit.is_null()


def _counted(condition: nw.Expr) -> nw.Expr:
    """How many rows meet a condition."""
    # Not a cast, because PostgreSQL has none from boolean to numbers that are not integer.
    return nw.when(condition).then(nw.lit(1)).otherwise(nw.lit(0)).sum()


def _lines(raw: nw.LazyFrame[Any], weighing: Weighing) -> nw.LazyFrame[Any]:
    """Rows with a label 0 or 1, their weight in quanta and that of the row; those of weight 0 count for nothing.

    A share is a row of each label, with that part of the weight; together they weigh what the row does.
    """
    design, weight, label = weighing.design, nw.col("weight"), nw.col("label")
    whole = raw.with_columns(total=_quanta(weight, design).cast(nw.Int64))
    if not design.soft:
        lines = whole.with_columns(w=nw.col("total")).drop("weight")
        return lines if weighing.measure is None else lines.filter(nw.col("w") > 0)
    ones = _quanta(weight * label, design).cast(nw.Int64)
    both = [
        whole.with_columns(w=share).with_columns(label=nw.lit(value)).drop("weight").filter(nw.col("w") > 0)
        for share, value in ((nw.col("total") - ones, 0.0), (ones, 1.0))
    ]
    return nw.concat(both)


def _units(gains: nw.LazyFrame[Any], raw: nw.LazyFrame[Any], weighing: Weighing) -> nw.LazyFrame[Any]:
    """The weight and the gain of every unit."""
    if weighing.clusters is not None:
        total = {"unit_weight": nw.col("w").sum(), "unit_gain": nw.col("gain").sum()}
        return gains.group_by("unit").agg(**total)
    if not weighing.soft_labels:
        return gains.select(unit_weight=nw.col("w"), unit_gain=nw.col("gain"))
    # The two halves of a row are one unit; scores that are none are refused later, and must not end an engine here.
    score, design = nw.col("score"), weighing.design
    ones = _quanta(nw.col("weight") * nw.col("label"), design)
    scaled = nw.when((score >= 0) & (score <= 1)).then(score).otherwise(nw.lit(0.0)) * float(GAIN)
    rows = raw.select(scaled=scaled, total=_quanta(nw.col("weight"), design), ones=ones)
    x, w, one = nw.col("scaled"), nw.col("total"), nw.col("ones")
    gain = (w - one) * x.ceil() + one * (nw.lit(float(GAIN)) - x.floor())
    units = rows.select(unit_weight=w.cast(nw.Int64), unit_gain=gain.cast(nw.Int64))
    return units.filter(nw.col("unit_weight") > 0)


def _gain() -> nw.Expr:
    """|y - x| in multiples of 2^-20, rounded up."""
    scaled = nw.col("score") * float(GAIN)
    far = nw.when(nw.col("label") == 0).then(scaled.ceil()).otherwise(nw.lit(float(GAIN)) - scaled.floor())
    return far.cast(nw.Int64)


def _sums_over_units(units: nw.LazyFrame[Any]) -> dict[str, int]:
    """Powers of weights and gains, added up over all units, by one query."""
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
        **powers_in_parts(
            nw.col("capped"), nw.col("gained"), lambda value, bits: (value // (1 << bits)).cast(nw.Int64)
        ),
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
