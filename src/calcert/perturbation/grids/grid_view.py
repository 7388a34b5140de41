"""View: rows as a grid is to see them, those between the ends at their places and those at the ends apart."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calcert.foundation.array_types import Floats
from calcert.summary.points import Points


@dataclass(frozen=True, eq=False)
class View:
    """The rows that go to a grid, and those at the ends that do not.

    Attributes
    ----------
    points
        The rows between the ends, by score.
    places
        The same rows, by their place on the grid's [0, 1].
    ends
        Rows so near to score 0 or 1 that they are counted and not placed.
    between
        Which of all points are between the ends.
    n
        The number of all rows.
    resolution
        How far a score may lie from where it is known to be.
    """

    points: Points
    places: Points
    ends: Points
    between: NDArray[np.bool_]
    n: int
    resolution: float

    def mean_of(self, function: Callable[[Floats], Floats]) -> float:
        """The mean of function(score) over all rows, linear inside cells."""
        total = 0.0
        for points in (self.points, self.ends):
            for position, share in ((points.low, 1 - points.fraction), (points.high, points.fraction)):
                total += float(((points.count * share).sum(axis=1) * function(position)).sum())
        return total / self.n


def unlikely_ends(view: View) -> tuple[int, int]:
    """End rows near 0 with label 1, and near 1 with label 0."""
    low = view.ends.high < 0.5
    return int(view.ends.count[low, 1].sum()), int(view.ends.count[~low, 0].sum())


def chosen(points: Points, which: NDArray[np.bool_]) -> Points:
    """Some of the points; looked at, not copied, where there is none between them that is left out."""
    place = np.flatnonzero(which)
    run = place.size > 0 and place[-1] - place[0] == place.size - 1
    some = slice(int(place[0]), int(place[-1]) + 1) if run else place
    return Points(points.low[some], points.high[some], points.fraction[some], points.count[some])
