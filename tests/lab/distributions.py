"""Laws of (score, label) whose calibration errors are known, all their outcomes, and who is to judge a bound.

Nothing here uses the program's own quadrature: served errors come from Gauss panels that end where the error changes
sign.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from unittest import mock

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.special import expit, gammaln, xlogy
from scipy.stats import binom

from calcert import Summary
from calcert.certificates import bounded_variation, lipschitz, squared
from calcert.certificates.limits import deviations, sampling_term
from calcert.kernels.limits import bernstein
from calcert.summary import cells

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

ROUNDING = 1e-12
"""A bound this little below the truth is not called a miss: the truth is computed in floating point."""


@dataclass(frozen=True)
class Law:
    """Finitely many scores, increasing, with their probabilities and the probability of label 1 at each."""

    score: tuple[float, ...]
    weight: tuple[float, ...]
    chance: tuple[float, ...]

    @cached_property
    def error(self) -> float:
        """The L1 calibration error of the current scores."""
        return float(np.dot(self.weight, np.abs(np.subtract(self.score, self.chance))))

    @cached_property
    def variation(self) -> float:
        """The total variation of the calibration function."""
        return float(np.abs(np.diff(self.chance)).sum())

    @cached_property
    def lipschitz(self) -> float:
        """The Lipschitz constant of the calibration function."""
        return float((np.abs(np.diff(self.chance)) / np.diff(self.score)).max(initial=0.0))

    @cached_property
    def distance(self) -> float:
        """The distance from calibration, or at most 1.3e-5 more: the calibrated score moves on a grid.

        A linear program over the joint laws of score, label and calibrated score u: given u, label 1 has chance u.
        """
        x = np.array(self.score)
        u = np.unique(np.concatenate([np.arange(201) / 200, x, self.chance, [np.dot(self.weight, self.chance)]]))
        mass = np.zeros((x.size, 2, x.size, 2, u.size))
        for i, y in itertools.product(range(x.size), (0, 1)):
            mass[i, y, i, y] = 1.0
        calibrated = np.zeros((u.size, x.size, 2, u.size))
        for j, value in enumerate(u):
            calibrated[j, :, 0, j], calibrated[j, :, 1, j] = -value, 1 - value
        shift = np.broadcast_to(np.abs(x[:, None, None] - u), (x.size, 2, u.size))
        found = linprog(
            shift.ravel(),
            A_eq=np.concatenate([mass.reshape(2 * x.size, -1), calibrated.reshape(u.size, -1)]),
            b_eq=np.concatenate([self.probability.ravel(), np.zeros(u.size)]),
        )
        assert found.success
        return float(found.fun)

    @cached_property
    def probability(self) -> Floats:
        """The probability of each score and label, shape (scores, 2)."""
        weight, chance = np.array(self.weight), np.array(self.chance)
        return np.stack([weight * (1 - chance), weight * chance], axis=1)

    def served(self, h: float) -> tuple[float, float]:
        """The L1 and the squared calibration error of the perturbed classifier."""
        return _served(self.score, self.weight, self.chance, h)

    def served_by_odds(self, b: float) -> tuple[float, float]:
        """The same of the classifier that multiplies the odds of its scores; 0 and 1 are served as they are."""
        return _served_by_odds(self.score, self.weight, self.chance, b)

    def outcomes(self, n: int) -> Iterator[tuple[Integers, float]]:
        """Every possible table of counts of n rows, with its probability."""
        return outcomes(self.probability, n)

    def draw(self, n: int, rng: np.random.Generator) -> Summary:
        """n rows at random."""
        return summary_of(self.score, rng.multinomial(n, self.probability.ravel()).reshape(-1, 2))


@dataclass(frozen=True)
class Continuous:
    """A law given by the quantile function of its score and by its calibration function."""

    quantile: Callable[[Floats], Floats]
    calibration: Callable[[Floats], Floats]
    variation: float
    lipschitz: float = math.inf
    atoms: int = 4000
    law: Law = field(init=False)

    def __post_init__(self) -> None:
        score = self.quantile((np.arange(self.atoms) + 0.5) / self.atoms)
        chance = self.calibration(score)
        weight = np.full(self.atoms, 1 / self.atoms)
        object.__setattr__(self, "law", Law(tuple(score), tuple(weight), tuple(chance)))

    @property
    def error(self) -> float:
        return self.law.error

    def served(self, h: float) -> tuple[float, float]:
        return self.law.served(h)

    def served_by_odds(self, b: float) -> tuple[float, float]:
        return self.law.served_by_odds(b)

    def draw(self, n: int, rng: np.random.Generator) -> Summary:
        """n rows at random, known only to their cells."""
        score = self.quantile(rng.random(n))
        label = (rng.random(n) < self.calibration(score)).astype(np.int64)
        return by_cells(score, label)


SMALL_LAWS = {
    "one score": Law((0.9,), (1.0,), (0.4,)),
    "sign flip": Law((0.3, 0.31), (0.5, 0.5), (0.9, 0.0)),
    "calibrated": Law((0.25, 0.75), (0.5, 0.5), (0.25, 0.75)),
    "certain labels": Law((0.25, 0.5), (0.4, 0.6), (0.0, 1.0)),
    "ends": Law((0.0, 1.0), (0.7, 0.3), (0.2, 0.6)),
    "rare": Law((0.0, 0.5), (0.9, 0.1), (0.02, 0.5)),
    "three": Law((0.25, 0.5, 0.75), (0.3, 0.3, 0.4), (0.75, 0.0, 0.25)),
    "three, one unseen": Law((0.0, 0.5, 1.0), (0.5, 0.45, 0.05), (0.0, 0.5, 0.0)),
}
"""Laws on up to three scores, few enough outcomes to add up."""


@lru_cache(maxsize=64)
def _served(
    score: tuple[float, ...], weight: tuple[float, ...], chance: tuple[float, ...], h: float
) -> tuple[float, float]:
    x, w, eta = np.array(score), np.array(weight), np.array(chance)
    normalizer = h * (2 * np.arctan(np.tanh(x / h / 2)) + 2 * np.arctan(np.tanh((1 - x) / h / 2)))

    def gap_and_mass(t: Floats) -> tuple[Floats, Floats]:
        k = sech((t[:, None] - x) / h) * (w / normalizer)
        mass = k.sum(axis=1)
        return t * mass - k @ eta, mass

    return integrals(gap_and_mass, x, h, (0.0, 1.0))


@lru_cache(maxsize=64)
def _served_by_odds(
    score: tuple[float, ...], weight: tuple[float, ...], chance: tuple[float, ...], b: float
) -> tuple[float, float]:
    x, w, eta = np.array(score), np.array(weight), np.array(chance)
    atom = (x == 0) | (x == 1)
    gap = w[atom] * np.abs(x - eta)[atom]
    error, square = float(gap.sum()), float((gap**2 / w[atom]).sum())
    if atom.all():
        return error, square
    z, w, eta = np.log(x[~atom] / (1 - x[~atom])), w[~atom], eta[~atom]

    def gap_and_mass(at: Floats) -> tuple[Floats, Floats]:
        k = sech((at[:, None] - z) / b) * (w / (np.pi * b))
        mass = k.sum(axis=1)
        return expit(at) * mass - k @ eta, mass

    l1, l2 = integrals(gap_and_mass, z, b, (float(z.min()) - 42 * b, float(z.max()) + 42 * b))
    return error + l1, square + l2


def sech(v: Floats) -> Floats:
    e = np.exp(-np.abs(v))
    return np.asarray(2 * e / (1 + e * e))


def integrals(
    gap_and_mass: Callable[[Floats], tuple[Floats, Floats]], x: Floats, h: float, span: tuple[float, float]
) -> tuple[float, float]:
    """The integrals over `span` of |gap| and of gap^2 / mass, by Gauss panels that end where the gap changes sign.

    Both vanish further than 42 h from all of x, increasing.
    """

    def in_parts(t: Floats) -> tuple[Floats, Floats]:
        parts = [gap_and_mass(part) for part in np.array_split(t, 1 + t.size * x.size // 2_000_000)]
        return np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])

    near = np.clip(np.arange(span[0], span[1] + h / 8, h / 4), *span)
    apart = np.searchsorted(x, near)
    reach = np.minimum(np.abs(near - x[np.maximum(apart - 1, 0)]), np.abs(near - x[np.minimum(apart, x.size - 1)]))
    edges = np.unique(np.concatenate([span, near[reach < 42 * h], x if x.size < 50 else []]))
    fine = np.unique(np.append(edges[:-1, None] + np.diff(edges)[:, None] * np.arange(4) / 4, span[1]))
    sign = np.sign(in_parts(fine)[0])
    change = np.flatnonzero(sign[:-1] * sign[1:] < 0)
    low, high = fine[change], fine[change + 1]
    for _ in range(45 if change.size else 0):
        middle = (low + high) / 2
        left = np.sign(in_parts(middle)[0]) == sign[change]
        low, high = np.where(left, middle, low), np.where(left, high, middle)
    edges = np.unique(np.concatenate([edges, low]))
    nodes, weights = np.polynomial.legendre.leggauss(8)
    width = np.diff(edges)[:, None]
    gap, mass = in_parts((edges[:-1, None] + width * (nodes + 1) / 2).ravel())
    share = (width * weights / 2).ravel()
    ratio = np.divide(gap**2, mass, out=np.zeros_like(gap), where=mass > 1e-200)
    return float((np.abs(gap) * share).sum()), float((ratio * share).sum())


def outcomes(probability: Floats, n: int) -> Iterator[tuple[Integers, float]]:
    """Every table of n counts over the given probabilities, with its multinomial probability."""
    places = probability.size
    bars = np.array(list(itertools.combinations(range(n + places - 1), places - 1)), np.int64).reshape(-1, places - 1)
    edges = np.pad(bars, ((0, 0), (1, 1)), constant_values=((0, 0), (-1, n + places - 1)))
    counts = np.diff(edges, axis=1) - 1
    chance = np.exp(gammaln(n + 1) + (xlogy(counts, probability.ravel()) - gammaln(counts + 1)).sum(axis=1))
    possible = chance > 0
    yield from zip(counts[possible].reshape(-1, *probability.shape), chance[possible].tolist(), strict=True)


def summary_of(score: tuple[float, ...], count: Integers) -> Summary:
    """The Summary of `count` rows per score and label, without going through the rows."""
    held = count.any(axis=1)
    x, count = np.array(score)[held], count[held].astype(np.int64)
    cell, offset = cells.locate(np.floor(x * cells.UNIT).astype(np.int64))
    number, place = np.unique(cell, return_inverse=True)
    table = np.zeros((2, number.size, 2), np.int64)
    np.add.at(table[0], place, count)
    np.add.at(table[1], place, count * offset[:, None])
    return Summary(number, table[0], table[1], x.view(np.int64), count)


def by_cells(score: Floats, label: Integers) -> Summary:
    """The Summary of rows, known only to their cells."""
    cell, offset = cells.locate(np.floor(score * cells.UNIT).astype(np.int64))
    number, place = np.unique(cell, return_inverse=True)
    table = np.zeros((2, number.size, 2), np.int64)
    np.add.at(table[0], (place, label), 1)
    np.add.at(table[1], (place, label), offset)
    return Summary(number, table[0], table[1], None, None)


def upper(terms: dict[str, float], cut: float = 0.0) -> float:
    """The bound that terms add up to, its sampling part made smaller by the share `cut`."""
    return math.fsum(terms.values()) - cut * max(terms["sampling"], 0.0)


def miss_probability(law: Law, n: int, bound: Callable[[Summary], float], truth: float) -> float:
    """The exact probability, over all outcomes of n rows, that an upper bound is below the truth."""
    chances = [chance for count, chance in law.outcomes(n) if bound(summary_of(law.score, count)) < truth - ROUNDING]
    return math.fsum(chances)


def one_score_miss(terms: Callable[[Summary], dict[str, float]], law: Law, n: int, truth: float, cut: float) -> float:
    """The exact probability that n rows on one score, above its chance, give an upper bound below the truth.

    The bound falls as label 1 becomes more frequent, as long as the plug-in does; in large samples all counts beyond,
    of no probability to apply to, are called misses.
    """
    (score,), (chance,) = law.score, law.chance

    def misses(positives: int) -> bool:
        return upper(terms(summary_of((score,), np.array([[n - positives, positives]]))), cut) < truth - ROUNDING

    if n <= 10:
        return math.fsum(binom.pmf(k, n, chance) for k in range(n + 1) if misses(k))
    low, high = int(n * chance), int(n * (chance + (score - chance) * 0.95))
    if not misses(high):
        return float(binom.sf(high, n, chance))
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if misses(middle) else (middle, high)
    return float(binom.sf(high - 1, n, chance))


def too_many(misses: int, runs: int, delta: float) -> bool:
    """Whether so many misses would come about less than once in a million times if each had probability delta."""
    return misses > binom.isf(1e-6, runs, delta)


@contextmanager
def asking_only_for(truth: float) -> Iterator[None]:
    """Inside, an inversion answers one question only: is `truth` a candidate? Then it returns it, else as ever.

    A bound is the greatest candidate, so it covers the truth exactly when the truth is at most some candidate; this
    saves the search where the answer is plain, and changes no answer.
    """

    def invert(plug_in: float, second_moment: float, n: float, delta: float, limit: deviations.Limit) -> float:
        inside = truth <= math.sqrt(second_moment)
        if inside and truth - limit(second_moment - truth**2, 1 + truth, n, delta) <= plug_in:
            return max(truth, min(plug_in, math.sqrt(second_moment)))
        return deviations.invert(plug_in, second_moment, n, delta, limit)

    def invert_squared(plug_in: float, n: float, delta: float) -> float:
        if truth - bernstein(4 * truth / 3 - truth**2, 1 + truth, n, delta) <= plug_in:
            return max(truth, min(plug_in, 1.0))
        return deviations.invert_squared(plug_in, n, delta)

    with (
        mock.patch.object(sampling_term, "invert", invert),
        mock.patch.object(squared, "invert_squared", invert_squared),
    ):
        yield


@contextmanager
def remembering_groups() -> Iterator[None]:
    """Inside, groups are chosen once for the same scores, however their labels fall: the choice sees no labels.

    For one law and one theorem at a time, since what was chosen for one bias is not right for another.
    """
    known: dict[tuple[bytes, bytes], tuple[float, float]] = {}
    best_groups = bounded_variation.best_groups

    def best(rows: bounded_variation.Rows, bias: bounded_variation.Bias, position: Floats) -> tuple[float, float]:
        key = (np.append(rows.share, rows.n).tobytes(), np.asarray(position).tobytes())
        if key not in known:
            known[key] = best_groups(rows, bias, position)
        return known[key]

    with (
        mock.patch.object(bounded_variation, "best_groups", best),
        mock.patch.object(lipschitz, "best_groups", best),
    ):
        yield
