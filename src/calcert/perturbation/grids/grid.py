"""The perturbed score on a grid: what the perturbation makes of the rows, without drawing a single random number.

The density of the perturbed score, and of the perturbed score together with label 1, are sums over rows of the kernel.
Rows are placed on a uniform grid by linear or cubic interpolation and the sums become one convolution with sech, done
by FFT over the stretches of [0, 1] that hold scores. The cost depends on the bandwidth and not on the number of rows,
and every approximation is bounded: what cells and grid hide by the coordinate of the noise, rounding by a number that
travels with each block (theory of computing).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy import fft
from numpy.typing import NDArray

from calcert.foundation.array_types import Floats, Integers
from calcert.kernels.grids import placed_at_once, spread
from calcert.perturbation.sech_kernel import KERNEL_REACH, alternating_weights, largest_density, normalizer, sech
from calcert.summary.points import Points

BLOCK = 1 << 16
"""Grid cells that are computed at a time; no kernel may reach over more of them."""

LARGEST_TABLE = 1 << 22
"""The most grid points for which there is a table of all of them, and not only of those that rows go to."""

LENGTHS_KEPT = 8
"""A kernel on a grid keeps its transforms of so many lengths."""

CURVATURE = 0.68
"""The integral over t of |d^2 k(t|x) / dx^2| is at most CURVATURE / h^2 (theory, lemma K2; its supremum is 2/pi)."""


@dataclass(frozen=True)
class Masses:
    """Rows placed on grid points: `weight[y]` is the share of rows of label y at each of the grid points `index`."""

    index: Integers
    weight: Floats
    rows: int

    def dense(self, low: int, high: int) -> Floats:
        """The weights at grid points low, ..., high - 1, shape (2, high - low); zero off the grid."""
        a, b = np.searchsorted(self.index, (low, high))
        index = self.index[a:b] - low
        out = np.zeros((2, high - low))
        if index.size and index[-1] - index[0] == index.size - 1:
            out[:, index[0] : index[-1] + 1] = self.weight[:, a:b]
        else:
            out[:, index] = self.weight[:, a:b]
        return out


@dataclass(frozen=True)
class Placement:
    """Which grid points the rows of each point of a Summary go to, `slot[side, end]`, and which `part` of them."""

    points: Points
    index: Integers
    slot: Integers
    part: Floats

    def masses(self, count: Integers, total: int | None = None) -> Masses:
        """The shares of `count` rows per point and label on the grid, out of `total` where there are others too."""
        rows = count.sum() if total is None else total
        weight = np.zeros((2, self.index.size))
        # Exact scores go to one place.
        spread(
            np.asarray(count, np.float64),
            self.points.fraction,
            float(rows),
            self.slot,
            self.part,
            1 if self.points.exact else 2,
            weight,
        )
        return Masses(self.index, weight, round(rows))


@dataclass(frozen=True, eq=False)
class Kernel:
    """A centred kernel: `values[k]` belongs to the offset of k - reach grid cells. Its transforms are kept."""

    values: Floats

    @cached_property
    def norm(self) -> float:
        """The Euclidean norm."""
        return math.sqrt(np.square(self.values).sum())

    @cached_property
    def _spectra(self) -> dict[int, NDArray[np.complex128]]:
        return {}

    def spectrum(self, length: int) -> NDArray[np.complex128]:
        """The transform of the kernel wrapped around a circle of so many points."""
        if length not in self._spectra:
            if len(self._spectra) >= LENGTHS_KEPT:
                self._spectra.pop(next(iter(self._spectra)), None)
            wrapped = np.zeros(length)
            wrapped[: self.values.size] = self.values
            self._spectra[length] = fft.rfft(np.roll(wrapped, -(self.values.size // 2)))
        return self._spectra[length]


@dataclass(frozen=True)
class Grid:
    """Grid points j / size, j = 0..size, `fineness` of them to a bandwidth.

    On a `cubic` one rows go to four points each and not to two; they must be out of reach of its ends.
    """

    h: float
    fineness: int
    cubic: bool = False

    def __post_init__(self) -> None:
        if self.reach > BLOCK:
            raise ValueError(
                f"a grid may have at most {int(BLOCK / KERNEL_REACH)} points to a bandwidth, so that a "
                f"block holds what is in reach; got {self.fineness}."
            )

    @cached_property
    def size(self) -> int:
        """The number of grid cells on [0, 1]; even on a cubic grid, so that its middle is a grid point."""
        cells = math.ceil(self.fineness / min(self.h, 1.0))
        return cells + cells % 2 if self.cubic else cells

    @cached_property
    def step(self) -> float:
        """The width of a grid cell."""
        return 1 / self.size

    @cached_property
    def reach(self) -> int:
        """Grid cells after which the kernel has vanished."""
        return min(math.ceil(KERNEL_REACH * self.h / self.step), self.size)

    def place(self, points: Points) -> Placement:
        """Where rows go: first to the ends of their cells, then to the two or four grid points around each end."""
        index, part = self.around(np.stack([points.low, points.high]))
        found, slot = _ranked(index, self.size + 1)
        return Placement(points, found, slot, part)

    def masses(self, points: Points, total: int) -> Masses:
        """The shares of the rows of `points` on the grid, out of `total` rows."""
        if self.size > LARGEST_TABLE:
            return self.place(points).masses(points.count, total)
        weight = placed_at_once(points.low, points.high, points.fraction, points.count, total, self.size, self.cubic)
        index = np.flatnonzero((weight[0] != 0) | (weight[1] != 0))
        return Masses(index, weight[:, index], total)

    def around(self, places: Floats) -> tuple[Integers, Floats]:
        """The grid points around each place between which is interpolated, and their weights there."""
        scaled = places * self.size
        base = np.minimum(scaled.astype(np.int64), self.size - 1)
        part = (cubic_weights if self.cubic else linear_weights)(scaled - base)
        first = 1 - len(part) // 2
        return np.stack([base + side for side in range(first, first + len(part))]), part

    def blocks(self, index: Integers, reach: int) -> Iterator[tuple[int, int]]:
        """Ranges [start, stop] of grid points that hold everything within `reach` (less than a block) of `index`."""
        last = (self.size - 1) // BLOCK
        near = [np.clip((index + shift) // BLOCK, 0, last) for shift in (-reach, 0, reach)]
        first, end = (int(index.min()) - reach, int(index.max()) + reach) if index.size else (0, 0)
        for block in np.flatnonzero(sum(np.bincount(places, minlength=last + 1) for places in near)).tolist():
            start, stop = block * BLOCK, min((block + 1) * BLOCK, self.size)
            yield max(start, min(first, stop - 1)), min(stop, max(end, start) + 1)

    def smooth(self, values: Floats, kernel: Kernel) -> tuple[Floats, float]:
        """Circular convolution of each row of `values` with a kernel, and a bound on its mean rounding error.

        The bound is for the mean of the absolute errors; that of a single result may be larger by the root of how many
        there are (theory of computing). The first and last `reach` results are contaminated by wrapping.
        """
        size = values.shape[1]
        result, length = self.convolved(values, kernel)
        # Not np.linalg.norm: it wakes the threads of BLAS, which stall on a busy machine.
        whole = math.sqrt(max(size - kernel.values.size + 1, 1))  # without what is contaminated
        norm = math.sqrt(np.square(values).sum(axis=1).max()) + float(np.abs(values).sum(axis=1).max()) / whole
        return result, 10 * float(np.finfo(float).eps) * math.log2(length + 2) * norm * kernel.norm

    def convolved(self, values: Floats, kernel: Kernel) -> tuple[Floats, int]:
        """The convolution alone, and the length of its transforms."""
        length = fast_length(max(values.shape[1], kernel.values.size))
        result = fft.irfft(fft.rfft(values, length) * kernel.spectrum(length), length)
        return result[:, : values.shape[1]], length

    @cached_property
    def kernel(self) -> Kernel:
        """sech at the offsets -reach..reach."""
        return Kernel(sech(np.arange(-self.reach, self.reach + 1) * (self.step / self.h)))

    def normalizers(self, low: int, high: int) -> Floats:
        """Z at grid points low, ..., high - 1, those off the grid as at its ends."""
        if self.cubic:
            return np.full(high - low, math.pi * self.h)  # Rows are out of reach of the ends.
        return _normalizers(self.h, self.size, low, high)

    def densities(self, masses: Masses) -> Iterator[tuple[Floats, Floats, Floats, float]]:
        """Blocks of :meth:`density` that hold all the mass; consecutive ones share their end point."""
        for start, stop in self.blocks(masses.index, self.reach):
            yield self.density(masses, start, stop + 1)

    def density(self, masses: Masses, low: int, high: int) -> tuple[Floats, Floats, Floats, float]:
        """(t, D, P, rounding) at grid points low, ..., high - 1.

        D is the density of the perturbed score at t, P that of the perturbed score with label 1, and `rounding` bounds
        the mean absolute error of each.
        """
        first, last = low - self.reach, high + self.reach
        weight = masses.dense(first, last)
        scaled = np.stack([weight[0] + weight[1], weight[1]]) / self.normalizers(first, last)
        smoothed, rounding = self.smooth(scaled, self.kernel)
        inner = smoothed[:, self.reach : self.reach + high - low]
        return np.arange(low, high) / self.size, inner[0], inner[1], rounding


@lru_cache(maxsize=16)
def shared_grid(h: float, fineness: int, *, cubic: bool = False) -> Grid:
    """A grid that is kept, with its kernel and the transforms of it, for the next certificate."""
    return Grid(h, fineness, cubic)


@lru_cache(maxsize=4)
def _normalizers(h: float, size: int, low: int, high: int) -> Floats:
    # Lower bounds ask for the same stretch of the grid again and again.
    found = normalizer(np.arange(max(low, 0), min(high, size + 1)) / size, h)
    found = np.pad(found, (max(-low, 0), max(high - size - 1, 0)), "edge")
    found.setflags(write=False)
    return found


def _ranked(values: Integers, limit: int) -> tuple[Integers, Integers]:
    """The distinct values, increasing, and the rank of each; they are at least 0 and below `limit`."""
    if limit > LARGEST_TABLE:
        found, rank = np.unique(values, return_inverse=True)
        return found, rank.reshape(values.shape)
    # A table of what is there takes a fraction of the time that sorting takes.
    there = np.zeros(limit, bool)
    there[values] = True
    return np.flatnonzero(there), (np.cumsum(there) - 1)[values]


@lru_cache
def fast_length(least: int) -> int:
    """The smallest 2^a 3^b that is not below `least`: transforms of such lengths are fast.

    A factor 5 would be fast too, but the bound on rounding is proved for stages of two and three only.
    """
    best = 1 << (least - 1).bit_length()
    threes = 1
    while threes < best:
        best = min(best, threes << max(-(-least // threes) - 1, 0).bit_length())
        threes *= 3
    return best


def linear_weights(s: Floats) -> Floats:
    """Those of the points 0 and 1 at s between them."""
    return np.stack([1 - s, s])


def cubic_weights(s: Floats) -> Floats:
    """Those of the points -1, 0, 1, 2 at s between 0 and 1, in Lagrange's interpolation."""
    before, after, inner = 1 + s, 2 - s, s * (1 - s)
    return np.stack([-inner * after / 6, before * (1 - s) * after / 2, before * s * after / 2, -inner * before / 6])


