"""Independent clusters: what a Summary knows of rows in clusters, with weights, or with shares for labels.

A cluster is one or more rows that may depend on each other. Rows have whole weights w (multiples of a quantum), a
cluster has the sum W of the weights of its rows and the sum R of w |y - x|, each |y - x| rounded up to a multiple of
2^-20. Counts and offsets of a Summary are then sums of weights; beside them stands, per cell and label, the sum of w W
over the rows, and of all clusters a few sums of powers. Everything is an integer, so that every engine gives the same
(theory, clusters).

Engines add up in 64 bits. Sums of squares and fourth powers of weights need up to 124 bits, which few engines have. So
a power is split into a high and a low part before it is added up, and the parts meet again as Python's integers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from calcert.foundation.array_types import Integers
from calcert.foundation.refusal import Argument, Phrase, TooLarge, WrongValue
from calcert.summary.design import CLOSE, GAIN, GAIN_BITS, Design
from calcert.summary.pair_sums import PairSums

HEAVIEST = 1 << 31
"""A cluster is lighter than this, in quanta, and squares of weights add up to less than 2^62: sums stay in 64 bits."""

SQUARES = 1 << 62


@dataclass(frozen=True, eq=False)
class Clusters:
    """Sums over clusters, beside the counts of a Summary; weights in quanta, R in multiples of 2^-20 of one."""

    pairs: Integers  # The sum of w W over the rows of each cell and label, W the weight of the row's cluster.
    rows: int
    number: int  # Of clusters.
    largest: int  # The largest W.
    fourth: int  # The sum of W^4.
    gain_squares: int  # The sum of R^2.
    gain_weights: int  # The sum of R W.
    design: Design
    pair_sums: PairSums | None = None  # None where nobody asked.

    def __post_init__(self) -> None:
        self.pairs.setflags(write=False)

    @property
    def words(self) -> str:
        """How many clusters there are, to follow the number of rows."""
        if self.design.clustered:
            return f" in {self.number:,} cluster{'s' * (self.number != 1)}"
        return " with shares for labels" if self.design.soft else " with weights"

    @property
    def squares(self) -> int:
        """The sum of W^2."""
        return int(self.pairs.sum())

    @property
    def cap(self) -> float:
        """The declared bound on W in quanta, a little more than was said; infinite where nothing was."""
        declared = self.design.largest_weight
        return math.inf if declared is None else declared / self.design.quantum * (1 + CLOSE)

    @property
    def heaviest(self) -> float:
        """The largest W that there may be: what was declared, or that of these clusters where weights are given."""
        return self.cap if self.design.population else float(self.largest)

    @property
    def gain_cap(self) -> float:
        """The declared bound on R in quanta: what was said, but never above that on W."""
        declared = self.design.largest_gain
        return self.cap if declared is None else min(declared / self.design.quantum * (1 + CLOSE), self.cap)

    @classmethod
    def together(cls, parts: Sequence[Clusters], pairs: Integers) -> Clusters:
        """Clusters of several parts of the rows, each of which is in one of them."""
        kept = [part.pair_sums.values for part in parts if part.pair_sums is not None]
        return cls(
            pairs=pairs,
            rows=sum(part.rows for part in parts),
            number=sum(part.number for part in parts),
            largest=max(part.largest for part in parts),
            fourth=sum(part.fourth for part in parts),
            gain_squares=sum(part.gain_squares for part in parts),
            gain_weights=sum(part.gain_weights for part in parts),
            design=parts[0].design,
            # Whether they fit 64 bits was seen to.
            pair_sums=PairSums(np.sum(kept, axis=0)) if kept else None,
        )

    def to_array(self) -> Integers:
        """Everything but pairs and pair sums, in 64-bit integers."""
        design = self.design
        declared = [math.nan if value is None else value for value in (design.largest_weight, design.largest_gain)]
        return np.array(
            [
                self.rows,
                self.number,
                self.largest,
                *_limbs(self.fourth),
                *_limbs(self.gain_squares),
                *_limbs(self.gain_weights),
                design.clustered + 2 * design.weighted + 4 * design.soft + 8 * design.paired,
                *(int(np.float64(value).view(np.int64)) for value in (design.quantum, *declared)),
            ],
            np.int64,
        )

    @classmethod
    def from_array(cls, pairs: Integers, values: Integers, sums: Integers | None = None) -> Clusters:
        """The inverse of :meth:`to_array`, unchecked."""
        if values.shape != (16,):
            raise ValueError(f"clusters must be 16 integers; got shape {values.shape}")
        rows, number, largest, *rest = (int(value) for value in values)
        kinds = rest[9]
        quantum, *declared = (float(np.int64(bits).view(np.float64)) for bits in rest[10:])
        if not 0 <= kinds < 16 or not (math.isfinite(quantum) and quantum > 0):
            raise ValueError(f"clusters must be of a known kind; got {kinds} and quantum {quantum}")
        weight, gain = (None if math.isnan(value) else value for value in declared)
        return cls(
            pairs=pairs,
            rows=rows,
            number=number,
            largest=largest,
            fourth=_joined(rest[0:3]),
            gain_squares=_joined(rest[3:6]),
            gain_weights=_joined(rest[6:9]),
            design=Design(bool(kinds & 1), bool(kinds & 2), bool(kinds & 4), quantum, weight, gain, bool(kinds & 8)),
            pair_sums=None if sums is None else PairSums(sums),
        )


def _limbs(value: int) -> tuple[int, int, int]:
    """A large integer as three of 62 bits, the lowest first."""
    return value % SQUARES, (value >> 62) % SQUARES, value >> 124


def _joined(limbs: list[int]) -> int:
    if min(limbs) < 0:
        raise ValueError("sums over clusters must not be negative; got a negative one")
    return limbs[0] + (limbs[1] << 62) + (limbs[2] << 124)


SUMS = (
    "number",
    "largest",
    "largest_gain",
    "square_high",
    "square_low",
    "fourth_high",
    "fourth_middle",
    "fourth_low",
    "fourth_rest",
    "gain_high",
    "gain_middle",
    "gain_low",
    "gain_rest",
    "mixed_high",
    "mixed_low",
)
"""What engines add up over clusters: their number, the largest W and R, and parts of powers that fit 64 bits."""


def powers_in_parts(weight: Any, gain: Any, shift: Callable[[Any, int], Any]) -> dict[str, Any]:
    """Per cluster, from its W below 2^31 and its R, what is added up: all of `SUMS` from `square_high` on.

    `shift` divides by a power of two and rounds to some integer near it: what it leaves is taken by subtraction, so
    that the sums mean the same whatever it does, and an engine may divide doubles.
    """
    square = weight * weight
    high = shift(square, 31)
    low = square - high * (1 << 31)
    lower = shift(low * low, 31)
    whole = shift(gain, GAIN_BITS)
    rest = gain - whole * GAIN
    resting = shift(rest * rest, GAIN_BITS)
    return {
        "square_high": high,
        "square_low": low,
        "fourth_high": high * high,
        "fourth_middle": high * low,
        "fourth_low": lower,
        "fourth_rest": low * low - lower * (1 << 31),
        "gain_high": whole * whole,
        "gain_middle": whole * rest,
        "gain_low": resting,
        "gain_rest": rest * rest - resting * GAIN,
        "mixed_high": whole * weight,
        "mixed_low": rest * weight,
    }


def clusters_from_sums(sums: dict[str, int], pairs: Integers, rows: int, design: Design) -> Clusters:
    """Clusters from what an engine added up; refused where one is too heavy, in itself or next to what was declared."""
    refuse_heavy(sums, design)
    s = sums
    clusters = Clusters(
        pairs=pairs,
        rows=rows,
        number=s["number"],
        largest=s["largest"],
        fourth=(s["fourth_high"] << 62) + (s["fourth_middle"] << 32) + (s["fourth_low"] << 31) + s["fourth_rest"],
        gain_squares=(s["gain_high"] << 40) + (s["gain_middle"] << 21) + (s["gain_low"] << 20) + s["gain_rest"],
        gain_weights=(s["mixed_high"] << 20) + s["mixed_low"],
        design=design,
    )
    if sum(map(int, pairs.ravel())) != (s["square_high"] << 31) + s["square_low"]:
        raise ValueError(
            "rows and clusters must be those of one table; got sums of squared weights that differ. The table changed "
            "between two reads, or an engine lost digits: summarise a fixed snapshot."
        )
    return clusters


def refuse_heavy(sums: dict[str, int], design: Design) -> None:
    """Clusters whose weights would not fit 64 bits, or exceed what was declared, are refused in words."""
    squares = (sums["square_high"] << 31) + sums["square_low"]
    noun = "clusters" if design.clustered else "rows"
    if sums["largest"] >= HEAVIEST or squares >= SQUARES:
        limits = f": {noun} below 2^31 and their squares together below 2^62"
        got = f"{noun} of up to {sums['largest']:,} times {design.quantum:g}"
        unit = Argument("weight_unit")
        wanted: Phrase = ("must be small multiples of ", unit, limits)
        raise TooLarge("weights", wanted, got, "", ("Choose a larger ", unit, "."))
    declared = design.largest_weight
    if declared is not None and sums["largest"] * design.quantum > declared * (1 + CLOSE):
        wanted = f"must bound the weight of all {noun}, those not seen included"
        got = f"{declared:g} and {noun} of weight {sums['largest'] * design.quantum:g}"
        way = "It is to be known before the rows are seen: from how they were chosen, not from the rows."
        raise WrongValue(Argument("largest_weight"), wanted, got, "", way)
    gain, promised = sums["largest_gain"] * design.quantum / GAIN, design.largest_gain
    # Each |y - x| was rounded up by at most 2^-20.
    if promised is not None and gain > promised * (1 + CLOSE) + sums["largest"] * design.quantum / GAIN:
        wanted = f"must bound the sum of weight times |label - score| over {noun}, those not seen included"
        got, way = f"{promised:g} and {noun} with {gain:g}", "Leave it out, or take it from how rows were chosen."
        raise WrongValue(Argument("largest_gain"), wanted, got, "", way)
