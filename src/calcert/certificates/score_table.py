"""Theorem 14: the probability of label 1 at each of a few scores, in simultaneous limits; with no assumption."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from calcert.certificates.certificate import plain_rows, proved_for
from calcert.certificates.limits.share_limits import share_lower, share_upper
from calcert.certificates.miscalibrated_ranges import MiscalibratedRange, miscalibrated_ranges_at
from calcert.foundation.array_types import Floats, Integers
from calcert.foundation.result import Result
from calcert.foundation.validation import complement
from calcert.summary.points import across_labels
from calcert.summary.summary import Summary


@dataclass(frozen=True)
class ScoreTable(Result):
    """Each distinct score with its rows, its positives and simultaneous limits for the probability of label 1.

    Attributes
    ----------
    score
        The distinct scores, increasing.
    rows, positives
        The numbers of their rows, and of those with label 1.
    lower, upper
        With probability at least 1 - delta they enclose the probability of label 1 at every score of the table.
    confidence, n
        As given, and the number of rows.

    Examples
    --------
    >>> table = calcert.curves.score_table(calcert.summarize([0.25, 0.75] * 500, [0, 1] * 500))
    >>> table.rows, table.estimate
    (array([500, 500]), array([0., 1.]))
    """

    kind: ClassVar = "score table"
    noun: ClassVar = "the table"
    derived: ClassVar = ("miscalibrated_ranges",)

    score: Floats
    rows: Integers
    positives: Integers
    lower: Floats
    upper: Floats
    confidence: float
    n: int

    def __post_init__(self) -> None:
        least, most = self.positives, self.rows
        if not ((self.rows > 0).all() and (least >= 0).all() and (least <= most).all()):
            got = f"rows {self.rows.tolist()} and positives {self.positives.tolist()}"
            raise ValueError(f"a score table must have rows at every score, no fewer than positives; got {got}.")

    @property
    def estimate(self) -> Floats:
        """The share of positives at each score: an estimate."""
        return np.asarray(self.positives / self.rows)

    @property
    def miscalibrated_ranges(self) -> tuple[MiscalibratedRange, ...]:
        """Scores at which the probability is certainly off, those that matter to most rows first."""
        return miscalibrated_ranges_at(self.score, self.lower, self.upper, self.rows / self.n)

    def _rows(self) -> list[dict[str, Any]]:
        names = ("score", "rows", "positives", "estimate", "lower", "upper")
        columns = (getattr(self, name).tolist() for name in names)
        return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


@proved_for(plain_rows)
def score_table(summary: Summary, *, delta: float = 0.05) -> ScoreTable:
    """Enclose the probability of label 1 at each score of a classifier whose scores repeat, all of them together.

    Guarantee
        With probability at least 1 - delta over the labels, whatever the scores, lower <= P(Y = 1 | X = x) <= upper for
        every score x among the rows. Nothing is said of scores without rows.
    Assumes
        Of the rows and the arguments, what :func:`calcert.certify` assumes; at most 4,096 distinct scores.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.integers(1, 4, 10_000) / 4
    >>> table = calcert.curves.score_table(calcert.summarize(x, rng.random(10_000) < x**2))
    >>> for x, low, high in zip(table.score, table.lower, table.upper):
    ...     print(f"{x:.2f}: {low:.3f} to {high:.3f}")
    0.25: 0.059 to 0.080
    0.50: 0.226 to 0.262
    0.75: 0.538 to 0.580
    """
    score, count = summary.values, summary.points.count
    rows, positives = across_labels(count), count[:, 1]
    level = delta / (2 * score.size)
    return ScoreTable(
        score=score,
        rows=rows,
        positives=positives,
        lower=share_lower(positives, rows, level),
        upper=share_upper(positives, rows, level),
        confidence=complement(delta),
        n=summary.n,
    )
