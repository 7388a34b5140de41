"""Exact one-dimensional total-variation denoising in linear time, at any penalty.

The problem: minimise 1/2 sum (y_i - v_i)^2 + penalty * sum |v_{i+1} - v_i|. The solution is the slope of the
shortest path (the "taut string") from (0, 0) to (n, S_n) that stays within `penalty` of the cumulative sums S_i at
every i in between (Mammen and van de Geer 1997; Davies and Kovac 2001).

* The path between given obstacles is found with a funnel: an apex, the convex chain of upper obstacles that it sees
  and the concave chain of lower ones. An obstacle enters a chain once and leaves it at most once: linear time, no
  bad cases.
* Few obstacles matter. A path that is the shortest among some of the obstacles and misses all others is the
  shortest among all. So we start with the cumulative sum at every 32nd row or so. Between two such marks the sum of
  labels in [0, 1] can neither fall nor rise faster than one a row, which confines it to a parallelogram; only where
  a corner of that reaches the edge of what the path permits are the rows between the marks looked at, and the path
  found anew. Nothing is approximated.

The box [0, 1] of the published problem never binds: clipping v to [min y, max y] raises neither the distance to y
nor the total variation, and the minimiser is unique, so it is its own clipped version.

Slopes between two obstacles of one side compare exactly for 0/1 labels: all numbers are integers below 2^53.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calcert.foundation.array_types import Floats
from calcert.kernels.strings import first_row, marks_on_string, obstacles, open_suspects, sums_below, taut_string

Positions = NDArray[np.int64]

_LONGEST_STRIDE = 32
"""Rows between two marks at most: at 32 the marks and the rows opened later are about equally many."""

_ROUNDS = 8
"""After so many rounds all rows are opened, which keeps the time linear whatever comes; two have been enough so far."""


def denoise(values: ArrayLike, penalty: float) -> Floats:
    """The minimiser v of 1/2 sum (values - v)^2 + penalty * sum |v[1:] - v[:-1]|.

    Parameters
    ----------
    values
        A sequence of finite numbers.
    penalty
        At least 0. At 0 the result is `values` itself; when it is large, their mean.

    Examples
    --------
    >>> from calcert.published.taut_string import denoise
    >>> denoise([0, 0, 1, 0, 1, 1], penalty=0.5)
    array([0.25, 0.25, 0.5 , 0.5 , 0.75, 0.75])
    """
    y = np.ascontiguousarray(values, np.float64)
    if y.ndim != 1 or not np.isfinite(y).all():
        raise ValueError("values must be a one-dimensional sequence of finite numbers.")
    if not 0 <= penalty < np.inf:
        raise ValueError(f"penalty must be at least 0 and finite; got {penalty!r}.")
    if y.size == 0 or penalty == 0:
        return y.copy()
    low, spread = y.min(), np.ptp(y)
    if spread == 0:
        return y.copy()
    row = np.arange(y.size, dtype=np.float64)
    start, level = pieces(row, (y - low) / spread, np.zeros(y.size, np.uint8), 1, penalty / spread)
    return np.repeat(low + spread * level, np.diff(start, append=y.size))


def pieces(
    scores: Floats, labels: NDArray[Any], fold: NDArray[np.uint8], held_out: int, penalty: float
) -> tuple[Positions, Floats]:
    """The constant pieces of the denoised labels of all rows outside the fold `held_out`: first row and value of
    each.

    Rows are sorted by score, labels lie in [0, 1]. A calibration curve is a function of the score, so rows with
    equal scores share one value: there are obstacles only where the score changes, and the order of tied rows does
    not matter.
    """
    # Nearer marks where the path is narrow; more than an eighth of its width apart they would nearly all be suspect.
    stride = int(min(max(penalty / 8, 1), _LONGEST_STRIDE))
    marks = marks_on_string(scores, stride)
    width, total = sums_below(labels, fold, held_out, marks)
    opened = np.zeros(marks.size, np.uint8)
    for attempt in range(_ROUNDS + 1):
        if attempt == _ROUNDS:
            opened[:] = 1
        place, w, s = obstacles(scores, labels, fold, held_out, marks, width, total, opened)
        bend, height = taut_string(w, s, float(penalty))
        if open_suspects(width, total, w[bend], s[bend] + height, float(penalty), opened) == 0:
            break
    level = (np.diff(s[bend]) + np.diff(height)) / np.diff(w[bend])
    return first_row(fold, held_out, place[bend[:-1]]), level
