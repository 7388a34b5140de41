"""Rows in clusters, with weights, with shares for labels or with counts: from columns in memory to a Summary."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calcert.foundation.validation import label_message, score_message
from calcert.sources.arrays import as_numpy, check_indexes, column
from calcert.sources.columns import Column, check_alone, choose, named
from calcert.summary import cells
from calcert.summary.consistency import DISTINCT_LIMIT, ROW_LIMIT
from calcert.summary.counts import Summary
from calcert.summary.design import CLOSE, Design
from calcert.summary.unit_sums import assembled, parts, refuse_heavy
from calcert.summary.units import GAIN, HEAVIEST

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

SHARE_UNIT = 1 / 2520
"""Shares of up to ten annotators are whole multiples of it: 2520 is divisible by 1, ..., 10."""

TELLING_ROWS = 20
"""So many rows of either label, all of one weight a label, are no coincidence."""


@dataclass(frozen=True)
class Weighing:
    """What was said of rows that are not independent, or not equal; columns by name where rows are a table.

    Attributes
    ----------
    clusters, weights, counts
        A cluster, a weight, or a number of independent rows, for every line.
    largest_weight, largest_gain
        Bounds known beforehand on the weight of a cluster (of a row where there are no clusters), and on the sum over
        it of weight times |label - score|.
    weight_unit
        What weights are whole multiples of.
    soft_labels
        True where labels are shares between 0 and 1.
    """

    clusters: Any = None
    weights: Any = None
    counts: Any = None
    largest_weight: float | None = None
    largest_gain: float | None = None
    weight_unit: float | None = None
    soft_labels: bool = False

    def __post_init__(self) -> None:
        for name in ("largest_weight", "largest_gain", "weight_unit"):
            value = getattr(self, name)
            if value is not None and not (_is_real(value) and 0 < value < math.inf):
                raise ValueError(f"{name} must be a positive number, such as 100; got {value!r}.")
        if self.soft_labels not in (True, False):
            raise TypeError(f"soft_labels must be True or False; got {self.soft_labels!r}.")
        if self.counts is not None and len(self.given) > 1:
            other = next(name for name in self.given if name != "counts")
            raise TypeError(
                f"counts must stand alone: a line that stands for so many independent rows; got {other} as well. For "
                "rows that count more than others pass weights."
            )
        if self.largest_weight is not None and self.clusters is None and self.weights is None:
            raise TypeError("largest_weight must come with weights or clusters; got neither.")
        if self.largest_gain is not None and self.largest_weight is None:
            raise TypeError("largest_gain must come with largest_weight; got none.")
        if self.weight_unit is not None and self.weights is None and not self.soft_labels:
            raise TypeError("weight_unit must come with weights or soft_labels; got neither.")

    @property
    def given(self) -> list[str]:
        """The names of all that was said."""
        values = ((field.name, getattr(self, field.name)) for field in fields(self))
        return [name for name, value in values if value is not None and value is not False]

    @property
    def columns(self) -> dict[str, Any]:
        """The columns beside scores and labels."""
        named = {name: getattr(self, name) for name in ("clusters", "weights", "counts")}
        return {name: values for name, values in named.items() if values is not None}

    @property
    def design(self) -> Design:
        """The same as a Summary keeps it."""
        return Design(
            clustered=self.clusters is not None,
            weighted=self.weights is not None,
            soft=self.soft_labels,
            quantum=float(self.weight_unit or (SHARE_UNIT if self.soft_labels else 1.0)),
            largest_weight=None if self.largest_weight is None else float(self.largest_weight),
            largest_gain=None if self.largest_gain is None else float(self.largest_gain),
        )


def weigh_arrays(scores: Any, labels: Any, weighing: Weighing) -> Summary:
    """The Summary of columns in memory."""
    x = np.ascontiguousarray(column("scores", scores), np.float64) + 0.0
    y = column("labels", labels)
    check_indexes(scores=scores, labels=labels, **weighing.columns)
    bad = ~((x >= 0) & (x <= 1))
    if bad.any():
        raise ValueError(score_message(x, int(np.argmax(bad))))
    share = _shares(x, y, soft=weighing.soft_labels)
    other = {name: _column(name, values) for name, values in weighing.columns.items()}
    for name, values in (("labels", y), *other.items()):
        if values.size != x.size:
            raise ValueError(f"{name} must be as long as scores; got {values.size} {name} and {x.size} scores.")
    if weighing.counts is not None:
        return Summary(*_counted(x, share.astype(np.int64), whole("counts", other["counts"], 1.0)))
    code = None if weighing.clusters is None else _codes(other["clusters"])
    design = weighing.design
    weight = np.ones(x.size) if weighing.weights is None else other["weights"].astype(np.float64)
    if design.weighted and not design.population:
        refuse_weights_by_label(*(weight[y == label] for label in (0, 1)))
    return _weighed(x, share, weight, code, design)


def _weighed(x: Floats, share: Floats, weight: Floats, code: Integers | None, design: Design) -> Summary:
    name = "weights" if design.weighted else "labels"
    total = whole(name, weight, design.quantum) if design.weighted or design.soft else np.ones(x.size, np.int64)
    # A share is a row of each label, with that part of the weight; together they weigh what the row does.
    ones = whole("labels", weight * share, design.quantum) if design.soft else (total * share).astype(np.int64)
    zeros = total - ones
    unit = np.arange(x.size) if code is None else code
    most, least = np.ceil(x * GAIN).astype(np.int64), np.floor(x * GAIN).astype(np.int64)
    sizes, gains = np.zeros((2, int(unit.max()) + 1), np.int64)
    np.add.at(sizes, unit, total)
    np.add.at(gains, unit, zeros * most + ones * (GAIN - least))
    sums = sums_over(sizes, gains)
    refuse_heavy(sums, design)
    there = [zeros > 0, ones > 0]
    place = np.concatenate([np.flatnonzero(rows) for rows in there])
    label = np.repeat([0, 1], [int(rows.sum()) for rows in there])
    w = np.concatenate([zeros[there[0]], ones[there[1]]])
    arrays = _counted(x[place], label, w)
    pairs = np.zeros(2 * cells.CELLS, np.int64)
    np.add.at(pairs, _slots(x[place], label)[0], w * sizes[unit[place]])
    return Summary(*arrays, assembled(sums, pairs.reshape(-1, 2)[arrays[0]], x.size, design))


def sums_over(weight: Integers, gain: Integers) -> dict[str, int]:
    """The sums of `SUMS` over units, those without weight left out."""
    there = weight > 0
    weight, gain = weight[there], gain[there]
    capped = np.minimum(weight, HEAVIEST - 1)
    split = parts(capped, np.minimum(gain, capped * GAIN), lambda value, bits: value >> bits)
    return {
        "number": int(weight.size),
        "largest": int(weight.max()),
        "largest_gain": int(gain.max()),
        **{name: int(values.sum()) for name, values in split.items()},
    }


def whole(name: str, values: NDArray[Any], unit: float) -> Integers:
    """Values as whole multiples of a unit; refused where they are none, or too large for a Summary together."""
    bad = ~((values >= 0) & (values < math.inf))
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(f"{name} must be finite and not negative; got {values[row]:g} at row {row}.")
    scaled = values / unit
    found = np.rint(scaled)
    bad = np.abs(scaled - found) > CLOSE * np.maximum(found, 1.0)
    if bad.any():
        row = int(np.argmax(bad))
        if name == "counts":
            raise ValueError(f"counts must be whole numbers; got {values[row]:g} at row {row}.")
        raise ValueError(
            f"{name} must be whole multiples of weight_unit = {unit:g}; got {float(values[row])!r} at row {row}. Pass "
            "a weight_unit that divides all of them, or round on purpose: numpy.round(values / unit) * unit."
        )
    total = float(found.sum())
    if total > ROW_LIMIT:
        of, way = ("rows", "Certify") if name == "counts" else ("units", "Pass a larger weight_unit, or certify")
        raise OverflowError(f"{name} must add up to at most 2^36 {of}; got {total:,.0f}. {way} the parts.")
    if total == 0 and name != "labels":
        raise ValueError(f"{name} must not all be zero; got nothing else.")
    return found.astype(np.int64)


def refuse_weights_by_label(zeros: NDArray[Any], ones: NDArray[Any]) -> None:
    """Weights that are one number for each label come from keeping rows by their label: then a cap is to be declared.

    A few rows may have such weights by chance.
    """
    if min(zeros.size, ones.size) >= TELLING_ROWS and zeros.min() == zeros.max() != ones.min() == ones.max():
        raise ValueError(
            f"weights must not depend on the label unless largest_weight is given; got {zeros.min():g} for every row "
            f"of label 0 and {ones.min():g} for every row of label 1. If rows were kept by label with known chances, "
            f"pass largest_weight={max(zeros.min(), ones.min()):g}."
        )


def _shares(x: Floats, y: NDArray[Any], *, soft: bool) -> Floats:
    wrong = ~((y >= 0) & (y <= 1)) if soft else (y != 0) & (y != 1)
    if wrong.any() and x.size == y.size:
        row = int(np.argmax(wrong))
        if not soft:
            raise ValueError(label_message(x, y, row))
        raise ValueError(f"labels must lie in [0, 1]; got {y[row].item()!r} at row {row}.")
    return y.astype(np.float64)


def _column(name: str, values: Any) -> NDArray[Any]:
    """Clusters as they are; weights and counts as numbers."""
    if isinstance(values, str):
        raise TypeError(f"{name} must be an array as long as scores, as there is no table; got {values!r}.")
    if name != "clusters":
        return column(name, values)
    if isinstance(values, (list, tuple)):
        # Names of any kind, which NumPy would take for one kind, or for a table.
        array = np.empty(len(values), object)
        array[:] = values
    else:
        array = as_numpy(name, values)
    if array.ndim != 1:
        raise ValueError(f"clusters must be one-dimensional; got shape {array.shape}.")
    return array


def _codes(clusters: NDArray[Any]) -> Integers:
    """The number of each row's cluster."""
    if clusters.dtype.kind in "iubUS":
        return np.asarray(np.unique(clusters, return_inverse=True)[1], np.int64)
    known: dict[Any, int] = {}
    for row, value in enumerate(clusters.tolist()):
        if value is None or value != value or str(value) in ("<NA>", "NaT"):
            raise ValueError(
                f"clusters must have no missing values; got one at row {row}. Give such rows a cluster of their own, "
                "or drop them, on purpose."
            )
        known.setdefault(value, len(known))
    return np.fromiter((known[value] for value in clusters.tolist()), np.int64, clusters.size)


