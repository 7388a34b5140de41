"""What cells, grid and rounding may hide of rows whose odds are perturbed: charges of the theory of the odds.

Each is a bound, for one row, on the integral over the log-odds z of |t - y| times what an approximation changes in the
kernel k(z|x) = sech((z - logit x)/b) / (pi b), t the score at z. A row near the label that it has weighs little in all
of them, through `far` = |x - y|, a distance of the rows of a cell. With far = 1 they bound the change of the kernel
itself.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from calcert.foundation.array_types import Floats
from calcert.perturbation.grids.grid_view import View
from calcert.perturbation.odds_kernel import largest_factor
from calcert.summary import cells
from calcert.summary.points import Points

FOURTH = 2.55
"""At least the mean of |d^4 sech| / sech, whose mean square is 13/2."""


def mean_distance(points: Points) -> Floats:
    """|x - y| in the mean over the rows of each cell and label."""
    return np.asarray(np.abs(points.positions - [0.0, 1.0]))


def largest_distance(points: Points) -> Floats:
    """The largest |x - y| on each cell, per label."""
    return np.stack([points.high, 1 - points.low], axis=1)


def likely_distance(view: View) -> Floats:
    """How far end rows are from the label that they are likely to have; 0 for rows with the other label: L6."""
    low = (view.ends.high < 0.5)[:, None]
    unread = np.where(low, view.resolution, 0.0)
    return np.where(low == [True, False], mean_distance(view.ends) + unread, 0.0)


def widest_cell(nearest: Floats) -> Floats:
    """The width in log-odds of the widest cell at least as far from 0 and 1 as `nearest`: L10."""
    widest = np.zeros_like(nearest)
    for piece, after in pairwise(cells.PIECES[:5]):
        width = 1 / piece.scale
        low = np.maximum(piece.start, nearest - width)
        widest = np.maximum(widest, np.where(nearest < after.start, width / (low * (1 - low)), 0.0))
    return widest


def slope(far: Floats | float, b: float) -> Floats:
    """L1: b times the integral of |t - y| |dk/dzeta|, and b^2 times that of the second derivative, are at most this."""
    return np.minimum(2 / math.pi, (2 / math.pi + largest_factor(b) - 1) * np.asarray(far))


def weight(far: Floats | float, b: float) -> Floats:
    """The integral of |t - y| k is at most this: O4."""
    return np.minimum(1.0, largest_factor(b) * np.asarray(far))


def steepest(points: Points) -> Floats:
    """The largest slope of the log-odds on each cell, 1 / x(1 - x) at one of its ends."""
    return np.asarray(1 / np.minimum(points.low * (1 - points.low), points.high * (1 - points.high)))


def cell(points: Points, inside: Floats | float, far: Floats | float, b: float) -> Floats:
    """L2: interpolating linearly in x between the ends of the cell, for a row with f(1 - f) = `inside`."""
    width = (points.high - points.low) * steepest(points) / b
    curvature = 1 + b * np.maximum(np.abs(1 - 2 * points.low), np.abs(1 - 2 * points.high))
    return np.asarray((width**2 * curvature / 2)[:, None] * inside * slope(far, b))


def unread(points: Points, resolution: float, far: Floats | float, b: float) -> Floats:
    """L3: a score that is known to `resolution` only."""
    return np.asarray(resolution / b * steepest(points)[:, None] * slope(far, b))


def grid(step: float, far: Floats | float, b: float) -> Floats:
    """L4: going to the two points of a grid of `step` in log-odds around a place."""
    return np.asarray((step / b) ** 2 / 8 * slope(np.asarray(far) * math.exp(step), b))


def integral(step: float, far: Floats | float, b: float) -> Floats:
    """L5: interpolating (t - y) k linearly in z between grid points, for a row that was placed on them."""
    near = np.asarray(far) * math.exp(step)
    return np.asarray(step**2 / 8 * (slope(near, b) * (1 / b**2 + 2 / b) + weight(near, b)))


def fourth(far: Floats | float, b: float) -> Floats:
    """L11: b^4 times the integral of |t - y| |d^4 k / dzeta^4| is at most this."""
    return np.minimum(FOURTH, (FOURTH + 5 * (largest_factor(b) - 1)) * np.asarray(far))


def cubic(step: float, far: Floats | float, b: float) -> Floats:
    """L12: going to the four points of a grid of `step` in log-odds around a place, by cubic interpolation."""
    return np.asarray(3 / 128 * (step / b) ** 4 * fourth(np.asarray(far) * math.exp(2 * step), b))


def remainder(step: float, far: Floats | float, b: float) -> Floats:
    """L13: what a cubic through four points hides of (t - y) k, or a trapezoid sum of (t - y)^2 k.

    For a row that went to four grid points.
    """
    near = np.asarray(far) * math.exp(2 * step)
    rest = (16 / b**3 + 24 / b**2 + 32 / b + 16) * weight(near, b)
    return np.asarray(1.25 / 60 * step**4 * (fourth(near, b) / b**4 + rest))


def broken_line(gap: Floats, step: float) -> float:
    """L13: the integral of what lies between the line through `gap` and the cubics through it is at most this."""
    curvature = np.abs(np.diff(gap, 2)).sum() + abs(gap[1] - gap[0]) + abs(gap[-1] - gap[-2])
    return float(curvature) * step / 12


def square(step: float, b: float) -> float:
    """What interpolating k itself costs, beside twice L5, where squares are integrated (Theorem 7)."""
    return step**2 / 8 * 2 / (math.pi * b**2)


def stepwise_score(step: float, far: Floats | float, b: float) -> Floats:
    """L9: putting the mean of t over a grid cell for t, where the witness is constant, at four points around a row."""
    near = np.asarray(far) * math.exp(3 * step)
    return np.asarray(5 / 4 * step**2 / (8 * b) * np.minimum(1 / (2 * math.pi), slope(near, b)))


def rounded_places(half: float, b: float) -> float:
    """L8: positions on the grid are rounded; `half` is half the stretch of log-odds that it covers."""
    return 2.0**-50 * half / b
