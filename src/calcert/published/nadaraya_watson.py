"""Nadaraya-Watson smoothing with tempered Epanechnikov weights: fast sums over windows of sorted scores.

At a point x the smoother needs, over the scores s_i within a window h of x and with v = (x - s_i)/h, the sums of

    w,  w y_i,  w |v|,  w v^2  and  w^2,      w = (1 - v^2)^1.2.

The exponent rules out prefix sums, and at ten million rows a window may hold 10^5 of them. So the sorted rows form
a binary tree whose nodes know the moments of their scores, and few nodes cover a window: large ones in its middle,
small ones towards its ends. On a node, w is its Taylor series about the node's centre. w is singular at v = -1 and
v = 1 only; a node serves if its radius is at most a third of the distance from its centre to the nearer end, and
then sixteen terms err by at most 4.1e-11 of w at the node's worst row (the sums, by about 1e-12). Rows too close to
an end are summed one by one, as are those around x itself, where |v| has its corner.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from calcert.foundation.array_types import Floats
from calcert.foundation.compiled import compiled

TEMPER = 1.2
"""The exponent of the Epanechnikov weights."""

_TERMS = 16
_REACH = 3.0
_LEAF = 128
_REASSOCIATE = {"reassoc", "contract"}

# The record of a node: centre and radius of its scores, moments of all its rows, moments of its positive rows.
_ALL = 2
_POSITIVE = _ALL + _TERMS + 2
_RECORD = _POSITIVE + _TERMS + 2

# f = (1 - v^2)^a satisfies (1 - v^2) f' = -2 a v f, so each Taylor coefficient follows from the two before it.
_ORDER = np.arange(_TERMS, dtype=np.float64)
_FROM_LAST = np.stack([(_ORDER - a) / (_ORDER + 1) for a in (TEMPER, 2 * TEMPER)])
_FROM_LAST_BUT_ONE = np.stack([(_ORDER - 1 - 2 * a) / (_ORDER + 1) for a in (TEMPER, 2 * TEMPER)])

_BINOMIAL = np.array([[math.comb(p, q) for q in range(_TERMS + 2)] for p in range(_TERMS + 2)], np.float64)


class Smoothed(NamedTuple):
    """The smoother at each point, with what its error bound needs; the weights w_i sum to one."""

    curve: Floats
    """sum w_i y_i."""
    distance: Floats
    """sum w_i |x - s_i|."""
    squared_distance: Floats
    """sum w_i (x - s_i)^2."""
    concentration: Floats
    """sum w_i^2."""


def smooth(scores: Floats, labels: NDArray[np.int8], points: Floats, window: float) -> Smoothed:
    """Smooth the labels of rows sorted by score, at ascending points, with weights (1 - ((x - s_i)/window)^2)^1.2.

    Where no score lies within the window, the nearest score counts alone; should several rows be equally near, they
    share the weight. Near 0 and 1 the weights sum to one over the rows that there are: so we read the paper's boundary
    renormalisation.
    """
    counts = [-(-scores.size // _LEAF)]
    while counts[-1] > 1:
        counts.append(-(-counts[-1] // 2))
    offsets = np.cumsum([0, *counts])
    tree = np.empty((offsets[-1], _RECORD))
    _plant_leaves(scores, labels, tree)
    for level, count in enumerate(counts[1:]):
        _plant_parents(tree, offsets[level], offsets[level + 1], count)
    sums = np.empty((points.size, 5))
    _sum_windows(scores, labels, points, window, tree, offsets, sums)
    empty = np.flatnonzero(sums[:, 0] == 0)
    _nearest(scores, labels, points, window, empty, sums)
    w, wy, wv, wvv, ww = sums.T
    return Smoothed(wy / w, window * (wv / w), window * window * (wvv / w), ww / (w * w))


@compiled(fastmath=_REASSOCIATE)
def _plant_leaves(scores, labels, tree):  # type: ignore[no-untyped-def]
    """Moments of every _LEAF consecutive rows about the centre of their scores, in units of their radius."""
    u, y, power = np.empty(_LEAF), np.empty(_LEAF), np.empty(_LEAF)
    for leaf in range((scores.size + _LEAF - 1) // _LEAF):
        first = leaf * _LEAF
        size = min(_LEAF, scores.size - first)
        low, high = scores[first], scores[first + size - 1]
        centre, radius = 0.5 * (low + high), 0.5 * (high - low)
        scale = 1.0 / radius if radius > 1e-300 else 0.0
        tree[leaf, 0] = centre
        tree[leaf, 1] = radius
        for j in range(size):
            u[j] = (scores[first + j] - centre) * scale
            y[j] = labels[first + j]
            power[j] = 1.0
        for p in range(_TERMS + 2):
            total, positive = 0.0, 0.0
            for j in range(size):
                total += power[j]
                positive += power[j] * y[j]
                power[j] *= u[j]
            tree[leaf, _ALL + p] = total
            tree[leaf, _POSITIVE + p] = positive


@compiled
def _plant_parents(tree, children, parents, count):  # type: ignore[no-untyped-def]
    """Join every two nodes from record `children` on: moments about another centre are binomial sums."""
    shifts, shrinks = np.empty(_TERMS + 2), np.empty(_TERMS + 2)
    for node in range(count):
        left = children + 2 * node
        right = min(left + 1, parents - 1)
        low, high = tree[left, 0] - tree[left, 1], tree[right, 0] + tree[right, 1]
        centre, radius = 0.5 * (low + high), 0.5 * (high - low)
        scale = 1.0 / radius if radius > 1e-300 else 0.0
        record = tree[parents + node]
        record[:] = 0.0
        record[0] = centre
        record[1] = radius
        for child in range(left, right + 1):
            shift, shrink = (tree[child, 0] - centre) * scale, tree[child, 1] * scale
            shifts[0], shrinks[0] = 1.0, 1.0
            for p in range(1, _TERMS + 2):
                shifts[p] = shifts[p - 1] * shift
                shrinks[p] = shrinks[p - 1] * shrink
            for p in range(_TERMS + 2):
                total, positive = 0.0, 0.0
                for q in range(p + 1):
                    weight = _BINOMIAL[p, q] * shifts[p - q] * shrinks[q]
                    total += weight * tree[child, _ALL + q]
                    positive += weight * tree[child, _POSITIVE + q]
                record[_ALL + p] += total
                record[_POSITIVE + p] += positive


@compiled
def _sum_windows(scores, labels, points, window, tree, offsets, sums):  # type: ignore[no-untyped-def]
    """The five sums at every point: cover the window with nodes, from coarse to fine."""
    n = scores.size
    stack = np.empty((128, 2), np.int64)
    buffer = np.empty((4, _LEAF))
    low, high = 0, 0
    for e in range(points.size):
        x = points[e]
        low = _advance(scores, low, x, window, -1.0)
        high = _advance(scores, max(low, high), x, window, 1.0)
        out = sums[e]
        out[:] = 0.0
        if low == high:
            continue
        # Nodes longer than a quarter of the window would not fit between its middle and its ends.
        level = 0
        while level < offsets.size - 2 and (_LEAF << (level + 2)) <= high - low:
            level += 1
        for root in range(low // (_LEAF << level), (high - 1) // (_LEAF << level) + 1):
            stack[0, 0], stack[0, 1] = level, root
            depth = 1
            while depth > 0:
                depth -= 1
                height, node = stack[depth, 0], stack[depth, 1]
                first = node * (_LEAF << height)
                last = min(n, first + (_LEAF << height))
                if last <= low or first >= high:
                    continue
                record = tree[offsets[height] + node]
                v = (x - record[0]) / window
                radius = record[1] / window
                if first >= low and last <= high and abs(v) >= radius and _REACH * radius <= 1.0 - abs(v):
                    _add_node(record, v, -radius, out)
                elif height == 0:
                    _add_rows_of_window(scores, labels, max(first, low), min(last, high), x, window, buffer, out)
                else:
                    stack[depth, 0], stack[depth, 1] = height - 1, 2 * node
                    stack[depth + 1, 0], stack[depth + 1, 1] = height - 1, 2 * node + 1
                    depth += 2


@compiled
def _advance(scores, start, x, window, end):  # type: ignore[no-untyped-def]
    """The first row from `start` on whose (score - x)/window is above -1 (`end` -1.0), or at least 1 (`end`
    1.0)."""
    step = 1
    inside, outside = start - 1, start
    while outside < scores.size and _before(scores[outside], x, window, end):
        inside = outside
        outside += step
        step *= 2
    outside = min(outside, scores.size)
    while outside - inside > 1:
        middle = (inside + outside) // 2
        if _before(scores[middle], x, window, end):
            inside = middle
        else:
            outside = middle
    return outside


@compiled
def _before(score, x, window, end):  # type: ignore[no-untyped-def]
    v = (score - x) / window
    return v <= -1.0 if end < 0.0 else v < 1.0


@compiled
def _add_node(record, v, step, out):  # type: ignore[no-untyped-def]
    """Add a node's sums: its rows sit at v + step u, and `record` holds the moments of u."""
    inside = 1.0 - v * v
    last, last_but_one = 2.0 * v * step / inside, step * step / inside
    # f and g are the terms of w and w^2, f_before and g_before the ones before them.
    f = inside**TEMPER
    g = f * f
    f_before, g_before = 0.0, 0.0
    w, wu, wuu, wy, ww = 0.0, 0.0, 0.0, 0.0, 0.0
    for p in range(_TERMS):
        w += f * record[_ALL + p]
        wu += f * record[_ALL + p + 1]
        wuu += f * record[_ALL + p + 2]
        wy += f * record[_POSITIVE + p]
        ww += g * record[_ALL + p]
        f_next = last * _FROM_LAST[0, p] * f + last_but_one * _FROM_LAST_BUT_ONE[0, p] * f_before
        g_next = last * _FROM_LAST[1, p] * g + last_but_one * _FROM_LAST_BUT_ONE[1, p] * g_before
        f_before, f = f, f_next
        g_before, g = g, g_next
    wv = v * w + step * wu
    out[0] += w
    out[1] += wy
    out[2] += wv if v > 0.0 else -wv
    out[3] += v * v * w + step * (2.0 * v * wu + step * wuu)
    out[4] += ww


