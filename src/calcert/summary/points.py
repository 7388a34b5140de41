"""Where the rows lie, as far as a Summary knows: the one place that turns counts into positions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calcert.foundation.array_types import Floats, Integers
from calcert.kernels.bets import by_block
from calcert.summary import cells

MERGED = 256
"""Cells narrower than a bandwidth over this are put together: that hides CURVATURE / (8 MERGED^2) at most, 1.3e-6."""


@dataclass(frozen=True, eq=False)
class Points:
    """Where the rows are: those of point i and label y lie in [low, high], on average `fraction` of the way.

    Exact distinct scores have low = high. Sums over rows of a function that is linear on [low, high] are exact.
    """

    low: Floats
    high: Floats
    fraction: Floats
    count: Integers

    @cached_property
    def exact(self) -> bool:
        """True where every row is known to lie on its point."""
        return bool((self.low == self.high).all())

    @cached_property
    def positions(self) -> Floats:
        """The mean score per point and label, shape (points, 2)."""
        return np.asarray(self.low[:, None] + self.fraction * (self.high - self.low)[:, None])


def at_scores(score: Floats, count: Integers) -> Points:
    """Rows at scores that are listed."""
    return Points(score, score, np.zeros(count.shape), count)


def in_cells(cell: Integers, count: Integers, offset: Integers) -> Points:
    """Rows that are known to their cells, and to the sum of their offsets in it."""
    low, high, width = (of_all[cell] for of_all in _edges())
    return Points(low, high, offset / (width[:, None] * np.maximum(count, 1)), count)


@lru_cache(maxsize=1)
def _edges() -> tuple[Floats, Floats, Floats]:
    """Both edges of every cell as scores, and its width in units of 2^-40, 1 for the cell of score 1."""
    left, width = (edge.astype(np.float64) for edge in cells.bounds(np.arange(cells.CELLS)))
    return left * cells.RESOLUTION, (left + width) * cells.RESOLUTION, np.maximum(width, 1.0)


@lru_cache(maxsize=4)
def seen_from(points: Points, h: float) -> Points:
    """The points as a bandwidth of h needs them: cells far narrower than it are put together, exact scores are not."""
    return points if points.exact else merged(points, h / MERGED)[0]


def merged(points: Points, widest: float | Floats) -> tuple[Points, Integers]:
    """Cells put together up to a width of `widest`, rounded down to a power of two, and where each run of them starts.

    `widest` may differ from cell to cell if it depends on nothing but the cell. The new cells do not depend on which of
    the old ones hold rows, so that witnesses may be told them.
    """
    # At most 1, which keeps the cell of score 1 apart.
    width = np.broadcast_to(np.minimum(2.0 ** np.floor(np.log2(widest)), 1.0), points.low.shape)
    left = np.floor(points.low / width) * width
    start = np.flatnonzero(np.diff(left, prepend=-1.0))
    if not ((points.high - points.low < width) & (points.low < 1)).any():
        return points, start
    low = left[start]
    high = np.maximum(points.high[start], np.minimum(low + width[start], 1.0))
    count = np.add.reduceat(points.count, start, axis=0)
    inside = (points.low - left)[:, None] + points.fraction * (points.high - points.low)[:, None]
    across = np.where(high > low, high - low, 1.0)[:, None]
    fraction = np.add.reduceat(points.count * inside, start, axis=0) / (across * np.maximum(count, 1))
    return Points(low, high, fraction, count), start


Partition = tuple[Floats, Floats, Floats]
"""For every cell that there is: both edges of the joined cell that holds it, and how far it is from the left one.

In units of 2^-40.
"""


def partition(widest: Callable[[Points], Floats]) -> Partition:
    """How :func:`merged` joins cells, looked up and not computed anew for the cells of a Summary."""
    count = np.ones((cells.CELLS, 2), np.int64)
    every = in_cells(np.arange(cells.CELLS), count, 0 * count)
    whole, start = merged(every, widest(every))
    inside = np.repeat(np.arange(start.size), np.diff(np.append(start, cells.CELLS)))
    low, high = whole.low[inside] * cells.UNIT, whole.high[inside] * cells.UNIT
    return low, high, every.low * cells.UNIT - low


def joined(cell: Integers, count: Integers, offset: Integers, where: Partition) -> Points:
    """Rows that are known to their cells, cells put together."""
    return Points(*by_block(cell, count, offset, *where))


def across_labels(values: NDArray[Any]) -> NDArray[Any]:
    """Sums over the two labels; NumPy takes ten times as long to sum over an axis of two."""
    return np.asarray(values[:, 0] + values[:, 1])