def absolute_integral(values: Floats, step: float) -> float:
    """The integral of |linear interpolant| through `values`, exact at sign changes inside a grid cell."""
    a, b = np.abs(values[:-1]), np.abs(values[1:])
    both = a + b
    crossing = values[:-1] * values[1:] < 0
    area = np.where(crossing, (a * a + b * b) / np.where(both > 0, both, 1.0), both)
    return float(area.sum() * step / 2)


FEW, MANY, FINE = 8, 12, 16
"""How many exponentials: 1.5e-6 off, or 1.3e-9 from so many grid points to a bandwidth on, where rows are many."""


@lru_cache(maxsize=16)
def exponentials(grid: Grid) -> tuple[Floats, Floats]:
    """By which factors exponentials decay over a grid cell, and what the cell next to a point weighs in each: K4."""
    rate = 2 * np.arange(number(grid)) + 1
    decay = np.exp(-rate * (grid.step / grid.h))
    return decay, 2 * grid.h * np.array(alternating_weights(rate.size)) * (1 - decay) / rate


def number(grid: Grid) -> int:
    """How many exponentials the grid deserves."""
    return FEW if grid.fineness <= FINE else MANY


def missed(grid: Grid) -> float:
    """More than G can be off at any place for being computed from exponentials, and for rounding of these: K4."""
    rounding = 2.0**-44 * (1 + grid.h / grid.step) * math.pi * grid.h * largest_density(grid.h)
    return 5 / 4 * (1 / math.cosh(number(grid) * math.acosh(3)) + rounding)
