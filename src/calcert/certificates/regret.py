"""Theorem 16: what acting on scores from a threshold on loses against the best threshold on the same score."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from calcert.certificates.certificate import Certificate, Lower
from calcert.certificates.limits.deviations import iid_limit
from calcert.certificates.limits.inversion import invert
from calcert.certificates.limits.second_moment import SPLIT, convex_upper
from calcert.certificates.witnesses import random_splits
from calcert.certificates.witnesses.betting import in_turn, lower_limit
from calcert.certificates.witnesses.joined_cells import middles
from calcert.foundation.array_types import Floats, Integers
from calcert.foundation.decision_arguments import check_costs, check_threshold
from calcert.foundation.rounding import ROUNDING
from calcert.foundation.validation import check_delta, check_seed, check_summary
from calcert.summary.points import Points
from calcert.summary.summary import Summary

FINER = 1.05
"""Second moments of one block of thresholds differ by this factor at most, or are those of one point."""


def regret(
    summary: Summary,
    *,
    threshold: float | None = None,
    costs: Sequence[float | str] | None = None,
    delta: float = 0.05,
    seed: int = 0,
) -> Certificate:
    """Certify what acting on scores from `threshold` on loses per row against the best threshold on the same score.

    A false positive costs c and a false negative d. In units of c + d an action then pays Y - t, t = c / (c + d), and
    doing nothing pays nothing. A calibrated score that is acted on from t on loses nothing.

    Guarantee
        With probability at least 1 - delta over the rows, no other threshold on the score, and no rule whose
        probability to act never falls as the score rises, costs less than acting on X >= threshold by more than upper
        per row; likewise, over the rows and the random split set by the seed, one of them costs at least lower less.
        Both are in units of c + d. Nothing is assumed of the score distribution or the calibration function.
    Assumes
        Independent rows from the target population, not used to train, select or recalibrate the classifier; their
        number, `threshold`, `costs`, `delta` and `seed` were fixed before the rows were seen, labels or scores.
    Terms
        ``plug-in``: the same for the rows, over thresholds at edges of cells; ``discretisation``: thresholds inside
        cells, the rows of the cell that holds `threshold`, and rounding; ``sampling``.

    Parameters
    ----------
    summary
        What :func:`calcert.summarize` returned.
    threshold
        Scores from this number on are acted on; strictly between 0 and 1. Left out, it is t.
    costs
        What a false positive and a false negative cost, and in which currency, such as ``(30, 70, "EUR")``. Left out,
        t is `threshold`.
    delta
        Probability with which each bound may fail.
    seed
        Splits the rows into batches for the lower bound.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(100_000)
    >>> c = calcert.bounds.regret(x, rng.random(100_000) < x**2, threshold=0.3)
    >>> print(f"{c.lower:.3f} to {c.upper:.3f}; the truth is {0.3 * (0.3**0.5 - 0.3) - (0.3**1.5 - 0.3**3) / 3:.3f}")
    0.028 to 0.030; the truth is 0.029
    """
    check_summary(summary)
    decision, delta, seed = Decision.of(threshold, costs), check_delta(delta), check_seed(seed)
    return Certificate.from_terms(
        quantity="loss against the best threshold on the same score",
        subject=f"with its current scores, acted on from {decision.threshold:g} on",
        assumption="none",
        lower=regret_lower(summary, decision, delta, seed),
        delta=delta,
        n=summary.rows,
        theorem="Theorem 16",
        terms=upper_terms(summary, decision, delta),
        parameters={"threshold": decision.threshold, "level": decision.level, "seed": seed},
    )


class Decision(NamedTuple):
    """Scores from `threshold` on are acted on; an action pays the label less `level`."""

    threshold: float
    level: float

    @classmethod
    def of(cls, threshold: float | None, costs: Sequence[float | str] | None) -> Decision:
        """From what is given of threshold and costs, either of which says the other."""
        if costs is None:
            if threshold is None:
                raise TypeError("threshold must be given, or costs; got neither. Pass threshold=0.3.")
            level = check_threshold(threshold)
            return cls(level, level)
        false_positive, false_negative, _ = check_costs(costs)
        level = false_positive / (false_positive + false_negative)
        return cls(level if threshold is None else check_threshold(threshold), level)

    @property
    def size(self) -> float:
        """The most that a row can gain or lose."""
        return max(self.level, 1 - self.level)


class Sums(NamedTuple):
    """What thresholds on one side would earn, from the given one outward, point by point.

    `seen` is the mean over the rows for thresholds at edges of points, `most` at least that of any up to there, and
    `square` at least the mean of the square.
    """

    seen: Floats
    most: Floats
    square: Floats


def upper_terms(summary: Summary, decision: Decision, delta: float) -> dict[str, float]:
    """The terms of the upper bound of Theorem 16 at confidence 1 - delta."""
    found, size = sides(summary, decision), decision.size
    plug_in = max(0.0, *(float(side.seen.max(initial=0.0)) for side in found))
    rounding = ROUNDING + (sum(side.seen.size for side in found) + 16) * float(np.finfo(float).eps)
    most = max(float(side.most.max(initial=0.0)) for side in found)
    upper = 0.0
    for mean, square in staircase([block for side in found for block in blocks(side)]):
        second = convex_upper(min((square + rounding) / size**2, 1.0), summary.n, (1 - SPLIT) * delta)
        upper = max(upper, invert((mean + rounding) / size, second, summary.n, SPLIT * delta, iid_limit) * size)
    discretisation = most - plug_in + rounding
    return {"plug-in": plug_in, "discretisation": discretisation, "sampling": upper - plug_in - discretisation}


def sides(summary: Summary, decision: Decision) -> tuple[Sums, Sums]:
    """Thresholds below the given one, where more rows are acted on, and above it, where fewer are."""
    points, size = summary.points, (decision.level, 1 - decision.level)
    below, above = placed(points, decision.threshold)
    share = points.count / summary.n
    cut = share[~below & ~above].sum(axis=0)
    return (
        _outward(share[below][::-1], cut, size, 1, points.exact),
        _outward(share[above], cut, size, 0, points.exact),
    )


def placed(points: Points, threshold: float) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which points have all their rows below the threshold, and which at it or above; neither, where it cuts a cell."""
    if points.exact:
        return points.low < threshold, points.low >= threshold
    # Rows of a cell lie below its right edge.
    return (points.high <= threshold) & (points.low < threshold), points.low >= threshold


