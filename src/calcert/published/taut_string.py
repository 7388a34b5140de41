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
from calcert.foundation.compiled import compiled

Positions = NDArray[np.int64]

_LONGEST_STRIDE = 32
"""Rows between two marks at most: at 32 the marks and the rows opened later are about equally many."""

_ROUNDS = 8
"""After so many rounds all rows are opened, which keeps the time linear whatever comes; two have been enough so far."""

_CLEAR = 1e-3
"""A corner this close to the edge counts as reaching it: far more than rounding can take."""


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
    marks = _marks_on_string(scores, stride)
    width, total = _sums_below(labels, fold, held_out, marks)
    opened = np.zeros(marks.size, np.bool_)
    for attempt in range(_ROUNDS + 1):
        if attempt == _ROUNDS:
            opened[:] = True
        place, w, s = _obstacles(scores, labels, fold, held_out, marks, width, total, opened)
        bend, height = _taut_string(w, s, float(penalty))
        if _open_suspects(width, total, w[bend], s[bend] + height, float(penalty), opened) == 0:
            break
    level = (np.diff(s[bend]) + np.diff(height)) / np.diff(w[bend])
    return _first_row(fold, held_out, place[bend[:-1]]), level


@compiled
def _marks_on_string(scores, stride):  # type: ignore[no-untyped-def]
    """Positions from 0 to n, at least `stride` rows apart but for the last, where the score changes."""
    n = scores.size
    marks = np.empty(n // stride + 2, np.int64)
    marks[0] = 0
    count = 1
    position = stride
    while position < n:
        while position < n and scores[position] == scores[position - 1]:
            position += 1
        if position < n:
            marks[count] = position
            count += 1
        position += stride
    marks[count] = n
    return marks[: count + 1]


@compiled
def _sums_below(labels, fold, held_out, marks):  # type: ignore[no-untyped-def]
    """Rows outside the fold, and the sum of their labels, before each mark."""
    width, total = np.zeros(marks.size), np.zeros(marks.size)
    for e in range(1, marks.size):
        rows, positive = 0, labels[0] * 0
        for i in range(marks[e - 1], marks[e]):
            outside = fold[i] != held_out
            rows += outside
            positive += labels[i] * outside
        width[e] = width[e - 1] + rows
        total[e] = total[e - 1] + positive
    return width, total


@compiled
def _obstacles(scores, labels, fold, held_out, marks, width, total, opened):  # type: ignore[no-untyped-def]
    """Position, rows before and labels before, of all marks and of every change of score in an opened stretch."""
    size = marks.size
    for e in range(1, marks.size):
        if opened[e]:
            size += marks[e] - marks[e - 1]
    place, w, s = np.empty(size, np.int64), np.empty(size), np.empty(size)
    place[0], w[0], s[0] = 0, 0.0, 0.0
    count = 1
    for e in range(1, marks.size):
        if opened[e]:
            rows, positive, last = width[e - 1], total[e - 1], -1.0
            for i in range(marks[e - 1], marks[e]):
                if fold[i] == held_out:
                    continue
                if scores[i] != last and rows > w[count - 1]:
                    place[count], w[count], s[count] = i, rows, positive
                    count += 1
                last = scores[i]
                rows += 1.0
                positive += labels[i]
        if width[e] > w[count - 1]:
            place[count], w[count], s[count] = marks[e], width[e], total[e]
            count += 1
    return place[:count], w[:count], s[:count]


@compiled
def _taut_string(w, s, penalty):  # type: ignore[no-untyped-def]
    """The bends of the shortest path, ends included, and its height above s there: `penalty`, -`penalty` or 0 at
    the ends.

    The path passes below (w, s + penalty) and above (w, s - penalty). It bends at an upper obstacle only where s
    turns upwards, at a lower one only where s turns downwards, so every obstacle belongs to one chain at most.
    """
    end = w.size - 1
    height = np.zeros(w.size)
    chain = np.empty((2, w.size), np.int64)
    head, tail = np.zeros(2, np.int64), np.zeros(2, np.int64)
    bends = np.empty(w.size, np.int64)
    bends[0] = 0
    count = 1
    for j in range(1, w.size):
        sign = 1.0
        if j < end:
            turn = (s[j + 1] - s[j]) * (w[j] - w[j - 1]) - (s[j] - s[j - 1]) * (w[j + 1] - w[j])
            if turn == 0.0:
                continue
            sign = 1.0 if turn > 0.0 else -1.0
            height[j] = sign * penalty
        # The end is an upper obstacle without clearance: the path to the last upper obstacle runs along its chain.
        side = 0 if sign > 0.0 else 1
        other = 1 - side
        # What the new obstacle hides leaves its chain.
        hidden = True
        while hidden and tail[side] > head[side]:
            b = chain[side, tail[side] - 1]
            a = chain[side, tail[side] - 2] if tail[side] - 1 > head[side] else bends[count - 1]
            hidden = sign * _turn(w, s, height, a, b, j) <= 0.0
            tail[side] -= hidden
        # With the chain gone the new obstacle faces the other one: the path bends where it cannot pass straight.
        if tail[side] == head[side]:
            head[side], tail[side] = 0, 0
            blocked = True
            while blocked and head[other] < tail[other]:
                b = chain[other, head[other]]
                blocked = sign * _turn(w, s, height, bends[count - 1], b, j) <= 0.0
                if blocked:
                    bends[count] = b
                    count += 1
                    head[other] += 1
        chain[side, tail[side]] = j
        tail[side] += 1
    for k in range(head[0], tail[0]):
        bends[count] = chain[0, k]
        count += 1
    return bends[:count], height[bends[:count]]


@compiled
def _turn(w, s, height, a, b, c):  # type: ignore[no-untyped-def]
    """Positive where the way from a over b to c turns upwards. Sums and heights are subtracted apart, as both are
    exact."""
    first = (s[b] - s[a]) + (height[b] - height[a])
    then = (s[c] - s[b]) + (height[c] - height[b])
    return then * (w[b] - w[a]) - first * (w[c] - w[b])


@compiled
def _open_suspects(width, total, bend_width, bend_height, penalty, opened):  # type: ignore[no-untyped-def]
    """Open the stretches between marks in which some row might be in the way of the path; returns how many."""
    found = 0
    k = 0
    for e in range(1, width.size):
        while k + 2 < bend_width.size and bend_width[k + 1] <= width[e - 1]:
            k += 1
        rows, rise = width[e] - width[e - 1], total[e] - total[e - 1]
        if opened[e] or rows <= 1.0:
            continue
        slope = (bend_height[k + 1] - bend_height[k]) / (bend_width[k + 1] - bend_width[k])
        path = bend_height[k] + slope * (width[e - 1] - bend_width[k])
        # The sums stay above the corner reached by no rise first, and below that reached by all the rise first.
        low = total[e - 1] + penalty - (path + slope * (rows - rise))
        high = (path + slope * rise) - (total[e] - penalty)
        if low < _CLEAR or high < _CLEAR:
            opened[e] = True
            found += 1
    return found


@compiled
def _first_row(fold, held_out, place):  # type: ignore[no-untyped-def]
    """The first row outside the fold at or after each position."""
    first = place.copy()
    for j in range(first.size):
        while fold[first[j]] == held_out:
            first[j] += 1
    return first
