"""Maps that are fitted to rows: a logistic curve, or isotonic regression, pooled to a few levels.

No number here is certified: the map is a guess, and what it is worth is certified on other rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from calcert.foundation.array_types import Floats, Integers
from calcert.kernels.strings import rising
from calcert.perturbation.score_map import STEEPEST, ScoreMap, features
from calcert.sources.rows_in_memory import RowsInMemory

CURVES = ("logistic", "beta", "isotonic")
"""Logistic regression on the log-odds, on ln x and -ln(1 - x) apart, and a curve that never falls."""

ENOUGH = 100_000
"""Rows of whole clusters by which the curve is chosen, at most; more would not tell curves apart that differ."""

FOLDS = 5
"""Parts of the fitting rows by which the curve is chosen."""

RIDGE = 1.0
"""How strongly a logistic curve is held to the scores: as by a row or so, which matters where rows are few."""

PRIOR = 2.0
"""Rows with the share of label 1 of all that are added to each level of isotonic regression: no level is 0 or 1."""

ITERATIONS = 200
"""Of Newton's method and of Lloyd's algorithm, which end much sooner."""

PRECISION = 1e-9
"""Smaller steps of Newton's method change nothing."""


@dataclass(frozen=True, eq=False)
class Tallied:
    """The distinct scores, increasing, the weight of their rows, and how much of it has label 1."""

    score: Floats
    weight: Floats
    positive: Floats

    @classmethod
    def of(cls, rows: RowsInMemory) -> Tallied:
        """The rows of a set, whose weights are made to be 1 on average."""
        score, place = np.unique(rows.scores, return_inverse=True)
        weight = np.ones(rows.number) if rows.weights is None else rows.weights / rows.weights.mean()
        of_all, of_ones = (np.bincount(place, part) for part in (weight, weight * rows.labels))
        return cls(score, np.asarray(of_all, np.float64), np.asarray(of_ones, np.float64))

    def log_loss(self, probability: Floats) -> float:
        """The sum of the log loss of a probability for each score."""
        with np.errstate(divide="ignore", invalid="ignore"):
            ones = np.where(self.positive > 0, self.positive * np.log(probability), 0.0)
            rest = self.weight - self.positive
            zeros = np.where(rest > 0, rest * np.log1p(-probability), 0.0)
        return -float((ones + zeros).sum())


def most_levels(rows: int) -> int:
    """How many levels so many rows to fit on can bear: about the cube root of all rows, and fewer of many.

    More levels cost more in the bound than they gain in log loss.
    """
    return max(2, round(min(math.cbrt(2 * rows), 3.5 * math.pow(rows, 1 / 6))))


def fitted_map(rows: RowsInMemory, curve: str, levels: int) -> ScoreMap:
    """The map by a curve, pooled to so many levels; 0 leaves a logistic curve as smooth as it is."""
    tallied = Tallied.of(rows)
    smooth = None if curve == "isotonic" else _logistic(tallied, curve)
    if smooth is not None and levels == 0:
        return smooth
    if smooth is not None:
        height = np.maximum.accumulate(smooth.mapped(tallied.score))
        target, prior = tallied.weight * height, 0.0
    else:
        height = rising(tallied.positive / tallied.weight, tallied.weight)
        target, prior = tallied.positive, PRIOR
    # Differences in this coordinate cost as much log loss at every height.
    start = _pooled(np.arcsin(np.sqrt(np.clip(height, 0.0, 1.0))), tallied.weight, levels)
    weight, total = (np.add.reduceat(values, start) for values in (tallied.weight, target))
    base = float((tallied.positive.sum() + 0.5) / (tallied.weight.sum() + 1))
    value = rising((total + prior * base) / (weight + prior), weight)
    value = np.array([_rounded(float(share)) for share in value])
    new = np.append(True, np.diff(value) > 0)
    score = tallied.score.tolist()
    edges = tuple(_between(score[first - 1], score[first]) for first in start[new][1:].tolist())
    return ScoreMap(edges, tuple(value[new].tolist()))