def _outward(share: Floats, cut: Floats, size: tuple[float, float], gaining: int, exact: bool) -> Sums:
    """Sums over points in order; rows with the label `gaining` earn, the others cost, each its `size`."""
    up, down = share[:, gaining] * size[gaining], share[:, 1 - gaining] * size[1 - gaining]
    # Rows of the cell that holds the threshold may be on this side: those that earn are, those that cost are not.
    charge, square = cut[gaining] * size[gaining], float(cut @ np.square(size))
    seen = np.cumsum(up - down)
    before = charge + np.append(0.0, seen[:-1])
    most = charge + seen if exact else before + up
    squares = square + np.cumsum(up * size[gaining] + down * size[1 - gaining])
    return Sums(seen, np.append(charge, most[: seen.size]), np.append(square, squares))


def blocks(side: Sums) -> list[tuple[float, float]]:
    """The largest mean of each block of thresholds, and the second moment at its far end, which is the largest."""
    positive = np.maximum(side.square, 1e-300)
    start = np.flatnonzero(np.diff(np.floor(np.log(positive) / math.log(FINER)), prepend=-np.inf))
    end = np.append(start[1:], positive.size) - 1
    return list(zip(np.maximum.reduceat(side.most, start).tolist(), side.square[end].tolist(), strict=True))


def staircase(found: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Those of which no other has both a larger mean and a larger second moment: limits grow with either."""
    kept: list[tuple[float, float]] = []
    for mean, square in sorted(found, reverse=True):
        if not kept or square > kept[-1][1]:
            kept.append((mean, square))
    return kept


def regret_lower(summary: Summary, decision: Decision, delta: float, seed: int) -> Lower:
    """A lower bound at confidence 1 - delta: betting on the best other threshold found so far."""
    points, level = summary.points if summary.is_finite else middles(summary), decision.level
    below, above = placed(points, decision.threshold)
    cut = ~below & ~above
    first, last = int(np.count_nonzero(below)), int(np.count_nonzero(below | cut))

    def witness(known: Integers, latest: Integers) -> Floats:
        earns = np.cumsum((known[:first, 1] * (1 - level) - known[:first, 0] * level)[::-1])
        saves = np.cumsum(known[last:, 0] * level - known[last:, 1] * (1 - level))
        gain = np.zeros((points.low.size, 2))
        lower, higher = earns.max(initial=0.0), saves.max(initial=0.0)
        # The first of equals is a point with known rows, so that it does not depend on later ones.
        if lower >= higher and lower > 0:
            gain[first - 1 - int(earns.argmax()) : first] = -level, 1 - level
            gain[cut, 0] = -level
        elif higher > 0:
            gain[last : last + int(saves.argmax()) + 1] = level, level - 1
            gain[cut, 1] = level - 1
        return gain / decision.size

    found = lower_limit(summary, delta, seed, in_turn(witness), thrown=random_splits.thrown(points, seed))
    return Lower(found.limit * decision.size, found.e_value)
