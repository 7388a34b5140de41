"""Signs as a witness: what the sign of a point goes by, and what signs gain at least, wherever in its cell a row is."""

from __future__ import annotations

import numpy as np

from calcert.foundation.array_types import Floats, Integers
from calcert.summary.points import Points, across_labels


def net_of(points: Points, known: Integers) -> Floats:
    """The sum of x - y over the known rows of each point, all in its middle: what the signs of a witness go by."""
    return np.asarray((points.low + points.high) / 2 * across_labels(known) - known[:, 1])


def worst_gain(points: Points, f: Floats) -> Floats:
    """The smallest f (x - y) with x in [low, high], per point and label."""
    worst = np.where(f >= 0, points.low, points.high)
    return np.stack([f * worst, f * (worst - 1)], axis=1)