def _logistic(rows: Tallied, curve: str) -> ScoreMap:
    """Maximum likelihood, with slopes that are not negative, held a little to the scores as they are."""
    rising, falling = features(rows.score)
    columns = [rising + falling] if curve == "logistic" else [rising, falling]
    design, kept = np.stack([np.ones(rows.score.size), *columns]), np.ones(1 + len(columns), bool)
    line = _newton(rows, design)
    while (line[1:] < 0).any():
        kept[1 + int(np.argmin(line[1:]))] = False
        line = np.zeros(kept.size)
        line[kept] = _newton(rows, design[kept])
    shown = [float(f"{value:.9g}") for value in line.tolist()]
    return ScoreMap(coefficients=(shown[0], shown[1], shown[-1]))


def _newton(rows: Tallied, design: Floats) -> Floats:
    """The line of the smallest loss, by Newton's method with steps that are halved until they gain."""
    start = np.array([0.0, *[1.0] * (len(design) - 1)])

    def loss(line: Floats) -> float:
        height, away = line @ design, line - start
        of_rows = rows.weight * np.logaddexp(0.0, height) - rows.positive * height
        return float(of_rows.sum() + RIDGE / 2 * (away @ away))

    line, least = start, loss(start)
    for _ in range(ITERATIONS):
        p = 1 / (1 + np.exp(-np.clip(line @ design, -STEEPEST, STEEPEST)))
        gradient = design @ (rows.weight * p - rows.positive) + RIDGE * (line - start)
        curvature = (design * (rows.weight * p * (1 - p))) @ design.T + RIDGE * np.eye(line.size)
        step = np.linalg.solve(curvature, gradient)
        while loss(line - step) > least and np.abs(step).max() > PRECISION:
            step = step / 2
        if np.abs(step).max() <= PRECISION:
            break
        line = line - step
        least = loss(line)
    return line


def _pooled(place: Floats, weight: Floats, levels: int) -> Integers:
    """Where runs of places, increasing, begin, so that the squares of distances to their means are small (Lloyd)."""
    sums, moments = (np.append(0.0, np.cumsum(values)) for values in (weight, weight * place))
    quantiles = np.searchsorted(sums[1:], (np.arange(levels) + 0.5) / levels * sums[-1])
    centres = np.unique(place[np.minimum(quantiles, place.size - 1)])
    start = np.zeros(1, np.int64)
    for _ in range(ITERATIONS):
        before, middle = start, (centres[1:] + centres[:-1]) / 2
        start = np.unique(np.append(0, np.searchsorted(place, middle)))
        start = start[start < place.size]
        if np.array_equal(start, before):
            break
        ends = np.append(start[1:], place.size)
        centres = (moments[ends] - moments[start]) / (sums[ends] - sums[start])
    return np.asarray(start)


def _rounded(share: float) -> float:
    """Four digits of the probability, or of that of the other label where it is nearer to 1."""
    return round(share, 3 - math.floor(math.log10(min(share, 1 - share)))) if 0 < share < 1 else share


def _between(below: float, above: float) -> float:
    """The shortest decimal above the one score and not above the other."""
    middle = (below + above) / 2
    return next((found for digits in range(1, 18) if below < (found := round(middle, digits)) <= above), above)


def chosen_curve(rows: RowsInMemory, levels: int, rng: np.random.Generator) -> tuple[str, dict[str, float]]:
    """The curve whose maps have the smallest log loss on parts of the rows they were not fitted on; and all losses."""
    curves = CURVES if levels else CURVES[:2]
    numbers = rows.cluster_numbers
    if rows.number > ENOUGH:
        rank = rng.permutation(int(numbers.max()) + 1)[numbers]
        rows = rows.part(rank < (rank.max() + 1) * ENOUGH / rows.number)
        numbers = rows.cluster_numbers
    part = (rng.permutation(int(numbers.max()) + 1) % FOLDS)[numbers]
    folds = [fold for fold in range(FOLDS) if 0 < (part == fold).sum() < rows.number]
    losses = dict.fromkeys(curves, math.nan)
    if folds:
        splits = [(rows.part(part != fold), Tallied.of(rows.part(part == fold))) for fold in folds]
        for curve in curves:
            maps = ((fitted_map(fit, curve, levels), held) for fit, held in splits)
            losses[curve] = sum(held.log_loss(found.mapped(held.score)) for found, held in maps) / rows.number
    return min(curves, key=lambda curve: losses[curve]), losses
