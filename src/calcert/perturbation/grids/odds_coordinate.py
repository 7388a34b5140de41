"""The log-odds of the score, from -L to L, as places on a grid; rows at the ends are counted and not placed.

Below 2^-20 the log-odds have no end and the cells of a Summary are too wide for them. A row there matters by |t - y|
all the same, which is next to 0 for the label that it is likely to have and next to 1 for the other: these rows are
charged that much each, without cancellation (theory of the odds, L6).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from calcert.foundation.array_types import Floats, Integers
from calcert.foundation.rounding import ROUNDING
from calcert.perturbation.grids import odds_discretisation as hides
from calcert.perturbation.grids.grid import Grid, shared_grid
from calcert.perturbation.grids.grid_view import View, chosen
from calcert.perturbation.odds_kernel import largest_factor, logit, mean_factor
from calcert.perturbation.sech_kernel import KERNEL_REACH, sech
from calcert.summary import cells
from calcert.summary.points import Partition, Points, joined, partition
from calcert.summary.summary import Summary

ENDS = (2.0**-20, 2.0**-18, 2.0**-16)
"""Rows nearer to 0 or 1 than one of these are end rows: edges of cells, and of joined ones."""

FINENESS, WITNESS_FINENESS = 3.5, 2.6
"""Grid points to a bandwidth, over the eighth root of the number of rows."""

FEWEST, DESERVED, MOST = 16, 2.0, 128
"""For upper bounds cells are joined while so many of them make a bandwidth: the second times the fourth root of the
number of rows, rounded up to a power of two, between the others. L2 costs about 0.004 / sqrt(n)."""

COARSE = 32
"""The same for lower bounds, where L2 costs 2e-5."""

HELD = 16
"""A witness is constant up to so many bandwidths from where end rows begin: exp(-16) of their mass is beyond."""

FARTHEST = 13.87
"""More than the log-odds of any row that is placed: ln 2^20 = 13.863."""


@dataclass(frozen=True)
class OddsCoordinate:
    """Log-odds, scaled so that [0, 1] holds those of all rows that are placed and 40 bandwidths on either side."""

    b: float

    @property
    def half(self) -> float:
        """L, half the stretch of log-odds on the grid."""
        return FARTHEST + KERNEL_REACH * self.b

    def grid(self, fineness: int) -> Grid:
        """A grid with so many points to a bandwidth b of log-odds."""
        return shared_grid(self.b / (2 * self.half), fineness)

    def grid_for(self, n: int) -> Grid:
        """The grid as fine as so many rows deserve: it hides about 0.001 / sqrt(n) (L12, L13)."""
        return shared_grid(self.b / (2 * self.half), math.ceil(FINENESS * n**0.125), cubic=True)

    def witness_grid(self, n: int) -> Grid:
        """The grid for witnesses found on so many rows: it hides less than a hundredth of what they leave open."""
        return shared_grid(self.b / (2 * self.half), math.ceil(WITNESS_FINENESS * n**0.125), cubic=True)

    def broken_line(self, gap: Floats, grid: Grid) -> float:
        """What is hidden by the line through the values `gap` at neighbouring grid points, beside :meth:`hidden`."""
        return hides.broken_line(gap, grid.step)

    def step(self, grid: Grid) -> float:
        """The width of a grid cell in log-odds."""
        return 2 * self.half * grid.step

    def score(self, place: Floats) -> Floats:
        """The score at a place of the grid."""
        return np.asarray(1 / (1 + np.exp(self.half - 2 * self.half * place)))

    def inside(self, score: Floats) -> Floats:
        """The score, moved to where it can be placed; for estimates."""
        return np.clip(score, ENDS[0], 1 - ENDS[0])

    def place(self, score: Floats) -> Floats:
        """Where a score inside (0, 1) stands on the grid."""
        return np.asarray((logit(score) + self.half) / (2 * self.half))

    def mean_score(self, grid: Grid, low: int, high: int) -> Floats:
        """The mean score over each of the grid cells low, ..., high - 1, without cancellation."""
        step = self.step(grid)
        place = np.arange(low, high, dtype=np.float64) * grid.step
        return np.asarray(np.log1p(math.expm1(step) * self.score(place)) / step)

    def joined(self, summary: Summary) -> View:
        """The rows, cells far narrower than the bandwidth put together."""
        return _joined(summary, self)

    def apart(self, summary: Summary) -> View:
        """The rows as the Summary has them, for squares, where no label makes a row weigh less."""
        points = summary.points
        return self._view(summary, points, self._best_end(summary, points, lambda near: np.ones(near.count.shape)))

    def fewest_ends(self, summary: Summary) -> View:
        """The rows as the Summary has them, as many of them placed as can be, for estimates."""
        return self._view(summary, summary.points, ENDS[0])

    def by_joined_cell(self, summary: Summary) -> tuple[View, Points]:
        """The rows by cells that do not depend on where rows are, joined, and these."""
        return _by_joined_cell(summary, self)

    def by_cell(self, summary: Summary) -> View:
        """The rows by cell, even where distinct scores are listed."""
        return self._view(summary, summary.cell_points, ENDS[0])

    def hidden(self, view: View, grid: Grid) -> float:
        """How far the plug-in of Theorem 1 may be below that of the rows: L2, L3, L6, L8, L12 and L13."""
        if not grid.cubic:
            raise ValueError("what is hidden is proved for rows that went to four grid points each: use grid_for")
        step, near = self.step(grid), hides.mean_distance(view.points)
        each = hides.cubic(step, near, self.b) + hides.remainder(step, near, self.b)
        placed = self._cells(view.points, view.resolution, hides.largest_distance(view.points)) + each
        ends = mean_factor(self.b) * float((view.ends.count * hides.likely_distance(view)).sum())
        return (float((view.points.count * placed).sum()) + ends) / view.n + self._rounding

    def hidden_squares(self, view: View, grid: Grid) -> float:
        """How far below that of the rows the plug-in of Theorem 7 may be."""
        step, near = self.step(grid), hides.mean_distance(view.points)
        each = hides.grid(step, 1.0, self.b) + 2 * hides.integral(step, near, self.b) + hides.square(step, self.b)
        placed = self._cells(view.points, view.resolution, 1.0) + each
        # The square of a row is at most E S^2 <= x^2 E exp(2b|N|) where that is finite, and E S^2 <= E S always.
        square = largest_factor(2 * self.b) if self.b < 1 / 2 else math.inf
        factor = np.minimum(mean_factor(self.b), np.maximum(hides.largest_distance(view.ends), 1e-300) * square)
        ends = float((view.ends.count * hides.likely_distance(view) * factor).sum())
        return (float((view.points.count * placed).sum()) + ends) / view.n + self._rounding + ROUNDING  # Q1

    def hidden_gain(self, view: View, grid: Grid) -> Floats:
        """What a row may gain less than the smaller of the gains at the ends of its cell, per point and label."""
        step, far = self.step(grid), hides.largest_distance(view.points)
        cell = hides.cell(view.points, 1 / 4, far, self.b)
        return np.asarray(
            cell + hides.cubic(step, far, self.b) + hides.stepwise_score(step, far, self.b) + self._rounding
        )

    def held(self, view: View, known: Integers) -> tuple[float, float]:
        """Values that a witness has near the ends: the sign of the known rows there, NaN where no end row is known."""
        if not view.ends.low.size:
            return math.nan, math.nan
        ends, inner, near = known[~view.between], known[view.between], ENDS[0] * math.exp(HELD * self.b)
        low = view.ends.high < 0.5
        return (
            _sign_at_end(view, (ends, low), (inner, view.points.high <= near)),
            _sign_at_end(view, (ends, ~low), (inner, view.points.low >= 1 - near)),
        )

    def held_cells(self, grid: Grid) -> int:
        """How many grid cells near either end are held: those up to HELD bandwidths from where end rows begin."""
        return math.ceil((self.half + float(logit(ENDS[0])) + HELD * self.b) / self.step(grid))

    def end_gain(self, view: View, held: tuple[float, float]) -> Floats:
        """Gains of end rows, per point and label: L9. Where the witness is free, the unlikely label may lose all."""
        missed = ENDS[0] * mean_factor(self.b) + 4 / math.pi * math.exp(-HELD)
        low = (view.ends.high < 0.5)[:, None]
        unlikely = np.where(low, -held[0], held[1])
        gain = np.where(low == [True, False], 0.0, np.where(np.isnan(unlikely), -1.0, unlikely))
        return np.asarray(gain - missed)

    @property
    def atoms(self) -> int:
        """How many scores are left unperturbed: 0 and 1."""
        return 2

    def reported(self, grid: Grid, stride: int) -> Integers:
        """Grid points at which a band is computed: every so many, as far as rows are placed."""
        outside = math.ceil((self.half - FARTHEST) / self.step(grid))
        return np.arange(outside, grid.size - outside + 1, stride)

    def ceiling(self, grid: Grid, place: Floats) -> Floats:
        """The largest density at each place that a row can give: the kernel is the same everywhere."""
        return np.full(place.shape, 1 / (math.pi * grid.h))

    def end_weight(self, view: View, place: Floats) -> Floats:
        """The most that end rows can weigh, at each place: L10."""
        low, rows = view.ends.high < 0.5, view.ends.count.sum(axis=1)
        z, first = 2 * self.half * place - self.half, float(logit(ENDS[0]))
        below, above = (sech(np.maximum(distance, 0.0) / self.b) for distance in (z - first, -first - z))
        return np.asarray(rows[low].sum() * below + rows[~low].sum() * above)

    def weight_change(self, grid: Grid, place: Floats) -> Floats:
        """Cells and grid change every weight of the band by a factor within 1 +- this: L10."""
        z = np.abs(2 * self.half * place - self.half)
        nearest = np.maximum(1 / (1 + np.exp(z + KERNEL_REACH * self.b)), ENDS[0])
        width, step = hides.widest_cell(nearest) / self.b, self.step(grid) / self.b
        change = width**2 / 8 * (1 + self.b) * np.exp(np.minimum(width, 50)) + step**2 / 8 * math.exp(step)
        unread = 2 * cells.RESOLUTION / (self.b * nearest * (1 - nearest))
        return np.asarray(1.05 * (change + unread) + 1e-12)

    @property
    def _rounding(self) -> float:
        return ROUNDING + hides.rounded_places(self.half, self.b)

    def _cells(self, points: Points, resolution: float, far: Floats | float) -> Floats:
        inside = points.fraction * (1 - points.fraction)
        return hides.cell(points, inside, far, self.b) + hides.unread(points, resolution, far, self.b)

    def _best_end(self, summary: Summary, points: Points, far: Callable[[Points], Floats]) -> float:
        """The end from which on rows are counted that makes least of counting and placing; free, as all are bounds."""
        # Rows beyond all ends are placed in any case.
        near = chosen(points, _is_between(points, ENDS[0]) & (np.minimum(points.low, 1 - points.high) < ENDS[-1]))
        placed = (near.count * self._cells(near, summary.resolution, far(near))).sum(axis=1)
        counted = np.where(near.low < 0.5, near.count[:, 1], near.count[:, 0])
        distance = np.minimum(near.low, 1 - near.high)

        def cost(end: float) -> float:
            return float(np.where(distance < end, counted, placed).sum())

        return min(ENDS, key=cost)

    def _view(self, summary: Summary, points: Points, end: float) -> View:
        between = _is_between(points, end)
        inner, ends = chosen(points, between), chosen(points, ~between)
        places = Points(self.place(inner.low), self.place(inner.high), inner.fraction, inner.count)
        return View(inner, places, ends, between, summary.n, summary.resolution)

    def _join_width(self, points: Points, parts: int) -> Floats:
        """How wide cells may become, so that in log-odds there are at least so many parts to a bandwidth."""
        distance = np.minimum(points.low, 1 - points.high)
        edge = np.ldexp(0.5, np.frexp(np.maximum(distance, ENDS[0]))[1])
        return np.where(distance < ENDS[0], ENDS[0], self.b / parts * edge * (1 - edge))


@lru_cache(maxsize=4)
def _joined(summary: Summary, where: OddsCoordinate) -> View:
    points = summary.points
    if not summary.is_finite:
        # The number of rows decides, and nothing else about them.
        parts = 1 << math.ceil(math.log2(DESERVED * summary.rows**0.25))
        parts = min(max(parts, FEWEST), MOST)
        points = joined(summary.cell, summary.count, summary.offset, _partition(where, parts))
    return where._view(summary, points, where._best_end(summary, points, hides.largest_distance))


@lru_cache(maxsize=8)
def _partition(where: OddsCoordinate, parts: int) -> Partition:
    return partition(lambda points: where._join_width(points, parts))


@lru_cache(maxsize=2)
def _by_joined_cell(summary: Summary, where: OddsCoordinate) -> tuple[View, Points]:
    points = joined(summary.cell, summary.count, summary.offset, _partition(where, COARSE))
    return where._view(summary, points, ENDS[0]), points


def _sign_at_end(view: View, *parts: tuple[Integers, NDArray[np.bool_]]) -> float:
    """The excess of score over label in standard errors, cut to [-1, 1]; NaN where the first part holds no row."""
    (ends, at_end), (inner, near) = parts
    if not ends[at_end].any():
        return math.nan
    count = np.concatenate([ends[at_end], inner[near]])
    score = np.concatenate([(p.low + p.high)[which] / 2 for p, which in ((view.ends, at_end), (view.points, near))])
    excess = float((count * (score[:, None] - [0, 1])).sum())
    return float(np.clip(excess / math.sqrt((count * (score[:, None] - [0, 1]) ** 2).sum() + 1e-300), -1.0, 1.0))


def _is_between(points: Points, end: float) -> NDArray[np.bool_]:
    """Which points are placed on the grid of log-odds, and not counted at one of the ends."""
    return (points.high > end) & (points.low < 1 - end)
