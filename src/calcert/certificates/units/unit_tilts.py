"""Tilts: the distance from calibration of units, judged by a fixed list of admissible pairs.

Tilts change sides at fixed pivots. A pair g_y(x) = f(x) (y - x) has (1 - u) g0(u) + u g1(u) = 0 for all u, so it is
admissible if both of its functions change by no more than the score does: its mean gain is then at most the distance,
and so is that of -f. Between pivots the tilts of the list are as steep and as large as that allows (theory, units).
"""

from __future__ import annotations

import math

import numpy as np

from calcert.certificates.units.unit_gain_lists import EDGES, Pattern, gap_pattern
from calcert.certificates.units.unit_moments import tilt_squares
from calcert.foundation.array_types import Floats, Integers
from calcert.serving.grids.grid import ROUNDING
from calcert.summary.summary import Summary


def tilt_patterns(summary: Summary) -> list[Pattern]:
    """The mean gap, which has no pivot, with half of delta; a quarter each for tilts with one and with two."""
    gap = gap_pattern(summary)
    middle = summary.left + summary.width / 2
    # A pair changes by no more than the score does, and a row is at most half a cell away.
    count = summary.count.sum(axis=1)
    hidden = float((count * summary.width).sum()) / 2 / summary.n + ROUNDING
    excess = (count * middle - summary.count[:, 1]) / summary.n
    size, first = np.array([largest_tilt(middle, pivot) for pivot in EDGES]), np.searchsorted(middle, EDGES)
    one = max(abs(_tilt_gain(size[k] * excess, first[k : k + 1])) for k in range(EDGES.size))
    two = 0.0
    for a in range(EDGES.size - 1):
        both = np.minimum(size[a], size[a + 1 :]) * excess
        two = max(two, *(abs(_tilt_gain(both[b - a - 1], first[[a, b]])) for b in range(a + 1, EDGES.size)))
    return [
        gap._replace(share=gap.share / 2),
        Pattern(one - hidden, 1 / (8 * EDGES.size), tilt_squares),
        Pattern(two - hidden, 1 / (8 * math.comb(EDGES.size, 2)), tilt_squares),
    ]


def largest_tilt(x: Floats, pivot: float) -> Floats:
    """The largest |f| at each score that an admissible tilt can have if it is 0 at the pivot."""
    return np.where(x >= pivot, _tilt_right_of(x, pivot), _tilt_right_of(1 - x, 1 - pivot))


def _tilt_right_of(x: Floats, pivot: float) -> Floats:
    """To the right of the pivot: g1 = f (1 - x) rises as fast as it may, until g0 = -f x falls as fast as it may."""
    if pivot < 0.5:
        turn = 1 - math.sqrt((1 - pivot) / 2)
        early, kept = (x - pivot) / np.maximum(1 - x, 1 - turn), 2 * turn**2
    else:
        turn, early, kept = pivot, np.zeros(x.shape), pivot
    return np.maximum(np.where(x < turn, early, 1 - kept / np.maximum(x, turn)), 0.0)


def _tilt_gain(excess: Floats, first: Integers) -> float:
    """The sum of the excess under signs that change at the cells given, one or two of them."""
    stop = int(first[1]) if first.size > 1 else excess.size
    return float(excess.sum() - 2 * excess[int(first[0]) : stop].sum())
