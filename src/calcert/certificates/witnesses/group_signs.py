"""Signs as a witness: those of groups of points at the best of some scales, what a sign goes by, and what it gains."""

from __future__ import annotations

import math

import numpy as np

from calcert.foundation.array_types import Floats, Integers
from calcert.foundation.compiled import compiled_later, in_kernels
from calcert.summary.points import Points, across_labels


@compiled_later
def signed_gains(low: Floats, high: Floats, known: Integers, last: Integers, scales: Integers) -> Floats:
    """The least gain per point and label of signs that are constant on runs of points, at the best of some scales.

    A run begins with the first point that has at least its share of the rows before it, if there is one: the run of a
    score depends on the known rows below it alone. Its sign is the mean of x - y there in standard errors, cut to
    [-1, 1]. What the rows of all batches but the last taught is judged by the last, with x at either end of its cell;
    of the first batch alone nothing is, and its number of rows decides.
    """
    points, rows, taught = low.size, 0, 0
    for i in range(points):
        rows += known[i, 0] + known[i, 1]
        taught += known[i, 0] + known[i, 1] - last[i, 0] - last[i, 1]
    # Running sums: of rows, x - y and its square over what taught, and of x - y over the last batch, x at either end.
    before = np.zeros(points + 1, np.int64)
    sums = np.zeros((points + 1, 4))
    for i in range(points if taught > 0 else 0):
        score, negative, positive = (low[i] + high[i]) / 2, known[i, 0] - last[i, 0], known[i, 1] - last[i, 1]
        before[i + 1] = before[i] + negative + positive
        sums[i + 1, 0] = sums[i, 0] + score * negative - (1 - score) * positive
        sums[i + 1, 1] = sums[i, 1] + score**2 * negative + (1 - score) ** 2 * positive
        sums[i + 1, 2] = sums[i, 2] + low[i] * last[i, 0] - (1 - low[i]) * last[i, 1]
        sums[i + 1, 3] = sums[i, 3] + high[i] * last[i, 0] - (1 - high[i]) * last[i, 1]
    best, most = 0, -np.inf
    for s in range(scales.size):
        if taught == 0 and scales[s] ** 3 <= rows:
            best = s
        earned, begin = 0.0, 0
        while taught > 0 and begin < points:
            end = run_end(before, begin, scales[s])
            sign = in_errors(sums[end, 0] - sums[begin, 0], sums[end, 1] - sums[begin, 1])
            side = 2 if sign >= 0 else 3
            earned += sign * (sums[end, side] - sums[begin, side])
            begin = end
        if taught > 0 and earned > most:
            best, most = s, earned
    for i in range(points):
        before[i + 1] = before[i] + known[i, 0] + known[i, 1]
    gain = np.empty((points, 2))
    begin = 0
    while begin < points:
        end, excess, wobble = run_end(before, begin, scales[best]), 0.0, 0.0
        for i in range(begin, end):
            score = (low[i] + high[i]) / 2
            excess += score * known[i, 0] - (1 - score) * known[i, 1]
            wobble += score**2 * known[i, 0] + (1 - score) ** 2 * known[i, 1]
        sign = in_errors(excess, wobble)
        for i in range(begin, end):
            worst = low[i] if sign >= 0 else high[i]
            gain[i, 0], gain[i, 1] = sign * worst, sign * (worst - 1)
        begin = end
    return gain


@in_kernels
def run_end(before: Integers, begin: int, groups: int) -> int:
    """Where the run that begins at a point ends, if `before` has the rows before each point and their number."""
    points, rows = before.size - 1, before[-1]
    group = min(before[begin] * groups // rows, groups - 1)
    if group == groups - 1:
        return points
    # The first point after the beginning that the next group may begin with: leaps that double, then halves of one.
    below, leap = begin, 1
    while below + leap < points and before[below + leap] * groups < (group + 1) * rows:
        below, leap = below + leap, 2 * leap
    end = min(below + leap, points)
    while end - below > 1:
        middle = (below + end) // 2
        if before[middle] * groups < (group + 1) * rows:
            below = middle
        else:
            end = middle
    return end


@in_kernels
def in_errors(excess: float, wobble: float) -> float:
    """A sum in standard errors, cut to [-1, 1]; differences of running sums are rounded: far below that is no sign."""
    return min(max(excess / math.sqrt(max(wobble, 0.0) + 1e-14), -1.0), 1.0)


def net_of(points: Points, known: Integers) -> Floats:
    """The sum of x - y over the known rows of each point, all in its middle: what the signs of a witness go by."""
    return np.asarray((points.low + points.high) / 2 * across_labels(known) - known[:, 1])


def worst_gain(points: Points, f: Floats) -> Floats:
    """The smallest f (x - y) with x in [low, high], per point and label."""
    worst, gain = np.where(f >= 0, points.low, points.high), np.empty((f.size, 2))
    gain[:, 0], gain[:, 1] = f * worst, f * (worst - 1)
    return gain
