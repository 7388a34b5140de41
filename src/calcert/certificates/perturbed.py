"""Theorem 1: the L1 calibration error of the classifier with perturbed scores, with no assumption.

The witness of its lower bound (Theorem 5) is the sign of m^ on earlier rows, in the perturbed score. What f earns from
a row with score x and label y is G(x, y), the integral of f(z) (t(z) - y) k(z|x) over the places z of the grid. For f
constant on grid cells, and the mean of t over each in place of t, that is F1 - y F0, correlations of f and of f t with
one kernel: a sum of exponentials, next to nothing off (K4), as sums of these pass along the grid from point to point.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from calcert.certificates.certificate import Certificate, Lower, any_rows, proved_for
from calcert.certificates.limits.deviations import Limit, Squares, iid_limit
from calcert.certificates.limits.sampling_term import upper_mean
from calcert.certificates.witnesses import random_splits
from calcert.certificates.witnesses.betting import in_turn, lower_limit
from calcert.certificates.witnesses.cluster_lower import clusters_lower, perturbed_patterns
from calcert.foundation.array_types import Floats, Integers
from calcert.foundation.rounding import ROUNDING
from calcert.kernels.grids import lower_to, signs_of, smoothed
from calcert.perturbation import sech_kernel
from calcert.perturbation.grids.coordinates import Coordinate, coordinate_of
from calcert.perturbation.grids.grid import BLOCK, Grid, absolute_integral, exponentials, missed
from calcert.perturbation.grids.grid_view import View, unlikely_ends
from calcert.perturbation.noise import Noise, choose_noise
from calcert.summary.points import merged, seen_from
from calcert.summary.summary import Summary


@proved_for(any_rows)
def perturbed(
    summary: Summary,
    *,
    odds: float | None = None,
    bandwidth: float | None = None,
    delta: float = 0.05,
    seed: int = 0,
) -> Certificate:
    """Certify the L1 calibration error of the classifier perturbed by :func:`calcert.perturb`.

    Guarantee
        With probability at least 1 - delta over the rows, E|S - E[Y|S]| <= upper for the perturbed score S; likewise
        for lower, over the rows and the random split set by the seed. Nothing is assumed of the score distribution or
        the calibration function.
    Assumes
        Of the rows and the arguments, what :func:`calcert.certify` assumes; deployed scores have the same noise.
    Terms
        ``plug-in``: the calibration error of the perturbed empirical distribution; ``sampling``: the deviation of the
        mean (D2, D3, Hoeffding, inverted); ``discretisation``: everything the grid, the cells and rounding may hide.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(100_000)
    >>> c = calcert.bounds.perturbed(calcert.summarize(x, rng.random(100_000) < x**2))
    >>> print(f"{c.lower:.3f} to {c.upper:.3f}; the truth is 0.167")
    0.164 to 0.169; the truth is 0.167
    """
    noise = choose_noise(odds, bandwidth)
    return Certificate.of(
        summary,
        "L1 calibration error",
        upper_terms(summary, noise, delta),
        perturbed_lower(summary, noise, delta, seed),
        delta,
        theorem="Theorem 1" if noise.kind == "additive" else "Theorem 1L",
        subject=perturbed_subject(noise),
        parameters=noise.parameters | {"seed": seed},
    )


def perturbed_subject(noise: Noise) -> str:
    """The perturbed classifier in words."""
    return f"with perturbed scores, {noise.words}"


def upper_terms(summary: Summary, noise: Noise, delta: float, limit: Limit = iid_limit) -> dict[str, float]:
    """The terms of the upper bound of Theorem 1 at confidence 1 - delta; `limit` bounds the deviation of the mean."""
    (terms,) = parts_terms(summary, noise, delta, whole, limit)
    return terms


def parts_terms(
    summary: Summary, noise: Noise, delta: float, parts: Parts, limit: Limit = iid_limit
) -> list[dict[str, float]]:
    """The terms of an upper bound for each part of the error, each at confidence 1 - delta."""
    found = plug_in(summary, noise, parts)
    rows = squares_of(summary, noise, found)

    def terms(part: float) -> dict[str, float]:
        seen = part + found.hidden
        upper = seen if found.hidden >= 1 else upper_mean(summary, seen, rows, delta, limit, noise)
        return {"plug-in": part, "discretisation": found.hidden, "sampling": upper - seen}

    return [terms(part) for part in found.parts.tolist()]


@dataclass(frozen=True)
class PlugIn:
    """Parts of the error of the perturbed empirical distribution, what may be hidden of each, and the second moment.

    `square` is at least the mean of E(y - S)^2 over the rows, for noise on the odds.
    """

    parts: Floats
    hidden: float
    square: float


Parts = Callable[[Floats, Floats, float], Floats]
"""Integrals of m^, given at grid points by the score there, its values and the step of the grid."""


def whole(t: Floats, gap: Floats, step: float) -> Floats:
    """The one part of Theorem 1: the integral of |m^|."""
    return np.array([absolute_integral(gap, step)])


@lru_cache(maxsize=2)
def plug_in(summary: Summary, noise: Noise, parts: Parts = whole) -> PlugIn:
    """The plug-in from a grid as fine as the rows deserve: their number alone decides."""
    where = coordinate_of(noise)
    view, grid = where.joined(summary), where.grid_for(summary.rows)
    hidden = where.hidden(view, grid)
    # End rows with the unlikely label matter by 1 at most (L6): a gap of -1 at score 0 or of 1 at score 1.
    low, high = unlikely_ends(view)
    found = parts(np.zeros(2), np.full(2, -float(low)), 1.0) + parts(np.ones(2), np.full(2, float(high)), 1.0)
    found, square = found / view.n, (low + high) / view.n
    if hidden >= 1:
        # The cells are far wider than the bandwidth: nothing can be said, so nothing is computed.
        return PlugIn(0 * found, hidden, 1.0)
    for place, density, positive, rounding in grid.densities(grid.masses(view.places, view.n)):
        t = where.score(place)
        gap = t * density - positive
        found = found + parts(t, gap, grid.step)
        square += float(np.trapezoid(t * (gap - positive) + positive, dx=grid.step))
        hidden += where.broken_line(gap, grid) + 3 * rounding * float(place[-1] - place[0])
    return PlugIn(found, hidden, min(square + hidden, 1.0))  # L7: what is hidden of the error covers the square


def squares_of(summary: Summary, noise: Noise, found: PlugIn) -> Squares:
    """At least (y - E[S|x])^2 of the rows."""
    if noise.kind == "additive":
        return additive_squares(summary, noise.size)
    # The mean perturbed score grows with x: from label 0 the right end of a cell is farthest, from label 1 the left
    # one.
    least, most = noise.mean_between(summary.points.low)[0], noise.mean_between(summary.points.high)[1]
    squares = np.stack([most, 1 - least], axis=1) ** 2 + 2 * ROUNDING
    return Squares.of(squares, summary.points.count, found.square)


def additive_squares(summary: Summary, h: float) -> Squares:
    """At least (y - E[S|x])^2 of the rows for additive noise: at the ends of cells, and what is hidden in between."""
    # It matters for the deviation only, and there by its root: far wider cells will do.
    points = seen_from(summary.points, h)
    if not points.exact:
        points, _ = merged(points, min(h / 16, 2.0**-10))
    mean = np.stack([sech_kernel.mean(position, h) for position in (points.low, points.high)])
    hidden = (points.high - points.low) ** 2 / 8 * (2 + 0.68 / h)
    squares = np.stack([mean**2, (1 - mean) ** 2], axis=2) + hidden[:, None] + 2 * ROUNDING
    return Squares.of(squares, points.count * np.stack([1 - points.fraction, points.fraction]))


def perturbed_lower(summary: Summary, noise: Noise, delta: float, seed: int, cut: Cut | None = None) -> Lower:
    """A lower bound for the L1 calibration error of the perturbed classifier at confidence 1 - delta.

    With `cut`, for the largest mean gain of the witnesses that it lets through.
    """
    if summary.clusters is not None:
        if cut is not None:
            raise ValueError("sides are proved for independent rows of equal weight alone")
        return Lower(clusters_lower(summary, perturbed_patterns(summary, noise), delta, noise))
    where = coordinate_of(noise)
    (view, cells), grid = where.by_joined_cell(summary), where.witness_grid(summary.n)
    hidden = where.hidden_gain(view, grid) + missed(grid)
    if float((view.points.count * hidden).sum()) >= summary.n / 2:
        # The cells are wider than the bandwidth: no gain could be vouched for, so nothing is bet.
        return Lower(0.0)
    witness = PerturbedWitness(where, view, grid, cut)

    def gain(known: Integers, last: Integers) -> Floats:
        found = np.empty(known.shape)
        held = witness.held(known)
        found[witness.inner] = witness.gain(known[witness.inner], held) - hidden
        if view.ends.low.size:
            found[~view.between] = where.end_gain(view, held)
        return np.clip(found, -1.0, 1.0)

    return lower_limit(
        summary, delta, seed, in_turn(gain), splits=random_splits.splits(cells, seed, random_splits.GROWING)
    )


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
