"""The published formulas once more, read literally: plain loops over rows, nothing shared with the package."""

from __future__ import annotations

from collections import deque
from itertools import pairwise
from math import floor, log, sqrt

import numpy as np
from scipy.optimize import brentq


def bb(values, delta):
    """The empirical Bernstein term of values in [0, 1]."""
    n = len(values)
    mean = sum(values) / n
    variance = sum((value - mean) ** 2 for value in values) / n
    return sqrt(2 * variance * log(3 / delta) / n) + 3 * log(3 / delta) / n


def mean(values):
    return sum(values) / len(values)


def denoise(y, penalty):
    """Total-variation denoising by dynamic programming (Johnson 2013).

    A message is piecewise quadratic; its derivative is kept as (place, change of slope, change of intercept) at knots.
    """
    knots, bounds = deque(), []
    for i, value in enumerate(y):
        edge = 0.0 if i == 0 else penalty
        if i == len(y) - 1:
            last = _from_left(knots, 1.0, -value - edge, 0.0)[0]
            break
        low, slope, intercept = _from_left(knots, 1.0, -value - edge, -penalty)
        left = (low, slope, intercept + penalty)
        slope, intercept = 1.0, -value + edge
        while knots and slope * knots[-1][0] + intercept > penalty:
            _, change, jump = knots.pop()
            slope, intercept = slope - change, intercept - jump
        high = (penalty - intercept) / slope
        # Knots that the left sweep removed lie left of `low`, so the right sweep does not miss them.
        knots.appendleft(left)
        knots.append((high, -slope, penalty - intercept))
        bounds.append((low, high))
    solution = [last]
    for low, high in reversed(bounds):
        solution.append(min(max(solution[-1], low), high))
    return np.array(solution[::-1])


def _from_left(knots, slope, intercept, target):
    while knots and slope * knots[0][0] + intercept < target:
        _, change, jump = knots.popleft()
        slope, intercept = slope + change, intercept + jump
    return (target - intercept) / slope, slope, intercept


def splits(rows):
    """Training scores, training labels and validation scores of every fold."""
    for k, members in enumerate(rows.validation):
        training = [i for i in range(len(rows.scores)) if rows.fold[i] != k]
        yield rows.scores[training], rows.labels[training].astype(float), rows.scores[members]


def total_variation(rows, variation, delta, per_fold):
    folds = list(splits(rows))
    d = delta / 4 / (len(folds) if per_fold else 1)
    gaps, rest, bounds = [], [], []
    for s, y, points in folds:
        t = len(s)
        lam = sqrt(log(4 * (t - 1) / d) / (8 * t))
        curve = denoise(y, lam * t)
        gap = []
        for point in points:
            below = [i for i in range(t) if s[i] <= point]
            gap.append(abs(point - (curve[below[-1]] if below else curve[0])))
        t1, t2 = sqrt(log(4 / d) / 2), sqrt(t * log(4 * (t - 1) / d) / 8)
        tvb = sqrt((2 * t1**2 + 2 * t1 * sqrt(t1**2 + 4 * t2 * variation) + 4 * t2 * variation) / t)
        rough = sum(abs(b - a) for a, b in pairwise(curve))
        ptb = (variation + rough) * sqrt(log(2 / d) / (2 * t)) + sqrt(log(2 / d) / (2 * t))
        gaps += gap
        rest += [tvb + ptb] * len(gap)
        bounds.append(mean(gap) + bb(gap, d) + tvb + ptb)
    return min(bounds) if per_fold else mean(gaps) + bb(gaps, d) + mean(rest)


def window(size, b1, b2):
    a, b, c = 3 * b1 / 8, b2 / 10, 1.15 / (2 * sqrt(2 * size))
    t = brentq(lambda t: 2 * b * t**5 + a * t**3 - c / 2, 0, 10, xtol=1e-16, rtol=1e-15)
    return min(max(t**2, 1e-4), 0.25)


def weights(s, point, h):
    """Normalised tempered Epanechnikov weights; nearest neighbours where the window is empty."""
    w = np.maximum(1 - ((point - s) / h) ** 2, 0) ** 1.2
    if w.sum() == 0:
        distance = np.abs(s - point)
        w = (distance == distance.min()).astype(float)
    return w / w.sum()


def perturb_and_smooth(rows, b1, b2, delta, per_fold, printed=None):
    folds = list(splits(rows))
    d = delta / 2 / (len(folds) if per_fold else 1)
    gaps, gs, scale, bounds = [], [], 0, []
    for s, y, points in folds:
        h = window(len(s), b1, b2)
        gap, g = [], []
        for point in points:
            w = weights(s, point, h)
            gap.append(abs(float(w @ y) - point))
            bias = b1 * float(w @ np.abs(point - s)) + b2 / 2 * float(w @ (point - s) ** 2)
            g.append(bias + sqrt(float(w @ w)) / 2)
        capped = [min(value, 1) for value in g]
        bounds.append(mean(gap) + mean(capped) + bb(gap, d) + bb(capped, d))
        across = printed or h
        gaps, gs, scale = gaps + gap, gs + g, max(scale, b1 * across + b2 * across**2 / 2 + 0.5)
    if per_fold:
        return min(bounds)
    return mean(gaps) + mean(gs) + bb(gaps, d) + scale * bb([value / scale for value in gs], d)


def lipschitz_buckets(rows, constant, counts, shifts, delta, per_fold):
    folds = list(splits(rows))
    candidates = [(count, r) for count in counts for r in range(shifts)]
    d = delta / len(candidates) / 2 / (len(folds) if per_fold else 1)
    best = np.inf
    for count, r in candidates:
        edges = [0.0] + [(j + r / shifts) / count for j in range(1, count)] + [1.0]
        scale = max(1, constant * max(b - a for a, b in pairwise(edges)) + 0.5)
        gaps, gs = [], []
        for s, y, points in folds:
            gap, g = [], []
            for point in points:
                j = max(j for j in range(count) if edges[j] <= point)
                inside = (s >= edges[j]) & (s < edges[j + 1] if j < count - 1 else True)
                if inside.any():
                    gap.append(abs(y[inside].mean() - point))
                    g.append(constant * (edges[j + 1] - edges[j]) + 1 / (2 * sqrt(inside.sum())))
                else:
                    gap.append(abs(y.mean() - point))
                    g.append(1.0)
            gaps, gs = gaps + gap, gs + g
            if per_fold:
                capped = [min(value, 1) for value in g]
                best = min(best, mean(gap) + mean(capped) + bb(gap, d) + bb(capped, d))
        if not per_fold:
            bound = mean(gaps) + mean(gs) + bb(gaps, d) + scale * bb([value / scale for value in gs], d)
            best = min(best, bound)
    return best


def ece(s, y, bins, scheme):
    order = sorted(s)
    edges = (
        [j / bins for j in range(bins)]
        if scheme == "width"
        else sorted({order[floor(j * len(s) / bins)] for j in range(bins)})
    )
    total = 0.0
    for j, edge in enumerate(edges):
        inside = [i for i in range(len(s)) if s[i] >= edge and (j + 1 == len(edges) or s[i] < edges[j + 1])]
        total += abs(sum(float(y[i]) - s[i] for i in inside)) / len(s)
    return total
