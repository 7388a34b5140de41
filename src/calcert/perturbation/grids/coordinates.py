"""Where noise is the same everywhere: on the score for additive noise, on its log-odds for noise on the odds.

A coordinate says how rows go to a Grid on [0, 1], which score stands at each place of it, and what that may hide.
Certificates ask for nothing else, so that a theorem is written once for both kinds of noise. The coordinate of additive
noise is here: the score itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from calcert.foundation.array_types import Floats, Integers
from calcert.foundation.rounding import ROUNDING
from calcert.perturbation import sech_kernel
from calcert.perturbation.grids.grid import CURVATURE, Grid, shared_grid
from calcert.perturbation.grids.grid_view import View, chosen
from calcert.perturbation.grids.odds_coordinate import OddsCoordinate
from calcert.perturbation.noise import Noise
from calcert.perturbation.sech_kernel import KERNEL_REACH
from calcert.summary import cells
from calcert.summary.points import Points, seen_from
from calcert.summary.summary import Summary

FINENESS, WITNESS_FINENESS = 256, 128
"""Grid points to a bandwidth; twice as many from MANY_ROWS on, where bounds are so small that the grid would show."""

MANY_ROWS = 1 << 22


@dataclass(frozen=True)
class ScoreCoordinate:
    """The score itself: places are scores, and no rows stand apart."""

    h: float

    def grid(self, fineness: int) -> Grid:
        """A grid with so many points to a bandwidth."""
        return shared_grid(self.h, fineness)

    def grid_for(self, n: int) -> Grid:
        """The grid as fine as so many rows deserve."""
        return self.grid(FINENESS if n < MANY_ROWS else 2 * FINENESS)

    def witness_grid(self, n: int) -> Grid:
        """The grid for witnesses found on so many rows."""
        return self.grid(WITNESS_FINENESS)

    def broken_line(self, gap: Floats, grid: Grid) -> float:
        """What a line through the values `gap` hides beside :meth:`hidden`, which has all of it: nothing."""
        return 0.0

    def score(self, place: Floats) -> Floats:
        """The score at a place of the grid."""
        return place

    def inside(self, score: Floats) -> Floats:
        """The score, moved to where it can be placed: all can."""
        return score

    def place(self, score: Floats) -> Floats:
        """Where a score stands on the grid."""
        return score

    def mean_score(self, grid: Grid, low: int, high: int) -> Floats:
        """The mean score over each of the grid cells low, ..., high - 1."""
        return np.asarray((np.arange(low, high) + 0.5) * grid.step)

    def joined(self, summary: Summary) -> View:
        """The rows, cells far narrower than the bandwidth put together."""
        return self._view(summary, seen_from(summary.points, self.h))

    def apart(self, summary: Summary) -> View:
        """The rows as the Summary has them."""
        return self._view(summary, summary.points)

    def fewest_ends(self, summary: Summary) -> View:
        """The rows as the Summary has them, for estimates."""
        return self.apart(summary)

    def by_joined_cell(self, summary: Summary) -> tuple[View, Points]:
        """The rows by cells that do not depend on where rows are, joined, and these."""
        points = seen_from(summary.cell_points, self.h)
        return self._view(summary, points), points

    def by_cell(self, summary: Summary) -> View:
        """The rows by cell, even where distinct scores are listed."""
        return self._view(summary, summary.cell_points)

    def hidden(self, view: View, grid: Grid) -> float:
        """How far the plug-in of Theorem 1 may be from that of the rows: K2, K1 and the integral."""
        return self.placing(view, grid) + self.integrating(grid) + ROUNDING

    def hidden_squares(self, view: View, grid: Grid) -> float:
        """How far below that of the rows the plug-in of Theorem 7 may be."""
        # The tangent at the truth weighs a row's (t, y) by |t^2 - eta^2| or |(1-t)^2 - (1-eta)^2|, at most 1; what is
        # interpolated, 2 r m - r^2 D, bends three times as much as m (theory of computing, integrating).
        return self.placing(view, grid) + 3 * self.integrating(grid) + 2 * ROUNDING  # Q1

    def hidden_gain(self, view: View, grid: Grid) -> Floats:
        """What a row may gain less than the smaller of the gains at the ends of its cell, per point and label."""
        width = view.points.high - view.points.low
        # G is within CURVATURE width^2 / 8h^2 of its chord over the cell, and each end of it that close to the grid's;
        # the mean of t over a grid cell stands for t. Rounded positions move G by 2^-53 / h at most (K1), twice over.
        hidden = CURVATURE / self.h**2 * (width**2 + grid.step**2) / 8 + grid.step**2 / (8 * self.h)
        return np.asarray((hidden + ROUNDING + float(np.finfo(float).eps) / self.h)[:, None])

    def held(self, view: View, known: Integers) -> tuple[float, float]:
        """Values that a witness has near the ends, NaN where it is free: nothing is held."""
        return math.nan, math.nan

    def held_cells(self, grid: Grid) -> int:
        """How many grid cells near either end are held."""
        return 0

    def end_gain(self, view: View, held: tuple[float, float]) -> Floats:
        """Gains of end rows: there are none."""
        return np.zeros((0, 2))

    def placing(self, view: View, grid: Grid) -> float:
        """Bound on the L1 error that placing rows on the grid makes in the density of (perturbed score, label)."""
        points, curvature = view.points, CURVATURE / self.h**2
        width = (points.high - points.low)[:, None]
        spread = points.count * width**2 * points.fraction * (1 - points.fraction) / 2
        return float(curvature * (spread.sum() / view.n + grid.step**2 / 8) + view.resolution / self.h)

    def integrating(self, grid: Grid) -> float:
        """Bound on the L1 error of interpolating (t - y) k(t|x) linearly in t between grid points."""
        return grid.step**2 / 8 * (1 / self.h**2 + 2 / self.h)

    def _view(self, summary: Summary, points: Points) -> View:
        everywhere = np.ones(points.low.shape, bool)
        return View(points, points, chosen(points, ~everywhere), everywhere, summary.n, summary.resolution)

    @property
    def atoms(self) -> int:
        """How many scores are left unperturbed."""
        return 0

    def reported(self, grid: Grid, stride: int) -> Integers:
        """Grid points at which a band is computed: every so many, and the last."""
        return np.unique(np.append(np.arange(0, grid.size + 1, stride), grid.size))

    def ceiling(self, grid: Grid, place: Floats) -> Floats:
        """At least the largest density at each place that a row can give."""
        return sech_kernel.weight_ceiling(place, self.h)

    def end_weight(self, view: View, place: Floats) -> float:
        """The most that rows which are not placed can weigh: there are none."""
        return 0.0

    def weight_change(self, grid: Grid, place: Floats) -> Floats:
        """Cells and grid change every weight of the band by a factor within 1 +- this.

        Since |d^2 k / dx^2| <= 4k/h^2 and |d ln k / dx| <= 2/h, linear interpolation over a width d changes every
        weight by a factor within 1 +- (d^2 / 2h^2) exp(2d/h), whatever the rows.
        """
        inward = np.clip(np.minimum(place, 1 - place) + KERNEL_REACH * self.h, 0.0, 0.5 - cells.RESOLUTION)
        cell, _ = cells.locate((inward * cells.UNIT).astype(np.int64))
        widest = cells.bounds(cell)[1] * cells.RESOLUTION
        change = np.full(place.shape, 1e-12 + 2 * cells.RESOLUTION / self.h)
        for width in (widest, grid.step):
            relative = np.minimum(width / self.h, 10.0)
            change = change + relative**2 / 2 * np.exp(2 * relative)
        return change


Coordinate = ScoreCoordinate | OddsCoordinate


@lru_cache
def coordinate_of(noise: Noise) -> Coordinate:
    """The coordinate in which the noise is the same everywhere."""
    return OddsCoordinate(noise.size) if noise.kind == "odds" else ScoreCoordinate(noise.size)
