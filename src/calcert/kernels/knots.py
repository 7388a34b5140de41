"""Knots: the few scores on which the linear program of Theorem 6 is solved, the rows on them, and what is made of both.

A knot stands at the edge of a cell or within 2^-26 of a listed score, never inside a cell. Between two knots rows go to
both of them in the proportion that keeps their mean, so that no function that is linear between knots notices.
"""

from __future__ import annotations

import math

import numpy as np

from calcert.foundation.array_types import Floats, Integers
from calcert.foundation.rounding import ROUNDING

FINEST = 2.0**26
"""Knots are multiples of 1 / FINEST: closer ones would stall the solver. Edges of cells are such multiples."""


def lay(low: Floats, high: Floats, count: Integers, runs: int, grid: int) -> Floats:
    """Knots from 0 to 1: the multiples of 1 / grid, and where each of about `runs` runs of points with rows begins.

    Over a run the root of mass times width grows by equal amounts: many knots where many rows are spread out, few where
    rows are few or sit in one place. Where there are no more points than runs, each is a run. `grid` is a power of two,
    so that its points are edges of cells.
    """
    held, through, before = 0, 0.0, -1.0
    for i in range(len(low)):
        rows = count[i, 0] + count[i, 1]
        if rows > 0:
            held += 1
            through += _growth(rows, low[i], high[i], before, grid)
            before = high[i]
    finest = FINEST
    knots = np.empty(2 * held + grid + 3)
    knots[0] = 0.0
    found, seen, run, grown, before = 1, 0, -1, 0.0, -1.0
    for i in range(len(low)):
        rows = count[i, 0] + count[i, 1]
        if rows > 0:
            grown += _growth(rows, low[i], high[i], before, grid)
            reached = int(grown / through * runs * (1 - 1e-12)) if held > runs and through > 0 else seen
            apart = low[i] - before > 1.0 / grid
            if apart and seen > 0:
                found = _up_to(knots, found, math.ceil(before * finest) / finest, grid)
            if apart or reached > run:
                found = _up_to(knots, found, math.floor(low[i] * finest) / finest, grid)
                run = reached
            seen, before = seen + 1, high[i]
    found = _up_to(knots, found, math.ceil(before * finest) / finest, grid)
    return np.asarray(knots[: _up_to(knots, found, 1.0, grid)])


def _growth(rows: int, low: float, high: float, before: float, grid: int) -> float:
    """The root of rows times width; an empty stretch before the point counts if it is no wider than the grid."""
    across = high - before if low - before <= 1 / grid else high - low
    return math.sqrt(rows * across)


def _up_to(knots: Floats, found: int, place: float, grid: int) -> int:
    """Append the points of the grid below `place`, then `place` itself if it is new."""
    step = int(knots[found - 1] * grid) + 1
    while step < place * grid:
        knots[found] = step / grid
        found += 1
        step += 1
    if place > knots[found - 1]:
        knots[found] = place
        found += 1
    return found


def put(knots: Floats, low: Floats, high: Floats, fraction: Floats, count: Integers) -> tuple[Floats, Integers]:
    """The share of all rows on each knot, shape (2, knots), and for every point the knot to its left."""
    mass, left = np.zeros((2, len(knots))), np.empty(len(low), np.int64)
    rows = 0
    for i in range(len(low)):
        rows += count[i, 0] + count[i, 1]
    k = 0
    for i in range(len(low)):
        while k < len(knots) - 2 and knots[k + 1] <= low[i]:
            k += 1
        left[i] = k
        for y in range(2):
            here = count[i, y] / rows
            right = here * inside(knots, k, low[i] + fraction[i, y] * (high[i] - low[i]))
            mass[y, k] += here - right
            mass[y, k + 1] += right
    return np.asarray(mass), np.asarray(left)


def inside(knots: Floats, k: int, place: float) -> float:
    """How far `place` is on the way from knot k to the next."""
    return float(min(max((place - knots[k]) / (knots[k + 1] - knots[k]), 0.0), 1.0))


def admit(knots: Floats, pair: Floats) -> None:
    """Change a pair on the knots so that the piecewise linear functions through it are admissible.

    Values are boxed and scaled to slopes of at most 1. Between knots (1 - u) g0 + u g1 is a quadratic that exceeds the
    larger of its ends by at most (slope of g0 - slope of g1) / 4 times the square of their distance, if that is
    positive; the largest of these is taken off both functions.
    """
    for k in range(len(knots)):
        for y in range(2):
            # Not a number fails both comparisons: then the pair that says nothing is taken at this knot.
            value = pair[y, k] if -2 <= pair[y, k] <= 2 else 0.0
            pair[y, k] = max(value, -knots[k] if y == 0 else knots[k] - 1)
    steepest = 1.0
    for k in range(len(knots) - 1):
        for y in range(2):
            steepest = max(steepest, abs(pair[y, k + 1] - pair[y, k]) / (knots[k + 1] - knots[k]))
    excess = 0.0
    for k in range(len(knots)):
        pair[0, k] /= steepest
        pair[1, k] /= steepest
        here = (1 - knots[k]) * pair[0, k] + knots[k] * pair[1, k]
        excess = max(excess, here)
        if k > 0:
            wide = knots[k] - knots[k - 1]
            bend = (pair[0, k] - pair[0, k - 1]) - (pair[1, k] - pair[1, k - 1])
            before = (1 - knots[k - 1]) * pair[0, k - 1] + knots[k - 1] * pair[1, k - 1]
            excess = max(excess, max(before, here) + max(bend, 0.0) * wide / 4)
    for k in range(len(knots)):
        pair[0, k] -= excess
        pair[1, k] -= excess


