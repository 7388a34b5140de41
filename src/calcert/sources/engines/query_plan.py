"""One plan for all engines and for rows of every kind: plain, in groups, in clusters, with weights or shares.

It is the GROUP BY of :mod:`calcert.summary.summary`, written with narwhals. The engine locates every row with
arithmetic that is exact in doubles (a product with a power of two, a floor) and adds up integers, so that all engines
return the Summary that the array kernel does. Only sums travel: at most 217,090 lines a group, and as many distinct
scores as a Summary lists. There are at most three queries: for groups and clusters, for cells, and for distinct scores.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import narwhals as nw
import numpy as np
from narwhals import col, lit, when

from calcert.sources.clusters.cluster_names import EXACT
from calcert.sources.clusters.weighing_options import PLAIN_ROWS, Weighing
from calcert.sources.engines.refused_rows import (
    AROUND,
    BROKEN_SHARE,
    NOTHING_ELSE,
    Found,
    refuse_nameless,
    refuse_rows,
    refuse_split,
    refuse_weights,
    within,
)
from calcert.sources.engines.tables import Chosen, Frame, column_of, number
from calcert.sources.groups.group_names import MISSING as NO_GROUP
from calcert.sources.groups.group_names import MOST, group_values, numbered_groups, rows_by_name
from calcert.summary.cells import DISTINCT_LIMIT, PIECES, UNIT, WIDEST
from calcert.summary.clusters import HEAVIEST, powers_in_parts, refuse_heavy
from calcert.summary.design import CLOSE, GAIN
from calcert.summary.query_result import (
    INVALID,
    INVALID_WEIGHT,
    LISTED,
    MISSING,
    MISSING_WEIGHT,
    Lines,
    Listing,
)
from calcert.summary.summary import Summary

OUTSIDE = 2
"""Stands for a score above 1."""

LARGEST_WEIGHT = 2.0**37
"""Weights beyond this many units are refused before they become integers."""


def table_summaries(frame: Frame, chosen: Chosen, weighing: Weighing = PLAIN_ROWS) -> dict[str | None, Summary]:
    """The Summary of every group by its name, or that of all rows under None, computed where the rows are."""
    if weighing.pair_sums:
        raise TypeError("pair_sums must come with rows in memory; got a table of an engine. Collect the columns first.")
    return QueryPlan(frame.lazy(), chosen, weighing).summaries()


class QueryPlan:
    """What is asked of a table: `raw` has its rows as they are, `rows` has them with cells and weights."""

    def __init__(self, table: nw.LazyFrame[Any], chosen: Chosen, weighing: Weighing) -> None:
        self.chosen, self.weighing, self.design = chosen, weighing, weighing.design
        self.has_weights = bool(weighing.given)
        self.has_clusters = self.has_weights and weighing.counts is None
        columns = {"score": number(table, chosen.score), "label": number(table, chosen.label)}
        if weighing.measure is not None:
            columns["weight"] = number(table, chosen.others[weighing.measure])
        if self.design.clustered:
            columns["cluster"] = _key(table, chosen.others["clusters"].name)
        if chosen.groups is not None:
            columns["group"] = _key(table, chosen.groups)
        self.keys = ["group"] if chosen.groups is not None else []
        self.kept = {name: col(name) for name in columns if name not in ("score", "label")}
        self.raw = table.select(**columns)
        self.rows = self._located(self._checked())

    def summaries(self) -> dict[str | None, Summary]:
        """The Summary of every group."""
        sums = self._sums()
        found = self._cells()
        refuse_rows(self.raw, found, self.chosen, self.weighing)
        parts = self._by_group(found)
        for name, part in parts.items():
            refuse_weights(part, name, self.weighing)
        listed = self._listed(parts)
        if listed.keys() != parts.keys() or (self.has_clusters and sums.keys() != parts.keys()):
            raise ValueError(
                f"every row must be in one group; got {len(parts)} groups at first, and others later. The table "
                "changed between two reads: summarise a fixed snapshot."
            )
        summaries = {}
        for name, part in parts.items():
            there = part["weight"] > 0
            lines = Lines(*(part[key][there] for key in ("cell", "label", "weight", "offset")))
            summaries[name] = Summary.from_lines(lines, listed[name])
            if self.has_clusters:
                pairs, rows = part["pairs"][there], int(part["rows"].sum())
                summaries[name] = summaries[name].with_pairs(lines, pairs, sums[name], rows, self.design)
        return summaries

    def _checked(self) -> nw.LazyFrame[Any]:
        """Scores, labels, and weights in their cluster; where a value is none, a number that says why."""
        y = col("label")
        hard = when(y * (1 - y) == 0).then(y).otherwise(_either(y.is_null(), MISSING, INVALID))
        columns = {
            "score": within(col("score"), 1.0, OUTSIDE),
            "label": within(y, 1.0, INVALID) if self.design.soft else hard,
        }
        if self.weighing.measure is not None:
            columns["scaled"] = within(col("weight") / self.design.quantum, LARGEST_WEIGHT, INVALID)
        elif self.has_weights:
            columns["scaled"] = lit(1 / self.design.quantum)
        return self.raw.select(**columns, **self.kept)

    def _located(self, checked: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
        """Every row with its cell, its label, its offset from the last multiple of 2^-14, and its weight in quanta."""
        x, y, scaled = col("score"), col("label"), col("scaled")
        cell = (x * float(PIECES[0].scale)).floor() + float(PIECES[0].base)
        for piece in PIECES[1:]:
            cell = when(x >= piece.start).then((x * float(piece.scale)).floor() + float(piece.base)).otherwise(cell)
        needed = {INVALID: (x >= 0) & (x <= 1), MISSING: x > MISSING}
        if self.design.soft:
            needed[BROKEN_SHARE] = (y < 0) | _is_whole(scaled * y)
        if self.weighing.measure is not None or self.design.soft:
            needed |= {INVALID_WEIGHT: _is_whole(scaled), MISSING_WEIGHT: scaled > MISSING}
        for code, condition in needed.items():
            cell = when(condition).then(cell).otherwise(lit(float(code)))
        offset = (x * float(UNIT)).floor() - (x * float(UNIT // WIDEST)).floor() * float(WIDEST)
        columns = {"score": x, "cell": cell.cast(nw.Int64), "offset": offset.cast(nw.Int64), **self.kept}
        if not self.has_weights:
            return checked.select(**columns, label=y.cast(nw.Int64))
        weights = {"part": _nearest(scaled).cast(nw.Int64), "ones": _nearest(scaled * y).cast(nw.Int64)}
        return checked.select(**columns, **weights, label=y if self.design.soft else y.cast(nw.Int64))

    def _by_label(self, rows: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
        """Where labels are shares, a row of each label with that part of the weight; the first one counts."""
        if not self.design.soft:
            return rows
        y, ones = col("label"), col("ones")
        zeros = when(y < 0).then(y).otherwise(lit(0.0)).cast(nw.Int64)
        first = {"label": zeros, "part": col("part") - ones, "counted": lit(1)}
        second = {"label": lit(1).cast(nw.Int64), "part": ones, "counted": lit(0)}
        halves = [rows.with_columns(share=y, **half) for half in (first, second)]
        return nw.concat([halves[0], halves[1].filter(col("part") > 0)])

    def _is_named(self) -> nw.Expr:
        """Whether something says to which cluster a row belongs, and is exact."""
        cluster, kind = col("cluster"), self.raw.collect_schema()["cluster"]
        if kind.is_float():
            cluster = cluster.cast(nw.Float64)
            return (cluster - cluster == 0) & (cluster.clip(1 - EXACT, EXACT - 1) == cluster)
        return ~cluster.is_null() & ~cluster.str.contains(NOTHING_ELSE) if kind == nw.String else ~cluster.is_null()

    def _has_blanks(self) -> nw.Expr:
        """Whether the name of a cluster begins or ends with a blank."""
        cluster, kind = col("cluster"), self.raw.collect_schema()["cluster"]
        return cluster.str.contains(AROUND) if kind == nw.String else lit(False)

    def _sums(self) -> dict[str | None, dict[str, int]]:
        """Sums of powers over the clusters of every group, clusters or else rows; groups alone where there are none."""
        if not self.has_clusters:
            if self.keys:
                groups = self.rows.group_by("group").agg(count=nw.len()).head(MOST + 1).collect()["group"]
                numbered_groups(group_values(groups))
            return {}
        w, ones, scaled = col("part"), col("ones"), col("score") * float(GAIN)
        weight, gain = col("cluster_weight"), col("cluster_gain")
        # |y - x| in multiples of 2^-20, rounded up.
        gains = (w - ones) * scaled.ceil() + ones * (lit(float(GAIN)) - scaled.floor())
        clusters = self.rows.with_columns(cluster_weight=w, cluster_gain=gains.cast(nw.Int64))
        if self.design.clustered:
            clusters = clusters.group_by(*self.keys, "cluster").agg(
                cluster_weight=weight.sum(), cluster_gain=gain.sum()
            )
        names: dict[str, nw.Expr] = {}
        if self.design.clustered:
            names = {"nameless": _either(self._is_named(), 0, 1), "blanks": _either(self._has_blanks(), 1, 0)}
        clusters = clusters.select(
            *self.keys, cluster_weight=weight.cast(nw.Int64), cluster_gain=gain.cast(nw.Int64), **names
        )
        # Heavier clusters are refused; until then their powers must not overflow.
        light = clusters.with_columns(
            there=_either(weight > 0, 1, 0),
            light=when(weight < HEAVIEST).then(weight).otherwise(lit(HEAVIEST - 1)),
            gained=when(weight < HEAVIEST).then(gain).otherwise(lit(0)),
        )
        powers = powers_in_parts(col("light"), col("gained"), lambda value, bits: (value // (1 << bits)).cast(nw.Int64))
        sums = {"number": col("there").sum(), "largest": weight.max(), "largest_gain": gain.max()}
        sums |= {name: col(name).sum() for name in (*powers, *names)}
        split = light.with_columns(**powers)
        asked = split.group_by("group").agg(**sums).head(MOST + 1) if self.keys else split.select(**sums)
        found = _fetched(asked, self.keys, sums)
        if names and found["nameless"].any():
            refuse_nameless(self.raw, self._is_named(), self.chosen.others["clusters"])
        if names and found["blanks"].any():
            refuse_split(self.raw, self.chosen.others["clusters"])
        parts = self._by_group(found)
        if any(part["number"].size > 1 for part in parts.values()):
            raise ValueError(
                f"groups must be told apart by their values; got several in {self.chosen.groups!r} that have one name, "
                f"such as NaN beside null, both of which are {NO_GROUP!r}. Name groups by text."
            )
        of_groups = {name: {key: int(part[key][0]) for key in sums} for name, part in parts.items()}
        for own in of_groups.values():
            refuse_heavy(own, self.design)
        return of_groups

    def _cells(self) -> Found:
        """What there is in every cell of every group, by label: rows, weights, and what is added up over them."""
        rows, keys, part = self.rows, [*self.keys, "cell", "label"], col("part")
        columns = {"offset": part * col("offset") if self.has_weights else col("offset")}
        sums = {"rows": nw.len(), "offset": col("offset").sum()}
        if self.has_weights:
            columns["part"], sums["weight"] = part, part.sum()
        if self.has_clusters:
            rows = self._with_clusters()
            columns["pairs"], sums["pairs"] = part * col("cluster_weight"), col("pairs").sum()
        if self.design.soft:
            columns["counted"], sums["rows"] = col("counted"), col("counted").sum()
        if self.design.weighted and not self.design.population:
            # Shares are left out.
            columns["told"] = when(col("share") == col("label")).then(part) if self.design.soft else part
            sums |= {"told": col("told").count(), "least": col("told").min(), "most": col("told").max()}
        asked = self._by_label(rows).select(*keys, **columns).group_by(*keys).agg(**sums)
        found = _fetched(asked, self.keys, ["cell", "label", *sums])
        return {"weight": found["rows"], **found}

    def _with_clusters(self) -> nw.LazyFrame[Any]:
        """Every row with the weight of its cluster; with its own, where there are none."""
        if not self.design.clustered:
            return self.rows.with_columns(cluster_weight=col("part"))
        if self.keys:  # Not a join, which finds nothing for rows without a group.
            return self.rows.with_columns(cluster_weight=col("part").sum().over("group", "cluster"))
        clusters = self.rows.group_by("cluster").agg(cluster_weight=col("part").sum())
        return self.rows.join(clusters, on="cluster", how="inner")

    def _by_group(self, found: Found) -> dict[str | None, Found]:
        """The lines of a result, group by group."""
        if not self.keys:
            return {None: found}
        parts = rows_by_name(found["group"])
        return {name: {key: values[part] for key, values in found.items()} for name, part in parts.items()}

    def _listed(self, parts: dict[str | None, Found]) -> dict[str | None, Listing | None]:
        """Distinct scores, asked for only where so few cells hold rows that there may be few of them."""
        cells = {name: np.unique(part["cell"][part["weight"] > 0]).size for name, part in parts.items()}
        many = [name for name, number in cells.items() if number > DISTINCT_LIMIT]
        if len(many) == len(parts):
            return dict.fromkeys(parts)
        lines, count = self._by_label(self.rows), nw.len()
        if self.has_weights:
            lines, count = lines.filter(col("part") > 0), col("part").sum()
        group, kind = col("group"), self.raw.collect_schema().get("group")
        values = [parts[name]["group"][0] for name in many if name != NO_GROUP]
        if values and kind is not None and (kind.is_integer() or kind == nw.String):
            # Of other types, engines may not find a value again.
            lines = lines.filter(~group.is_in(values) | group.is_null())
        asked = lines.group_by(*self.keys, "score", "label").agg(rows=count)
        if not self.keys:
            return {None: _listing(_fetched(asked.head(LISTED), ["score"], ["label", "rows"]))}
        # Of a group that has too many scores to be listed, one line tells.
        asked = asked.with_columns(lines=col("rows").count().over("group"), top=col("score").max().over("group"))
        asked = asked.filter((col("lines") < LISTED) | (col("score") == col("top")))
        found = self._by_group(_fetched(asked, ["group", "score"], ["label", "rows", "lines"]))
        short = {name: None if (part["lines"] >= LISTED).any() else _listing(part) for name, part in found.items()}
        return {**dict.fromkeys(many), **short}


def _key(table: Frame, name: str) -> nw.Expr:
    """A column to group rows by; of integers DuckDB would trust the statistics, and merge or lose what lies beyond."""
    value = column_of(table, name)
    trusting = table.implementation.is_duckdb() or table.implementation.is_ibis()
    return value - value % 1 if trusting and table.collect_schema()[name].is_integer() else value


def _either(condition: nw.Expr, one: float, other: float) -> nw.Expr:
    return when(condition).then(lit(float(one))).otherwise(lit(float(other)))


def _nearest(value: nw.Expr) -> nw.Expr:
    return (value + 0.5).floor()


def _is_whole(value: nw.Expr) -> nw.Expr:
    """Whether a value is a whole number, up to rounding; what would be rounded to nothing is none."""
    off = (value - _nearest(value)).abs()
    return (off <= CLOSE * (1 + value)) & ((value == 0) | (value >= 0.5))


def _listing(part: Found) -> Listing:
    return Listing(part["score"].astype(np.float64), part["label"], part["rows"])


def _fetched(asked: nw.LazyFrame[Any], others: Iterable[str], integers: Iterable[str]) -> Found:
    """The columns of a result, as 64-bit integers where they are integers."""
    # Some engines sum 64-bit integers into wider types. Sums over nothing are missing.
    columns = {name: col(name).fill_null(INVALID).cast(nw.Int64) for name in integers}
    frame = asked.select(*others, **columns).collect()
    found = {name: frame[name].to_numpy().astype(np.int64) for name in columns}
    return {**found, **{name: group_values(frame[name]) for name in others}}
