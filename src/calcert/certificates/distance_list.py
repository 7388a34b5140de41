"""A fixed list of admissible pairs for the distance from calibration: tilts that change sides at fixed pivots.

A pair g_y(x) = f(x) (y - x) has (1 - u) g0(u) + u g1(u) = 0 for all u, so it is admissible if both of its functions
change by no more than the score does: its mean gain is then at most the distance, and so is that of -f. Between pivots
the tilts of the list are as steep and as large as that allows (theory, units).
"""

from __future__ import annotations

import itertools
import math

import numpy as np
from numpy.typing import NDArray

from calcert.certificates.unit_lower import EDGES, Pattern, gap_pattern
from calcert.certificates.unit_squares import tilt_squares
from calcert.serving.grid import ROUNDING
from calcert.summary.counts import Summary

Floats = NDArray[np.float64]

MOST = 2
"""Pivots of a tilt."""


def distance_patterns(summary: Summary) -> list[Pattern]:
    """The mean gap, which has no pivot, with half of delta; a quarter each for tilts with one and with two."""
    gap = gap_pattern(summary)
    middle = summary.left + summary.width / 2
    # A pair changes by no more than the score does, and a row is at most half a cell away.
    count = summary.count.sum(axis=1)
    hidden = float((count * summary.width).sum()) / 2 / summary.n + ROUNDING
    excess = (count * middle - summary.count[:, 1]) / summary.n
    size = np.array([largest_tilt(middle, pivot) for pivot in EDGES])
    found = [gap._replace(share=gap.share / 2)]
    for pivots in range(1, MOST + 1):
        most = max(
            abs(_gain(excess, middle, size, chosen)) for chosen in itertools.combinations(range(EDGES.size), pivots)
        )
        share = 1 / (4 * 2 * math.comb(EDGES.size, pivots))
        found.append(Pattern(most - hidden, share, tilt_squares))
    return found


def largest_tilt(x: Floats, pivot: float) -> Floats:
    """The largest |f| at each score that an admissible tilt can have if it is 0 at the pivot."""
    return np.where(x >= pivot, _right_of(x, pivot), _right_of(1 - x, 1 - pivot))


def _right_of(x: Floats, pivot: float) -> Floats:
    """To the right of the pivot: g1 = f (1 - x) rises as fast as it may, until g0 = -f x falls as fast as it may."""
    if pivot < 0.5:
        turn = 1 - math.sqrt((1 - pivot) / 2)
        early, kept = (x - pivot) / np.maximum(1 - x, 1 - turn), 2 * turn**2
    else:
        turn, early, kept = pivot, np.zeros(x.shape), pivot
    return np.maximum(np.where(x < turn, early, 1 - kept / np.maximum(x, turn)), 0.0)


def _gain(excess: Floats, x: Floats, size: Floats, chosen: tuple[int, ...]) -> float:
    """The sum of f times the excess, f as large as pivots allow, of one sign left of them all."""
    signs = 1.0 - 2.0 * (np.searchsorted(EDGES[list(chosen)], x) % 2)
    return float((signs * size[list(chosen)].min(axis=0) * excess).sum())
