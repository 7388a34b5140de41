"""Nadaraya-Watson smoothing with tempered Epanechnikov weights: fast sums over windows of sorted scores.

At a point x the smoother needs, over the scores s_i within a window h of x and with v = (x - s_i)/h, the sums of

    w,  w y_i,  w |v|,  w v^2  and  w^2,      w = (1 - v^2)^1.2.

The exponent rules out prefix sums, and at ten million rows a window may hold 10^5 of them. So the sorted rows form
a binary tree whose nodes know the moments of their scores, and few nodes cover a window: large ones in its middle,
small ones towards its ends. On a node, w is its Taylor series about the node's centre. w is singular at v = -1 and
v = 1 only; a node serves if its radius is at most a third of the distance from its centre to the nearer end, and
then sixteen terms err by at most 4.1e-11 of w at the node's worst row (the sums, by about 1e-12). Rows too close to
an end are summed one by one, as are those around x itself, where |v| has its corner.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from calcert.foundation.array_types import Floats
from calcert.kernels.windows import LEAF, RECORD, nearest, plant_leaves, plant_parents, sum_windows

# The record of a node: centre and radius of its scores, moments of all its rows, moments of its positive rows.

# f = (1 - v^2)^a satisfies (1 - v^2) f' = -2 a v f, so each Taylor coefficient follows from the two before it.


class Smoothed(NamedTuple):
    """The smoother at each point, with what its error bound needs; the weights w_i sum to one."""

    curve: Floats
    """sum w_i y_i."""
    distance: Floats
    """sum w_i |x - s_i|."""
    squared_distance: Floats
    """sum w_i (x - s_i)^2."""
    concentration: Floats
    """sum w_i^2."""


def smooth(scores: Floats, labels: NDArray[np.int8], points: Floats, window: float) -> Smoothed:
    """Smooth the labels of rows sorted by score, at ascending points, with weights (1 - ((x - s_i)/window)^2)^1.2.

    Where no score lies within the window, the nearest score counts alone; should several rows be equally near, they
    share the weight. Near 0 and 1 the weights sum to one over the rows that there are: so we read the paper's boundary
    renormalisation.
    """
    counts = [-(-scores.size // LEAF)]
    while counts[-1] > 1:
        counts.append(-(-counts[-1] // 2))
    offsets = np.cumsum([0, *counts])
    tree = np.empty((offsets[-1], RECORD))
    plant_leaves(scores, labels, tree)
    for level, count in enumerate(counts[1:]):
        plant_parents(tree, offsets[level], offsets[level + 1], count)
    sums = np.empty((points.size, 5))
    sum_windows(scores, labels, points, window, tree, offsets, sums)
    empty = np.flatnonzero(sums[:, 0] == 0)
    nearest(scores, labels, points, window, empty, sums)
    w, wy, wv, wvv, ww = sums.T
    return Smoothed(wy / w, window * (wv / w), window * window * (wvv / w), ww / (w * w))
