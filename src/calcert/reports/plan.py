"""About how many rows would certify a target: an estimate, by certifying rows drawn from a law fitted to those seen."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from calcert.certificates.certificate import Certificate
from calcert.foundation.result import Result
from calcert.reports.law_for_planning import FittedLaw, FittedUnits, fit, fit_units
from calcert.reports.settings import Settings
from calcert.reports.statements import STATEMENTS, check_statement
from calcert.sources.rows import Rows
from calcert.summary.summary import Summary

DRAWS = 2
FEW = 32
STEP = 4
SHOWN = (1 / 4, 1, 4, 16)
"""Sizes that are always estimated, as multiples of the rows at hand."""


@dataclass(frozen=True)
class Plan(Result):
    """How the bounds of one statement would go with the number of rows. Estimates, but for `now`.

    Attributes
    ----------
    statement, target
        Which statement is to be certified, at most how large.
    rows
        About how many rows would do; None where no number would, as the error itself is above the target.
    limit
        About where the upper bound ends with ever more rows.
    now
        The certificate of the rows at hand.
    sizes, uppers, lowers
        Numbers of rows, increasing, and the bounds to expect there.
    rows_per_cluster
        How many rows the clusters at hand have on average; None without clusters.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(2_000)
    >>> wanted = calcert.plan(calcert.summarize(x, rng.random(2_000) < x), 0.001)
    >>> wanted.target, wanted.now.n
    (0.001, 2000)
    """

    kind: ClassVar = "plan"
    noun: ClassVar = "the plan"

    statement: str
    target: float
    rows: int | None
    limit: float
    now: Certificate
    sizes: tuple[int, ...]
    uppers: tuple[float, ...]
    lowers: tuple[float, ...]
    rows_per_cluster: float | None = None

    def _rows(self) -> list[dict[str, Any]]:
        return [
            {"rows": rows, "lower": lower, "upper": upper}
            for rows, lower, upper in zip(self.sizes, self.lowers, self.uppers, strict=True)
        ]


def plan(
    rows: Any,
    target: float,
    *,
    statement: str = "perturbed",
    confidence: float | None = None,
    settings: Settings | None = None,
) -> Plan:
    """Estimate how many rows would certify that a calibration error is at most `target`.

    No guarantee: a law is fitted to the rows (``calcert.reports.law_for_planning``), Summaries of other sizes are drawn
    from it and certified. Expect about 30% where the rows at hand show the error well, a half where they show it to a
    quarter of what the target leaves, and else the order of magnitude. More rows in clusters, or with weights, are more
    of the same: clusters of these sizes, rows kept by the same rule. Rows of a cluster are taken for as dependent as
    they can be, so that fewer may do. Leave the rows at hand out of those that certify in the end: they have chosen how
    many there are.

    Parameters
    ----------
    rows
        The rows of a pilot: :class:`calcert.Rows`, a table, or a :class:`calcert.Summary`.
    target
        The upper bound wanted, between 0 and 1.
    statement
        The name of a statement of a Report, such as "perturbed", "unmodified" or "distance".
    confidence, settings
        As in :func:`calcert.certify`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(10_000)
    >>> wanted = calcert.plan(calcert.summarize(x, rng.random(10_000) < x), 0.01)
    >>> print(f"at most {wanted.now.upper:.3f} now; about {wanted.rows:.1g} rows for 0.01")
    at most 0.023 now; about 5e+04 rows for 0.01
    """
    target, fixed = _check_target(target), Settings.of(settings, confidence)
    summary = Rows.of(rows).summary()
    statement_of_rows = STATEMENTS[check_statement(statement)].certify

    def certify(rows: Summary) -> Certificate:
        return statement_of_rows(rows, fixed)

    units = summary.units
    if units is not None and units.design.soft:
        raise ValueError(
            "summary must have labels 0 and 1 for a plan; got shares. Plan with single labels: fewer rows will do."
        )
    law = fit(summary, fixed.noise, fixed.seed) if units is None else fit_units(summary, units, fixed.noise, fixed.seed)
    expected: dict[int, tuple[float, float]] = {}

    def upper(n: int) -> float:
        if n not in expected:
            expected[n] = _expected(law, n, certify, fixed.seed)
        return expected[n][0]

    limit = upper(law.far)
    wanted = None if limit > target else _search(upper, summary.rows, target, law.far)
    for factor in SHOWN:
        upper(max(round(summary.rows * factor), FEW))
    sizes = sorted(n for n in expected if n < law.far or n == wanted)
    return Plan(
        statement=statement,
        target=target,
        rows=wanted,
        limit=limit,
        now=certify(summary),
        sizes=tuple(sizes),
        uppers=tuple(expected[n][0] for n in sizes),
        lowers=tuple(expected[n][1] for n in sizes),
        rows_per_cluster=units.rows / units.number if units is not None and units.design.clustered else None,
    )


def _search(upper: Callable[[int], float], start: int, target: float, far: int) -> int:
    """The size at which `upper` falls to the target, which it does before `far`."""
    low = high = max(start, FEW)
    while low > FEW and upper(low) <= target:
        low, high = max(low // STEP, FEW), low
    while upper(high) > target:
        low, high = high, min(high * STEP, far)
    if upper(low) <= target:
        return low
    middle = round(math.sqrt(low * high))
    low, high = (middle, high) if upper(middle) > target else (low, middle)
    # The bound is nearly a straight line in the logarithm of the size over so short a stretch.
    above, below = upper(low), upper(high)
    share = (above - target) / (above - below)
    return round(math.exp((1 - share) * math.log(low) + share * math.log(high)))


def _expected(
    law: FittedLaw | FittedUnits, n: int, certify: Callable[[Summary], Certificate], seed: int
) -> tuple[float, float]:
    """The mean bounds of a few Summaries of n rows from the law."""
    rng = np.random.default_rng([seed, n])
    drawn = [certify(law.draw(n, rng)) for _ in range(1 if n == law.far else DRAWS)]
    return float(np.mean([c.upper for c in drawn])), float(np.mean([c.lower for c in drawn]))


def _check_target(target: float) -> float:
    value = float(target)
    if not 0 < value < 1:
        raise ValueError(f"target must lie strictly between 0 and 1, such as 0.02; got {value:g}.")
    return value