def _counted(
    x: Floats, label: Integers, weight: Integers
) -> tuple[Integers, Integers, Integers, Integers | None, Integers | None]:
    """The arrays of a Summary of rows with whole weights."""
    slot, inside = _slots(x, label)
    count, offset = np.zeros((2, 2 * cells.CELLS), np.int64)
    np.add.at(count, slot, weight)
    np.add.at(offset, slot, weight * inside)
    count, offset = count.reshape(-1, 2), offset.reshape(-1, 2)
    cell = np.flatnonzero(count.any(axis=1))
    return cell, count[cell], offset[cell], *_listed(x[weight > 0], label[weight > 0], weight[weight > 0])


def _slots(x: Floats, label: Integers) -> tuple[Integers, Integers]:
    cell, inside = cells.locate(np.floor(x * cells.UNIT).astype(np.int64))
    return 2 * cell + label, inside


def _listed(x: Floats, label: Integers, weight: Integers) -> tuple[Integers | None, Integers | None]:
    """The distinct scores and their weights, where they are few."""
    if np.unique(x[: 4 * DISTINCT_LIMIT]).size > DISTINCT_LIMIT:
        return None, None
    distinct, place = np.unique(x.view(np.int64), return_inverse=True)
    if distinct.size > DISTINCT_LIMIT:
        return None, None
    count = np.zeros((distinct.size, 2), np.int64)
    np.add.at(count, (place, label), weight)
    return distinct, count


def _is_real(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def choose_all(
    columns: list[Column],
    score: str | None,
    label: str | None,
    weighing: Weighing,
    source: str,
    example: Callable[[str], Any] = lambda name: None,
) -> tuple[Column, Column, dict[str, Column]]:
    """The columns of scores and labels, and those that say how rows come."""
    others = {name: _other(columns, name, value, source) for name, value in weighing.columns.items()}
    beside = {name: column.name for name, column in others.items()}
    return *choose(columns, score, label, source, example, beside), others


def _other(columns: list[Column], argument: str, name: Any, source: str) -> Column:
    """A column that was named, and is there alone."""
    found = named(columns, argument, name, source)
    check_alone(columns, argument, found.name, source)
    if argument != "clusters" and found.kind not in ("real", "integer"):
        raise TypeError(f"{argument} must name a column of numbers; got {name!r} of {source}, of type {found.type}.")
    return found
