"""What would move where: the calibrated score that lies nearest to the rows. An estimate, without any guarantee.

The upper bound of Theorem 6 pays for moving the rows to a calibrated score. This is that score: it shows which scores
are to blame for the distance from calibration, and where their rows would have to go. Other calibrated scores may lie
as near, and those of other rows would lie elsewhere.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from calcert.certificates.distance import placed
from calcert.certificates.limits.sampling_term import brier
from calcert.foundation.array_types import Floats
from calcert.foundation.result import Result
from calcert.foundation.validation import check_summary
from calcert.summary.summary import Summary

STRIPS = 64


@dataclass(frozen=True)
class TransportPlan(Result):
    """Rows in strips of about equal numbers, and where a calibrated score has them: an estimate.

    Attributes
    ----------
    score
        Mean score of the rows of each strip.
    negative, positive
        Share of all rows that are in the strip and have label 0, and label 1.
    goal_of_negative, goal_of_positive
        Mean calibrated score of those rows; NaN where there are none.
    distance, n
        How far rows move on average, an estimate of the distance from calibration, from above; the number of rows.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(40_000)
    >>> plan = calcert.certify(x, rng.random(40_000) < x**2).transport_plan
    >>> print(f"rows move by {plan.distance:.2f} on average")
    rows move by 0.17 on average
    """

    kind: ClassVar = "transport plan"
    noun: ClassVar = "transport plan"

    score: Floats
    negative: Floats
    positive: Floats
    goal_of_negative: Floats
    goal_of_positive: Floats
    distance: float
    n: int

    def __post_init__(self) -> None:
        labels = np.stack([self.negative, self.positive])
        if not ((labels >= 0).all() and (labels.sum(axis=0) > 0).all()):
            raise ValueError(f"a transport plan must have rows in every strip; got the shares {labels.tolist()}.")

    @property
    def mean_goal(self) -> Floats:
        """Mean calibrated score of all rows of a strip."""
        moved = (
            np.nan_to_num(self.goal_of_negative) * self.negative + np.nan_to_num(self.goal_of_positive) * self.positive
        )
        return np.asarray(moved / (self.negative + self.positive))

    def _rows(self) -> list[dict[str, Any]]:
        names = ("score", "negative", "positive", "goal_of_negative", "goal_of_positive")
        columns = (getattr(self, name).tolist() for name in names)
        return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def distance_plan(summary: Summary) -> TransportPlan:
    """The calibrated score nearest to the rows, as far as the program finds it: where it would move which rows.

    It may move rows of one score but different labels to different places. Among the rows that it takes to u, a share u
    has label 1.

    Parameters
    ----------
    summary
        What :func:`calcert.summarize` returned.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(100_000)
    >>> overconfident = calcert.summarize(x, rng.random(100_000) < 0.2 + 0.6 * x)
    >>> plan = distance_plan(overconfident)
    >>> up = plan.goal_of_positive - plan.score
    >>> print(f"rows move by {plan.distance:.3f}; those of label 1 near {plan.score[up.argmax()]:.1f} most")
    rows move by 0.038; those of label 1 near 0.2 most
    """
    # Imported late: only those who ask for a plan wait for it.
    from calcert.certificates.distance import best_plan

    check_summary(summary)
    points = placed(summary)
    plan = best_plan(points, math.sqrt(brier(points, summary.n) / summary.n))
    weight = np.stack([1 - plan.knots, plan.knots])
    # What the plan lacks of a label is at 0 or at 1, where the other label has no part.
    sums = np.stack([_moved_sum(plan.knots, plan.rows[y], weight[y] * plan.mass, float(y)) for y in (0, 1)])
    rows = plan.rows.sum(axis=0)
    strip = np.minimum(((np.cumsum(rows) - rows / 2) * STRIPS).astype(np.int64), STRIPS - 1)

    def per_strip(values: Floats) -> Floats:
        return np.asarray(np.bincount(strip, values, STRIPS), np.float64)

    filled = per_strip(rows) > 0
    share = np.stack([per_strip(plan.rows[y]) for y in (0, 1)], axis=1)[filled]
    goal = np.stack([per_strip(sums[y]) for y in (0, 1)], axis=1)[filled]
    goal = np.divide(goal, share, out=np.full(share.shape, np.nan), where=share > 0)
    score = per_strip(rows * plan.knots)[filled] / share.sum(axis=1)
    return TransportPlan(score, share[:, 0], share[:, 1], goal[:, 0], goal[:, 1], plan.cost, summary.n)


def _moved_sum(knots: Floats, rows: Floats, goals: Floats, spare: float) -> Floats:
    """Per knot, the sum over its rows of where they go: in order, the lowest rows to the lowest goals."""
    lack = max(float(rows.sum() - goals.sum()), 0.0)
    goals = goals.copy()
    goals[0 if spare == 0 else -1] += lack
    goals *= rows.sum() / max(float(goals.sum()), 1e-300)
    through = np.append(0.0, np.cumsum(goals))
    reached = np.append(0.0, np.cumsum(goals * knots))
    return np.diff(np.interp(np.append(0.0, np.cumsum(rows)), through, reached))
