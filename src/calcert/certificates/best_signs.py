"""The best signs, on one run of points or with few changes: what they gain, and where they change.

One pass over the points each. Points without rows have no say in where a run ends or signs change: a witness must not
know which cells later rows fill.
"""

from __future__ import annotations

import numpy as np

from calcert.foundation.array_types import Floats, Integers
from calcert.foundation.compiled import compiled


@compiled
def most_gained(net: Floats, inside: Floats, changes: int) -> float:
    """The most that signs with at most so many changes can gain.

    A point under one sign gains plus or minus its `net`; a point in which the sign changes gains at most `inside`: the
    sum of all |x - y| of a cell, |net| of a single score, which is as good as a change just before or just after it.
    """
    # The most gained so far with at most so many changes, by the sign that they end with: + first.
    gained = np.zeros((changes + 1, 2))
    for k in range(net.size):
        for i in range(changes, -1, -1):
            plus, minus = gained[i, 0] + net[k], gained[i, 1] - net[k]
            if i > 0:  # The sign changes inside the point.
                plus, minus = max(plus, gained[i - 1, 1] + inside[k]), max(minus, gained[i - 1, 0] + inside[k])
            if i > 1:  # And back.
                plus, minus = max(plus, gained[i - 2, 0] + inside[k]), max(minus, gained[i - 2, 1] + inside[k])
            gained[i, 0], gained[i, 1] = plus, minus
    return float(max(gained[changes, 0], gained[changes, 1]))


@compiled
def best_signs(net: Floats, changes: int) -> Floats:
    """Signs per point, with at most so many changes, that gain the most."""
    # What signs gain that turn to + (0) or - (1) just before a point, with at most i changes before, less what that
    # sign alone would have gained up to there; and the most of it so far.
    changed, most = np.full((changes, 2, net.size), -np.inf), np.zeros((changes + 1, 2))
    before, last = 0.0, net.size - 1
    while last > 0 and net[last] == 0:
        last -= 1
    for k in range(net.size):
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
    s, stop = (0 if most[changes, 0] + before >= most[changes, 1] - before else 1), net.size
    signs = np.empty(net.size)
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
    return signs


@compiled
def signs_gain(low: Floats, high: Floats, known: Integers, changes: int) -> Floats:
    """What every row of a point and label gains at least from the signs that are best for the known rows."""
    gain: Floats = _sure(low, high, best_signs(_net(low, high, known), changes))
    return gain


@compiled
def furthest(above: Floats, below: Floats, single: bool) -> tuple[float, float]:
    """The most that a running sum rises between two places, and the most that it falls.

    On a point it rises by `above` and falls by `below` in an unknown order; by their difference, if points are `single`
    scores. A range lies inside one point, or begins in one and ends in a later one.
    """
    rise = fall = before = 0.0
    lowest, highest = np.inf, -np.inf
    for k in range(above.size):
        net = above[k] - below[k]
        up, down = (max(net, 0.0), max(-net, 0.0)) if single else (above[k], below[k])
        rise = max(rise, up, before + up - lowest)
        fall = max(fall, down, highest - (before - down))
        lowest, highest = min(lowest, before - down), max(highest, before + up)
        before += net
    return rise, fall


@compiled
def best_run(net: Floats, side: int) -> tuple[int, int, int]:
    """Where the run begins and stops whose sum is the largest in size, and the sign of its sum.

    That is +1 if `side` is 1, -1 if it is -1, and either if it is 0.
    """
    total = lowest = highest = rise = fall = 0.0
    bottom = top = 0
    risen, fallen = (0, 0), (0, 0)
    for k in range(net.size):
        # The first of equals, at either end: it is a point with rows that makes a running sum reach a new value.
        total += net[k]
        if total < lowest:
            lowest, bottom = total, k + 1
        if total > highest:
            highest, top = total, k + 1
        if total - lowest > rise:
            rise, risen = total - lowest, (bottom, k + 1)
        if highest - total > fall:
            fall, fallen = highest - total, (top, k + 1)
    return (*risen, 1) if side > 0 or (side == 0 and rise >= fall) else (*fallen, -1)


@compiled
def run_gain(low: Floats, high: Floats, known: Integers, side: int) -> Floats:
    """What every row of a point and label gains at least from the run that is best for the known rows."""
    first, stop, sign = best_run(_net(low, high, known), side)
    signs = np.zeros(low.size)
    signs[first:stop] = sign
    gain: Floats = _sure(low, high, signs)
    return gain


@compiled
def _net(low: Floats, high: Floats, known: Integers) -> Floats:
    """The sum of x - y over the known rows of each point, all in its middle."""
    net = np.empty(low.size)
    for k in range(low.size):
        net[k] = (low[k] + high[k]) / 2 * (known[k, 0] + known[k, 1]) - known[k, 1]
    return net


@compiled
def _sure(low: Floats, high: Floats, signs: Floats) -> Floats:
    """:func:`calcert.certificates.unmodified_lower.worst_gain`."""
    gain = np.empty((low.size, 2))
    for k in range(low.size):
        worst = low[k] if signs[k] >= 0 else high[k]
        gain[k, 0], gain[k, 1] = signs[k] * worst, signs[k] * (worst - 1)
    return gain
