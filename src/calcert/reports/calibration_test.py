"""test: rows in, the p-value of perfect calibration out, as a CalibrationTest."""

# ruff: noqa: PT028

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from calcert.certificates.perfect_calibration import perfect_calibration
from calcert.foundation.result import Result
from calcert.foundation.validation import check_seed
from calcert.sources import summarize
from calcert.summary.summary import Summary


@dataclass(frozen=True)
class CalibrationTest(Result):
    """The p-value of perfect calibration: at most alpha with probability at most alpha, if E[Y|X] = X.

    Attributes
    ----------
    p_value
        Small where labels drawn from the scores seldom look as bad as the labels that were seen.
    statistic
        The largest miscount in a range of scores, per row of all rows.
    draws
        How often labels were drawn; the p-value is no smaller than one over one more than that.
    hidden
        What was added to the p-value for scores that are known to their cell only; 0 where they are listed.
    n, seed
        The number of rows, and the seed of the draws.
    drawn
        What the statistic was in the draws: 101 quantiles, from the smallest to the largest.

    Examples
    --------
    >>> calcert.test([0.5] * 20, [1] * 20)
    CalibrationTest(p_value=0.001, statistic=0.5, draws=999, hidden=0.0, n=20, seed=0)
    """

    kind: ClassVar = "test"
    noun: ClassVar = "the test"

    p_value: float
    statistic: float
    draws: int
    hidden: float
    n: int
    seed: int
    drawn: tuple[float, ...] = field(repr=False)

    def __post_init__(self) -> None:
        if not (0 < self.p_value <= 1 and self.draws >= 1 and self.n >= 1 and self.drawn):
            raise ValueError(f"a test must have a p-value from above 0 to 1, draws and rows; got {self!r}.")

    def _rows(self) -> list[dict[str, Any]]:
        return [{name: value for name, value in vars(self).items() if name != "drawn"}]


def test(
    scores: Any,
    labels: Any = None,
    *,
    score: str | None = None,
    label: str | None = None,
    draws: int = 999,
    seed: int = 0,
) -> CalibrationTest:
    """Test whether a classifier is perfectly calibrated: whether every score is the chance of label 1.

    No classifier is, so that with rows enough the answer is always no; :func:`calcert.certify` says by how much. A
    large p-value is no certificate of anything.

    Guarantee
        If E[Y|X] = X, the p-value is at most alpha with probability at most alpha over labels and draws, for every
        alpha, every number of rows and whatever the scores (Theorem 15).
    Assumes
        Independent rows from the law of interest, not used to train, select or recalibrate the classifier; their
        number, `draws` and `seed` were fixed before the rows were seen, labels or scores.

    Parameters
    ----------
    scores
        Scores in [0, 1], a whole table, or a :class:`calcert.Summary`: all that :func:`calcert.certify` takes.
    labels
        Labels, 0/1 or bool; left out for a table.
    score, label
        Names of the columns of a table.
    draws
        How often labels are drawn from the scores.
    seed
        Of the draws.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(1_000)
    >>> calcert.test(x, rng.random(1_000) < x).p_value, calcert.test(x, rng.random(1_000) < x**1.5).p_value
    (0.766, 0.001)
    """
    summary = scores if isinstance(scores, Summary) else summarize(scores, labels, score=score, label=label)
    found = perfect_calibration(summary, draws=draws, seed=seed)
    return CalibrationTest(
        p_value=found.p_value,
        statistic=found.statistic,
        draws=found.drawn.size,
        hidden=found.hidden,
        n=summary.n,
        seed=check_seed(seed),
        drawn=tuple((np.quantile(found.drawn, np.linspace(0.0, 1.0, 101)) / summary.n).tolist()),
    )


# Where a test module imports it, it is not one of its tests.
test.__test__ = False  # type: ignore[attr-defined]
