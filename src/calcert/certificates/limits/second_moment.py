"""Limits for the second moment of gains: Lemmas D1c and D1b, from how the squares of the rows are spread."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from calcert.certificates.limits.bets import betting_upper
from calcert.certificates.limits.deviations import mean_upper
from calcert.foundation.array_types import Floats
from calcert.kernels.limits import _convex_upper
from calcert.kernels.search import SLACK

NODES = (np.arange(129) / 128.0) ** 2
"""Squares are known by how many rows lie at each of these: a row between two of them is split, its square kept."""

MANY = 1e5
"""Of so large a sum D1c says no more than D1."""


SPLIT = 0.98
"""The share of delta spent on the mean where the spread of the squares is not known; the rest pays for D1 or D1c."""


def share_for_mean(n: float) -> float:
    """The share of delta spent on the mean of n rows; the rest pays for the second moment.

    What a second moment lacks falls with the root of n, and so does what is worth spending on it.
    """
    return SPLIT - 2 * _share_for_bets(n)


def _share_for_bets(n: float) -> float:
    return min(0.02, 0.25 / math.sqrt(n))


@dataclass(frozen=True, eq=False)
class Squares:
    """At least the squared gains of the rows: their mean, and the share of rows at each of some nodes."""

    mean: float
    shares: Floats
    nodes: Floats

    @classmethod
    def of(cls, values: ArrayLike, counts: ArrayLike = 1.0, mean: float | None = None) -> Squares:
        """From values in [0, 1] and how many rows have them; a `mean` that is known better is used for D1c."""
        values, counts = np.broadcast_arrays(np.asarray(values, np.float64), np.asarray(counts, np.float64))
        at, rows = np.clip(values.ravel(), 0.0, 1.0), counts.ravel()
        node = np.minimum(np.floor(np.sqrt(at) * 128), 127).astype(np.int64)
        part = np.clip((at - NODES[node]) / (NODES[node + 1] - NODES[node]), 0.0, 1.0)
        size = NODES.size
        shares = np.bincount(node, rows * (1 - part), size) + np.bincount(node + 1, rows * part, size)
        known = float(rows @ at / rows.sum()) + SLACK if mean is None else mean
        return cls(min(known, 1.0), shares / rows.sum(), NODES)

    @lru_cache(maxsize=16)  # noqa: B019  Statements about the same rows ask the same; few are kept.
    def upper(self, n: float, delta: float) -> float:
        """An upper limit for the mean square, from n independent rows of a statement that may fail with delta.

        Guarantee
            The average of the expected squares is above the result with probability at most what is left of delta
            beside their mean, (1 - share_for_mean(n)) delta: D1c and D1b, which share it.
        """
        bets = _share_for_bets(n) * delta
        most = convex_upper(self.mean, n, (1 - share_for_mean(n)) * delta - bets)
        return betting_upper(self.nodes, self.shares, n, bets, most)


def convex_upper(mean: float, n: float, delta: float) -> float:
    """D1c: upper limit for the mean of independent [0, 1] variables whose sample mean is `mean`; never above D1.

    Guarantee
        With probability at least 1 - delta over the sample the average of the expectations is at most the result.
    """
    mean, most = min(max(float(mean), 0.0), 1.0), mean_upper(mean, n, delta)
    return most if mean * n > MANY or most >= 1 else _convex_upper(mean, n, delta, most)
