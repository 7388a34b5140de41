"""sample_for_labelling: which rows to label, or to keep, with the weights that certify reads back.

A row is kept with a probability that grows with what it may gain, and with a weight of one over that probability.
"""

from __future__ import annotations

import math
import numbers
import secrets
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calcert.certificates.limits.cluster_deviations import POPULATION_SPLIT, DrawnWeights
from calcert.certificates.limits.cluster_moments import Gains
from calcert.certificates.limits.deviations import Squares, iid_limit, invert, share_for_mean
from calcert.foundation.array_types import Floats, Integers
from calcert.foundation.validation import check_scores, check_seed
from calcert.sources.arrays import checked_array, checked_pair
from calcert.summary.clusters import HEAVIEST

MOST_ASIDE = 1 << 13
"""At most so many rows are looked at to fix the probabilities, and left out."""

ASIDE = 16
"""At most one row of so many is."""

FEWEST = 64
"""Fewer rows than that tell too little of the others."""


@dataclass(frozen=True, eq=False)
class Choice:
    """What :func:`calcert.sample_for_labelling` returns.

    Attributes
    ----------
    rows
        Numbers of the rows that were chosen, from 0 on, increasing.
    weights
        How much each of them counts; all 1 where every row had the same probability.
    considered, aside
        How many rows there were, and how many of them were set aside to fix the probabilities.
    rule
        What made the probabilities; None where every row had the same.
    promise
        The sampling error to expect, next to that of as many rows with equal probabilities: an estimate.
    by_label
        Whether probabilities came from labels.
    seed
        Chooses the same rows again.

    Examples
    --------
    >>> print(calcert.sample_for_labelling(np.linspace(0, 1, 10_000), 500, seed=0))
    514 of 10,000 rows, all with the same probability: unequal weights would not give tighter bounds.
    """

    rows: Integers
    weights: Floats
    considered: int
    aside: int
    rule: KeepRule | None
    promise: float
    by_label: bool
    seed: int

    @property
    def arguments(self) -> dict[str, Any]:
        """What :func:`calcert.certify` is to be told of the chosen rows; nothing where they are plain rows."""
        return {} if self.rule is None else {"weights": self.weights, **self.declared}

    @property
    def declared(self) -> dict[str, Any]:
        """The part of ``arguments`` that is known before any row is chosen."""
        if self.rule is None:
            return {}
        known = {"weight_unit": WEIGHT_UNIT, "largest_weight": self.rule.largest_weight}
        return known | ({"largest_gain": self.rule.largest_gain} if self.by_label else {})

    def __str__(self) -> str:
        chosen = f"{self.rows.size:,} of {self.considered:,} rows"
        if self.rule is None:
            why = (
                "unequal weights would not give tighter bounds"
                if self.aside
                else "rows are too few, or too many wanted, for weights"
            )
            return f"{chosen}, all with the same probability: {why}."
        return (
            f"{chosen}, with weights of at most {self.rule.largest_weight:g}: expect sampling errors of about "
            f"{self.promise:.2g} times those of as many rows with equal probabilities."
        )


