"""Signs, runs and groups of points: what they gain over the rows, and which gain the most."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from calcert.foundation.array_types import Floats, Integers

NOISE = 0.8
"""E|Z| for a standard normal Z, sqrt(2/pi), rounded: what an estimated mean adds to an absolute value."""


def most_gained(net: Floats, inside: Floats, changes: int) -> float:
    """The most that signs with at most so many changes can gain.

    A point under one sign gains plus or minus its `net`; a point in which the sign changes gains at most `inside`: the
    sum of all |x - y| of a cell, |net| of a single score, which is as good as a change just before or just after it.
    """
    # The most gained so far with at most so many changes, by the sign that they end with: + first.
    gained = np.zeros((changes + 1, 2))
    for k in range(len(net)):
        for i in range(changes, -1, -1):
            plus, minus = gained[i, 0] + net[k], gained[i, 1] - net[k]
            if i > 0:  # The sign changes inside the point.
                plus, minus = max(plus, gained[i - 1, 1] + inside[k]), max(minus, gained[i - 1, 0] + inside[k])
            if i > 1:  # And back.
                plus, minus = max(plus, gained[i - 2, 0] + inside[k]), max(minus, gained[i - 2, 1] + inside[k])
            gained[i, 0], gained[i, 1] = plus, minus
    return float(max(gained[changes, 0], gained[changes, 1]))


def best_signs(net: Floats, changes: int) -> Floats:
    """Signs per point, with at most so many changes, that gain the most."""
    # What signs gain that turn to + (0) or - (1) just before a point, with at most i changes before, less what that
    # sign alone would have gained up to there; and the most of it so far.
    changed, most = np.full((changes, 2, len(net)), -math.inf), np.zeros((changes + 1, 2))
    before, last = 0.0, len(net) - 1
    while last > 0 and net[last] == 0:
        last -= 1
    for k in range(len(net)):
        # Signs change right after a point that has a say and before another: which others there are nobody may know.
        if k > last or (k > 0 and net[k - 1] == 0):
            before += net[k]
            continue
        for i in range(changes - 1, -1, -1):
            for s in range(2):
                changed[i, s, k] = most[i, 1 - s] + (2 * before if s else -2 * before)
        for i in range(changes):
            for s in range(2):
                most[i + 1, s] = max(most[i + 1, s], changed[i, s, k])
        before += net[k]
    s, stop = (0 if most[changes, 0] + before >= most[changes, 1] - before else 1), len(net)
    signs = np.empty(len(net))
    for i in range(changes - 1, -1, -1):
        # The first of equals: it is a point with rows that makes a running sum reach a new value.
        if stop == 0:
            break
        begin = 0
        for k in range(1, stop):
            if changed[i, s, k] > changed[i, s, begin]:
                begin = k
        if changed[i, s, begin] <= 0:
            break
        signs[begin:stop] = 1 - 2 * s
        s, stop = 1 - s, begin
    signs[:stop] = 1 - 2 * s
    return np.asarray(signs)


def furthest(above: Floats, below: Floats, single: bool) -> tuple[float, float]:
    """The most that a running sum rises between two places, and the most that it falls.

    On a point it rises by `above` and falls by `below` in an unknown order; by their difference, if points are `single`
    scores. A range lies inside one point, or begins in one and ends in a later one.
    """
    rise = fall = before = 0.0
    lowest, highest = math.inf, -math.inf
    for k in range(len(above)):
        net = above[k] - below[k]
        up, down = above[k], below[k]
        if single:
            up, down = max(net, 0.0), max(-net, 0.0)
        rise = max(rise, up, before + up - lowest)
        fall = max(fall, down, highest - (before - down))
        lowest, highest = min(lowest, before - down), max(highest, before + up)
        before += net
    return rise, fall


def best_run(net: Floats, side: int) -> tuple[int, int, int]:
    """Where the run begins and stops whose sum is the largest in size, and the sign of its sum.

    That is +1 if `side` is 1, -1 if it is -1, and either if it is 0.
    """
    total = lowest = highest = rise = fall = 0.0
    bottom = top = 0
    risen_from = risen_to = fallen_from = fallen_to = 0
    for k in range(len(net)):
        # The first of equals, at either end: it is a point with rows that makes a running sum reach a new value.
        total += net[k]
        if total < lowest:
            lowest, bottom = total, k + 1
        if total > highest:
            highest, top = total, k + 1
        if total - lowest > rise:
            rise, risen_from, risen_to = total - lowest, bottom, k + 1
        if highest - total > fall:
            fall, fallen_from, fallen_to = highest - total, top, k + 1
    if side > 0 or (side == 0 and rise >= fall):
        return risen_from, risen_to, 1
    return fallen_from, fallen_to, -1


def signed_gains(low: Floats, high: Floats, known: Integers, last: Integers, scales: Integers) -> Floats:
    """The least gain per point and label of signs that are constant on runs of points, at the best of some scales.

    A run begins with the first point that has at least its share of the rows before it, if there is one: the run of a
    score depends on the known rows below it alone. Its sign is the mean of x - y there in standard errors, cut to
    [-1, 1]. What the rows of all batches but the last taught is judged by the last, with x at either end of its cell;
    of the first batch alone nothing is, and its number of rows decides.
    """
    points, rows, taught = len(low), 0, 0
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
        sums[i + 1, 1] = sums[i, 1] + score * score * negative + (1 - score) * (1 - score) * positive
        sums[i + 1, 2] = sums[i, 2] + low[i] * last[i, 0] - (1 - low[i]) * last[i, 1]
        sums[i + 1, 3] = sums[i, 3] + high[i] * last[i, 0] - (1 - high[i]) * last[i, 1]
    best, most = 0, -math.inf
    for s in range(len(scales)):
        if taught == 0 and scales[s] * scales[s] * scales[s] <= rows:
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
            wobble += score * score * known[i, 0] + (1 - score) * (1 - score) * known[i, 1]
        sign = in_errors(excess, wobble)
        for i in range(begin, end):
            worst = low[i] if sign >= 0 else high[i]
            gain[i, 0], gain[i, 1] = sign * worst, sign * (worst - 1)
        begin = end
    return np.asarray(gain)


def run_end(before: Integers, begin: int, groups: int) -> int:
    """Where the run that begins at a point ends, if `before` has the rows before each point and their number."""
    points = len(before) - 1
    rows = before[points]
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


def in_errors(excess: float, wobble: float) -> float:
    """A sum in standard errors, cut to [-1, 1]; differences of running sums are rounded: far below that is no sign."""
    return min(max(excess / math.sqrt(max(wobble, 0.0) + 1e-14), -1.0), 1.0)


def capped_runs(
    position: Floats, mass: Floats, wobbling: Floats, single: NDArray[np.uint8], n: int, cap: float
) -> tuple[Integers, NDArray[np.bool_], float]:
    """Starts of maximal runs of points over which `position` grows by at most `cap`, one point at the least.

    Which of them are plain: those cheaper so, and those heavier than the cap but for single scores. And what the noise
    of all of them adds, if the classifier is calibrated.
    """
    last, noise_of_mean = len(position) - 1, NOISE
    start, plain = np.empty(last, np.int64), np.empty(last, np.uint8)
    found, at, noise = 0, 0, 0.0
    while at < last:
        end, reach, step = at + 1, position[at] + cap * (1 + 1e-9), 1
        while end + step <= last and position[end + step] <= reach:
            end, step = end + step, 2 * step
        while step > 1:
            step //= 2
            if end + step <= last and position[end + step] <= reach:
                end += step
        wobble = max(wobbling[end] - wobbling[at], 0.0)
        estimated = noise_of_mean * math.sqrt(wobble / n)
        heavy = mass[end] - mass[at] > cap * (1 + 1e-6) and not (end == at + 1 and single[at])
        simple = heavy or 2 * wobble < estimated
        start[found], plain[found] = at, simple
        noise += 2 * wobble if simple else estimated
        found, at = found + 1, end
    return np.asarray(start[:found]), np.asarray(plain[:found]).view(np.bool_), noise


def total_plug_in(
    low: Floats, high: Floats, fraction: Floats, count: Integers, start: Integers, plain: NDArray[np.uint8]
) -> float:
    """That for all rows, not their mean; groups are added up one by one, so that sums are rounded little."""
    total = 0.0
    for b in range(len(start)):
        stop, here = start[b + 1] if b + 1 < len(start) else len(low), 0.0
        if plain[b]:
            for i in range(start[b], stop):
                wide = high[i] - low[i]
                here += count[i, 0] * (low[i] + fraction[i, 0] * wide)
                here += count[i, 1] * (1 - (low[i] + fraction[i, 1] * wide))
        else:
            zeros = ones = 0
            for i in range(start[b], stop):
                zeros += count[i, 0]
                ones += count[i, 1]
            label = ones / (zeros + ones)
            for i in range(start[b], stop):
                far = count[i, 0] * fraction[i, 0] + count[i, 1] * fraction[i, 1]
                near = count[i, 0] + count[i, 1] - far
                here += near * abs(low[i] - label) + far * abs(high[i] - label)
        total += here
    return total
