"""Theorem 5 for the perturbed classifier: the witness is the sign of m^ on earlier rows, in the served score.

What f earns from a row with score x and label y is G(x, y), the integral of f(z) (t(z) - y) k(z|x) over the places z of
the grid. For f constant on grid cells, and the mean of t over each of them in place of t, that is F1 - y F0 with F0 and
F1 the correlations of f and of f t with one kernel. Rows are known to their cell, so the smallest G in it counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from calcert.certificates.betting import Integers, in_turn, lower_limit
from calcert.certificates.certificate import Lower
from calcert.certificates.unit_lower import served_patterns, units_lower
from calcert.foundation.compiled import compiled_later
from calcert.serving.coordinate import Coordinate, coordinate_of
from calcert.serving.grid import BLOCK, Grid, Kernel, Masses, Placement, fast_length, linear_weights
from calcert.serving.kernel import gudermannian
from calcert.serving.noise import Noise
from calcert.serving.view import View
from calcert.summary.points import Points
from calcert.summary.summary import Summary

Floats = NDArray[np.float64]

PAIRED = 50_000
"""From so many rows on the last six of eight batches are judged in pairs: finding a witness takes longest."""

Cut = Callable[[Floats, Floats, Floats], Floats]
"""From where stretches of scores begin and end and the signs there, the signs that a witness may have."""


def perturbed_lower(summary: Summary, noise: Noise, delta: float, seed: int, cut: Cut | None = None) -> Lower:
    """A lower bound for the L1 calibration error of the served classifier at confidence 1 - delta.

    With `cut`, for the largest mean gain of the witnesses that it lets through.
    """
    if summary.units is not None:
        if cut is not None:
            raise ValueError("sides are proved for independent rows of equal weight alone")
        return Lower(units_lower(summary, served_patterns(summary, noise), delta, noise))
    where = coordinate_of(noise)
    (view, cells), grid = where.by_joined_cell(summary), where.witness_grid(summary.n)
    hidden = where.hidden_gain(view, grid) + pointwise_rounding(grid)
    if float((view.points.count * hidden).sum()) >= summary.n / 2:
        return Lower(
            0.0, 1.0
        )  # the cells are wider than the bandwidth: no gain could be vouched for, so nothing is bet
    witness = ServedWitness(where, view, grid, cut)

    def gain(known: Integers, last: Integers) -> Floats:
        found = np.empty(known.shape)
        held = witness.held(known)
        found[witness.inner] = witness.gain(known, held) - hidden
        if view.ends.low.size:
            found[~view.between] = where.end_gain(view, held)
        return np.clip(found, -1.0, 1.0)

    from calcert.certificates import halving

    thrown = halving.thrown(cells, seed, halving.GROWING)
    if summary.n >= PAIRED and len(thrown) == 1:
        thrown = np.add.reduceat(thrown, (0, 1, 2, 4, 6), axis=1)
    return lower_limit(summary, delta, seed, in_turn(gain), thrown=thrown)


@dataclass(frozen=True)
class ServedWitness:
    """The sign of m^ on known rows, in standard errors and cut to [-1, 1], and what it earns."""

    where: Coordinate
    view: View
    grid: Grid
    cut: Cut | None = None

    def held(self, known: Integers) -> tuple[float, float]:
        """The values that f is to have near either end of the grid; NaN where it is free."""
        low, high = self.where.held(self.view, known)
        if self.cut is None:
            return low, high
        return tuple(  # type: ignore[return-value]
            value if math.isnan(value) else float(self.cut(np.array([end]), np.array([end]), np.array([value]))[0])
            for end, value in ((0.0, low), (1.0, high))
        )

    def gain(self, known: Integers, held: tuple[float, float] = (math.nan, math.nan)) -> Floats:
        """The smaller of G(x, y) at the ends of every cell, per point between the ends and label.

        `held` are the values that f is to have near either end of the grid; NaN where it is free.
        """
        masses = self._placement.masses(known[self.inner], max(int(known.sum()), 1))
        reach, ends = self.grid.reach, np.full((2, self._places.size), np.nan)
        for stretch in self._stretches:
            f = self.signs(masses, stretch.start - reach, stretch.stop + reach + 1, held)
            if self.cut is not None:
                f = self.cut(stretch.edges[:-1], stretch.edges[1:], f)
            smoothed, _ = self.grid.convolved(np.stack([f, f * stretch.mean_score]), self._kernel)
            at_grid = smoothed[:, reach : reach + stretch.scale.size] / stretch.scale
            interpolate(at_grid, stretch.here, stretch.part, stretch.inside, ends)
        return least_gains(ends, self._first)

    def signs(self, masses: Masses, low: int, high: int, held: tuple[float, float]) -> Floats:
        """f on the grid cells low, ..., high - 1; zero off the grid."""
        grid = self.grid
        first, last = max(low, 0), min(high, grid.size + 1)
        _, served, positive, rounding = grid.density(masses, first, last)
        spread = 2 / (np.pi**2 * grid.h * masses.rows)
        f = signs_of(self._score[first:last], served, positive, spread, 10 * rounding + 1e-300)
        cells = self.where.held_cells(grid)
        if not math.isnan(held[0]):
            f[: max(cells - first, 0)] = held[0]
        if not math.isnan(held[1]):
            f[max(grid.size - cells - first, 0) :] = held[1]
        return np.pad(f, (first - low, high - last + 1))

    # What follows is the same in every round.

    @cached_property
    def inner(self) -> slice:
        """The points between the ends: they are in order, so none of the ends is among them."""
        between = np.flatnonzero(self.view.between)
        return slice(int(between[0]), int(between[-1]) + 1) if between.size else slice(0, 0)

    @cached_property
    def _placement(self) -> Placement:
        """As if rows were in the middle of their cells, which is near enough to find signs."""
        places = self.view.places
        middle = (places.low + places.high) / 2
        return self.grid.place(Points(middle, middle, np.zeros(places.count.shape), places.count), linear_weights)

    @cached_property
    def _kernel(self) -> Kernel:
        return cell_integrals(self.grid)

    @cached_property
    def _score(self) -> Floats:
        return self.where.score(np.arange(self.grid.size + 1, dtype=np.float64) * self.grid.step)

    @cached_property
    def _places(self) -> Floats:
        """Where cells begin or end, once each; mostly one begins where another ends."""
        places = self.view.places
        follows = np.append(places.low[1:] != places.high[:-1], np.ones(min(places.low.size, 1), bool))
        return np.insert(places.low, np.flatnonzero(follows) + 1, places.high[follows])

    @cached_property
    def _first(self) -> Integers:
        """Which of the places each cell begins at; it ends at the next."""
        places = self.view.places
        first = np.arange(places.low.size)
        first[1:] += np.cumsum(places.low[1:] != places.high[:-1])
        return first

    @cached_property
    def _stretches(self) -> list[_Stretch]:
        grid, found = self.grid, []
        index, part = grid.around(self._places)
        beside = len(part) // 2 - 1
        # Blocks of the grid, whole: where no row is known signs are rounding, which must not tell where later rows lie.
        for first in (np.unique(index[beside] // BLOCK) * BLOCK).tolist():
            last = min(first + BLOCK, grid.size)
            inside = (index[beside] >= first) & (index[beside] < last)
            start, stop = first - beside, last + beside
            low, high = start - grid.reach, stop + grid.reach + 1
            mean_score = self.where.mean_score(grid, low, high)
            edges = self.where.score(np.arange(low, high + 1, dtype=np.float64) * grid.step)
            scale = grid.normalizers(start, stop + 1)
            which = np.flatnonzero(inside)
            here, near = np.ascontiguousarray(index[:, which] - start), np.ascontiguousarray(part[:, which])
            found.append(_Stretch(start, stop, mean_score, edges, scale, which, here, near))
        return found


@dataclass(frozen=True)
class _Stretch:
    """A block of the grid, which ends of cells lie in it, and the grid points and weights around each of them."""

    start: int
    stop: int
    mean_score: Floats
    edges: Floats
    scale: Floats
    inside: Integers
    here: Integers
    part: Floats


@compiled_later
def signs_of(score: Floats, served: Floats, positive: Floats, spread: float, floor: float) -> Floats:
    """On each grid cell, the mean over its ends of m^ in standard errors, cut to [-1, 1]."""
    f, before = np.empty(max(score.size - 1, 0)), 0.0
    for i in range(score.size):
        t, both = score[i], max(served[i], 0.0)
        ones = min(max(positive[i], 0.0), both)
        noise = max(both * t * t + ones * (1 - 2 * t), 0.0)
        sign = min(max((t * both - ones) / (math.sqrt(spread * noise) + floor), -1.0), 1.0)
        if i > 0:
            f[i - 1] = (before + sign) / 2
        before = sign
    return f


@compiled_later
def interpolate(at_grid: Floats, here: Integers, part: Floats, inside: Integers, ends: Floats) -> None:
    """Fill in F0 and F1 at the places inside a stretch, from those at the grid points around each."""
    for k in range(inside.size):
        for row in range(2):
            value = 0.0
            for side in range(len(here)):
                value += at_grid[row, here[side, k]] * part[side, k]
            ends[row, inside[k]] = value


@compiled_later
def least_gains(ends: Floats, first: Integers) -> Floats:
    """The smaller of G at both ends of each cell, per label: G(x, 0) = F1 and G(x, 1) = F1 - F0."""
    gain = np.empty((first.size, 2))
    for i in range(first.size):
        a, b = first[i], first[i] + 1
        gain[i, 0] = min(ends[1, a], ends[1, b])
        gain[i, 1] = min(ends[1, a] - ends[0, a], ends[1, b] - ends[0, b])
    return gain


@lru_cache(maxsize=16)
def cell_integrals(grid: Grid) -> Kernel:
    """Integrals over grid cells of sech(v), v the distance in bandwidths, reversed."""
    angle = gudermannian(np.arange(grid.reach + 2) * (grid.step / grid.h))
    # It is odd: what is left of 0 need not be computed.
    return Kernel(grid.h * np.diff(np.append(-angle[-2:0:-1], angle))[::-1])


def pointwise_rounding(grid: Grid) -> float:
    """More than what rounding can do to G at any single point.

    Each of F0 and F1 is a convolution of at most N values up to 1 with a kernel whose sum is at most twice the
    normaliser; its error is at most 3 r sqrt(N) times that, r = 3.33 eps log2 N (theory of computing).
    """
    length = fast_length(min(grid.size, BLOCK) + 2 * grid.reach + 3)
    return 12 * 3.33 * float(np.finfo(float).eps) * math.log2(length) * math.sqrt(length)
