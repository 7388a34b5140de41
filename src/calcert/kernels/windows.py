"""Sums over windows of sorted scores with tempered Epanechnikov weights, by a tree of moments; and sums over bins.

:mod:`calcert.published.perturb_and_smooth` says why and how far they are off.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from calcert.foundation.array_types import Floats, Integers

Labels = NDArray[np.int8]

TEMPER = 1.2
"""The exponent of the Epanechnikov weights."""

LEAF = 128
"""Rows of a leaf of the tree."""

_TERMS = 16
_REACH = 3.0
_LEAF = LEAF

# The record of a node: centre and radius of its scores, moments of all its rows, moments of its positive rows.
_ALL = 2
_POSITIVE = _ALL + _TERMS + 2
RECORD = _POSITIVE + _TERMS + 2

# f = (1 - v^2)^a satisfies (1 - v^2) f' = -2 a v f, so each Taylor coefficient follows from the two before it.
_ORDER = np.arange(_TERMS, dtype=np.float64)
_FROM_LAST = np.stack([(_ORDER - a) / (_ORDER + 1) for a in (TEMPER, 2 * TEMPER)])
_FROM_LAST_BUT_ONE = np.stack([(_ORDER - 1 - 2 * a) / (_ORDER + 1) for a in (TEMPER, 2 * TEMPER)])

_BINOMIAL = np.array([[math.comb(p, q) for q in range(_TERMS + 2)] for p in range(_TERMS + 2)], np.float64)


def plant_leaves(scores: Floats, labels: Labels, tree: Floats) -> None:
    """Moments of every _LEAF consecutive rows about the centre of their scores, in units of their radius."""
    u, y, power = np.empty(_LEAF), np.empty(_LEAF), np.empty(_LEAF)
    for leaf in range((len(scores) + _LEAF - 1) // _LEAF):
        first = leaf * _LEAF
        size = min(_LEAF, len(scores) - first)
        low, high = scores[first], scores[first + size - 1]
        centre, radius = 0.5 * (low + high), 0.5 * (high - low)
        scale = 1.0 / radius if radius > 1e-300 else 0.0
        tree[leaf, 0] = centre
        tree[leaf, 1] = radius
        for j in range(size):
            u[j] = (scores[first + j] - centre) * scale
            y[j] = labels[first + j]
            power[j] = 1.0
        for j in range(size, min(size + 1, _LEAF)):
            u[j] = y[j] = power[j] = 0.0
        for p in range(_TERMS + 2):
            total = positive = total1 = positive1 = 0.0
            for j in range(0, size, 2):  # What is beyond the last row has power 0.
                total, total1 = total + power[j], total1 + power[j + 1]
                positive, positive1 = positive + power[j] * y[j], positive1 + power[j + 1] * y[j + 1]
                power[j] *= u[j]
                power[j + 1] *= u[j + 1]
            tree[leaf, _ALL + p] = total + total1
            tree[leaf, _POSITIVE + p] = positive + positive1


def plant_parents(tree: Floats, children: int, parents: int, count: int) -> None:
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


def sum_windows(
    scores: Floats, labels: Labels, points: Floats, window: float, tree: Floats, offsets: Integers, sums: Floats
) -> None:
    """The five sums at every point: cover the window with nodes, from coarse to fine."""
    n = len(scores)
    stack = np.empty((128, 2), np.int64)
    memory = np.empty((4, _LEAF))
    buffer, bits = memory, memory.view(np.uint64)
    low, high = 0, 0
    for e in range(len(points)):
        x = points[e]
        low = _advance(scores, low, x, window, -1.0)
        high = _advance(scores, max(low, high), x, window, 1.0)
        out = sums[e]
        out[:] = 0.0
        if low == high:
            continue
        # Nodes longer than a quarter of the window would not fit between its middle and its ends.
        level = 0
        while level < len(offsets) - 2 and (_LEAF << (level + 2)) <= high - low:
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
                    _add_rows_of_window(scores, labels, max(first, low), min(last, high), x, window, buffer, bits, out)
                else:
                    stack[depth, 0], stack[depth, 1] = height - 1, 2 * node
                    stack[depth + 1, 0], stack[depth + 1, 1] = height - 1, 2 * node + 1
                    depth += 2


def _advance(scores: Floats, start: int, x: float, window: float, end: float) -> int:
    """The first row from `start` on whose (score - x)/window is above -1 (`end` -1.0), or at least 1 (`end`
    1.0)."""
    step = 1
    inside, outside = start - 1, start
    while outside < len(scores) and _before(scores[outside], x, window, end):
        inside = outside
        outside += step
        step *= 2
    outside = min(outside, len(scores))
    while outside - inside > 1:
        middle = (inside + outside) // 2
        if _before(scores[middle], x, window, end):
            inside = middle
        else:
            outside = middle
    return outside


def _before(score: float, x: float, window: float, end: float) -> bool:
    v = (score - x) / window
    return v <= -1.0 if end < 0.0 else v < 1.0


def _add_node(record: Floats, v: float, step: float, out: Floats) -> None:
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


def _add_rows_of_window(
    scores: Floats,
    labels: Labels,
    first: int,
    last: int,
    x: float,
    window: float,
    buffer: Floats,
    bits: NDArray[np.uint64],
    out: Floats,
) -> None:
    """Add at most _LEAF rows one by one. The loops have a fixed length, so that the compiler vectorises them."""
    v, inside, root, y = buffer[0], buffer[1], buffer[2], buffer[3]
    inside_bits, guess = bits[1], bits[2]
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
    for j in range(_LEAF):
        fifth = ((inside_bits[j] >> 32) * 858993459) >> 32
        guess[j] = (0x4CB8F000 - fifth) << 32
    for j in range(_LEAF):
        fifth_of = 0.2 * inside[j]
        r = root[j]
        r = r * (1.2 - fifth_of * ((r * r) * (r * r) * r))
        r = r * (1.2 - fifth_of * ((r * r) * (r * r) * r))
        r = r * (1.2 - fifth_of * ((r * r) * (r * r) * r))
        r = r * (1.2 - fifth_of * ((r * r) * (r * r) * r))
        z = 1.0 - v[j] * v[j]
        root[j] = (z * z) * ((r * r) * (r * r))
    # Sums of even and of odd rows, side by side.
    w = wy = wv = wvv = ww = w1 = wy1 = wv1 = wvv1 = ww1 = 0.0
    for j in range(0, _LEAF, 2):
        here, there = root[j], root[j + 1]
        w, w1 = w + here, w1 + there
        wy, wy1 = wy + here * y[j], wy1 + there * y[j + 1]
        wv, wv1 = wv + here * abs(v[j]), wv1 + there * abs(v[j + 1])
        wvv, wvv1 = wvv + here * (v[j] * v[j]), wvv1 + there * (v[j + 1] * v[j + 1])
        ww, ww1 = ww + here * here, ww1 + there * there
    out[0] += w + w1
    out[1] += wy + wy1
    out[2] += wv + wv1
    out[3] += wvv + wvv1
    out[4] += ww + ww1


def nearest(scores: Floats, labels: Labels, points: Floats, window: float, empty: Integers, sums: Floats) -> None:
    """Sums over the nearest rows alone, for points without any in their window; points ascend, so groups do too."""
    known_score, known_rows, known_positives = -1.0, 0, 0
    for k in range(len(empty)):
        e = empty[k]
        x = points[e]
        right = _rank(scores, x, False)
        above = scores[right] - x if right < len(scores) else math.inf
        below = x - scores[right - 1] if right > 0 else math.inf
        rows, positives = 0, 0
        for side in range(2):
            if (below if side == 0 else above) > min(below, above):
                continue
            score = scores[right - 1 + side]
            if score != known_score:
                first, last = _rank(scores, score, False), _rank(scores, score, True)
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


def binned(scores: Floats, labels: Labels, edges: Floats) -> tuple[Floats, Floats, Floats]:
    """Rows, positive rows and sum of scores of each bin."""
    rows, positives, total = np.zeros(len(edges)), np.zeros(len(edges)), np.zeros(len(edges))
    for i in range(len(scores)):
        # Right for equal widths, up to rounding; looked up otherwise.
        b = int(scores[i] * len(edges))
        b = min(b, len(edges) - 1)
        if scores[i] < edges[b] or (b + 1 < len(edges) and scores[i] >= edges[b + 1]):
            b = max(_rank(edges, scores[i], True) - 1, 0)
        rows[b] += 1.0
        positives[b] += labels[i]
        total[b] += scores[i]
    return np.asarray(rows), np.asarray(positives), np.asarray(total)


def _rank(values: Floats, x: float, after: bool) -> int:
    """How many ascending values are below x, or not above it if `after`."""
    low, high = 0, len(values)
    while low < high:
        middle = (low + high) // 2
        if values[middle] < x or (after and values[middle] == x):
            low = middle + 1
        else:
            high = middle
    return low
