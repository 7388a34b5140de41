"""The witness of Theorem 5 for the perturbed classifier: the sign of m^ on earlier rows, in the perturbed score.

What f earns from a row with score x and label y is G(x, y), the integral of f(z) (t(z) - y) k(z|x) over the places z of
the grid. For f constant on grid cells, and the mean of t over each of them in place of t, that is F1 - y F0 with F0 and
F1 the correlations of f and of f t with one kernel. The kernel is put as a sum of exponentials, next to nothing off
(K4), because sums of these pass along the grid from point to point. Rows are known to their cell, so the smallest G in
it counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from calcert.foundation.array_types import Floats, Integers
from calcert.kernels.grids import lower_to, signs_of, smoothed
from calcert.perturbation.grids.coordinates import Coordinate
from calcert.perturbation.grids.grid import BLOCK, Grid, exponentials
from calcert.perturbation.grids.grid_view import View

FREE = (math.nan, math.nan)

Cut = Callable[[Floats, Floats, Floats], Floats]
"""From where stretches of scores begin and end and the signs there, the signs that a witness may have."""


@dataclass(frozen=True)
class PerturbedWitness:
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

    def gain(self, known: Integers, held: tuple[float, float] = FREE) -> Floats:
        """The smaller of G(x, y) at the ends of every cell, per point between the ends and label.

        `known` are rows at these points; `held` are the values that f is to have near either end of the grid, NaN where
        it is free.
        """
        grid, places, gain = self.grid, self.view.places, np.full(known.shape, np.inf)
        for block, own in self._blocks:
            f = self.signs(known, held, block.low, block.high)
            at_grid = smoothed(f, block.mean_score, block.scale, *exponentials(grid), grid.reach)
            lower_to(gain[own], at_grid, block.borders, places.low[own], places.high[own], grid.size, grid.cubic)
        return gain

    def signs(self, known: Integers, held: tuple[float, float], low: int, high: int) -> Floats:
        """f on the grid cells low, ..., high - 1."""
        first = low - low % BLOCK
        blocks = [perturbed_block(self.where, self.grid, at) for at in range(first, max(high, first + 1), BLOCK)]
        parts = [self._signs_on(block, known, held) for block in blocks]
        return (parts[0] if len(parts) == 1 else np.concatenate(parts))[low - first : high - first]

    def _signs_on(self, block: PerturbedBlock, known: Integers, held: tuple[float, float]) -> Floats:
        """f on the grid cells of a block, found from the rows in reach of it."""
        grid, (base, part) = self.grid, self._middle
        # Where f is free it is 0 further off all known rows than this.
        near = grid.reach // 4 if math.isnan(held[0]) and math.isnan(held[1]) else grid.size
        f: Floats = signs_of(known, base, part, near, block.borders, block.score, block.scale, grid.step, grid.h)
        if not math.isnan(held[0]):
            f[: max(self.where.held_cells(grid) - block.first, 0)] = held[0]
        if not math.isnan(held[1]):
            f[max(grid.size - self.where.held_cells(grid) - block.first, 0) :] = held[1]
        if self.cut is None:
            return f
        edges = block.score[block.first - block.low : block.last + 1 - block.low]
        return self.cut(edges[:-1], edges[1:], f)

    # What follows is the same in every round.

    @cached_property
    def inner(self) -> slice:
        """The points between the ends: they are in order, so none of the ends is among them."""
        between = np.flatnonzero(self.view.between)
        return slice(int(between[0]), int(between[-1]) + 1) if between.size else slice(0, 0)

    @cached_property
    def _blocks(self) -> list[tuple[PerturbedBlock, slice]]:
        """Blocks of the grid in which cells begin or end, and which points these belong to."""
        grid, places = self.grid, self.view.places
        low, high = (
            np.minimum((side * grid.size).astype(np.int64), grid.size - 1) for side in (places.low, places.high)
        )
        firsts = [0] if grid.size <= BLOCK else (np.unique(np.append(low, high) // BLOCK) * BLOCK).tolist()
        return [
            (
                perturbed_block(self.where, grid, first),
                slice(np.searchsorted(high, first), np.searchsorted(low, first + BLOCK)),
            )
            for first in firsts
        ]

    @cached_property
    def _middle(self) -> tuple[Integers, Floats]:
        """In which grid cell the middle of each cell is, near enough to its rows to find signs, and where there."""
        places = self.view.places
        scaled = (places.low + places.high) / 2 * self.grid.size
        base = np.minimum(scaled.astype(np.int64), self.grid.size - 1)
        return base, scaled - base


@dataclass(frozen=True)
class PerturbedBlock:
    """Grid cells first, ..., last - 1, and what is the same for all rows at the grid points low, ..., high in reach.

    Blocks are whole: where a witness is computed must not tell where later rows lie.
    """

    first: int
    last: int
    low: int
    high: int
    score: Floats
    mean_score: Floats
    scale: Floats

    @property
    def borders(self) -> tuple[int, int, int]:
        """Where what is known of grid points begins, and the cells of the block, and where these end."""
        return self.low, self.first, self.last


@lru_cache(maxsize=8)
def perturbed_block(where: Coordinate, grid: Grid, first: int) -> PerturbedBlock:
    """The block that begins with a grid cell."""
    last = min(first + BLOCK, grid.size)
    low, high = max(first - grid.reach, 0), min(last + grid.reach, grid.size)
    score = where.score(np.arange(low, high + 1, dtype=np.float64) * grid.step)
    return PerturbedBlock(
        first, last, low, high, score, where.mean_score(grid, low, high), grid.normalizers(low, high + 1)
    )
