"""Theorem 5: lower bounds, with no assumption at all.

Any function f into [-1, 1] is a witness: E[f(X)(X - Y)] is at most the L1 calibration error. One found on some rows and
judged on others gives a lower confidence limit; :mod:`calcert.prequential` does the judging. Rows of a batch are known
only to their cell, so a gain is the smallest one that any place inside the cell could give.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import diags_array, vstack

from calcert.perturbation import first_moment, gudermannian, normalizer
from calcert.prequential import Integers, lower_limit
from calcert.served import CURVATURE, ROUNDING, Grid, Masses
from calcert.summary import Points, Summary

Floats = NDArray[np.float64]

SCALES = (1, 8, 64, 512, 4096)
"""Numbers of groups in which a witness for the unmodified classifier may be constant."""

FINENESS = 128
"""Grid points to a bandwidth for the perturbed witness."""

KNOTS = 128
"""Pieces of the piecewise linear witness for the distance."""


def unmodified_lower(summary: Summary, delta: float, seed: int) -> float:
    """A lower bound for E|X - E[Y|X]| at confidence 1 - delta: signs of groups, at the scale that did best so far."""
    points = summary.points
    middle = (points.low + points.high) / 2

    def witness(known: Integers, last: Integers) -> Floats:
        earlier = known - last
        if earlier.sum() == 0:
            scale = max(s for s in SCALES if s == 1 or s**3 <= known.sum())
        else:
            earned = {s: float((last * _gain(points, _group_signs(middle, earlier, s))).sum()) for s in SCALES}
            scale = max(SCALES, key=lambda s: earned[s])
        return _gain(points, _group_signs(middle, known, scale))

    return lower_limit(summary, delta, seed, witness)


def _group_signs(score: Floats, count: Integers, groups: int) -> Floats:
    """In each of `groups` runs of points of equal mass: the mean of x - y in standard errors, cut to [-1, 1]."""
    rows = count.sum(axis=1)
    before = np.cumsum(rows) - rows
    group = np.minimum(before * groups // max(int(rows.sum()), 1), groups - 1)
    excess = np.bincount(group, score * rows - count[:, 1], groups)
    wobble = np.bincount(group, count[:, 0] * score**2 + count[:, 1] * (1 - score) ** 2, groups)
    return np.asarray(np.clip(excess / np.sqrt(wobble + 1e-300), -1.0, 1.0)[group])


def _gain(points: Points, f: Floats) -> Floats:
    """The smallest f (x - y) with x in [low, high], per point and label."""
    worst = np.where(f >= 0, points.low, points.high)
    return np.stack([f * worst, f * (worst - 1)], axis=1)


def perturbed_lower(summary: Summary, h: float, delta: float, seed: int) -> float:
    """A lower bound for the L1 calibration error of the served classifier at confidence 1 - delta."""
    grid, points = Grid(h, FINENESS), summary.points
    width = points.high - points.low
    # G is within CURVATURE width^2 / 8h^2 of its chord over the cell, and each end of it that close to the grid's.
    hidden = CURVATURE / h**2 * (width**2 + grid.step**2) / 8 + ROUNDING

    placement, kernels = grid.place(points), _cell_integrals(grid)

    def witness(known: Integers, last: Integers) -> Floats:
        gain = served_gain(grid, points, placement.masses(known), kernels)
        return np.clip(gain - hidden[:, None], -1.0, 1.0)

    return lower_limit(summary, delta, seed, witness)


def served_gain(grid: Grid, points: Points, masses: Masses, kernels: tuple[Floats, Floats]) -> Floats:
    """For f = the sign of m^ on the rows behind `masses`, in standard errors: min of G(x, y) over the ends of a cell.

    G(x, y) is the integral of f(t) (t - y) k(t|x) = (x - y) F0(x) + F1(x), with F0 and F1 correlations of f with the
    kernel and with (t - x) times the kernel, exact for f constant on grid cells.
    """
    h, reach = grid.h, grid.reach
    ends = np.stack([points.low, points.high]) * grid.size
    base = np.minimum(ends.astype(np.int64), grid.size - 1)
    gain = np.full((*ends.shape, 2), np.nan)
    for start, stop in grid.blocks(base.ravel(), 0):
        f = _served_signs(grid, masses, start - reach, stop + reach + 1)
        x = np.arange(start, stop + 1) / grid.size
        f0, f1 = (grid.smooth(f[None], kernel)[0][0, reach : reach + x.size] / normalizer(x, h) for kernel in kernels)
        at_node = np.stack([x * f0 + f1, (x - 1) * f0 + f1], axis=1)
        inside = (base >= start) & (base < stop)
        left = base[inside] - start
        share = (ends[inside] - base[inside])[:, None]
        gain[inside] = (1 - share) * at_node[left] + share * at_node[left + 1]
    return np.asarray(gain.min(axis=0))


def _cell_integrals(grid: Grid) -> tuple[Floats, Floats]:
    """Integrals over grid cells of sech(v) and of h v sech(v), v the distance in bandwidths, reversed."""
    edges = np.arange(-grid.reach, grid.reach + 2) * (grid.step / grid.h)
    return grid.h * np.diff(gudermannian(edges))[::-1], grid.h**2 * np.diff(first_moment(edges))[::-1]


def _served_signs(grid: Grid, masses: Masses, low: int, high: int) -> Floats:
    """m^ in standard errors, cut to [-1, 1], averaged over the grid cells low, ..., high - 1; zero outside [0, 1]."""
    t, served, positive, rounding = grid.density(masses, low, high)
    served = np.maximum(served, 0.0)
    positive = np.clip(positive, 0.0, served)
    spread = 2 / (np.pi**2 * grid.h * masses.rows)
    noise = np.maximum(served * t * t + positive * (1 - 2 * t), 0.0)
    f = np.clip((t * served - positive) / (np.sqrt(spread * noise) + 10 * rounding + 1e-300), -1.0, 1.0)
    inside = (t[:-1] >= 0) & (t[1:] <= 1)
    return np.append(np.where(inside, (f[:-1] + f[1:]) / 2, 0.0), 0.0)


def distance_lower(summary: Summary, delta: float, seed: int) -> float:
    """A lower bound for the distance from calibration at confidence 1 - delta.

    Half the mean of f(X)(Y - X) is one for every f that is 1-Lipschitz on [0, 1] and into [-1, 1] (theory, section 6).
    """
    points = summary.points
    knots = np.linspace(0.0, 1.0, KNOTS + 1)
    hidden = points.high - points.low

    def witness(known: Integers, last: Integers) -> Floats:
        f = np.interp(points.low, knots, _lipschitz_witness(points, known, knots))
        # On the cell, f moves by at most its width and x likewise, so f (y - x) by at most twice that.
        gain = np.stack([-f * points.low, f * (1 - points.low)], axis=1) - 2 * hidden[:, None]
        return gain / 2 - ROUNDING

    return lower_limit(summary, delta, seed, witness)


def _lipschitz_witness(points: Points, known: Integers, knots: Floats) -> Floats:
    """The values at knots of the 1-Lipschitz f into [-1, 1] that maximises the sum of f(x)(y - x): a linear program."""
    middle = (points.low + points.high) / 2
    excess = known[:, 1] - middle * known.sum(axis=1)
    scaled = middle * (knots.size - 1)
    base = np.minimum(scaled.astype(np.int64), knots.size - 2)
    share = scaled - base
    weight = np.bincount(base, excess * (1 - share), knots.size)
    weight += np.bincount(base + 1, excess * share, knots.size)
    step = diags_array([1.0, -1.0], offsets=[0, 1], shape=(knots.size - 1, knots.size))
    steps = vstack([step, -step]).tocsr()
    slope = np.full(steps.shape[0], knots[1] - knots[0])
    result = linprog(-weight / known.sum(), A_ub=steps, b_ub=slope, bounds=(-1, 1), method="highs")
    f = np.clip(result.x, -1.0, 1.0) if result.x is not None else np.zeros(knots.size)
    # A solver may overstep by its tolerance; shrinking makes the slope honest again.
    return f / max(1.0, float(np.abs(np.diff(f)).max() / slope[0]))
