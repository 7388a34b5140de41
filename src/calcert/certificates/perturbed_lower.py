"""Theorem 5 for the perturbed classifier: the witness is the sign of m^ on earlier rows, in the served score.

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
from numpy.typing import NDArray

from calcert.certificates.betting import Integers, in_turn, lower_limit
from calcert.certificates.certificate import Lower
from calcert.certificates.unit_lower import served_patterns, units_lower
from calcert.foundation.compiled import compiled_later
from calcert.serving.coordinate import Coordinate, coordinate_of
from calcert.serving.grid import BLOCK, Grid
from calcert.serving.kernel import largest_density
from calcert.serving.log_odds import alternating_weights
from calcert.serving.noise import Noise
from calcert.serving.view import View
from calcert.summary.summary import Summary

Floats = NDArray[np.float64]

PAIRED = 50_000
"""From so many rows on the last six of eight batches are judged in pairs: finding a witness takes longest."""

EXPONENTIALS = 10
"""So many of them are within 4.5e-8 of the kernel, relatively; an even number."""

TINY = 1e-290
"""Rows of either label that are taken to lie at every grid point: multiplying smaller numbers takes far longer."""

SHORT = 0.483
"""sech/pi is the density of a sum of Laplace variables of scale 1, 1/3, 1/5, ...; one of this stands for all others."""

FREE = (math.nan, math.nan)

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
    hidden = where.hidden_gain(view, grid) + missed(grid)
    if float((view.points.count * hidden).sum()) >= summary.n / 2:
        return Lower(
            0.0, 1.0
        )  # the cells are wider than the bandwidth: no gain could be vouched for, so nothing is bet
    witness = ServedWitness(where, view, grid, cut)

    def gain(known: Integers, last: Integers) -> Floats:
        found = np.empty(known.shape)
        held = witness.held(known)
        found[witness.inner] = witness.gain(known[witness.inner], held) - hidden
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

    def gain(self, known: Integers, held: tuple[float, float] = FREE) -> Floats:
        """The smaller of G(x, y) at the ends of every cell, per point between the ends and label.

        `known` are rows at these points; `held` are the values that f is to have near either end of the grid, NaN where
        it is free.
        """
        grid, places = self.grid, self.view.places
        within, gain = self.support(known, held), np.full(known.shape, np.inf)
        for block, own in self._blocks:
            low = min(max(within[0] - grid.reach, block.low), block.high)
            high = max(min(within[1] + grid.reach, block.high), low)
            f, at = self.signs(known, held, within, low, high), low - block.low
            at_grid = smoothed(f, block.mean_score[at:], block.scale[at:], *exponentials(grid))
            borders = (low, block.first, block.last, grid.size)
            lower_to(gain[own], at_grid, places.low[own], places.high[own], borders, grid.cubic)
        return gain

    def support(self, known: Integers, held: tuple[float, float] = FREE) -> tuple[int, int]:
        """The grid cells, from one to before another, outside of which f is 0: no row is known near them."""
        if not (math.isnan(held[0]) and math.isnan(held[1])):
            return 0, self.grid.size
        there, near = np.flatnonzero(known[:, 0] | known[:, 1]), self.grid.reach // 4
        if not there.size:
            return 0, 0
        first, last = self._middle[0][there[[0, -1]]].tolist()
        return max(first - near, 0), min(last + near + 1, self.grid.size)

    def signs(self, known: Integers, held: tuple[float, float], within: tuple[int, int], low: int, high: int) -> Floats:
        """f on the grid cells low, ..., high - 1; `within` is its support."""
        first = low - low % BLOCK
        blocks = [block_of(self.where, self.grid, at) for at in range(first, max(high, first + 1), BLOCK)]
        f = np.concatenate([self._signs_on(block, known, held, within) for block in blocks])
        return f[low - first : high - first]

    def _signs_on(self, block: Block, known: Integers, held: tuple[float, float], within: tuple[int, int]) -> Floats:
        """f on the grid cells of a block, found from the rows in reach of it."""
        grid, (base, part), f = self.grid, self._middle, np.zeros(block.last - block.first)
        low, high = max(within[0], block.low), min(within[1], block.high)
        if low < high:
            rows, at = slice(*np.searchsorted(base, (low, high))), slice(low - block.low, high + 1 - block.low)
            score, scale = block.score[at], block.scale[at]
            found = signs_of(known[rows], base[rows], part[rows], low, score, scale, grid.step, grid.h)
            a, b = (min(max(cell, block.first), block.last) for cell in (low, high))
            f[a - block.first : b - block.first] = found[a - low : b - low]
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
    def _blocks(self) -> list[tuple[Block, slice]]:
        """Blocks of the grid in which cells begin or end, and which points these belong to."""
        grid, places = self.grid, self.view.places
        low, high = (
            np.minimum((side * grid.size).astype(np.int64), grid.size - 1) for side in (places.low, places.high)
        )
        firsts = [0] if grid.size <= BLOCK else (np.unique(np.append(low, high) // BLOCK) * BLOCK).tolist()
        return [
            (
                block_of(self.where, grid, first),
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
class Block:
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


@lru_cache(maxsize=8)
def block_of(where: Coordinate, grid: Grid, first: int) -> Block:
    """The block that begins with a grid cell."""
    last = min(first + BLOCK, grid.size)
    low, high = max(first - grid.reach, 0), min(last + grid.reach, grid.size)
    score = where.score(np.arange(low, high + 1, dtype=np.float64) * grid.step)
    scale = np.array(grid.normalizers(low, high + 1))  # A copy may be written to, as far as numba is concerned.
    return Block(first, last, low, high, score, where.mean_score(grid, low, high), scale)


@lru_cache(maxsize=16)
def exponentials(grid: Grid) -> tuple[Floats, Floats]:
    """By which factors exponentials decay over a grid cell, and what the cell next to a point weighs in each: K4."""
    rate = 2 * np.arange(EXPONENTIALS) + 1
    decay = np.exp(-rate * (grid.step / grid.h))
    return decay, 2 * grid.h * np.array(alternating_weights(EXPONENTIALS)) * (1 - decay) / rate


def missed(grid: Grid) -> float:
    """More than G can be off at any place for being computed from exponentials, and for rounding of these: K4."""
    rounding = 2.0**-44 * (1 + grid.h / grid.step) * math.pi * grid.h * largest_density(grid.h)
    return 5 / 4 * (1 / math.cosh(EXPONENTIALS * math.acosh(3)) + rounding)


@compiled_later
def signs_of(
    known: Integers, base: Integers, part: Floats, low: int, score: Floats, scale: Floats, step: float, h: float
) -> Floats:
    """On each grid cell, the mean over its ends of m^ in standard errors, cut to [-1, 1].

    sech/pi is taken for the density of the sum of two Laplace variables, of scale 1 and SHORT: near enough, and their
    sums over rows pass along the grid from point to point.
    """
    size = score.size
    zeros, ones = np.full(size, TINY), np.full(size, TINY)
    for i in range(base.size):
        here, s = base[i] - low, part[i]
        zeros[here] += known[i, 0] * (1 - s)
        zeros[here + 1] += known[i, 0] * s
        ones[here] += known[i, 1] * (1 - s)
        ones[here + 1] += known[i, 1] * s
    slow, fast = math.exp(-step / h), math.exp(-step / h / SHORT)
    left_zeros, left_ones = np.empty(size), np.empty(size)
    a = b = c = d = 0.0
    for i in range(size):
        zero, one = zeros[i] / scale[i], ones[i] / scale[i]
        zeros[i], ones[i] = zero, one
        a, b, c, d = a * slow + zero, b * fast + zero, c * slow + one, d * fast + one
        left_zeros[i], left_ones[i] = a - SHORT * b, c - SHORT * d
    f, after = np.empty(max(size - 1, 0)), 0.0
    sharp = math.sqrt(math.pi**3 * h / (4 * (1 - SHORT**2)))  # The square of sech/pi has the integral 2/pi^2.
    a = b = c = d = 0.0
    for i in range(size - 1, -1, -1):
        zero, one, t = left_zeros[i] + a - SHORT * b, left_ones[i] + c - SHORT * d, score[i]
        spread = math.sqrt(zero * t * t + one * (1 - t) * (1 - t))
        sign = min(max(sharp * (t * zero - (1 - t) * one) / spread, -1.0), 1.0)
        if i < size - 1:
            f[i] = (sign + after) / 2
        after = sign
        a, b, c, d = (a + zeros[i]) * slow, (b + zeros[i]) * fast, (c + ones[i]) * slow, (d + ones[i]) * fast
    return f


@compiled_later
def smoothed(f: Floats, mean_score: Floats, scale: Floats, decay: Floats, weight: Floats) -> Floats:
    """F0 and F1 at the grid points before, between and after the cells on which f is given."""
    size = f.size
    found, g = np.zeros((2, size + 1)), f * mean_score[:size]
    for k in range(0, decay.size, 2):
        slow, fast, more, less = decay[k], decay[k + 1], weight[k], weight[k + 1]
        a = b = c = d = 0.0
        for i in range(size):
            a, b, c, d = a * slow + f[i], b * fast + f[i], c * slow + g[i], d * fast + g[i]
            found[0, i + 1] += more * a + less * b
            found[1, i + 1] += more * c + less * d
        a = b = c = d = 0.0
        for i in range(size - 1, -1, -1):
            a, b, c, d = a * slow + f[i], b * fast + f[i], c * slow + g[i], d * fast + g[i]
            found[0, i] += more * a + less * b
            found[1, i] += more * c + less * d
    return found / scale[: size + 1]


@compiled_later
def lower_to(
    gain: Floats, at_grid: Floats, low: Floats, high: Floats, borders: tuple[int, int, int, int], cubic: bool
) -> None:
    """Lower gains per cell and label to G at those of its ends that lie in a block: G(x, 0) = F1, G(x, 1) = F1 - F0.

    `at_grid` has F0 and F1 at grid points from the first of the borders on; further off they have vanished.
    """
    start, first, last, size = borders
    before, inside, zero, one = -1.0, False, 0.0, 0.0
    for i in range(low.size):
        for end in range(2):
            place = high[i] if end else low[i]
            if place != before:  # Mostly one cell begins where another ends.
                base = min(int(place * size), size - 1)
                before, inside, s = place, first <= base < last, place * size - base
                zero = one = 0.0
                for side in range(-1 if cubic else 0, 3 if cubic else 2):
                    here = base + side - start
                    if 0 <= here < at_grid.shape[1]:
                        if not cubic:
                            part = s if side else 1 - s
                        elif side == -1 or side == 2:
                            part = -s * (1 - s) * (2 - s if side == -1 else 1 + s) / 6
                        else:
                            part = (1 + s) * (2 - s) * (s if side else 1 - s) / 2
                        zero += part * at_grid[0, here]
                        one += part * at_grid[1, here]
            if inside:
                gain[i, 0] = min(gain[i, 0], one)
                gain[i, 1] = min(gain[i, 1], one - zero)