def promised(knots: Floats, pair: Floats, low: Floats, high: Floats) -> Floats:
    """The least that an admissible pair gives a row, per block and label, wherever in the block the row is.

    Over a block of width w, g is at least (g(low) + g(high) - w) / 2, because it changes by no more than the score; and
    the pair may be boxed, g0(x) >= -x and g1(x) >= x - 1, which leaves it admissible.
    """
    rounding = ROUNDING
    gain = np.empty((len(low), 2))
    k = 0
    for i in range(len(low)):
        while k < len(knots) - 2 and knots[k + 1] <= low[i]:
            k += 1
        end = k
        while end < len(knots) - 2 and knots[end + 1] <= high[i]:
            end += 1
        first = (low[i] - knots[k]) / (knots[k + 1] - knots[k])
        last = (high[i] - knots[end]) / (knots[end + 1] - knots[end])
        for y in range(2):
            value = pair[y, k] * (1 - first) + pair[y, k + 1] * first
            value += pair[y, end] * (1 - last) + pair[y, end + 1] * last
            gain[i, y] = (value - (high[i] - low[i])) / 2 - rounding
        gain[i, 0] = max(gain[i, 0], -high[i])
        gain[i, 1] = max(gain[i, 1], low[i] - 1)
    return np.asarray(gain)


def cost(
    knots: Floats,
    mass: Floats,
    spread: Floats,
    left: Integers,
    low: Floats,
    high: Floats,
    fraction: Floats,
    count: Integers,
) -> tuple[float, float]:
    """What a plan costs, wherever in their cells the rows are, and how much of that is owed to not knowing where.

    The plan has `mass` on the knots, of which every row takes `spread` along to its own cell, per label and knot.

    For label 1, A(t) rows and N(t) of the plan lie at or below t; for label 0, above. Moving one to the other costs the
    integral of |A - N| (theory of the distance, any plan is a bound). Inside a cell A is monotone with a known mean and
    N is constant, and |A - N| is convex in A: it is at most what it would be with all rows at the two ends.
    """
    n, of_zero = 0, 0
    for i in range(len(low)):
        n += count[i, 0] + count[i, 1]
        of_zero += count[i, 0]
    kept, taken = mass.copy(), np.empty((len(low), 2))
    zeros = lost = 0.0
    for i in range(len(low)):
        k, wide = left[i], high[i] - low[i]
        here = there = 0.0
        for y in range(2):
            right = inside(knots, k, low[i] + fraction[i, y] * wide)
            share = count[i, y] / n
            first, second = spread[y, k] * (1 - right) * share, spread[y, k + 1] * right * share
            kept[k] -= first
            kept[k + 1] -= second
            here += (1 - fraction[i, y]) * (first + second)
            there += fraction[i, y] * (first + second)
        taken[i, 0], taken[i, 1] = here, there
        zeros, lost = _add(zeros, lost, (1 - low[i]) * here + (1 - high[i]) * there)
    for k in range(len(knots)):
        kept[k] = max(kept[k], 0.0)
        zeros, lost = _add(zeros, lost, (1 - knots[k]) * kept[k])
    # Sums from above and from below differ by what the plan lacks of label 0.
    zeros, lost_zeros = of_zero / n - zeros, -lost
    ones = lost_ones = total = lost = hidden = at = 0.0
    before_zeros = before_ones = 0
    k = 0
    for i in range(len(low) + 1):
        end = low[i] if i < len(low) else 1.0
        moved = abs(zeros + lost_zeros - before_zeros / n) + abs(ones + lost_ones - before_ones / n)
        while k < len(knots) and knots[k] <= end:
            total, lost = _add(total, lost, (knots[k] - at) * moved)
            at = knots[k]
            zeros, lost_zeros = _add(zeros, lost_zeros, (1 - at) * kept[k])
            ones, lost_ones = _add(ones, lost_ones, at * kept[k])
            moved = abs(zeros + lost_zeros - before_zeros / n) + abs(ones + lost_ones - before_ones / n)
            k += 1
        total, lost = _add(total, lost, (end - at) * moved)
        if i == len(low):
            break
        at = high[i]
        zeros, lost_zeros = _add(zeros, lost_zeros, (1 - low[i]) * taken[i, 0])
        ones, lost_ones = _add(ones, lost_ones, low[i] * taken[i, 0])
        if at > low[i]:
            if k < len(knots) and knots[k] < at:
                raise ValueError("a knot lies inside a cell")
            most, least = _between(zeros + lost_zeros, before_zeros, count[i, 0], n, fraction[i, 0])
            more, less = _between(ones + lost_ones, before_ones, count[i, 1], n, fraction[i, 1])
            total, lost = _add(total, lost, (at - low[i]) * (most + more))
            hidden += (at - low[i]) * (most - least + more - less)
        zeros, lost_zeros = _add(zeros, lost_zeros, (1 - at) * taken[i, 1])
        ones, lost_ones = _add(ones, lost_ones, at * taken[i, 1])
        before_zeros += count[i, 0]
        before_ones += count[i, 1]
    return total + lost, hidden


def _between(plan: float, before: int, rows: int, n: int, fraction: float) -> tuple[float, float]:
    """The largest and the smallest that the mean of |A - N| over a cell can be."""
    first, last = plan - before / n, plan - (before + rows) / n
    return fraction * abs(first) + (1 - fraction) * abs(last), abs(fraction * first + (1 - fraction) * last)


def _add(total: float, lost: float, value: float) -> tuple[float, float]:
    """total + value, and in `lost` what rounding took from it (Knuth)."""
    found = total + value
    part = found - total
    return found, lost + ((total - (found - part)) + (value - part))
