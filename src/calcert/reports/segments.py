"""Segments: all values of some columns, and all pairs of values, certified together."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from calcert.certificates.certificate import Certificate
from calcert.certificates.cutoff import WorstRange, worst_range
from calcert.certificates.limits.deviations import mean_upper
from calcert.certificates.limits.share_limits import share_lower, share_upper
from calcert.certificates.limits.strata_limits import Strata
from calcert.certificates.segments import segment_cutoff
from calcert.foundation.result import Result
from calcert.foundation.validation import check_confidence
from calcert.reports.advice_and_warnings import too_good
from calcert.reports.settings import Settings
from calcert.sources.rows import Rows
from calcert.summary.cells import RESOLUTION
from calcert.summary.summary import Summary

FOR_COLUMNS = 0.8
"""The part of delta for the values of single columns; pairs of values share the rest."""


@dataclass(frozen=True)
class Segment:
    """One segment: observed over expected positives between limits, all of which hold together.

    Attributes
    ----------
    name
        Its values, such as "region=north, age_band=60+".
    rows, observed, expected
        The number of its rows, of those with label 1, and the sum of their scores.
    lower, upper
        Limits for the mean probability of label 1 of these rows over their mean score, given all scores; infinity where
        the scores are all 0.

    Examples
    --------
    >>> north = calcert.reports.segments.Segment("region=north", 500, 90, 60.0, 1.2, 1.9)
    >>> north.ratio, north.scores_are, north.proven
    (1.5, 'too low', True)
    """

    derived: ClassVar = ("ratio", "scores_are", "proven")

    name: str
    rows: int
    observed: int
    expected: float
    lower: float
    upper: float

    @property
    def ratio(self) -> float:
        """Observed over expected of the rows: an estimate."""
        return self.observed / self.expected if self.expected > 0 else math.nan

    @property
    def scores_are(self) -> str:
        """To which side the scores err in these rows."""
        return "too low" if self.observed > self.expected else "too high"

    @property
    def proven(self) -> bool:
        """True where it is proven that the scores of these rows err to that side on average."""
        return self.lower > 1 or self.upper < 1

    @property
    def proven_positives(self) -> float:
        """At least so many positives too many or too few, for as many expected ones as there are here."""
        return self.expected * max(self.lower - 1, 1 - self.upper, 0.0)


@dataclass(frozen=True)
class SegmentReport(Result):
    """What :func:`calcert.certify` returns where several columns of groups are named.

    Attributes
    ----------
    confidence
        The limits of all segments hold together with at least this probability, and so does `bound`.
    columns
        The columns whose values, and pairs of values, are segments.
    segments
        Those that have rows: proven ones first, the most positives too many or too few first; then the others, those
        with most rows first.
    bound
        The cutoff calibration error of the worst segment, per row of all rows: Theorem 18.
    worst, worst_range
        The segment and the score range that are furthest off in these rows: estimates.
    n
        The number of rows.
    clusters
        In how many clusters they come, in words; nothing where rows are independent.
    warnings
        What looks wrong of all rows together.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x, region, age = rng.random(20_000), rng.integers(0, 4, 20_000), rng.integers(0, 3, 20_000)
    >>> import pandas as pd
    >>> rows = pd.DataFrame({"p": x, "y": rng.random(20_000) < np.where(region == 2, 0.8 * x, x), "region": region})
    >>> report = calcert.certify(rows.assign(age=age), score="p", label="y", groups=["region", "age"])
    >>> first = report.segments[0]
    >>> first.name, first.scores_are, first.proven
    ('region=2', 'too high', True)
    """

    kind: ClassVar = "segments"
    noun: ClassVar = "the report"

    confidence: float
    columns: tuple[str, ...]
    segments: tuple[Segment, ...]
    bound: Certificate
    worst: str
    worst_range: WorstRange
    n: int
    clusters: str = ""
    warnings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_confidence(self.confidence)
        if not self.segments:
            raise ValueError("there must be at least one segment; got none.")

    @property
    def proven(self) -> tuple[Segment, ...]:
        """The segments that are proven to be off."""
        return tuple(segment for segment in self.segments if segment.proven)

    def _rows(self) -> list[dict[str, Any]]:
        names = ("name", "rows", "observed", "expected", "ratio", "lower", "upper", "scores_are", "proven")
        return [{name: getattr(segment, name) for name in names} for segment in self.segments]


def certify_segments(rows: Rows, settings: Settings) -> SegmentReport:
    """Certify all values of some columns and all pairs of values.

    Guarantee
        With probability at least 1 - delta no score range of any segment, seen or not, adds up to more or less than
        its positives by more than `bound.upper` per row of all rows (Theorem 18). With the same probability, given all
        scores and attributes, the limits for observed over expected hold for all segments that have rows.
    Assumes
        Independent rows, or clusters. The columns were named before the rows were seen, and hold attributes of their
        own row that depend neither on labels nor on other rows.
    """
    columns, parts, everything = rows.by_segment()
    segments = []
    shares = _shares({names: len(partition) for names, partition in parts.items()})
    for names, partition in parts.items():
        segments += _segments(partition, settings.delta * shares[names] / len(partition))
    together = {name: part for partition in parts.values() for name, part in partition.items()}
    bound, worst = segment_cutoff(everything, together, delta=settings.delta, seed=settings.seed)
    return SegmentReport(
        confidence=settings.confidence,
        columns=columns,
        segments=tuple(sorted(segments, key=lambda s: (not s.proven, -s.proven_positives, -s.rows, s.name))),
        bound=bound,
        worst=worst,
        worst_range=worst_range(replace(together[worst], clusters=None)),
        n=everything.rows,
        clusters="" if everything.clusters is None else everything.clusters.words,
        warnings=tuple(too_good(everything)),
    )


def _shares(values: Mapping[tuple[str, ...], int]) -> dict[tuple[str, ...], float]:
    """What part of delta each partition has, by how many of its parts have rows.

    Columns together have more than pairs of columns, and those of many values more, but not in proportion.
    """
    roots = {names: math.sqrt(number) for names, number in values.items()}
    of_columns = math.fsum(root for names, root in roots.items() if len(names) == 1)
    of_pairs = math.fsum(roots.values()) - of_columns
    alone = FOR_COLUMNS if of_pairs else 1.0
    return {
        names: alone * root / of_columns if len(names) == 1 else (1 - alone) * root / of_pairs
        for names, root in roots.items()
    }


def _segments(partition: Mapping[str, Summary], level: float) -> list[Segment]:
    """The segments of one partition: limits at half the level each for the mean probability, given the scores."""
    rows, observed = (np.array([getattr(part, name) for part in partition.values()]) for name in ("n", "positives"))
    mean = np.array([part.mean_score for part in partition.values()])
    if all(part.clusters is None for part in partition.values()):
        least, most = share_lower(observed, rows, level / 2), share_upper(observed, rows, level / 2)  # D4
        for place, part in enumerate(partition.values()):
            strata = Strata.of(part)
            if strata is not None and strata.is_worth(level / 2):  # D6
                least[place], most[place] = strata.lower(level / 2), 1 - strata.opposite.lower(level / 2)
    else:
        most = np.array([_share_upper(part, part.positives, level / 2) for part in partition.values()])
        least = 1 - np.array([_share_upper(part, part.n - part.positives, level / 2) for part in partition.values()])
    # The mean score is low by less than the resolution.
    lower = least / np.maximum(mean + RESOLUTION, 1e-300)
    upper = np.where(mean > 0, most / np.maximum(mean, 1e-300), math.inf)
    columns = (rows, observed, mean * rows, lower, upper)
    return [Segment(name, *of) for name, *of in zip(partition, *(column.tolist() for column in columns), strict=True)]


def _share_upper(part: Summary, hits: int, level: float) -> float:
    """An upper limit for the mean probability where rows of a cluster may depend on each other in any way.

    D1 for the hits of clusters over the most that one can have, and Hoeffding: both fail where the hits are few, so
    that one of the two events contains the other.
    """
    clusters = part.clusters
    assert clusters is not None
    whole = clusters.number * clusters.largest
    even = mean_upper(hits / whole, clusters.number, level) * whole
    return min((even * (1 + 1e-12)) / part.n, hits / part.n + _spread(float(clusters.squares), level) / part.n, 1.0)


def _spread(squares: float, level: float) -> float:
    return math.sqrt(squares * math.log(1 / level) / 2) * (1 + 1e-12)
