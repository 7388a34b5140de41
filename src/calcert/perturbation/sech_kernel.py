"""The sech kernel: how a perturbed score is drawn around the classifier's score.

Idea, kernel and Z are those of "Measuring Uncertainty Calibration" (Ciosek et al., ICLR 2026).

The perturbed score S of a row with score x has density k(t|x) = sech((t - x)/h) / Z(x, h) on [0, 1]. Everything is easy
in the angle gd((t - x)/h), gd the Gudermannian: under k(.|x) it is uniform between gd(-x/h) and gd((1 - x)/h).

Angles are measured from their limit pi/2 (``gap`` below), because an angle within 1e-16 of pi/2 is still one of
infinitely many scores; that is what keeps bandwidths of 2^-20 and scores at exactly 0 and 1 exact.

Without ends the distribution is that of h N, N of density sech/pi on the whole line: noise on the log-odds is drawn
from it. As a series, sech(u) = 2 (exp(-u) - exp(-3u) + exp(-5u) - ...) for u > 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from calcert.foundation.array_types import Floats
from calcert.foundation.validation import check_bandwidth

CATALAN = 0.915965594177219
"""Catalan's constant; the integral of u sech(u) over the half line is twice it."""

LARGEST_MEAN_SHIFT = 1.16625
"""E|S - X| <= 1.16625 h for every score: 4 G / pi = 1.166243..., G Catalan's constant, rounded up."""

KERNEL_REACH = 40.0
"""sech(40) < 1e-17: further than 40 bandwidths from every score there is no mass that a double can see."""

SMALLEST_PROBABILITY = 2.0**-54
"""Probabilities of N are kept this far from 0 and 1, where it would be infinite and a score of 1 times it no number."""

BLOCK = 1 << 14
"""Rows perturbed at a time."""


def sample(x: Floats, h: float, uniform: Floats) -> Floats:
    """The quantile of the kernel around x at `uniform`: exact sampling in angle.

    A block of rows at a time, so that what lies between x and the result stays in the cache.
    """
    perturbed = np.empty(x.size)
    score, probability = x.ravel(), uniform.ravel()
    for at in range(0, x.size, BLOCK):
        rows = slice(at, at + BLOCK)
        perturbed[rows] = _quantile(score[rows], h, probability[rows])
    return perturbed.reshape(x.shape)


def _quantile(x: Floats, h: float, uniform: Floats) -> Floats:
    below, above = _gap(x / h), _gap((1 - x) / h)
    half = np.pi / 2
    total = (half - below) + (half - above)
    # The angle is -(pi/2 - below) + uniform * total. Each side is measured from the end where it is well conditioned.
    gap_low = below + uniform * total
    gap_high = above + (1 - uniform) * total
    left = gap_low < half
    distance = _ungap(np.where(left, gap_low, gap_high))
    return np.clip(x + h * np.where(left, -distance, distance), 0.0, 1.0)


def density(t: ArrayLike, x: ArrayLike, bandwidth: float) -> Floats:
    """k(t|x), the density at t of the perturbed score of x."""
    t, x, h = np.asarray(t, float), np.asarray(x, float), check_bandwidth(bandwidth)
    inside = (t >= 0) & (t <= 1)
    return np.where(inside, sech((t - x) / h) / normalizer(x, h), 0.0)


def distribution(t: ArrayLike, x: ArrayLike, bandwidth: float) -> Floats:
    """P(S <= t | X = x)."""
    t, x, h = np.asarray(t, float), np.asarray(x, float), check_bandwidth(bandwidth)
    t = np.clip(t, 0.0, 1.0)
    v = (t - x) / h
    below = _gap(x / h)
    half = np.pi / 2
    # gd(v) + gd(x/h) for v < 0 is a difference of nearly equal angles; their gaps are not.
    angle = np.where(v < 0, _gap(np.abs(v)) - below, (half - below) + (half - _gap(np.abs(v))))
    return np.clip(angle / (normalizer(x, h) / h), 0.0, 1.0)


def mean(x: ArrayLike, bandwidth: float) -> Floats:
    """E[S | X = x], the mean perturbed score."""
    x, h = np.asarray(x, float), check_bandwidth(bandwidth)
    shift = first_moment((1 - x) / h) - first_moment(x / h)
    return np.clip(x + h * shift / (normalizer(x, h) / h), 0.0, 1.0)


def mean_absolute_shift(x: ArrayLike, bandwidth: float) -> Floats:
    """E[|S - x| | X = x], never above 1.16625 h."""
    x, h = np.asarray(x, float), check_bandwidth(bandwidth)
    total = first_moment(x / h) + first_moment((1 - x) / h)
    return np.asarray(h * total / (normalizer(x, h) / h))