@compiled(fastmath=_REASSOCIATE)
def _add_rows_of_window(scores, labels, first, last, x, window, buffer, out):  # type: ignore[no-untyped-def]
    """Add at most _LEAF rows one by one. The loops have a fixed length, so that the compiler vectorises them."""
    v, inside, root, y = buffer[0], buffer[1], buffer[2], buffer[3]
    for j in range(last - first):
        v[j] = (x - scores[first + j]) / window
        y[j] = labels[first + j]
    for j in range(last - first, _LEAF):
        v[j] = 1.0
        y[j] = 0.0
    for j in range(_LEAF):
        inside[j] = max(1.0 - v[j] * v[j], 1e-40)
    # z^(-1/5) as in the famous inverse square root: a guess from the exponent, then Newton's steps, each of which
    # leaves three times the square of the relative error, which is 0.05 at first.
    bits, guess = inside.view(np.uint64), root.view(np.uint64)
    for j in range(_LEAF):
        fifth = ((bits[j] >> np.uint64(32)) * np.uint64(858993459)) >> np.uint64(32)
        guess[j] = (np.uint64(0x4CB8F000) - fifth) << np.uint64(32)
    w, wy, wv, wvv, ww = 0.0, 0.0, 0.0, 0.0, 0.0
    for j in range(_LEAF):
        fifth_of = 0.2 * inside[j]
        r = root[j]
        r = r * (1.2 - fifth_of * ((r * r) * (r * r) * r))
        r = r * (1.2 - fifth_of * ((r * r) * (r * r) * r))
        r = r * (1.2 - fifth_of * ((r * r) * (r * r) * r))
        r = r * (1.2 - fifth_of * ((r * r) * (r * r) * r))
        z = 1.0 - v[j] * v[j]
        weight = (z * z) * ((r * r) * (r * r))
        w += weight
        wy += weight * y[j]
        wv += weight * abs(v[j])
        wvv += weight * (v[j] * v[j])
        ww += weight * weight
    out[0] += w
    out[1] += wy
    out[2] += wv
    out[3] += wvv
    out[4] += ww


@compiled
def _nearest(scores, labels, points, window, empty, sums):  # type: ignore[no-untyped-def]
    """Sums over the nearest rows alone, for points without any in their window; points ascend, so groups do too."""
    known_score, known_rows, known_positives = -1.0, 0, 0
    for e in empty:
        x = points[e]
        right = np.searchsorted(scores, x)
        above = scores[right] - x if right < scores.size else np.inf
        below = x - scores[right - 1] if right > 0 else np.inf
        rows, positives = 0, 0
        for side in range(2):
            if (below if side == 0 else above) > min(below, above):
                continue
            score = scores[right - 1 + side]
            if score != known_score:
                first, last = np.searchsorted(scores, score), np.searchsorted(scores, score, side="right")
                known_score, known_rows, known_positives = score, last - first, 0
                for i in range(first, last):
                    known_positives += labels[i]
            rows += known_rows
            positives += known_positives
        v = min(below, above) / window
        sums[e, 0] = rows
        sums[e, 1] = positives
        sums[e, 2] = rows * v
        sums[e, 3] = rows * v * v
        sums[e, 4] = rows
