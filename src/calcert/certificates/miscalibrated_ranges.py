"""Where a certified curve leaves the diagonal: ranges of scores in which the probability is off by at least so much.

Where the limits of a band hold for every score of a stretch, the probability is below the score by at least the
smallest score of the stretch less the upper limit, and above it by at least the lower limit less the largest score.
Whatever is said of a range follows from the stretches that it is made of, so that all of it holds wherever the band
does, and needs no delta of its own (theory, Theorem 8 and Theorem 13). Next to 0 and 1 a band may enclose the mean
probability alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Literal, TypeVar

import numpy as np

from calcert.foundation.array_types import Floats
from calcert.foundation.number_text import given

Side = Literal["below", "above"]
Gap = TypeVar("Gap", Floats, float)

DIFFERENCE_ROUNDING = 1e-12
"""Taken off every difference, far more than the rounding of it."""

FEW = 5
"""More ranges than that are no help to a reader; the largest come first."""

NOTHING = 1e-4
"""A range whose weight times depth is smaller is left out: the weights add up to 1."""


@dataclass(frozen=True)
class MiscalibratedRange:
    """In all of a range of scores the probability of label 1 is off by at least so much, to one side.

    Attributes
    ----------
    low, high
        The range, ends included; both the same for a single score.
    side
        "below" if the probability is below the score, "above" if it is above.
    by
        By at least so much, at every score of the range.
    on_average
        True where that is certain of the mean over the scores of the range that occur, and not of each.

    Examples
    --------
    >>> from calcert.certificates.miscalibrated_ranges import MiscalibratedRange
    >>> print(MiscalibratedRange(0.61937, 0.71428, "below", 0.02371))
    between 0.62 and 0.714 the probability is below the score by at least 0.023
    """

    low: float
    high: float
    side: Side
    by: float
    on_average: bool = False

    def __post_init__(self) -> None:
        if not (0 <= self.low <= self.high <= 1 and 0 < self.by <= 1):
            raise ValueError(
                "a range that is off must have 0 <= low <= high <= 1 and 0 < by <= 1; got low "
                f"{self.low!r}, high {self.high!r}, by {self.by!r}."
            )

    def __str__(self) -> str:
        amount = Decimal(repr(self.by))
        least = amount.quantize(Decimal(1).scaleb(amount.adjusted() - 1), ROUND_FLOOR)
        on_average = "on average " * self.on_average
        return f"{self._where()} the probability is {on_average}{self.side} the score by at least {float(least):g}"

    def _where(self) -> str:
        """The range, rounded inward by little of its width."""
        if self.low == self.high:
            return f"at {given(self.low)}"
        if self.on_average:  # The mean over a part of it may be anything.
            return f"between {given(self.low)} and {given(self.high)}"
        unit = Decimal(1).scaleb(math.floor(math.log10((self.high - self.low) / 10)))
        low, high = (
            Decimal(repr(end)).quantize(unit, rounding)
            for end, rounding in ((self.low, ROUND_CEILING), (self.high, ROUND_FLOOR))
        )
        return f"between {given(float(low))} and {given(float(high))}"


@dataclass(frozen=True)
class RangeMean:
    """The mean probability of label 1 over scores from `low` to `high`: estimate, limits and share of rows."""

    low: float
    high: float
    estimate: float
    lower: float
    upper: float
    share: float


def miscalibrated_ranges_of(
    edges: Floats, lower: Floats, upper: Floats, weight: Floats, means: Sequence[RangeMean] = ()
) -> tuple[MiscalibratedRange, ...]:
    """The ranges in which limits that hold on stretches between edges leave the diagonal, the largest first.

    Each run of stretches that are off to one side gives one range: that with the largest weight times depth. What a
    stretch weighs decides what is said first, or not at all, and nothing else. Of a range with a known mean something
    is said if nothing is said of scores inside of it.
    """
    through, found = np.concatenate([[0.0], np.cumsum(weight)]), []
    for side, gap in _off_diagonal(edges[:-1] - upper, lower - edges[1:]):
        for start, end in _runs_off(gap):
            size, first, stop, by = _widest_and_deepest(through[start : end + 1], gap[start:end])
            found.append((size, MiscalibratedRange(float(edges[start + first]), float(edges[start + stop]), side, by)))
    for mean in means:
        inside = [part for size, part in found if size >= NOTHING and mean.low <= part.low <= part.high <= mean.high]
        for side, depth in _off_diagonal(mean.low - mean.upper, mean.lower - mean.high):
            if depth > 0 and not inside:
                found.append(
                    (mean.share * depth, MiscalibratedRange(mean.low, mean.high, side, depth, on_average=True))
                )
    return _largest_ranges(found)


def miscalibrated_ranges_at(
    score: Floats, lower: Floats, upper: Floats, weight: Floats
) -> tuple[MiscalibratedRange, ...]:
    """The single scores at which limits leave the diagonal, the largest first."""
    found = []
    for side, gap in _off_diagonal(score - upper, lower - score):
        for place in np.flatnonzero(gap > 0).tolist():
            by = float(gap[place])
            found.append(
                (float(weight[place]) * by, MiscalibratedRange(float(score[place]), float(score[place]), side, by))
            )
    return _largest_ranges(found)


def _largest_ranges(found: list[tuple[float, MiscalibratedRange]]) -> tuple[MiscalibratedRange, ...]:
    order = sorted((size, place) for place, (size, _) in enumerate(found) if size >= NOTHING)[::-1][:FEW]
    return tuple(found[place][1] for _, place in order)


def _off_diagonal(below: Gap, above: Gap) -> Iterator[tuple[Side, Gap]]:
    yield "below", below - DIFFERENCE_ROUNDING
    yield "above", above - DIFFERENCE_ROUNDING


def _runs_off(gap: Floats) -> Iterator[tuple[int, int]]:
    """Where runs of positive gaps begin and end."""
    change = np.flatnonzero(np.diff(np.concatenate([[False], gap > 0, [False]]).astype(np.int8)))
    yield from zip(change[::2].tolist(), change[1::2].tolist(), strict=True)


def _widest_and_deepest(through: Floats, gap: Floats) -> tuple[float, int, int, float]:
    """The part of a run with the largest weight times smallest gap: that, its first and last edge, and the gap.

    Parts that may still grow wait on a stack with rising gaps; one is finished when a smaller gap comes.
    """
    places, depths = through.tolist(), [*gap.tolist(), 0.0]
    best, waiting = (-1.0, 0, 0, 0.0), list[tuple[int, float]]()
    for place, depth in enumerate(depths):
        begin = place
        while waiting and waiting[-1][1] >= depth:
            begin, least = waiting.pop()
            best = max(best, ((places[place] - places[begin]) * least, begin, place, least))
        waiting.append((begin, depth))
    return best
