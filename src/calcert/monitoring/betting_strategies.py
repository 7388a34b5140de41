"""The anytime-valid lower bound: betting strategies that may start over after every batch.

Given what came before batch k, its rows are independent draws from a distribution whose error is C_k; the distribution
may depend on the past. Each of three strategies g has a witness that is fixed before the batch comes; with it a row
gains G in [-1, 1], and E[G | past] <= C_k (:mod:`calcert.monitoring.watched_statements`). For a start s, a strategy g,
a bet l and a limit c, the wealth W(s, g, l, c) is 1 before batch s, and is then multiplied, per row, by 1 + l (G - c).
The evidence against c after batch k is

    M_k(c) = sum over s <= k of w_s mean over g, l of W(s, g, l, c)  +  sum over s > k of w_s,     w_s = 1 / s(s + 1).

Guarantee (W1; docs/theory/monitoring.md has the proof)
    With probability at least 1 - delta, at all k together and for all s and c together:
    (a) if M_k(c) >= 1/delta, some batch among the first k has C_j > c;
    (b) if w_s mean over g, l of W(s, g, l, c) >= 1/delta after batch k, some batch among s, ..., k has C_j > c.

A batch is kept as the histogram of its gains: log(1 + l (g - c)) is concave in g, so that sharing each row linearly
between the two nearest nodes of a grid makes the computed wealth smaller than the true one, never larger.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

import numpy as np

from calcert.foundation.array_types import Floats
from calcert.monitoring.watched_statements import HALF_LIVES, NODES

BETS = 2.0 ** -np.arange(1.0, 11.0)
"""1 + l (g - c) stays positive up to 1/2; the smallest suits a hundred million rows."""

LIMITS = np.concatenate([[0.0], np.geomspace(1e-4, 0.9, 461)])
"""Values of c that are tried, 2% apart: a lower bound is one of them. The first is perfect calibration."""

ROUNDING_PER_ROW = 1e-12
"""Taken off the logarithm of wealth for every row, far more than the rounding of the sums behind it."""


def start_weight(start: int) -> float:
    """w_s for s = 1, 2, ...: they add up to 1, and those after k to 1 / (k + 1)."""
    return 1 / (start * (start + 1))


@dataclass(frozen=True)
class Wealth:
    """The wealth after some batches: `logarithm` is that of the sum over starts s of w_s W(s, g, l, c)."""

    batches: int
    logarithm: Floats

    @classmethod
    def blank(cls) -> Wealth:
        """No batch judged yet: all weight is on later starts."""
        return cls(0, np.full((len(HALF_LIVES), BETS.size, LIMITS.size), -np.inf))

    def after(self, histograms: Floats) -> Wealth:
        """The wealth after one more batch, given by the histograms of its gains."""
        started = np.logaddexp(self.logarithm, math.log(start_weight(self.batches + 1)))
        won = np.einsum("gn,nc->gc", histograms, _growth()) - ROUNDING_PER_ROW * histograms[0].sum()
        return Wealth(self.batches + 1, started + won.reshape(started.shape))

    def evidence(self) -> Floats:
        """The logarithm of M_k(c) for every c of LIMITS."""
        reserve = -math.log(self.batches + 1)
        running = np.logaddexp.reduce(self.logarithm, axis=(0, 1)) - math.log(self.logarithm[..., 0].size)
        return np.asarray(np.logaddexp(running, reserve))

    def lower(self, delta: float) -> float:
        """The largest rejected limit, 0 if none is."""
        kept = self.evidence() < math.log(1 / delta)
        first_kept = int(np.argmax(kept)) if kept.any() else kept.size
        return float(LIMITS[max(first_kept - 1, 0)])


def latest_start(last: int, stretches: Iterable[Floats], limit: float, delta: float) -> int:
    """The latest s such that statement (b) holds for s, ..., `last`: between these batches the limit was exceeded.

    `stretches` holds the histograms of batches `last`, `last` - 1, ..., 1, any number of them at a time; each has shape
    (batches, strategies, nodes). No more of them are asked for than it takes. Where only the sum over starts is large
    enough, the result is 1, which is statement (a).
    """
    growth = np.log1p(BETS * (NODES[:, None] - limit))
    after = np.zeros((1, len(HALF_LIVES), BETS.size))
    for histograms in stretches:
        won = histograms @ growth - ROUNDING_PER_ROW * histograms.sum(axis=2, keepdims=True)
        since = np.cumsum(np.concatenate([after, won]), axis=0)[1:]
        start = last - np.arange(len(won))
        mean = np.logaddexp.reduce(since, axis=(1, 2)) - math.log(since[0].size)
        rejecting = np.flatnonzero(mean - np.log(start * (start + 1.0)) >= math.log(1 / delta))
        if rejecting.size:
            return int(start[rejecting[0]])
        after, last = since[-1:], last - len(won)
    return 1


@cache
def _growth() -> Floats:
    """log(1 + l (g - c)) per node g (rows), and bet and limit (columns)."""
    table = np.log1p(BETS[:, None] * (NODES[:, None, None] - LIMITS))
    return np.asarray(table.reshape(NODES.size, -1))
