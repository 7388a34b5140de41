"""AUROC and log loss of perturbed scores, without drawing them."""

from __future__ import annotations

import math

import numpy as np

from calcert.foundation.array_types import Floats
from calcert.perturbation.grids.coordinate_of_noise import coordinate_of
from calcert.perturbation.grids.grid_view import chosen
from calcert.perturbation.noise import Noise
from calcert.summary.points import Points
from calcert.summary.summary import Summary

FINENESS = 128


class _Pairs:
    """Shares of rows from low scores to high ones: how many pairs are in order, and what labels cost in log loss."""

    def __init__(self) -> None:
        self.zeros = self.ones = self.ordered = self.loss = 0.0

    def add(self, zeros: Floats, ones: Floats, surprise_of_zero: Floats, surprise_of_one: Floats) -> None:
        """Some more, each a tie: shares of both labels and the mean log loss of each."""
        before = self.zeros + np.cumsum(zeros) - zeros / 2
        self.ordered += float((ones * before).sum())
        for share, surprise in ((ones, surprise_of_one), (zeros, surprise_of_zero)):
            there = share > 0  # A label that is not there costs nothing, whatever it would have cost.
            self.loss += float((share[there] * surprise[there]).sum())
        self.zeros, self.ones = self.zeros + float(zeros.sum()), self.ones + float(ones.sum())

    def add_as_they_are(self, points: Points, n: int) -> None:
        """Rows whose scores noise on the odds hardly moves, or not at all."""
        with np.errstate(divide="ignore", invalid="ignore"):
            surprise = -np.log(points.positions), -np.log1p(-points.positions)
        zeros, ones = points.count.T / n
        self.add(zeros, ones, surprise[1][:, 0], surprise[0][:, 1])


def ranking_and_log_loss(summary: Summary, noise: Noise) -> tuple[float, float]:
    """AUROC and expected log loss of the perturbed scores of the rows, without drawing them; AUROC NaN for one label.

    AUROC is the integral of f1 F0, f1 the density of perturbed scores with label 1 and F0 the distribution function of
    those with label 0; log loss that of -ln t and -ln(1 - t) against the two densities. Both by cells of the grid, over
    which the logarithms are averaged exactly, as they are infinite at the ends. Scores 0 and 1 that are left
    unperturbed tie among themselves; a wrong label there costs infinite log loss.
    """
    where = coordinate_of(noise)
    grid, view, pairs = where.grid(FINENESS), where.fewest_ends(summary), _Pairs()
    low = view.ends.high < 0.5
    pairs.add_as_they_are(chosen(view.ends, low), view.n)
    for place, density, positive, _ in grid.densities(grid.masses(view.places, view.n)):
        t = where.score(place)
        zeros, ones = (_per_cell(part, grid.step) for part in (density - positive, positive))
        with np.errstate(divide="ignore", invalid="ignore"):
            pairs.add(zeros, ones, _mean_surprise(1 - t), _mean_surprise(t))
    pairs.add_as_they_are(chosen(view.ends, ~low), view.n)
    one_label = summary.positives in (0, summary.n)
    ranking = math.nan if one_label else pairs.ordered / (pairs.zeros * pairs.ones)
    return ranking, pairs.loss / (pairs.zeros + pairs.ones)


def _per_cell(density: Floats, step: float) -> Floats:
    """Mass between neighbouring grid points."""
    return np.asarray(np.maximum(density[:-1] + density[1:], 0.0) * step / 2)


def _mean_surprise(t: Floats) -> Floats:
    """The mean of -ln t between neighbouring grid points; where they cannot be told apart, that at one of them."""
    apart = np.diff(t)
    part = t * np.log(np.where(t > 0, t, 1.0))
    return np.where(apart != 0, 1 - np.diff(part) / apart, -np.log(np.maximum(t[1:], 1e-300)))
