"""Signs as a witness: those of groups of points at the best of some scales, what a sign goes by, and what it gains."""

from __future__ import annotations

import numpy as np

from calcert.foundation.array_types import Floats, Integers
from calcert.summary.points import Points, across_labels


def net_of(points: Points, known: Integers) -> Floats:
    """The sum of x - y over the known rows of each point, all in its middle: what the signs of a witness go by."""
    return np.asarray((points.low + points.high) / 2 * across_labels(known) - known[:, 1])


def worst_gain(points: Points, f: Floats) -> Floats:
    """The smallest f (x - y) with x in [low, high], per point and label."""
    worst, gain = np.where(f >= 0, points.low, points.high), np.empty((f.size, 2))
    gain[:, 0], gain[:, 1] = f * worst, f * (worst - 1)
    return gain
