"""Theorem 16: what acting on scores from a threshold on loses against the best threshold on the same score."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from calcert.certificates.certificate import CURRENT, Certificate, Lower, plain_rows, proved_for
from calcert.certificates.limits.deviations import normal_quantile
from calcert.certificates.limits.share_limits import Gain
from calcert.certificates.witnesses import random_splits
from calcert.certificates.witnesses.random_splits import middles
from calcert.foundation.array_types import Floats, Integers
from calcert.foundation.refusal import Argument, Phrase, WrongType
from calcert.foundation.rounding import ROUNDING
from calcert.foundation.validation import check_costs, check_threshold
from calcert.summary import cells
from calcert.summary.points import Points
from calcert.summary.summary import Summary

FINER, TOGETHER = 1.02, 1.5
"""The rows that take part grow by this factor at most over a block of thresholds, or by those of one point.

Blocks are ruled out together where they grow by no more than the second.
"""

FOR_LISTED, DISTANCES, DENSITY = 0.5, (0.6, 1.5), 0.2
"""The part of delta that thresholds listed beforehand have, for the lower bound, and how far they are in log-odds.

In units of the distance at which a score whose log-odds are off by so much loses three standard errors, if there is
this share of rows to a unit of log-odds at the threshold. From a third of the true distance to all of it will do.
"""


@proved_for(plain_rows)
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
    doing nothing pays nothing. A calibrated score that is used at threshold t loses nothing.

    Guarantee
        With probability at least 1 - delta over the rows, no other threshold on the score, and no rule whose
        probability to act never falls as the score rises, costs less than acting on X >= threshold by more than upper
        per row; likewise, over the rows and the random split set by the seed, one of them costs at least lower less.
        Both are in units of c + d. Nothing is assumed of the score distribution or the calibration function.
    Assumes
        Of the rows and the arguments, what :func:`calcert.certify` assumes.
    Terms
        ``plug-in``: the same for the rows, over thresholds at edges of cells; ``discretisation``: thresholds inside
        cells, the rows of the cell that holds `threshold`, and rounding; ``sampling``.

    Parameters
    ----------
    threshold
        Scores from this number on are acted on; strictly between 0 and 1. Left out, it is t.
    costs
        What a false positive and a false negative cost, and in which currency, such as ``(30, 70, "EUR")``. Left out,
        t is `threshold`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(100_000)
    >>> c = calcert.bounds.regret(x, rng.random(100_000) < x**2, threshold=0.3)
    >>> print(f"{c.lower:.3f} to {c.upper:.3f}; the truth is {0.3 * (0.3**0.5 - 0.3) - (0.3**1.5 - 0.3**3) / 3:.3f}")
    0.028 to 0.030; the truth is 0.029
    """
    decision = Decision.of(threshold, costs)
    return Certificate.of(
        summary,
        "loss against the best threshold on the same score",
        upper_terms(summary, decision, delta),
        regret_lower(summary, decision, delta, seed),
        delta,
        theorem="Theorem 16",
        subject=f"{CURRENT}, used at threshold {decision.threshold:g}",
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
                either: Phrase = (Argument("threshold"), " or ", Argument("costs"))
                raise WrongType(either, "must be given", "neither", "", ("Pass ", Argument("threshold", 0.3), "."))
            level = check_threshold(threshold)
            return cls(level, level)
        false_positive, false_negative, _ = check_costs(costs)
        level = false_positive / (false_positive + false_negative)
        return cls(level if threshold is None else check_threshold(threshold), level)


class Side(NamedTuple):
    """What thresholds on one side would gain, from the given one outward, point by point; first that of no point.

    A row that gains gains `pay`, and one that loses 1 - pay. `seen` is the total of the rows for thresholds at edges of
    points, and `most` at least that of any in the point. `least_rows` and `most_rows` enclose the rows that take part.
    """

    pay: float
    seen: Floats
    most: Floats
    least_rows: Integers
    most_rows: Integers

    def blocks(self) -> Floats:
        """For each block of thresholds the largest total and how many rows take part at least and at most; a column."""
        start = np.flatnonzero(np.diff(np.floor(np.log(self.most_rows + 1) / math.log(FINER)), prepend=-1))
        end = np.append(start[1:], self.seen.size) - 1
        return np.stack([np.maximum.reduceat(self.most, start), self.least_rows[start], self.most_rows[end]])


def upper_terms(summary: Summary, decision: Decision, delta: float) -> dict[str, float]:
    """The terms of the upper bound of Theorem 16 at confidence 1 - delta."""
    n, found = summary.n, sides(summary.points, summary.points.count, decision)
    plug_in = max(float(side.seen.max()) for side in found) / n
    discretisation = max(float(side.most.max()) for side in found) / n - plug_in + ROUNDING
    upper = plug_in + discretisation
    for side in found:
        upper = _largest(side, n, delta, upper)
    return {"plug-in": plug_in, "discretisation": discretisation, "sampling": upper - plug_in - discretisation}


def _largest(side: Side, n: int, delta: float, upper: float) -> float:
    """The largest limit of Lemma T over all thresholds of a side, or `upper` if that is larger."""
    total, least, most = side.blocks()

    def gain(first: int, last: int) -> Gain:
        return Gain(float(total[first:last].max()), float(least[first]), float(most[last - 1]), n, side.pay)

    hopeful = int((total - normal_quantile(delta) * np.sqrt(side.pay * (1 - side.pay) * most)).argmax())
    upper = gain(hopeful, hopeful + 1).upper(delta, upper)
    stretches = [(0, total.size)]
    while stretches:
        first, last = stretches.pop()
        if last - first == 1:
            upper = gain(first, last).upper(delta, upper)
        elif most[last - 1] > TOGETHER * (least[first] + 1) or gain(first, last).may_exceed(upper, delta):
            middle = (first + last) // 2
            stretches += [(middle, last), (first, middle)]
    return upper


def sides(points: Points, count: Integers, decision: Decision, opposite: bool = False) -> list[Side]:
    """Thresholds below the given one, where more rows are acted on, and above it, where fewer are.

    The rows are those of `count`, at some of the points. Where `opposite`, what is gained is what is lost.
    """
    below, above = placed(points, decision.threshold)
    cut, exact = count[~below & ~above].sum(axis=0), points.exact or opposite
    return [
        _outward(rows, cut, 1 - pay if opposite else pay, gaining ^ opposite, exact)
        for rows, pay, gaining in (
            (count[below][::-1], 1 - decision.level, 1),
            (count[above], decision.level, 0),
        )
    ]


def placed(points: Points, threshold: float) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which points have all their rows below the threshold, and which at it or above; neither, where it cuts a cell."""
    if points.exact:
        return points.low < threshold, points.low >= threshold
    # Rows of a cell lie below its right edge.
    return (points.high <= threshold) & (points.low < threshold), points.low >= threshold


def _outward(count: Integers, cut: Integers, pay: float, gaining: int, exact: bool) -> Side:
    """Totals over points in order: rows with the label `gaining` gain `pay`, the others lose 1 - pay."""
    up, down = count[:, gaining] * pay, count[:, 1 - gaining] * (1 - pay)
    seen, inside = np.append(0.0, np.cumsum(up - down)), np.append(0, np.cumsum(count.sum(axis=1)))
    # Rows of the cell that holds the threshold may be on this side: those that gain are, those that lose are not.
    charge, before = cut[gaining] * pay, np.append(0, np.arange(count.shape[0]))
    most = charge + (seen if exact else seen[before] + np.append(0.0, up))
    return Side(pay, seen, most, inside if exact else inside[before], inside + cut.sum())


def regret_lower(summary: Summary, decision: Decision, delta: float, seed: int) -> Lower:
    """A lower bound at confidence 1 - delta: the larger of two, by thresholds listed beforehand and by random splits.

    Of the splits a quarter of the rows chooses the best other threshold and the rest judge it. Quarters are drawn by
    the seed, some at a time, and each has a limit at half the level. The bound is the one that half of the limits
    reach: seldom are so many too large, whatever the seed.
    """
    points = summary.points if summary.is_finite else middles(summary)
    quarters = random_splits.splits(points, seed)[:, 0]
    level = (1 - FOR_LISTED) * delta / 2
    limits = [_saved(points, middles(summary), quarter, decision, level) for quarter in quarters]
    return Lower(max(sorted(limits)[len(limits) // 2], _saved_by_listed(summary, decision, FOR_LISTED * delta)))


def _saved_by_listed(summary: Summary, decision: Decision, delta: float) -> float:
    """At most what one of a few thresholds saves, which the number of rows and the decision choose; delta for all."""
    spread = decision.level * (1 - decision.level) * DENSITY * summary.n
    if spread < 1e-200 or decision.threshold >= 1:
        return 0.0
    logit = math.log(decision.threshold / (1 - decision.threshold))
    scale = (36 / spread) ** (1 / 3)
    limits = [0.0]
    for which, sign in ((0, -1), (1, 1)):
        for distance in DISTANCES:
            place = int(cells.UNIT / (1 + math.exp(-min(max(logit + sign * distance * scale, -700.0), 700.0))))
            edge = float(cells.bounds(cells.locate(np.array([place]))[0])[0][0]) * cells.RESOLUTION
            level = delta / (2 * len(DISTANCES))
            limits.append(_not_lost(summary.points, summary.points.count, decision, which, edge, level))
    return max(limits)


def _saved(points: Points, blocks: Points, quarter: Integers, decision: Decision, delta: float) -> float:
    """At most what another threshold saves, which a quarter of the rows chooses and the others judge.

    The quarter is told by blocks, whether or not all scores are listed: which of the two it is depends on the others.
    Of the edges of blocks the one is taken whose limit should be the largest, by its mean and standard error.
    """
    known, rest = int(quarter.sum()), int(points.count.sum() - quarter.sum())
    if not known or not rest:
        return 0.0
    count = np.zeros_like(blocks.count)
    np.add.at(count, np.searchsorted(blocks.low, points.low, side="right") - 1, quarter)
    # A guess: rows of the block that holds the threshold are at it or above.
    below, nothing = placed(blocks, decision.threshold)[0], np.zeros(2, np.int64)
    choices = []
    for rows, edges, pay, gaining in (
        (count[below][::-1], blocks.low[below][::-1], 1 - decision.level, 1),
        (count[~below], np.where(blocks.high > blocks.low, blocks.high, np.inf)[~below], decision.level, 0),
    ):
        side = _outward(rows, nothing, pay, gaining, exact=True)
        mean, share = side.seen / known, side.least_rows / known
        square = pay * (1 - pay) * share + (2 * pay - 1) * mean
        hope = mean + normal_quantile(delta) * np.sqrt(np.maximum(square - mean**2, 0.0) / rest)
        place = int(hope.argmax())
        choices.append((float(hope[place]), float(edges[place - 1]) if place else decision.threshold))
    which = int(choices[1][0] > choices[0][0])
    edge = choices[which][1]
    return _not_lost(points, points.count - quarter, decision, which, edge, delta)


def _not_lost(points: Points, count: Integers, decision: Decision, which: int, edge: float, delta: float) -> float:
    """A lower limit for what `edge` saves, below the threshold or above it, from the rows of `count`.

    What is saved is at least what is not lost: Lemma T for the gain with its sign changed.
    """
    side = sides(points, count, decision, opposite=True)[which]
    inside = placed(points, decision.threshold)[which] & ((points.low < edge) if which else (points.low >= edge))
    place = int(inside.sum())
    least, most, rows = side.least_rows[place], side.most_rows[place], int(count.sum())
    return max(0.0, -Gain(float(side.most[place]), float(least), float(most), rows, side.pay).upper(delta))
