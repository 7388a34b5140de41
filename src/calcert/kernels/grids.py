"""Rows spread over grid points, sums of exponentials along a grid, and what a witness on a grid earns."""

from __future__ import annotations

import math

import numpy as np

from calcert.foundation.array_types import Floats, Integers

MARGIN = 1
"""Zeros before and after all grid points, between which cubics go in the first and the last grid cell."""

TINY = 1e-290
"""Rows of either label that are taken to lie at every grid point: multiplying smaller numbers takes far longer."""

SHORT = 0.483
"""sech/pi is the density of a sum of Laplace variables of scale 1, 1/3, 1/5, ...; one of this stands for all others."""


def spread(
    count: Floats, fraction: Floats, total: float, slot: Integers, part: Floats, ends: int, weight: Floats
) -> None:
    """Add the shares of `count` rows out of `total` to the grid points that they go to, per label."""
    for i in range(count.shape[0]):
        for y in range(2):
            if count[i, y] != 0:  # Residuals are spread, too, and may be negative.
                share = count[i, y] / total
                high = share * fraction[i, y]
                for end in range(ends):
                    here = high if end == 1 else share - high
                    for side in range(slot.shape[0]):
                        weight[y, slot[side, end, i]] += here * part[side, end, i]


def placed_at_once(
    low: Floats, high: Floats, fraction: Floats, count: Integers, total: int, size: int, cubic: bool
) -> Floats:
    """What :meth:`Grid.place` and :meth:`Placement.masses` find, at every grid point, in one pass over the points."""
    weight = np.zeros((2, size + 1))
    for i in range(len(low)):
        for end in range(1 if low[i] == high[i] else 2):
            scaled = (high[i] if end else low[i]) * size
            base = int(scaled)
            base = min(base, size - 1)
            s = scaled - base
            before, after, inner = 1 + s, 2 - s, s * (1 - s)
            for y in range(2):
                here = count[i, y] / total
                here *= fraction[i, y] if end else 1 - fraction[i, y]
                if cubic:
                    weight[y, base - 1] -= here * (inner * after / 6)
                    weight[y, base] += here * (before * (1 - s) * after / 2)
                    weight[y, base + 1] += here * (before * s * after / 2)
                    weight[y, base + 2] -= here * (inner * before / 6)
                else:
                    weight[y, base] += here * (1 - s)
                    weight[y, base + 1] += here * s
    return np.asarray(weight)


def smoothed(f: Floats, mean_score: Floats, scale: Floats, decay: Floats, weight: Floats, reach: int) -> Floats:
    """F0 and F1, the correlations of f and of f t with the exponentials, t by its mean over each grid cell.

    They are given at the grid points before, between and after the cells on which f is given, and zeros on either side.
    They are 0 out of reach of all cells where f is not.
    """
    size, margin = len(f), MARGIN
    found = np.zeros((size + 1 + 2 * margin, 2))
    begin, end = 0, size
    while begin < size and f[begin] == 0:
        begin += 1
    while end > begin and f[end - 1] == 0:
        end -= 1
    if begin == end:
        return np.asarray(found)
    begin, end = max(begin - reach, 0), min(end + reach, size)
    for k in range(0, len(decay), 4):
        r0, r1, r2, r3 = decay[k], decay[k + 1], decay[k + 2], decay[k + 3]
        w0, w1, w2, w3 = weight[k], weight[k + 1], weight[k + 2], weight[k + 3]
        a0 = a1 = a2 = a3 = b0 = b1 = b2 = b3 = 0.0
        for i in range(begin, end):
            x, y = f[i], f[i] * mean_score[i]
            a0, a1, a2, a3 = a0 * r0 + x, a1 * r1 + x, a2 * r2 + x, a3 * r3 + x
            b0, b1, b2, b3 = b0 * r0 + y, b1 * r1 + y, b2 * r2 + y, b3 * r3 + y
            found[i + 1 + margin, 0] += (w0 * a0 + w1 * a1) + (w2 * a2 + w3 * a3)
            found[i + 1 + margin, 1] += (w0 * b0 + w1 * b1) + (w2 * b2 + w3 * b3)
        a0 = a1 = a2 = a3 = b0 = b1 = b2 = b3 = 0.0
        for i in range(end - 1, begin - 1, -1):
            x, y = f[i], f[i] * mean_score[i]
            a0, a1, a2, a3 = a0 * r0 + x, a1 * r1 + x, a2 * r2 + x, a3 * r3 + x
            b0, b1, b2, b3 = b0 * r0 + y, b1 * r1 + y, b2 * r2 + y, b3 * r3 + y
            found[i + margin, 0] += (w0 * a0 + w1 * a1) + (w2 * a2 + w3 * a3)
            found[i + margin, 1] += (w0 * b0 + w1 * b1) + (w2 * b2 + w3 * b3)
    for i in range(begin, end + 1):
        found[i + margin, 0] /= scale[i]
        found[i + margin, 1] /= scale[i]
    return np.asarray(found)


