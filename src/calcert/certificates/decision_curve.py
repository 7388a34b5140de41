"""Theorem 17: net benefit at listed thresholds in a simultaneous band, beside acting on all rows and on none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from calcert.certificates.certificate import plain_rows, proved_for
from calcert.certificates.limits.share_limits import Gain
from calcert.certificates.regret import placed
from calcert.foundation.array_types import Floats
from calcert.foundation.result import Result
from calcert.foundation.validation import check_threshold, complement
from calcert.summary.summary import Summary

THRESHOLDS = (0.1, 0.2, 0.3, 0.4, 0.5)
MOST_THRESHOLDS = 1_000


@dataclass(frozen=True)
class DecisionCurve(Result):
    """Net benefit at each threshold, and how much more it is than that of acting on all rows.

    Attributes
    ----------
    threshold
        The listed thresholds, increasing.
    net_benefit, lower, upper
        The net benefit of the rows, an estimate, and limits that hold together with probability at least 1 - delta.
    act_on_all
        The net benefit of acting on all rows, an estimate; that of acting on none is 0.
    gain_lower, gain_upper
        Limits for the net benefit less that of acting on all rows, which hold together likewise.
    confidence, n
        As given, and the number of rows.

    Examples
    --------
    >>> curve = calcert.curves.decision_curve([0.2, 0.8] * 500, [0, 1] * 500, thresholds=[0.5])
    >>> curve.net_benefit, curve.act_on_all
    ((0.5,), (0.0,))
    """

    kind: ClassVar = "decision curve"
    noun: ClassVar = "the decision curve"

    threshold: tuple[float, ...]
    net_benefit: tuple[float, ...]
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    act_on_all: tuple[float, ...]
    gain_lower: tuple[float, ...]
    gain_upper: tuple[float, ...]
    confidence: float
    n: int

    def __post_init__(self) -> None:
        for row in self._rows():
            t = row["threshold"]
            # Nothing pays more than 1, nor costs more than t / (1 - t).
            if not (0 < t < 1 and all(abs(value) <= 1 / (1 - t) + 1e-9 for value in row.values())):
                raise ValueError(f"a decision curve must have finite numbers that net benefits can have; got {row!r}.")

    @property
    def proven(self) -> list[str]:
        """For each threshold what is proven: "better than all and none", "better than none", "worse than all"...

        Two bands say so, against none and against all, and each holds with probability at least 1 - delta; both at once
        with at least 1 - 2 delta.
        """
        return [
            _proven(*limits) for limits in zip(self.lower, self.upper, self.gain_lower, self.gain_upper, strict=True)
        ]

    def _rows(self) -> list[dict[str, Any]]:
        names = ("threshold", "net_benefit", "lower", "upper", "act_on_all", "gain_lower", "gain_upper")
        columns = (getattr(self, name) for name in names)
        return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def _proven(lower: float, upper: float, gain_lower: float, gain_upper: float) -> str:
    better = [name for name, least in (("all", gain_lower), ("none", lower)) if least > 0]
    worse = [name for name, most in (("all", gain_upper), ("none", upper)) if most < 0]
    said = [f"{word} than {' and '.join(names)}" for word, names in (("better", better), ("worse", worse)) if names]
    return ", ".join(said) or "-"


@proved_for(plain_rows)
def decision_curve(summary: Summary, *, thresholds: Sequence[float] = THRESHOLDS, delta: float = 0.05) -> DecisionCurve:
    """Enclose the net benefit of acting on scores from each of some thresholds on, at all of them together.

    The net benefit at t is the share of true positives less t / (1 - t) times that of false positives:
    E[(Y - t) 1{X >= t}] / (1 - t). Acting on all rows and acting on none are the two rules that need no score.

    Guarantee
        With probability at least 1 - delta over the rows the net benefit lies between lower and upper at all listed
        thresholds; with the same probability its excess over acting on all rows lies between gain_lower and gain_upper
        at all of them. Nothing is assumed of the score distribution or the calibration function.
    Assumes
        Of the rows and the arguments, what :func:`calcert.certify` assumes.

    Parameters
    ----------
    thresholds
        Increasing, strictly between 0 and 1. The band is the narrower the fewer they are.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(10_000)
    >>> print(calcert.curves.decision_curve(x, rng.random(10_000) < x, thresholds=[0.25, 0.5]))
    10,000 rows; net benefit of acting on scores from each threshold on
    <BLANKLINE>
    threshold   at least   at most   estimate   act on all   proven
    ────────────────────────────────────────────────────────────────────────────────
         0.25     0.3537    0.3810     0.3673       0.3256   better than all and
                                                             none
          0.5     0.2284    0.2587     0.2436      -0.0116   better than all and
                                                             none
    All limits hold at once with 95% confidence, and so do all comparisons with
    acting on all rows. Acting on none has net benefit 0. Nothing is assumed
    (Theorem 17).
    """
    listed = _checked(thresholds)
    level, found = delta / (2 * len(listed)), []
    for t in listed:
        inside, cut = counts(summary, t)
        outside = summary.points.count.sum(axis=0) - inside - cut
        benefit = _interval(inside, cut, summary.n, 1 - t, 1, level)
        gain = _interval(outside, cut, summary.n, t, 0, level)
        middle = float((inside + cut / 2) @ (-t, 1 - t)) / summary.n
        found.append(np.array([middle, *benefit, summary.base_rate - t, *gain]) / (1 - t))
    names = ("net_benefit", "lower", "upper", "act_on_all", "gain_lower", "gain_upper")
    columns: dict[str, Any] = dict(zip(names, map(tuple, np.array(found).T.tolist()), strict=True))
    return DecisionCurve(threshold=tuple(listed), **columns, confidence=complement(delta), n=summary.n)


def counts(summary: Summary, threshold: float) -> tuple[Floats, Floats]:
    """Rows of each label at the threshold or above, and those of the cell that it cuts, whose side is not known."""
    points = summary.points
    below, above = placed(points, threshold)
    return points.count[above].sum(axis=0), points.count[~below & ~above].sum(axis=0)


def _interval(rows: Floats, cut: Floats, n: int, pay: float, gaining: int, level: float) -> tuple[float, float]:
    """Limits at `level` each for the mean gain: rows of the label `gaining` gain `pay`, others lose 1 - pay."""
    won, lost, more, worse = rows[gaining], rows[1 - gaining], cut[gaining], cut[1 - gaining]
    least, most = int(rows.sum()), int(rows.sum() + cut.sum())
    upper = Gain((won + more) * pay - lost * (1 - pay), least, most, n, pay).upper(level)
    opposite = Gain((lost + worse) * (1 - pay) - won * pay, least, most, n, 1 - pay).upper(level)
    return -opposite, upper


def _checked(thresholds: Sequence[float]) -> list[float]:
    listed = [check_threshold(t) for t in np.atleast_1d(np.asarray(thresholds, dtype=object)).tolist()]
    if not 1 <= len(listed) <= MOST_THRESHOLDS or any(a >= b for a, b in pairwise(listed)):
        raise ValueError(
            f"thresholds must be up to {MOST_THRESHOLDS:,} increasing numbers strictly between 0 and 1, such as "
            f"[0.1, 0.2]; got {thresholds!r}."
        )
    return listed
