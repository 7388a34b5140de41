"""The taut string, and rows by fold: the loops behind the published bounds."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calcert.foundation.array_types import Floats, Integers

Labels = NDArray[Any]
"""Of int8, or of float64 in [0, 1] where values are denoised that are no labels."""

Folds = NDArray[np.uint8]

CLEAR = 1e-3
"""A corner this close to the edge counts as reaching it: far more than rounding can take."""


def marks_on_string(scores: Floats, stride: int) -> Integers:
    """Positions from 0 to n, at least `stride` rows apart but for the last, where the score changes."""
    n = len(scores)
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
    return np.asarray(marks[: count + 1])


def sums_below(labels: Labels, fold: Folds, held_out: int, marks: Integers) -> tuple[Floats, Floats]:
    """Rows outside the fold, and the sum of their labels, before each mark."""
    width, total = np.zeros(len(marks)), np.zeros(len(marks))
    for e in range(1, len(marks)):
        rows, positive = 0, 0.0
        for i in range(marks[e - 1], marks[e]):
            if fold[i] != held_out:
                rows += 1
                positive += labels[i]
        width[e] = width[e - 1] + rows
        total[e] = total[e - 1] + positive
    return np.asarray(width), np.asarray(total)


def obstacles(
    scores: Floats,
    labels: Labels,
    fold: Folds,
    held_out: int,
    marks: Integers,
    width: Floats,
    total: Floats,
    opened: NDArray[np.uint8],
) -> tuple[Integers, Floats, Floats]:
    """Position, rows before and labels before, of all marks and of every change of score in an opened stretch."""
    size = len(marks)
    for e in range(1, len(marks)):
        if opened[e]:
            size += marks[e] - marks[e - 1]
    place, w, s = np.empty(size, np.int64), np.empty(size), np.empty(size)
    place[0], w[0], s[0] = 0, 0.0, 0.0
    count = 1
    for e in range(1, len(marks)):
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
    return np.asarray(place[:count]), np.asarray(w[:count]), np.asarray(s[:count])


def taut_string(w: Floats, s: Floats, penalty: float) -> tuple[Integers, Floats]:
    """The bends of the shortest path, ends included, and its height above s there: `penalty`, -`penalty` or 0 at
    the ends.

    The path passes below (w, s + penalty) and above (w, s - penalty). It bends at an upper obstacle only where s
    turns upwards, at a lower one only where s turns downwards, so every obstacle belongs to one chain at most.
    """
    end = len(w) - 1
    height = np.zeros(len(w))
    chain = np.empty((2, len(w)), np.int64)
    head, tail = np.zeros(2, np.int64), np.zeros(2, np.int64)
    bends = np.empty(len(w), np.int64)
    bends[0] = 0
    count = 1
    for j in range(1, len(w)):
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
    found = np.asarray(bends[:count])
    return found, np.asarray(height)[found]


def rising(values: Floats, weight: Floats) -> Floats:
    """The values that never fall and are closest to these in weighted squares: neighbours that fall are pooled."""
    found, held, size = np.empty(len(values)), np.empty(len(values)), np.empty(len(values), np.int64)
    pools = 0
    for i in range(len(values)):
        value, total, rows = values[i], weight[i], 1
        while pools > 0 and found[pools - 1] >= value:
            pools -= 1
            value = (found[pools] * held[pools] + value * total) / (held[pools] + total)
            total += held[pools]
            rows += size[pools]
        found[pools], held[pools], size[pools] = value, total, rows
        pools += 1
    return np.repeat(np.asarray(found)[:pools], np.asarray(size)[:pools])


def _turn(w: Floats, s: Floats, height: Floats, a: int, b: int, c: int) -> float:
    """Positive where the way from a over b to c turns upwards. Sums and heights are subtracted apart, as both are
    exact."""
    first = (s[b] - s[a]) + (height[b] - height[a])
    then = (s[c] - s[b]) + (height[c] - height[b])
    return float(then * (w[b] - w[a]) - first * (w[c] - w[b]))


def open_suspects(
    width: Floats,
    total: Floats,
    bend_width: Floats,
    bend_height: Floats,
    penalty: float,
    opened: NDArray[np.uint8],
) -> int:
    """Open the stretches between marks in which some row might be in the way of the path; returns how many."""
    clear = CLEAR
    found = 0
    k = 0
    for e in range(1, len(width)):
        while k + 2 < len(bend_width) and bend_width[k + 1] <= width[e - 1]:
            k += 1
        rows, rise = width[e] - width[e - 1], total[e] - total[e - 1]
        if opened[e] or rows <= 1.0:
            continue
        slope = (bend_height[k + 1] - bend_height[k]) / (bend_width[k + 1] - bend_width[k])
        path = bend_height[k] + slope * (width[e - 1] - bend_width[k])
        # The sums stay above the corner reached by no rise first, and below that reached by all the rise first.
        low = total[e - 1] + penalty - (path + slope * (rows - rise))
        high = (path + slope * rise) - (total[e] - penalty)
        if low < clear or high < clear:
            opened[e] = 1
            found += 1
    return found


def first_row(fold: Folds, held_out: int, place: Integers) -> Integers:
    """The first row outside the fold at or after each position."""
    first = place.copy()
    for j in range(len(first)):
        while fold[first[j]] == held_out:
            first[j] += 1
    return np.asarray(first)


def locate(fold: Folds, lists: Integers, begin: Integers, found: Integers) -> None:
    """`lists` holds the ranks wanted of fold 0 and a -1, then those of fold 1 and a -1, and so on."""
    folds = len(begin) - 1
    rank = np.zeros(folds, np.int64)
    done = np.zeros(folds, np.int64)
    wanted = np.empty(folds, np.int64)
    for k in range(folds):
        wanted[k] = lists[begin[k] + k]
    for i in range(len(fold)):
        k = fold[i]
        if rank[k] == wanted[k]:
            found[begin[k] + done[k]] = i
            done[k] += 1
            wanted[k] = lists[begin[k] + k + done[k]]
        rank[k] += 1


def complement(
    scores: Floats, labels: Labels, fold: Folds, held_out: int, out_scores: Floats, out_labels: Labels
) -> int:
    """Copy the rows outside a fold, without branches: a row that does not belong is overwritten by the next."""
    size = 0
    for i in range(len(scores)):
        out_scores[size] = scores[i]
        out_labels[size] = labels[i]
        size += fold[i] != held_out
    return size


def count_before_cells(labels: Labels, fold: Folds, position: Integers, trained: Integers) -> None:
    """For ascending positions and every fold, the rows and the positive rows before them that are outside the fold."""
    folds = trained.shape[0]
    inside = np.zeros((folds, 2), np.int64)
    positives, begin = 0, 0
    for e in range(len(position)):
        for i in range(begin, position[e]):
            inside[fold[i], 0] += 1
            inside[fold[i], 1] += labels[i]
            positives += labels[i]
        begin = position[e]
        for k in range(folds):
            trained[k, 0, e] = begin - inside[k, 0]
            trained[k, 1, e] = positives - inside[k, 1]


def look_up(
    bucket_of_cell: NDArray[np.int32],
    first_cell: Integers,
    widths: Floats,
    trained: Integers,
    constant: float,
    fold: Integers,
    cell: Integers,
    curve: Floats,
    error: Floats,
) -> None:
    """Mean training label and error bound of the bucket of each cell, for the fold of each."""
    last = trained.shape[2] - 1
    for i in range(len(cell)):
        k, bucket = fold[i], bucket_of_cell[cell[i]]
        begin, end = first_cell[bucket], first_cell[bucket + 1]
        size = trained[k, 0, end] - trained[k, 0, begin]
        if size > 0:
            curve[i] = (trained[k, 1, end] - trained[k, 1, begin]) / size
            error[i] = constant * widths[bucket] + 0.5 / math.sqrt(size)
        else:
            curve[i] = float(trained[k, 1, last]) / trained[k, 0, last]
            error[i] = 1.0
