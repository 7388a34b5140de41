"""The best signs with few changes: what they gain, and where they change. One pass over the points each."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from calcert.foundation.compiled import compiled

Floats = NDArray[np.float64]


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
    """Signs per point, with at most so many changes, that gain the most.

    Points without rows have no say in where they change: a witness must not know which cells later rows fill.
    """
    # What signs gain that turn to + (0) or - (1) just before a point, with at most i changes before, less what that
    # sign alone would have gained up to there; and the most of it so far.
    changed, most = np.zeros((changes, 2, net.size)), np.zeros((changes + 1, 2))
    before = 0.0
    for k in range(net.size):
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
        begin = int(np.argmax(changed[i, s, :stop]))
        if changed[i, s, begin] <= 0:
            break
        signs[begin:stop] = 1 - 2 * s
        s, stop = 1 - s, begin
    signs[:stop] = 1 - 2 * s
    return signs
