"""What is said of rows that are in clusters, have weights, shares for labels or counts."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any, Literal

from calcert.foundation.refusal import Argument, TooLarge, WrongType, WrongValue
from calcert.foundation.validation import is_real
from calcert.summary.design import Design

SHARE_QUANTUM = 1 / 12_600
"""Shares of up to ten annotators and two decimals are whole multiples of it: 12,600 is divisible by 1, ..., 10, 100."""


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
    pair_sums
        True where it is to be kept how gains of rows of one cluster go together.
    """

    clusters: Any = None
    weights: Any = None
    counts: Any = None
    largest_weight: float | None = None
    largest_gain: float | None = None
    weight_unit: float | None = None
    soft_labels: bool = False
    pair_sums: bool = False

    def __post_init__(self) -> None:
        for name in ("largest_weight", "largest_gain", "weight_unit"):
            value = getattr(self, name)
            if value is not None and not (is_real(value) and 0 < value < math.inf):
                raise WrongValue(Argument(name), "must be a positive number, such as 100", repr(value))
        for name in ("soft_labels", "pair_sums"):
            if getattr(self, name) not in (True, False):
                raise WrongType(Argument(name), "must be True or False", repr(getattr(self, name)))
        if self.counts is not None and len(self.given) > 1:
            other = next(name for name in self.given if name != "counts")
            alone = "must stand alone: a line that stands for so many independent rows"
            raise WrongType(
                "counts", alone, f"{other} as well", "", "For rows that count more than others pass weights."
            )
        if self.largest_weight is not None and self.clusters is None and self.weights is None:
            self._refuse_alone("largest_weight", "weights", " or ", "clusters")
        if self.pair_sums and self.clusters is None:
            self._refuse_alone("pair_sums", "clusters")
        if self.largest_gain is not None and self.largest_weight is None:
            self._refuse_alone("largest_gain", "largest_weight")
        if self.weight_unit is not None and self.weights is None and not self.soft_labels:
            self._refuse_alone("weight_unit", "weights", " or ", "soft_labels")

    def _refuse_alone(self, name: str, *others: str) -> None:
        with_ = (other if other.startswith(" ") else Argument(other) for other in others)
        got = "neither" if len(others) > 1 else "none"
        raise WrongType(Argument(name), ("must come with ", *with_), got)

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
    def measure(self) -> Literal["weights", "counts"] | None:
        """What says how much a line counts."""
        return "counts" if self.counts is not None else "weights" if self.weights is not None else None

    @property
    def design(self) -> Design:
        """The same as a Summary keeps it."""
        return Design(
            clustered=self.clusters is not None,
            weighted=self.weights is not None,
            soft=self.soft_labels,
            quantum=float(self.weight_unit or (SHARE_QUANTUM if self.soft_labels else 1.0)),
            largest_weight=None if self.largest_weight is None else float(self.largest_weight),
            largest_gain=None if self.largest_gain is None else float(self.largest_gain),
            paired=bool(self.pair_sums),
        )


PLAIN_ROWS = Weighing()
"""Rows that are independent, and count alike."""


def too_many(measure: str, got: str, place: str = "") -> TooLarge:
    """That weights, counts or shares add up to more than a Summary holds."""
    unit = Argument("weight_unit")
    if measure == "counts":
        return TooLarge(measure, "must add up to at most 2^36 rows", got, place, "Certify the parts.")
    way = ("Pass a larger ", unit, ", or certify the parts.")
    return TooLarge(measure, ("must add up to at most 2^36 times ", unit), got, place, way)
