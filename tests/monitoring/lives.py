"""Simulated lives of a classifier: laws on few scores, of known calibration error, and batches drawn from them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit, ndtri

from calcert.monitoring.betting_strategies import Wealth
from calcert.monitoring.watched_statements import L1Memory, Memory
from calcert.summary import cells
from calcert.summary.summary import Summary
from tests.lab.distances import by_pairs

Floats = NDArray[np.float64]


def finite_summary(scores: Floats, count: NDArray[np.int64]) -> Summary:
    """The Summary of rows on distinct increasing scores, given the rows per score and label."""
    there = count.any(axis=1)
    scores, count = scores[there], count[there]
    cell, offset = cells.locate(np.floor(scores * cells.UNIT).astype(np.int64))
    unique, place = np.unique(cell, return_inverse=True)
    totals = np.zeros((2, unique.size, 2), np.int64)
    np.add.at(totals[0], place, count)
    np.add.at(totals[1], place, count * offset[:, None])
    return Summary(unique, totals[0], totals[1], scores.view(np.int64).copy(), count.copy())


@dataclass(frozen=True)
class Law:
    """Scores, their probabilities, and the probability of label 1 at each."""

    scores: Floats
    probability: Floats
    chance: Floats

    @property
    def error(self) -> float:
        """The L1 calibration error of the current scores."""
        return float((self.probability * np.abs(self.scores - self.chance)).sum())

    @property
    def distance(self) -> float:
        """The distance from calibration, by a linear program that shares nothing with the program."""
        weight = self.probability[:, None] * np.stack([1 - self.chance, self.chance], axis=1)
        grid = np.unique(np.concatenate([self.scores, np.linspace(0, 1, 257)]))
        return by_pairs(self.scores, weight, grid, boxed=True)

    @property
    def miscount(self) -> float:
        """The cutoff calibration error."""
        through = np.concatenate([[0.0], np.cumsum(self.probability * (self.scores - self.chance))])
        return float(through.max() - through.min())

    def batch(self, rng: np.random.Generator, rows: int) -> Summary:
        """Independent rows."""
        total = rng.multinomial(rows, self.probability)
        positive = rng.binomial(total, self.chance)
        return finite_summary(self.scores, np.stack([total - positive, positive], axis=1))


def overconfident(error: float, size: int = 400) -> Law:
    """A classifier that multiplies the true log-odds by as much as makes this calibration error; 0 is calibrated."""
    odds = 1.5 * ndtri((np.arange(size) + 0.5) / size)

    def law(factor: float) -> Law:
        return Law(expit(factor * odds), np.full(size, 1 / size), expit(odds))

    return law(1.0 if error == 0 else float(brentq(lambda factor: law(factor).error - error, 1.0, 5.0)))


def too_high(error: float, size: int = 19) -> Law:
    """Scores that are too high by `error` throughout: one constant witness earns all there is."""
    scores = np.linspace(0.1, 0.9, size)
    return Law(scores, np.full(size, 1 / size), scores - error)


def life(batches: Iterator[Summary], learned: type[Memory] = L1Memory) -> Iterator[Wealth]:
    """The wealth after each batch of a life, as a state computes it but without the disk."""
    memory, wealth = learned.blank(), Wealth.blank()
    for batch in batches:
        wealth = wealth.after(memory.gains(batch))
        memory = memory.after(batch)
        yield wealth
