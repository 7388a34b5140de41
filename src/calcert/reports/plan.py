"""About how many rows would certify a target: an estimate from rows drawn from distributions fitted to those seen.

How much of what the rows show is error and how much noise, they cannot tell exactly. So there are three distributions:
the one whose rows would have such an upper bound on average, and two whose rows would have it, or a more extreme one,
in one of ten samples. Their errors, as good as known, lie below and above the truth in eight of ten pilots.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, ClassVar, NamedTuple

import numpy as np

from calcert.certificates.certificate import Certificate
from calcert.foundation.array_types import Floats
from calcert.foundation.number_text import TINY, at_least, given, number, rows_about, rows_text
from calcert.foundation.result import Result
from calcert.reports.advice_and_warnings import nearly_meeting, what_now
from calcert.reports.planning_distribution import FittedDistribution, fit
from calcert.reports.settings import Settings
from calcert.reports.statements import STATEMENTS, check_statement, judged_by, statements_of
from calcert.sources.rows import Rows
from calcert.summary.summary import Summary

DRAWS = 10
FAR_FOR_LOSS, MANY = 1 << 20, 1 << 14
"""For the loss at a threshold: rows of which sampling hardly matters, and rows of which one draw is enough."""
FEW = 32
STRENGTHS = (0.0, 0.5, 0.75, 1.0, 1.5, 2.5, 4.0)
SPREAD = 1.2816
"""Standard deviations: a normal variable is within them in eight of ten samples."""

FURTHEST = 1024
SIZES = {False: (1 / 4, 1, 4, 32, FURTHEST), True: (1 / 1024, 1 / 128, 1 / 16, 1 / 4, 1)}
"""Sizes from which the upper bound is estimated, as multiples of the rows at hand, that failed or passed."""

CLEARLY = 31 / 32
"""Rows are named for errors below so much of the target: nearer to it, nobody would believe their number."""

SHOWN = (1 / 4, 1, 4, 16)
"""Those that are shown."""

POWERS = (0, -1 / 3, -1 / 2, -2 / 3, -1, -2)
"""The square of an upper bound is nearly a sum of these powers of the number of rows, none of them negative."""


@dataclass(frozen=True)
class Plan(Result):
    """How the bounds of one statement would go with the number of rows. Estimates, but for `now`.

    Attributes
    ----------
    statement, target
        Which statement is to be certified, at most how large.
    rows
        About how many rows would do if the error is as estimated; None where it is estimated above the target.
    fewest, most
        About how many would do if it is as small, or as large, as these rows make likely: the truth is between in about
        eight of ten pilots. None where no number would do then.
    limit
        The error as estimated: about where the upper bound ends with ever more rows.
    now
        The certificate of the rows at hand. Only where its lower bound is above the target is it certain that no
        number of rows would do.
    sizes, uppers, lowers
        Numbers of rows, increasing, and the bounds to expect there if the error is as estimated.
    rows_per_cluster
        How many rows the clusters at hand have on average; None without clusters.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(2_000)
    >>> wanted = calcert.plan(calcert.summarize(x, rng.random(2_000) < x**1.1), 0.04, statement="distance")
    >>> print(wanted.answer())
    Estimate: between 2,100 and 14,000 rows; about 2,400 if the error is as estimated (0.0233).
    """

    kind: ClassVar = "plan"
    noun: ClassVar = "the plan"

    statement: str
    target: float
    rows: int | None
    fewest: int | None
    most: int | None
    limit: float
    now: Certificate
    sizes: tuple[int, ...]
    uppers: tuple[float, ...]
    lowers: tuple[float, ...]
    rows_per_cluster: float | None = None

    def answer(self, whose: str = "") -> str:
        """How many rows, in words; `whose` follows "rows"."""
        now = self.now
        if now.upper <= self.target:
            return f"The {rows_text(now.n)} at hand certify it already."
        estimate = f"Estimate: {self._range(whose)} {nearly_meeting(now)}".rstrip()
        return what_now(now, self.target) or estimate

    def _range(self, whose: str) -> str:
        estimated = number(self.limit) if self.limit >= 0.0001 else "about 0"
        above = f"the error is estimated at {estimated}, {_proven(self.now.lower)}."
        if self.fewest is None and self.limit < self.target:
            return f"more than {rows_about(FURTHEST * self.now.n)} rows{whose}; how many, so few rows cannot tell."
        if self.fewest is None:
            return f"probably no number of rows{whose} would do: {above}"
        fewest = rows_about(self.fewest)
        if self.rows is None:
            return f"{fewest} rows{whose} or more, if any number would do: {above}"
        each, usual = self.rows_per_cluster, rows_about(self.rows)
        among = "" if each is None else f", in {rows_about(math.ceil(self.rows / each))} such clusters,"
        about = f"about {usual}{among} if the error is as estimated ({estimated})."
        if self.most is None:
            other = f"The error may also be above {given(self.target)}; then no number of rows would be enough."
            return f"{fewest} rows{whose} or more; {about} {other}"
        if fewest == rows_about(self.most):
            return f"about {usual} rows{whose}{among.rstrip(',')}."
        return f"between {fewest} and {rows_about(self.most)} rows{whose}; {about}"

    def _rows(self) -> list[dict[str, Any]]:
        return [
            {"rows": rows, "lower": lower, "upper": upper}
            for rows, lower, upper in zip(self.sizes, self.lowers, self.uppers, strict=True)
        ]


def plan(
    rows: Any,
    target: float,
    *,
    statement: str | None = None,
    confidence: float | None = None,
    settings: Settings | None = None,
) -> Plan:
    """Estimate how many rows would certify that a calibration error is at most `target`.

    No guarantee: distributions are fitted to the rows (``calcert.reports.planning_distribution``), Summaries of other
    sizes are drawn from them and certified. A number of rows is one at which the mean of the upper bound is the target.
    None is below that of rows that have just failed. More rows in clusters, or with weights, are more of the same:
    clusters of these sizes, rows kept by the same rule. Rows of a cluster are taken for as dependent as they can be, so
    that fewer may do. Leave the rows at hand out of those that certify in the end: they decided how many there are.

    Parameters
    ----------
    rows
        The rows of a pilot: :class:`calcert.Rows`, a table, or a :class:`calcert.Summary`.
    target
        The upper bound wanted, between 0 and 1.
    statement
        Which error: "in_the_large", "l1", "cutoff", "distance", "perturbed" or "regret". Left out, it is the one that
        :func:`calcert.check` limits: "perturbed" where the settings ask for noise, else "l1".
    confidence, settings
        As in :func:`calcert.certify`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(10_000)
    >>> wanted = calcert.plan(calcert.summarize(x, rng.random(10_000) < x), 0.015)
    >>> print(f"at most {wanted.now.upper:.3f} now; about {wanted.rows:.1g} rows for 0.015")
    at most 0.021 now; about 2e+04 rows for 0.015
    """
    target, fixed = _check_target(target), Settings.of(settings, confidence)
    summary, statement = Rows.of(rows).summary(), statement or judged_by(statements_of(fixed))
    stated, clusters = STATEMENTS[check_statement(statement)], summary.clusters
    if clusters is not None and clusters.design.soft:
        raise ValueError(
            "summary must have labels 0 and 1 for a plan; got shares. Plan with single labels: fewer rows will do."
        )
    now = stated.certify(summary, fixed)
    fitted = fit(summary, fixed.noise)
    # Lemma T takes time that grows with the root of the rows, and is told apart from its limit by far fewer.
    far, many = (max(FAR_FOR_LOSS, 32 * summary.rows), MANY) if statement == "regret" else (fitted.far, fitted.far)
    draw = Draw(lambda drawn: stated.certify(drawn, fixed), fixed.seed, far, many)
    distributions = _likely_distributions(fitted, now.upper, draw)
    passed, possible = now.upper <= target, now.lower <= target
    sizes = [min(max(round(summary.rows * factor), FEW), far) for factor in SIZES[passed]]
    # No more rows than those that passed, and more than those that failed.
    allowed = (min(sizes[0], summary.rows), summary.rows) if passed else (summary.rows + 1, sizes[-1])
    known = {distribution.strength: UpperCurve.of(distribution, sizes, draw) for distribution in distributions}
    curves = [known[distribution.strength] for distribution in distributions]
    wanted = [curve.rows_for(target, *allowed) if possible else math.inf for curve in curves]
    if passed:
        wanted = [min(size, summary.rows) for size in wanted]
    # Randomness may have drawn the larger bounds for the smaller error: that is not to be told.
    fewest, usual, most = (round(size) if size < math.inf else None for size in np.maximum.accumulate(wanted))
    named = [size for size in (fewest, usual, most) if size is not None]
    shown = sorted({*named, *(max(round(summary.rows * factor), FEW) for factor in SHOWN)})
    lowers = [draw(distributions[1], size).lower.mean() for size in shown]
    return Plan(
        statement=statement,
        target=target,
        rows=usual,
        fewest=fewest,
        most=most,
        limit=curves[1].limit,
        now=now,
        sizes=tuple(shown),
        uppers=tuple(curves[1].upper(size) for size in shown),
        lowers=tuple(np.maximum.accumulate(lowers).tolist()),
        rows_per_cluster=clusters.rows / clusters.number
        if clusters is not None and clusters.design.clustered
        else None,
    )


class Bounds(NamedTuple):
    """Bounds of rows drawn from a distribution, upper ones as if these had its means, and how the upper ones spread."""

    upper: Floats
    lower: Floats
    spread: float


@dataclass(frozen=True)
class Draw:
    """Certify rows that are drawn from a distribution, with the same random numbers for every distribution.

    Of `far` rows sampling hardly matters; from `many` on one draw is enough.
    """

    certify: Callable[[Summary], Certificate]
    seed: int
    far: int
    many: int

    def __call__(self, distribution: FittedDistribution, rows: int) -> Bounds:
        """The bounds of a few Summaries of so many rows."""
        rng = np.random.default_rng([self.seed, rows])
        drawn = [distribution.draw(rows, rng) for _ in range(1 if rows >= self.many else DRAWS)]
        upper, lower = np.array([(c.upper, c.lower) for c in map(self.certify, drawn)]).T
        # Most of the randomness in a bound is that of the means, and what these are in the distribution is known.
        gap = np.array([each.base_rate - each.mean_score for each in drawn]) - distribution.gap
        centred = gap - gap.mean()
        slope = float(upper @ centred) / max(float(centred @ centred), 1e-300)
        return Bounds(upper - slope * gap, lower, float(np.std(upper)))


def _likely_distributions(distribution: FittedDistribution, upper: float, draw: Draw) -> list[FittedDistribution]:
    """The distribution at three strengths: for their rows, `upper` is a high bound, a usual one and a low one."""
    found = [draw(replace(distribution, strength=each), distribution.rows.rows) for each in STRENGTHS]
    usual = np.maximum.accumulate([each.upper.mean() for each in found])
    spread = SPREAD * math.sqrt(float(np.mean([each.spread**2 for each in found])))
    return [
        replace(distribution, strength=float(np.interp(upper + side * spread, usual, STRENGTHS)))
        for side in (-1.0, 0.0, 1.0)
    ]


@dataclass(frozen=True)
class UpperCurve:
    """The upper bound to expect at every number of rows: it never rises with them."""

    weights: Floats
    limit: float

    @classmethod
    def of(cls, distribution: FittedDistribution, sizes: Sequence[int], draw: Draw) -> UpperCurve:
        """The curve through the bounds of so many rows that are drawn from a distribution."""
        start, far = distribution.rows.rows, draw.far
        found = {size: bounds for size in sizes if (bounds := draw(distribution, size).upper).max() < 1}
        limit = float(draw(distribution, far).upper[0])
        size = np.array([*(size for size, bounds in found.items() for _ in bounds), far], float)
        bound = np.array([*(each for bounds in found.values() for each in bounds), limit])
        # The spread of a bound goes with the root of the rows; of its square, with the bound too.
        sure = np.sqrt(np.minimum(size, sizes[-1] ** 2)) / np.maximum(bound, 1e-12)
        powers = (size[:, None] / start) ** np.array(POWERS)
        return cls(_least_squares(powers * sure[:, None], bound**2 * sure) * start ** -np.array(POWERS), limit)

    def upper(self, rows: float) -> float:
        """The bound to expect from so many rows."""
        return min(math.sqrt(float(self.weights @ rows ** np.array(POWERS))), 1.0)

    def rows_for(self, target: float, low: int, high: int) -> float:
        """The first number of rows, from low to high, at which the bound is the target; infinite where none is."""
        if self.upper(high) > target or self.limit > CLEARLY * target:
            return math.inf
        while high - low > max(low // 1000, 1):
            middle = round(math.sqrt(low * high))
            low, high = (middle, high) if self.upper(middle) > target else (low, middle)
        return low if self.upper(low) <= target else high


def _least_squares(columns: Floats, wanted: Floats) -> Floats:
    """Weights of columns, none negative, that come closest: the best of all choices of columns that may have one."""
    best, least = np.zeros(columns.shape[1]), math.inf
    for chosen in product((False, True), repeat=best.size):
        weights = np.zeros(best.size)
        some = np.array(chosen)
        weights[some] = np.linalg.lstsq(columns[:, some], wanted, rcond=None)[0]
        left = float(((columns @ weights - wanted) ** 2).sum())
        if weights.min() >= 0 and left < least:
            best, least = weights, left
    return best


def _proven(lower: float) -> str:
    if lower < TINY:
        return "and proven to be above 0" if lower > 0 else "though none is proven"
    return f"and proven to be at least {at_least(lower)}"


def _check_target(target: float) -> float:
    value = float(target)
    if not 0 < value < 1:
        raise ValueError(f"target must lie strictly between 0 and 1, such as 0.02; got {value:g}.")
    return value