def signs_of(
    known: Integers,
    base: Integers,
    part: Floats,
    near: int,
    borders: tuple[int, int, int],
    score: Floats,
    scale: Floats,
    step: float,
    h: float,
) -> Floats:
    """On each grid cell of a block, the mean over its ends of m^ in standard errors, cut to [-1, 1].

    It is 0 further off all known rows than `near` cells. sech/pi is taken for the density of the sum of two Laplace
    variables, of scale 1 and SHORT: near enough, and their sums over rows pass along the grid from point to point.
    """
    short = SHORT
    low, first, last = borders
    f = np.zeros(last - first)
    i, j = 0, len(base) - 1
    while i < len(base) and known[i, 0] + known[i, 1] == 0:
        i += 1
    while j > i and known[j, 0] + known[j, 1] == 0:
        j -= 1
    if i == len(base):
        return np.asarray(f)
    begin, end = max(base[i] - near - low, 0), min(base[j] + near + 1 - low, len(score) - 1)
    if begin >= end:
        return np.asarray(f)
    zeros, ones = np.full(len(score), TINY), np.full(len(score), TINY)
    for k in range(i, j + 1):
        here, s = base[k] - low, part[k]
        if 0 <= here < len(score) - 1:
            zeros[here] += known[k, 0] * (1 - s)
            zeros[here + 1] += known[k, 0] * s
            ones[here] += known[k, 1] * (1 - s)
            ones[here + 1] += known[k, 1] * s
    slow, fast = math.exp(-step / h), math.exp(-step / h / short)
    left_zeros, left_ones = np.empty(len(score)), np.empty(len(score))
    a = b = c = d = 0.0
    for i in range(begin, end + 1):
        zero, one = zeros[i] / scale[i], ones[i] / scale[i]
        zeros[i], ones[i] = zero, one
        a, b, c, d = a * slow + zero, b * fast + zero, c * slow + one, d * fast + one
        left_zeros[i], left_ones[i] = a - short * b, c - short * d
    sharp = math.sqrt(math.pi**3 * h / (4 * (1 - short * short)))  # The square of sech/pi has the integral 2/pi^2.
    a = b = c = d = after = 0.0
    for i in range(end, begin - 1, -1):
        zero, one, t = left_zeros[i] + a - short * b, left_ones[i] + c - short * d, score[i]
        spread = math.sqrt(zero * t * t + one * (1 - t) * (1 - t))
        sign = min(max(sharp * (t * zero - (1 - t) * one) / spread, -1.0), 1.0)
        if i < end and 0 <= i + low - first < len(f):
            f[i + low - first] = (sign + after) / 2
        after = sign
        a, b, c, d = (a + zeros[i]) * slow, (b + zeros[i]) * fast, (c + ones[i]) * slow, (d + ones[i]) * fast
    return np.asarray(f)


def lower_to(
    gain: Floats,
    at_grid: Floats,
    borders: tuple[int, int, int],
    low: Floats,
    high: Floats,
    size: int,
    cubic: bool,
) -> None:
    """Lower gains per cell and label to G at those of its ends that lie in a block: G(x, 0) = F1, G(x, 1) = F1 - F0."""
    margin = MARGIN
    start, first, last = borders
    before, inside, zero, one = -1.0, False, 0.0, 0.0
    for i in range(len(low)):
        for end in range(2):
            place = high[i] if end else low[i]
            if place != before:  # Mostly one cell begins where another ends.
                base = int(place * size)
                base = min(base, size - 1)
                before, inside, s = place, first <= base < last, place * size - base
                if inside and cubic:
                    at = base - start + margin - 1
                    inner, after, on = s * (1 - s) / 6, 2 - s, 1 + s
                    p, q, r, t = -inner * after, on * (1 - s) * after / 2, on * s * after / 2, -inner * on
                    zero = (p * at_grid[at, 0] + q * at_grid[at + 1, 0]) + (
                        r * at_grid[at + 2, 0] + t * at_grid[at + 3, 0]
                    )
                    one = (p * at_grid[at, 1] + q * at_grid[at + 1, 1]) + (
                        r * at_grid[at + 2, 1] + t * at_grid[at + 3, 1]
                    )
                elif inside:
                    at = base - start + margin
                    zero = (1 - s) * at_grid[at, 0] + s * at_grid[at + 1, 0]
                    one = (1 - s) * at_grid[at, 1] + s * at_grid[at + 1, 1]
            if inside:
                gain[i, 0] = min(gain[i, 0], one)
                gain[i, 1] = min(gain[i, 1], one - zero)
