"""Theorem 5: lower bounds, with no assumption at all.

Any function f into [-1, 1] is a witness: E[f(X)(X - Y)] is at most the L1 calibration error. One found on some rows and
judged on others gives a lower confidence limit; :mod:`calcert.certificates.betting` does the judging. Rows of a batch
are known only to their cell, so a gain is the smallest one that any place inside the cell could give. A witness may
look at the counts of earlier batches and at nothing else: not at offsets or distinct scores, which know of all rows.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from calcert.certificates.betting import Integers, lower_limit
from calcert.certificates.score_groups import across_labels
from calcert.serving.grid import CURVATURE, MERGED, ROUNDING, Grid, Kernel, Masses, merged
from calcert.serving.kernel import first_moment, gudermannian
from calcert.summary.counts import Points, Summary

Floats = NDArray[np.float64]

SCALES = (1, 8, 64, 512, 4096)
"""Numbers of groups in which a witness for the unmodified classifier may be constant."""

FINENESS = 128
"""Grid points to a bandwidth for the perturbed witness."""


def unmodified_lower(summary: Summary, delta: float, seed: int) -> float:
    """A lower bound for E|X - E[Y|X]| at confidence 1 - delta: signs of groups, at the scale that did best so far."""
    points = summary.cell_points
    middle = (points.low + points.high) / 2

    before: list[_GroupSigns] = []

    def witness(known: Integers, last: Integers) -> Floats:
        signs = _GroupSigns(middle, known)
        if not before:
            scale = max(s for s in SCALES if s == 1 or s**3 <= known.sum())
        else:
            # What the rows of all batches but the last of them taught, judged by the last.
            rows = across_labels(last)
            ends = np.stack([points.low * rows - last[:, 1], points.high * rows - last[:, 1]])
            scale = max(SCALES, key=lambda s: before[-1].earned(s, ends))
        before.append(signs)
        return _gain(points, signs(scale))

    return lower_limit(summary, delta, seed, witness)


class _GroupSigns:
    """In each of some runs of points of equal mass: the mean of x - y in standard errors, cut to [-1, 1]."""

    def __init__(self, score: Floats, count: Integers) -> None:
        rows = across_labels(count)
        self._rows = int(rows.sum())
        self._before = np.cumsum(rows) - rows
        self._values = np.empty((2, score.size))
        self._values[0] = score * rows - count[:, 1]
        self._values[1] = count[:, 0] * score**2 + count[:, 1] * (1 - score) ** 2

    def __call__(self, groups: int) -> Floats:
        begin, f = self._runs(groups)
        return np.repeat(f, np.diff(np.append(begin, self._before.size)))

    def earned(self, groups: int, ends: Floats) -> float:
        """What the signs earn where `ends` holds per point the sums of x - y with x at either end of its cell."""
        begin, f = self._runs(groups)
        low, high = np.add.reduceat(ends, begin, axis=1)
        return float((f * np.where(f >= 0, low, high)).sum())

    def _runs(self, groups: int) -> tuple[Integers, Floats]:
        # A run begins with the first point that has at least its share of the rows before it, if there is one: the run
        # of a score depends on the known rows below it alone.
        begin = np.searchsorted(self._before, -(-np.arange(groups) * self._rows // groups))
        begin = begin[(np.diff(begin, prepend=-1) > 0) & (begin < self._before.size)]
        excess, wobble = np.add.reduceat(self._values, begin, axis=1)
        return begin, np.clip(excess / np.sqrt(wobble + 1e-300), -1.0, 1.0)


def _gain(points: Points, f: Floats) -> Floats:
    """The smallest f (x - y) with x in [low, high], per point and label."""
    worst = np.where(f >= 0, points.low, points.high)
    return np.stack([f * worst, f * (worst - 1)], axis=1)


def perturbed_lower(summary: Summary, h: float, delta: float, seed: int) -> float:
    """A lower bound for the L1 calibration error of the served classifier at confidence 1 - delta."""
    grid, (points, start) = Grid(h, FINENESS), merged(summary.cell_points, h / MERGED)
    width = points.high - points.low
    # G is within CURVATURE width^2 / 8h^2 of its chord over the cell, and each end of it that close to the grid's.
    # Positions on the grid are rounded, which moves G by 2^-53 / h at most (K1); charged twice over.
    hidden = CURVATURE / h**2 * (width**2 + grid.step**2) / 8 + ROUNDING + float(np.finfo(float).eps) / h
    if float((points.count.sum(axis=1) * hidden).sum()) >= summary.n / 2:
        return 0.0  # the cells are wider than the bandwidth: no gain could be vouched for
    middle = replace(points, fraction=np.full(points.count.shape, 0.5))
    placement, kernels = grid.place(middle), _cell_integrals(grid)

    def witness(known: Integers, last: Integers) -> Floats:
        gain = served_gain(grid, points, placement.masses(known), kernels)
        return np.clip(gain - hidden[:, None], -1.0, 1.0)

    return lower_limit(summary, delta, seed, witness, start)


def served_gain(grid: Grid, points: Points, masses: Masses, kernels: tuple[Kernel, Kernel]) -> Floats:
    """For f = the sign of m^ on the rows behind `masses`, in standard errors: min of G(x, y) over the ends of a cell.

    G(x, y) is the integral of f(t) (t - y) k(t|x) = (x - y) F0(x) + F1(x), with F0 and F1 correlations of f with the
    kernel and with (t - x) times the kernel, exact for f constant on grid cells.
    """
    reach = grid.reach
    ends = np.stack([points.low, points.high]) * grid.size
    base = np.minimum(ends.astype(np.int64), grid.size - 1)
    share = ends - base
    gain = np.full((2, *ends.shape), np.nan)
    for start, stop in grid.blocks(base.ravel(), 0):
        f = _served_signs(grid, masses, start - reach, stop + reach + 1)
        x = np.arange(start, stop + 1) / grid.size
        scale = grid.normalizers(start, stop + 1)
        f0, f1 = (smoothed[reach : reach + x.size] / scale for smoothed in grid.smooth_by(f, kernels))
        inside = (base >= start) & (base < stop)
        here, part = base[inside] - start, share[inside]
        for label in (0, 1):
            at_grid = (x - label) * f0 + f1
            gain[label][inside] = at_grid[here] + part * np.diff(at_grid)[here]
    return np.ascontiguousarray(gain.min(axis=1).T)


def _cell_integrals(grid: Grid) -> tuple[Kernel, Kernel]:
    """Integrals over grid cells of sech(v) and of h v sech(v), v the distance in bandwidths, reversed."""
    edges = np.arange(grid.reach + 2) * (grid.step / grid.h)
    angle, moment = gudermannian(edges), first_moment(edges)
    # The one is odd and the other even: what is left of 0 need not be computed.
    return (
        Kernel(grid.h * np.diff(np.append(-angle[-2:0:-1], angle))[::-1]),
        Kernel(grid.h**2 * np.diff(np.append(moment[-2:0:-1], moment))[::-1]),
    )


def _served_signs(grid: Grid, masses: Masses, low: int, high: int) -> Floats:
    """m^ in standard errors, cut to [-1, 1], averaged over the grid cells low, ..., high - 1; zero outside [0, 1]."""
    first, last = max(low, 0), min(high, grid.size + 1)
    t, served, positive, rounding = grid.density(masses, first, last)
    served = np.maximum(served, 0.0)
    positive = np.clip(positive, 0.0, served)
    spread = 2 / (np.pi**2 * grid.h * masses.rows)
    noise = np.maximum(served * t * t + positive * (1 - 2 * t), 0.0)
    f = np.clip((t * served - positive) / (np.sqrt(spread * noise) + 10 * rounding + 1e-300), -1.0, 1.0)
    return np.pad((f[:-1] + f[1:]) / 2, (first - low, high - last + 1))
