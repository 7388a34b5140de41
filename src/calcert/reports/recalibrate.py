"""recalibrate: a map that is fitted on one half of the rows, and certified on the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from calcert.certificates.certificate import Certificate
from calcert.certificates.finite import finite
from calcert.foundation.array_types import Floats
from calcert.foundation.result import Result
from calcert.foundation.validation import check_count, check_one_of
from calcert.perturbation.score_map import ScoreMap
from calcert.reports.fitted_maps import CURVES, Tallied, chosen_curve, fitted_map, most_levels
from calcert.reports.report import Report, certify_summary
from calcert.reports.settings import Settings
from calcert.reports.statements import certificate_rows
from calcert.sources.rows import Rows
from calcert.sources.rows_in_memory import RowsInMemory, rows_in_memory

FEWEST = 2
"""Rows, or clusters: one for each half."""

MOST_LEVELS = 4096


@dataclass(frozen=True)
class Recalibration(Result):
    """What :func:`calcert.recalibrate` returns: a map, and what is certified before and after it.

    Attributes
    ----------
    map
        The map itself; a call of the result applies it.
    curve
        What it was fitted by: "logistic", "beta" or "isotonic".
    l1
        The L1 calibration error after a map to few levels, certified without any assumption; None for a smooth map.
    report, before
        The certificates with the map and without it, from the same held-out rows.
    log_loss
        Estimates: the mean log loss of the held-out rows before and after, without guarantee.
    fitted_rows
        How many rows the map was fitted on; the others are those of the certificates.
    fingerprint
        That of the map that was certified: another map is refused.
    choice
        Mean log loss of each curve that was tried, on fitting rows that it had not seen; empty where one was named.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(4_000)
    >>> fixed = calcert.recalibrate(x, rng.random(4_000) < x**1.6, curve="logistic", levels=5)
    >>> fixed.map.edges
    (0.235, 0.501, 0.725, 0.894)
    >>> calcert.Recalibration.from_dict(fixed.to_dict()).map == fixed.map
    True
    """

    kind: ClassVar = "recalibration"
    noun: ClassVar = "the recalibration"

    map: ScoreMap
    curve: str
    l1: Certificate | None
    report: Report
    before: Report
    log_loss: Mapping[str, float]
    fitted_rows: int
    fingerprint: str
    choice: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.curve not in CURVES or {*self.log_loss} != {"before", "after"} or self.fitted_rows < 1:
            raise ValueError(f"curve must be one of {', '.join(CURVES)}, with rows and losses; got {self.curve!r}.")

        if self.fingerprint != self.map.fingerprint:
            raise ValueError(
                f"map must be the one that was certified, {self.fingerprint!r}; got one of {self.map.fingerprint!r}. "
                "Recalibrate again: its certificates say nothing of another map."
            )

    def __call__(self, scores: ArrayLike) -> Floats:
        """The recalibrated scores."""
        return self.map(scores)

    def sql(self, score: str, *, dialect: str | None = None) -> str:
        """The map as one SQL expression of the column `score`; NULL for what is no score.

        Without a `dialect` (duckdb, postgres or spark) the name must need no quotation marks. Numbers are the same in
        all engines up to the rounding of their logarithms.

        Examples
        --------
        >>> import duckdb
        >>> rng = np.random.default_rng(0)
        >>> x = rng.random(2_000)
        >>> fixed = calcert.recalibrate(x, rng.random(2_000) < x**2)
        >>> found = duckdb.connect().sql(f"SELECT {fixed.sql('p')} FROM (SELECT 0.5 AS p)").fetchall()
        >>> bool(found[0][0] == fixed([0.5])[0])
        True
        """
        return self.map.sql(score, dialect=dialect)

    def _rows(self) -> list[dict[str, Any]]:
        alone = {} if self.l1 is None else {"l1": self.l1}
        after = certificate_rows({"map": "after"}, {**self.report.certificates, **alone})
        return [*certificate_rows({"map": "before"}, self.before.certificates), *after]


def recalibrate(
    scores: Any,
    labels: Any = None,
    *,
    score: str | None = None,
    label: str | None = None,
    clusters: Any = None,
    curve: str | None = None,
    levels: int | None = None,
    confidence: float | None = None,
    settings: Settings | None = None,
) -> Recalibration:
    """Recalibrate a classifier on one half of the rows, and certify it on the other.

    Guarantee
        Every bound of `report` and `before`, and `l1`, holds with the probability `confidence` over the held-out rows,
        as in :func:`calcert.certify`, whatever the fitting rows were. It applies to this map; to one that is fitted
        again on all rows it does not.
    Assumes
        What :func:`calcert.certify` assumes of the rows. Arguments and the number of rows were fixed beforehand; the
        settings' seed sets the halves.

    Parameters
    ----------
    scores, labels, score, label, clusters
        The rows as in :func:`calcert.certify`: arrays, data frames, files or :class:`calcert.Rows`. Tables of engines
        must be fetched first. Rows of one cluster stay in one half.
    curve
        How the map is fitted: "logistic" regression on the log-odds (2 parameters), "beta", on ln x and ln(1 - x) (3),
        or "isotonic". Left out, the one with the smallest log loss within the fitting half.
    levels
        The map has at most so many values, which certifies its L1 error without assumption or noise; about the cube
        root of the number of rows where left out. 0 keeps a logistic curve smooth, and the ranking with it.
    confidence, settings
        As in :func:`calcert.certify`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(10_000)
    >>> fixed = calcert.recalibrate(x, rng.random(10_000) < x**1.6)
    >>> fixed([0.1, 0.5, 0.9])
    array([0.02464, 0.3218 , 0.8033 ])
    >>> print(f"at least {fixed.before.distance.lower:.3f} before, at most {fixed.l1.upper:.3f} after")
    at least 0.106 before, at most 0.028 after
    """
    fixed = Settings.of(settings, confidence)
    rows = Rows.of(scores, labels, score=score, label=label, clusters=clusters)
    if curve is not None:
        check_one_of("curve", curve, CURVES)
    if levels == 0 and curve == "isotonic":
        raise ValueError("levels must be 1 or more for an isotonic curve, which is made of levels; got 0.")
    if levels is not None and levels != 0:
        levels = check_count("levels", levels, 1, MOST_LEVELS)
    return recalibrate_rows(rows_in_memory(rows, "recalibrate"), fixed, curve, levels)


def recalibrate_rows(
    rows: RowsInMemory, settings: Settings, curve: str | None = None, levels: int | None = None
) -> Recalibration:
    """The same for rows in memory and arguments that were checked."""
    rng = np.random.default_rng([settings.seed, rows.number])
    fitting = _half(rows, rng)
    # Rows without weight say nothing of a map.
    fit, held = rows.part(fitting if rows.weights is None else fitting & (rows.weights > 0)), rows.part(~fitting)
    if not fit.number:
        raise ValueError("weights must be above 0 for some of the rows that a map is fitted on; all are 0.")
    number = most_levels(fit.number) if levels is None else levels
    choice: dict[str, float] = {}
    if curve is None:
        curve, choice = chosen_curve(fit, number, rng)
    found = fitted_map(fit, curve, number)
    mapped = found.mapped(held.scores)
    summary = held.rows(mapped).summary()
    tallied = Tallied.of(held)
    losses = {"before": tallied.log_loss(tallied.score), "after": tallied.log_loss(found.mapped(tallied.score))}
    return Recalibration(
        map=found,
        curve=curve,
        l1=finite(summary, delta=settings.delta, seed=settings.seed) if found.values else None,
        report=certify_summary(summary, settings),
        before=certify_summary(held.rows().summary(), settings),
        log_loss={name: loss / held.number for name, loss in losses.items()},
        fitted_rows=fit.number,
        fingerprint=found.fingerprint,
        choice=choice,
    )


def _half(rows: RowsInMemory, rng: np.random.Generator) -> Any:
    """Which rows the map is fitted on: a random half of them, or those of a random half of the clusters."""
    numbers = rows.cluster_numbers
    number = int(numbers.max()) + 1
    if number < FEWEST:
        what = "rows" if rows.clusters is None else "clusters"
        raise ValueError(f"recalibrate must have {FEWEST} {what} or more, as it splits them; got {number}.")
    return (rng.permutation(number) < number // 2)[numbers]