def sample_for_labelling(scores: Any, budget: int, *, labels: Any = None, seed: int | None = None) -> Choice:
    """Choose which rows to label, or to keep, so that few of them certify nearly as well as many.

    Every row is drawn independently, and about `budget` rows are chosen. Without labels, probabilities follow the
    standard deviation that a label has if its score is right: that pays where a few doubtful scores stand among many
    that are next to 0 or 1. With labels, as where outcomes come by themselves and rows are dear to keep, they follow
    how far label and score are apart: a hundredth of the rows may do. Where weights promise less than a twentieth, all
    rows have the same probability.

    Guarantee
        What :func:`calcert.certify` says of the chosen rows, told ``chosen.arguments``, is about the population
        that all rows came from (Theorem U2). Probabilities are fixed by rows drawn at random and set aside, at most
        8,192 and at most a sixteenth; given those and their number, the chosen rows are independent draws from one
        distribution.
    Assumes
        Independent rows; a seed fixed before they are seen; all chosen rows get their label, and no others.

    Parameters
    ----------
    scores
        Scores in [0, 1], a one-dimensional array.
    budget
        About how many rows to choose, fewer than there are.
    labels
        Labels, 0/1 or bool, where all of them are known already.
    seed
        Seeds the draws; a fresh one is drawn where it is left out.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.beta(0.05, 0.5, 200_000)
    >>> chosen = calcert.sample_for_labelling(x, 40_000, seed=0)
    >>> labels = rng.random(chosen.rows.size) < x[chosen.rows]  # which somebody is asked for
    >>> report = calcert.certify(calcert.Rows(x[chosen.rows], labels, **chosen.arguments))
    >>> print(f"{chosen.rows.size:,} labels: at most {report.cutoff.at_most}")
    39,858 labels: at most 0.00199
    """
    if labels is None:
        x, y = check_scores(checked_array("scores", scores)), None
    else:
        x, y = checked_pair(scores, labels)
    wanted = check_budget(budget, x.size)
    drawn = secrets.randbits(128) if seed is None else check_seed(seed)
    aside = min(x.size // ASIDE, MOST_ASIDE)
    # Whether scores are looked at is decided without them.
    aside = aside if aside >= FEWEST and 2 * wanted <= x.size else 0
    number = np.random.default_rng(drawn).random(x.size)
    order = np.argpartition(number, aside)
    seen, rest = order[:aside], np.sort(order[aside:])
    rule, promise = None, 1.0
    if aside:
        rule, promise = best_rule(x[seen], None if y is None else y[seen], rest.size, wanted)
    if rule is None:
        weights, probability = np.ones(rest.size), np.full(rest.size, wanted / rest.size)
    else:
        weights = rule.weights(sizes(x[rest], None if y is None else y[rest]))
        probability = 1 / weights
    # Given which numbers are the smallest, the others are independent and uniform above them.
    lowest = float(number[seen].max()) if aside else 0.0
    kept = (number[rest] - lowest) / (1 - lowest) < probability
    if not kept.any():
        raise ValueError(
            f"budget must be large enough for any row to be drawn; got {wanted:,} of {x.size:,} rows, and none was "
            "chosen. Raise it."
        )
    return Choice(rest[kept], weights[kept], x.size, aside, rule, promise, y is not None, drawn)


def check_budget(budget: Any, rows: int) -> int:
    """A whole number of rows, and fewer than there are."""
    if isinstance(budget, bool) or not isinstance(budget, numbers.Integral) or int(budget) < 1:
        raise ValueError(f"budget must be a whole number of rows, such as 1000; got {budget!r}.")
    wanted = int(budget)
    if wanted >= rows:
        raise ValueError(
            f"budget must be smaller than the number of rows; got {wanted:,} and {rows:,} rows. Label all of them, and "
            "certify them as they are."
        )
    return wanted


Labels = NDArray[np.int8]

WEIGHT_UNIT = 1 / 64
"""Weights are whole multiples of it, and probabilities one over them."""

EVENLY = (0.0625, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875)
"""Parts of the budget that may be spread evenly; the one that promises most is taken."""

WORTH = 0.95
"""Weights that promise less than a twentieth are not worth having."""

DELTA = 0.05
"""For what is promised."""


@dataclass(frozen=True)
class KeepRule:
    """A row of some size is kept with the probability size / scale, but at least `least` and at most 1.

    Weights are rounded down to multiples of 1/64, and the row is drawn with probability one over the weight.

    Examples
    --------
    >>> KeepRule(least=0.01, scale=0.125).weights(np.array([0.0005, 0.03125, 0.9]))
    array([100.,   4.,   1.])
    """

    least: float
    scale: float

    def weights(self, size: Floats) -> Floats:
        """The weight that each row has if it is kept."""
        probability = np.clip(size / self.scale, self.least, 1.0)
        return np.asarray(np.floor(1 / probability / WEIGHT_UNIT) * WEIGHT_UNIT)

    @property
    def largest_weight(self) -> float:
        """No weight is above it, whatever the row."""
        return math.floor(1 / self.least / WEIGHT_UNIT) * WEIGHT_UNIT

    @property
    def largest_gain(self) -> float:
        """No weight times size is above it where sizes are at most 1.

        A size below the scale weighs at most scale / size, any other weighs 1.
        """
        return min(max(self.scale, 1.0), self.largest_weight)


def sizes(scores: Floats, labels: Labels | None) -> Floats:
    """|label - score| where labels are known, else the standard deviation of a label whose score is right."""
    return np.sqrt(scores * (1 - scores)) if labels is None else np.abs(labels - scores)


def best_rule(scores: Floats, labels: Labels | None, rows: int, budget: int) -> tuple[KeepRule | None, float]:
    """The rule with the smallest expected bound (Theorem U2) if scores are right, relative to equal probabilities.

    None where equal probabilities are as good. About `budget` of so many rows like these are kept.
    """
    size = sizes(scores, labels)
    # E|y - x| and E (y - x)^2.
    first, second = (2 * size**2, size**2) if labels is None else (size, size**2)
    level = share_for_mean(budget) * DELTA
    plain = invert(0.0, Squares.of(second).upper(budget, DELTA), budget, level, iid_limit)
    best: KeepRule | None = None
    promise = WORTH
    for part in EVENLY:
        least = part * budget / rows
        rule = KeepRule(least, _scale(size, least, budget / rows))
        if rule.largest_weight / WEIGHT_UNIT >= HEAVIEST:
            continue  # A Summary would not hold them.
        weights, cap = rule.weights(size), rule.largest_weight
        share = float((1 / weights).mean())
        number = max(round(rows * share), 1)
        gains = Gains(
            squares=number * float((weights * second).mean()) / share,
            mixed=number * float((weights * first).mean()) / share,
            cap=cap if labels is None else rule.largest_gain,
        )
        squares, level = float(weights.mean()) / share, (1 - POPULATION_SPLIT) * DELTA
        clusters = DrawnWeights.from_moments(number, 1 / share, squares, cap, gains, level)
        found = clusters.upper(0.0, POPULATION_SPLIT * DELTA) / plain
        if found < promise:
            best, promise = rule, found
    return best, promise if best is not None else 1.0


def _scale(size: Floats, least: float, share: float) -> float:
    """The scale at which this share of the rows is kept; a tiny one where too few rows have a size for that."""
    low, high = 1e-12, 1e12
    for _ in range(80):
        middle = math.sqrt(low * high)
        many = float((1 / KeepRule(least, middle).weights(size)).mean()) > share
        low, high = (middle, high) if many else (low, middle)
    return high