def normalizer(x: Floats, h: float) -> Floats:
    """Z(x, h), the integral over [0, 1] of sech((t - x)/h); pi h where both ends are out of reach."""
    x = np.asarray(x, float)
    total = np.full(x.shape, np.pi)
    near = np.minimum(x, 1 - x) < KERNEL_REACH * h
    y = x[near]
    total[near] = gudermannian((1 - y) / h) + gudermannian(y / h)
    return h * total


def largest_density(h: float) -> float:
    """The largest value of k(t|x) over all t and x: 1/(h gd(1/h)), at t = x = 0."""
    return float(1 / (h * gudermannian(1 / h)))


def weight_ceiling(t: Floats, h: float) -> Floats:
    """At least the largest k(t|x) over all x, and within 1% of it.

    For t <= 1/2 the normaliser grows with x up to 1/2, so that the maximum is at some x <= t. There d ln k / dx is
    tanh((t-x)/h) less its mean over t, in units of 1/h: at most 1 in size, and positive once tanh exceeds 2/pi, which
    is the largest mean that there can be. So x is at most 0.7526 h below t.
    """
    t = np.minimum(t, 1 - t)
    offset = np.arange(0, 0.7526 + 1 / 64, 1 / 64)
    # Out of reach of both ends Z >= h (pi - 4 exp(-8)).
    top = np.full(t.shape, 1 / (h * (np.pi - 4 * np.exp(-8))))
    near = t < 9 * h
    x = np.maximum(t[near, None] - h * offset, 0.0)
    top[near] = (sech((t[near, None] - x) / h) / normalizer(x, h)).max(axis=1) * np.exp(1 / 128)
    return top


def standard_noise(uniform: Floats) -> Floats:
    """The quantile of N, ln tan(pi u/2), measured from the nearer end of (0, 1), where it is well conditioned."""
    near = np.maximum(np.minimum(uniform, 1 - uniform), SMALLEST_PROBABILITY)
    return np.copysign(np.log(np.tan(np.pi / 2 * near)), uniform - 0.5)


def gudermannian(v: ArrayLike) -> Floats:
    """gd(v), the integral of sech from 0 to v."""
    return np.asarray(2 * np.arctan(np.tanh(np.asarray(v, float) / 2)))


def sech(v: ArrayLike) -> Floats:
    """1/cosh(v) without overflow."""
    e = np.exp(-np.abs(v))
    return np.asarray(2 * e / (1 + e * e))


def _gap(v: Floats) -> Floats:
    """pi/2 - gd(v) for v >= 0, to full relative precision: 2 arctan(exp(-v))."""
    return np.asarray(2 * np.arctan(np.exp(-v)))


def _ungap(gap: Floats) -> Floats:
    """The v >= 0 whose gap is `gap`, for gap in [0, pi/2]; infinite at 0."""
    with np.errstate(divide="ignore"):
        return np.maximum(-np.log(np.tan(gap / 2)), 0.0)


def first_moment(v: ArrayLike) -> Floats:
    """The integral of u sech(u) from 0 to v, even in v: Gauss-Legendre near 0, the series of the tail beyond 2."""
    size = np.abs(np.asarray(v, float))
    moment = np.full(size.shape, 2 * CATALAN)
    near, middle = size < 2, (size >= 2) & (size < KERNEL_REACH)
    u = size[near]
    moment[near] = u * u * sum(w * s * sech(u * s) for s, w in zip(*_LEGENDRE, strict=True))
    u = size[middle]
    for sign, k in zip((1, -1) * 5, range(1, 20, 2), strict=True):
        moment[middle] -= 2 * sign * np.exp(-k * u) * (u / k + 1 / k**2)
    return moment


def alternating_sum(term: Callable[[int], float], terms: int = 24) -> float:
    """The sum of (-1)^k term(k) to full precision, for terms that are moments, as those of the series of sech are."""
    return sum(weight * term(k) for k, weight in enumerate(alternating_weights(terms)))


def alternating_weights(terms: int) -> list[float]:
    """Those of the first terms of an alternating series of moments (Cohen, Rodriguez Villegas, Zagier).

    As a polynomial they are 1/(1 + u), less 1 in T(3) of it at most, T the Chebyshev polynomial of that degree: K4.

    Examples
    --------
    >>> abs(sum(w / (2 * k + 1) for k, w in enumerate(alternating_weights(20))) - math.pi / 4) < 1e-14
    True
    """
    size = math.cosh(terms * math.acosh(3))
    coefficient, remaining, weights = -1.0, -size, []
    for k in range(terms):
        remaining = coefficient - remaining
        weights.append(remaining / size)
        coefficient *= (k + terms) * (k - terms) / ((k + 0.5) * (k + 1))
    return weights


_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(24)
_LEGENDRE = ((_NODES + 1) / 2, _WEIGHTS / 2)
