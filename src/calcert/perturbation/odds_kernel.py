"""Noise on the odds: odds(S) = odds(x) tan(pi u/2)^b, u uniform. In log-odds that is z + b N, N of density sech/pi.

One b fits every base rate, because odds are multiplied: a score of one in a million moves by as small a share as one of
a half. Scores exactly 0 and 1 have no odds to move and are left unperturbed. The facts O1 to O4 named here are proved
in the theory of noise on the odds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from calcert.foundation.array_types import Floats
from calcert.perturbation.sech_kernel import alternating_sum, standard_noise

BLOCK = 1 << 12
"""Scores at a time, where each needs a quadrature."""


def sample(x: Floats, b: float, uniform: Floats) -> Floats:
    """The quantile at `uniform` of the perturbed score of x: O1, in the form that never falls where x grows."""
    # x = 0 has infinite odds against it and stays 0; x = 1 has none and stays 1.
    with np.errstate(divide="ignore", over="ignore"):
        against = (1 - x) / x * np.exp(-b * standard_noise(uniform))
    return np.asarray(1 / (1 + against))


def logit(x: ArrayLike) -> Floats:
    """The logarithm of the odds; infinite at 0 and 1."""
    x = np.asarray(x, float)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(x) - np.log1p(-x))


def density(t: ArrayLike, x: ArrayLike, b: float) -> Floats:
    """O1: the density at t of the perturbed score of x, both inside (0, 1)."""
    t = np.asarray(t, float)
    away = np.abs(logit(t) - logit(x)) / b
    e = np.exp(-away)
    return np.asarray(2 * e / (1 + e * e) / (np.pi * b * t * (1 - t)))


def distribution(t: ArrayLike, x: ArrayLike, b: float) -> Floats:
    """O1: P(S <= t | X = x); a step for scores 0 and 1."""
    t, x = np.asarray(t, float), np.asarray(x, float)
    with np.errstate(invalid="ignore", over="ignore"):
        inside = 2 / np.pi * np.arctan(np.exp((logit(t) - logit(x)) / b))
    return np.where((x <= 0) | (x >= 1), (t >= x) * 1.0, inside)


def mean(x: ArrayLike, b: float) -> Floats:
    """O3: E[S | X = x]; between x and x sec(pi b/2) for x <= 1/2, and mirrored above."""

    def shift(s: Floats) -> Floats:
        return np.asarray((1 - 2 * s) * _expected(lambda d: 2 * np.sinh(d / 2) ** 2, s, b))

    return _by_blocks(lambda s: s + shift(s), x)


def mean_absolute_shift(x: ArrayLike, b: float) -> Floats:
    """O3: E[|S - x| | X = x], never above relative_shift(b) x (1 - x)."""
    return _by_blocks(lambda s: _expected(np.sinh, s, b), x)


@lru_cache
def relative_shift(b: float) -> float:
    """O2: E|odds(S)/odds(x) - 1| = E sinh(b|N|), the same for every score."""
    return 2 / math.pi * alternating_sum(lambda k: 1 / (2 * k + 1 - b) - 1 / (2 * k + 1 + b))


def mean_factor(b: float) -> float:
    """O2: E exp(bN) = sec(pi b/2), the mean factor on the odds."""
    return 1 / math.cos(math.pi * b / 2)


def largest_factor(b: float) -> float:
    """O2: E exp(b|N|), the mean of the factor or of one over it, whichever is larger."""
    return mean_factor(b) + relative_shift(b)


def _half_line() -> tuple[Floats, Floats]:
    """Nodes for |N| and their probabilities: Gauss-Legendre by stretches, up to where exp(N/2) sech(N) has vanished."""
    node, weight = np.polynomial.legendre.leggauss(24)
    edges = np.array([0.0, 1, 2, 4, 8, 16, 40, 80])
    half = np.diff(edges)[:, None] / 2
    u = (edges[:-1, None] + half * (node + 1)).ravel()
    return u, (half * weight).ravel() * 2 / np.pi / np.cosh(u)


_NODES, _WEIGHTS = _half_line()


def _expected(top: Callable[[Floats], Floats], x: Floats, b: float) -> Floats:
    """x (1 - x) E[top(b|N|) / (1 + 2 (cosh(bN) - 1) x (1 - x))]."""
    area = (x * (1 - x))[:, None]
    ratio = top(b * _NODES) / (1 + 4 * np.sinh(b * _NODES / 2) ** 2 * area)
    return np.asarray(area[:, 0] * (ratio * _WEIGHTS).sum(axis=1))


def _by_blocks(function: Callable[[Floats], Floats], x: ArrayLike) -> Floats:
    scores = np.asarray(x, float)
    flat = scores.ravel()
    found = [function(flat[at : at + BLOCK]) for at in range(0, flat.size, BLOCK)]
    return np.concatenate([*found, np.zeros(0)]).reshape(scores.shape)
