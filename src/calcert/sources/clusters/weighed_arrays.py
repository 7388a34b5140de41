"""Rows in clusters, with weights, shares for labels or counts, chunk by chunk into a Summary."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calcert.foundation.array_types import Floats, Integers
from calcert.foundation.number_text import fraction
from calcert.foundation.refusal import Argument, Way, WrongValue
from calcert.foundation.refused_values import Place, bad_label, bad_score
from calcert.kernels import clusters as kernel
from calcert.sources.clusters.clusters_on_disk import KeptParts
from calcert.sources.clusters.weighing_options import Weighing, too_many
from calcert.summary import cells
from calcert.summary.cells import DISTINCT_LIMIT
from calcert.summary.clusters import HEAVIEST, SQUARES, clusters_from_sums, powers_in_parts, refuse_heavy
from calcert.summary.consistency import ROW_LIMIT
from calcert.summary.design import CLOSE, GAIN
from calcert.summary.pair_sums import pair_sums_of_rows
from calcert.summary.summary import Summary

CHUNK = 1 << 18
"""Rows per batch: what parts of them are written and read at once is some hundred kilobytes."""

TELLING_ROWS = 20
"""So many rows of either label, all of one weight a label, are no coincidence."""

FINEST = 1e8
"""Shares are multiples of one over about this, six decimals, at most: other numbers are close to finer multiples."""

POWERS = {"largest": 1, "square": 2, "fourth": 4, "gain": 2, "mixed": 2}
"""With which power of the weights sums over clusters grow, by the beginning of their names."""

NO_WEIGHTS: Integers = np.zeros(0, np.int64)
"""In place of weights where every row weighs 1."""


ROUND_IN_FILE = ", or round them in the file, on purpose."


class WeightsByLabel:
    """How many weights there are for each label, the least and the greatest of them."""

    def __init__(self) -> None:
        self._seen = dict.fromkeys((0, 1), (0, math.inf, -math.inf))

    def add(self, labels: NDArray[Any], weights: NDArray[Any]) -> None:
        """Weights of rows with labels; shares are left out."""
        for label in self._seen:
            here = weights[labels == label]
            if here.size:
                self.add_range(label, here.size, float(here.min()), float(here.max()))

    def add_range(self, label: int, number: int, least: float, most: float) -> None:
        """So many weights of one label, between these."""
        n, low, high = self._seen[label]
        self._seen[label] = n + number, min(low, least), max(high, most)

    def refuse(self) -> None:
        """Weights that are one number a label come from keeping rows by their label: then a cap is to be declared.

        A few rows may have such weights by coincidence.
        """
        (n, low, high), (m, lower, higher) = self._seen.values()
        if min(n, m) >= TELLING_ROWS and low == high != lower == higher:
            got = f"{low:g} for every row of label 0 and {lower:g} for every row of label 1"
            largest = Argument("largest_weight", float(f"{max(low, lower):g}"))
            way = ("If rows were kept by label with known probabilities, pass ", largest, ".")
            wanted = ("must not depend on the label unless ", Argument("largest_weight"), " is given")
            raise WrongValue("weights", wanted, got, "", way)


class Weigher:
    """Collects rows chunk by chunk into a Summary; any chunking gives the same one.

    `place` says in words where a row stands, for errors; rows are counted from 0 over all chunks.
    """

    def __init__(self, weighing: Weighing, place: Place = "at row {}".format) -> None:
        self.rows = 0
        self._weighing = weighing
        self._design = weighing.design
        self._place = place
        self._counted = np.zeros((2 * cells.CELLS, 2), np.int64)
        self._pairs = np.zeros(2 * cells.CELLS, np.int64)
        self._keys = np.full(kernel.SLOTS, -1, np.int64)
        self._tally = np.zeros(2 * kernel.SLOTS, np.int64)
        self._distinct = 0
        self._total = 0
        self._sums: Counter[str] = Counter()
        self._kept = KeptParts()
        self._cluster_slots = 1 << 10
        self._by_label = WeightsByLabel()
        self._paired: list[tuple[Floats, Integers, Integers, Integers]] = []

    def add(self, scores: NDArray[Any], labels: NDArray[Any], others: Mapping[str, NDArray[Any]]) -> None:
        """Add rows; `others` has clusters as integers, weights or counts."""
        for start in range(0, scores.size, CHUNK):
            here = slice(start, start + CHUNK)
            self._add(scores[here], labels[here], {name: values[here] for name, values in others.items()})

    def _add(self, scores: NDArray[Any], labels: NDArray[Any], others: Mapping[str, NDArray[Any]]) -> None:
        x = self._checked_scores(scores, labels)
        row, label, weight = self._lines(labels, others)
        x_there = x[row]
        slot = np.empty(x_there.size, np.int64)
        kernel.place_rows(x_there, label, weight, self._counted, slot)
        if self._distinct >= 0:
            self._distinct = kernel.tally_weights(
                x_there.view(np.int64), label, weight, self._keys, self._tally, self._distinct, DISTINCT_LIMIT
            )
        if self._design.clustered:
            ids = np.ascontiguousarray(others["clusters"], np.int64)[row]
            columns = [np.empty(ids.size, np.int64), np.empty(ids.size, np.int64), np.empty(weight.size, np.int64)]
            ends = kernel.sort_out(ids, x_there, slot, weight, *columns)
            self._kept.add(columns if weight.size else columns[:2], ends)
            if self._design.paired:
                self._paired.append((x_there, label, weight if weight.size else np.ones_like(label), ids))
        elif self._weighing.counts is None:
            # Every row is a cluster.
            size, gain = np.zeros((2, x.size), np.int64)
            np.add.at(size, row, weight)
            far = np.where(label, GAIN - np.floor(x_there * GAIN), np.ceil(x_there * GAIN)).astype(np.int64)
            np.add.at(gain, row, weight * far)
            if self._add_sums(size, gain):
                np.add.at(self._pairs, slot, weight * size[row])
        self.rows += x.size

    @property
    def quantum(self) -> float:
        """What the weights are multiples of, so far."""
        return self._design.quantum

    def refine(self, quantum: float) -> None:
        """Count in multiples of a quantum that divides the one so far; all that was added up is homogeneous."""
        times = round(self._design.quantum / quantum)
        self._design = replace(self._design, quantum=quantum)
        for counts in (self._counted, self._tally):
            counts *= times
        self._pairs *= times**2
        self._total *= times
        for name in self._sums:
            self._sums[name] *= times ** POWERS.get(name.split("_")[0], 0)

    def settle(self) -> None:
        """Nothing waits."""

    def look(self, scores: NDArray[Any], labels: NDArray[Any], others: Mapping[str, NDArray[Any]]) -> None:
        """Refuse what is wrong with rows, and do not count them."""
        self._checked_scores(scores, labels)
        self._lines(labels, others)
        self.rows += scores.size

    def _checked_scores(self, scores: NDArray[Any], labels: NDArray[Any]) -> Floats:
        # Adding 0.0 turns -0.0 into 0.0, which is the same score.
        x: Floats = np.ascontiguousarray(scores, np.float64) + 0.0
        bad = ~((x >= 0) & (x <= 1))
        if bad.any():
            row = int(np.argmax(bad))
            self._check_labels(x[:row], labels[:row])  # The first bad row is named, whatever is wrong with it.
            raise bad_score(x, row, self._place(self.rows + row))
        self._check_labels(x, labels)
        return x

    @property
    def is_weightless(self) -> bool:
        """True where all weights were 0."""
        return self._total == 0 and self._weighing.measure is not None

    def refuse_weightless(self, name: str) -> None:
        """A group without weight."""
        if self.is_weightless:
            measure = self._weighing.measure
            raise ValueError(f"{measure} must not all be zero in any group; got nothing else in {name!r}.")

    def summary(self) -> Summary:
        """The Summary of all rows; none can be added after that."""
        if self.is_weightless:
            raise ValueError(f"{self._weighing.measure} must not all be zero; got nothing else.")
        distinct = distinct_count = None
        if self._distinct >= 0:
            used = np.flatnonzero(self._keys >= 0)
            used = used[np.argsort(self._keys[used])]
            distinct, distinct_count = self._keys[used], self._tally.reshape(-1, 2)[used]
        count, offset = (part.reshape(-1, 2) for part in self._counted.T)
        plain = Summary.from_dense(count, offset, distinct, distinct_count)
        if self._weighing.counts is not None:
            return plain
        if self._design.weighted and not self._design.population:
            self._by_label.refuse()
        if self._design.clustered:
            for columns in self._kept.parts():
                self._add_clusters(*columns)
        refuse_heavy(self._sums, self._design)
        pairs = self._pairs.reshape(-1, 2)[plain.cell]
        clusters = clusters_from_sums(self._sums, pairs, self.rows, self._design)
        if self._design.paired:
            x, label, weight, cluster = (np.concatenate(parts) for parts in zip(*self._paired, strict=True))
            clusters = replace(clusters, pair_sums=pair_sums_of_rows(x, label, weight, cluster, clusters))
        return replace(plain, clusters=clusters)

    def _check_labels(self, x: Floats, y: NDArray[Any]) -> None:
        soft = self._design.soft
        wrong = ~((y >= 0) & (y <= 1)) if soft else (y != 0) & (y != 1)
        if wrong.any():
            row = int(np.argmax(wrong))
            where = self._place(self.rows + row)
            if not soft:
                raise bad_label(x, y, row, where)
            raise ValueError(f"labels must lie in [0, 1]; got {y[row].item()!r} {where}.")

    def _lines(self, y: NDArray[Any], others: Mapping[str, NDArray[Any]]) -> tuple[Any, Integers, Integers]:
        """Rows with a label 0 or 1 and a weight above 0 in quanta, none where all are 1: which row, label, weight.

        A share is a row of each label, with that part of the weight; together they weigh what the row does.
        """
        design, measure = self._design, self._weighing.measure
        if measure is None and not design.soft:
            return slice(None), y.astype(np.int64), NO_WEIGHTS
        weight = np.ones(y.size) if measure is None else others[measure].astype(np.float64)
        if design.only_soft and self._weighing.weight_unit is None:
            self._refine_for(y)
        total = self._whole_multiples(measure or "labels", weight)
        if self._total + total.sum() > ROW_LIMIT:
            row = int(np.argmax(self._total + np.cumsum(total) > ROW_LIMIT))
            place = self._place(self.rows + row)
            raise too_many(measure or "labels", f"more with {weight[row]:g}", place)
        self._total += int(total.sum())
        if design.weighted and not design.population:
            self._by_label.add(y, weight)
        ones = self._whole_multiples("labels", weight * y) if design.soft else total * y.astype(np.int64)
        by_label = [total - ones, ones]
        there = [np.flatnonzero(weights) for weights in by_label]
        return (
            np.concatenate(there),
            np.repeat([0, 1], [rows.size for rows in there]),
            np.concatenate([weights[rows] for weights, rows in zip(by_label, there, strict=True)]),
        )

    def _refine_for(self, y: Floats) -> None:
        """Find a quantum that all shares are multiples of, if they have few decimals and there is room for it."""
        whole, rows = round(1 / self._design.quantum), self.rows + y.size
        while _not_whole(y * whole).any():
            whole *= 10
            if whole > 2 * FINEST or rows * whole > ROW_LIMIT or rows * whole**2 >= SQUARES:
                return
        if whole * self._design.quantum > 1.5:
            self.refine(1 / whole)

    def _whole_multiples(self, name: str, values: Floats) -> Integers:
        """Values as whole multiples of the quantum; refused where they are none."""
        unit = 1.0 if name == "counts" else self._design.quantum
        bad = ~((values >= 0) & (values < math.inf))
        if bad.any():
            row = int(np.argmax(bad))
            where = self._place(self.rows + row)
            raise ValueError(f"{name} must be finite and not negative; got {values[row]:g} {where}.")
        scaled = values / unit
        found = np.rint(scaled)
        bad = _not_whole(scaled)
        if bad.any():
            row = int(np.argmax(bad))
            where = self._place(self.rows + row)
            if name == "counts":
                raise ValueError(f"counts must be whole numbers; got {values[row]:g} {where}.")
            value = float(values[row])
            # What has up to six decimals is a multiple of the last of them.
            decimals = -int(Decimal(repr(value)).as_tuple().exponent)
            way: tuple[str | Argument, ...] = ("a ", Argument("weight_unit"), " that divides all of them")
            if 0 < decimals <= 6:
                way = (Argument("weight_unit", float(f"{10.0**-decimals:g}")),)
            shares = name == "labels" and self._design.only_soft and self._weighing.weight_unit is None
            rounding = "numpy.round(labels, 4)" if shares else "numpy.round(values / unit) * unit"
            wanted = ("must be whole multiples of ", Argument("weight_unit"), f" = {fraction(unit)}")
            out = Way(("Pass ", *way, f", or round on purpose: {rounding}."), ("Pass ", *way, ROUND_IN_FILE))
            raise WrongValue(name, wanted, repr(value), where, out)
        # What is too large for an integer is too large for a Summary, too.
        return np.minimum(found, 2.0 * ROW_LIMIT).astype(np.int64)

    def _add_clusters(self, key: Integers, what: Integers, weight: Integers = NO_WEIGHTS) -> None:
        """Add up all clusters of a part, whose rows are given."""
        found, number = np.empty(key.size, np.int64), -1
        while number < 0:
            table = np.zeros((self._cluster_slots, 3), np.int64)
            number = kernel.add_up(key, what, weight, table, found)
            # Parts are about as large as each other, so that the next one finds enough room.
            self._cluster_slots *= 1 if number >= 0 else 2
        if self._add_sums(table[:, 1], table[:, 2]):
            kernel.pair_up(found, what, weight, table, self._pairs)

    def _add_sums(self, weight: Integers, gain: Integers) -> bool:
        """Add up powers over clusters, those without weight left out; False where they are too heavy for 64 bits."""
        there = weight > 0
        weight, gain = weight[there], gain[there]
        sums = self._sums
        if not weight.size:
            return False
        capped = np.minimum(weight, HEAVIEST - 1)
        split = powers_in_parts(capped, np.minimum(gain, capped * GAIN), lambda value, bits: value >> bits)
        sums["number"] += weight.size
        sums["largest"] = max(sums["largest"], int(weight.max()))
        sums["largest_gain"] = max(sums["largest_gain"], int(gain.max()))
        for name, values in split.items():
            sums[name] += int(values.sum())
        return sums["largest"] < HEAVIEST and (sums["square_high"] << 31) + sums["square_low"] < SQUARES


def _not_whole(values: Floats) -> NDArray[np.bool_]:
    """Where values are no whole numbers; one that would be rounded to nothing is none either."""
    found = np.rint(values)
    return np.asarray((np.abs(values - found) > CLOSE * np.maximum(found, 1.0)) | ((found == 0) & (values > 0)))
