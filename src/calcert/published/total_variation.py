"""The paper's bound under bounded variation: denoise the labels, judge the curve on rows it has not seen.

Exact one-dimensional total-variation denoising in linear time, at any penalty.

The problem: minimise 1/2 sum (y_i - v_i)^2 + penalty * sum |v_{i+1} - v_i|. The solution is the slope of the
shortest path (the "taut string") from (0, 0) to (n, S_n) that stays within `penalty` of the cumulative sums S_i at
every i in between (Mammen and van de Geer 1997; Davies and Kovac 2001).

* The path between given obstacles is found with a funnel: an apex, the convex chain of upper obstacles that it sees
  and the concave chain of lower ones. An obstacle enters a chain once and leaves it at most once: linear time, no
  bad cases.
* Few obstacles matter. A path that is the shortest among some of the obstacles and misses all others is the
  shortest among all. So we start with the cumulative sum at every 32nd row or so. Between two such marks the sum of
  labels in [0, 1] can neither fall nor rise faster than one a row, which confines it to a parallelogram; only where
  a corner of that reaches the edge of what the path permits are the rows between the marks looked at, and the path
  found anew. Nothing is approximated.

The box [0, 1] of the published problem never binds: clipping v to [min y, max y] raises neither the distance to y
nor the total variation, and the minimiser is unique, so it is its own clipped version.

Slopes between two obstacles of one side compare exactly for 0/1 labels: all numbers are integers below 2^53.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calcert.certificates.several import share
from calcert.foundation.array_types import Floats
from calcert.foundation.validation import check_delta, check_rng, check_variation
from calcert.kernels.strings import first_row, marks_on_string, obstacles, open_suspects, sums_below, taut_string
from calcert.published.bound import POOLED, UNNEEDED, Curve, Fold, PublishedBound, bernstein, from_folds
from calcert.published.folded_rows import FOLDS, FoldedRows, fold_rows
from calcert.sources.arrays import checked_pair

_PARTS = 4

_LONGEST_STRIDE = 32
"""Rows between two marks at most: at 32 the marks and the rows opened later are about equally many."""

_ROUNDS = 8
"""After so many rounds all rows are opened, which keeps the time linear whatever comes; two have been enough so far."""


def total_variation(
    scores: Any,
    labels: Any,
    *,
    variation: float = 1.0,
    delta: float = 0.05,
    folds: int = FOLDS,
    per_fold: bool = False,
    validation: ArrayLike | None = None,
    rng: int | np.random.Generator | None = None,
) -> PublishedBound:
    """The published bound on the calibration error under a calibration function of bounded variation.

    The labels of the training rows, in order of score, are denoised with a total-variation penalty. The bound is
    the mean distance between score and denoised curve on the validation rows, plus a Bernstein term, plus a bound
    on the denoising error, plus the price of going from the training rows to the population.

    Not a certificate: for one under the same assumption, and far tighter, see :func:`calcert.bounds.bounded_variation`.

    The default pools folds, as we read the paper; its proof does not cover that. It covers `per_fold=True`, and a given
    split, `validation`, for which Proposition 1 is printed. Theory, The published results, says why, what the bound
    wastes, and what we chose where the paper leaves a choice.

    Parameters
    ----------
    scores, labels
        Scores in [0, 1] and labels 0/1: arrays, lists, or columns of a frame.
    variation
        V, the largest total variation that the calibration function may have; 1 if it is monotone.
    delta
        The nominal probability of failure.
    folds
        The number of folds, at least 2.
    per_fold
        One bound a fold at delta/folds each, the smallest returned, in place of the pooled bound.
    validation
        In place of folds: True for each validation row, False for each training row. All validation rows are used.
    rng
        Seed or generator of the random folds, and of a perturbation if there is one.

    Examples
    --------
    >>> import numpy as np
    >>> from calcert import published
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.random(100_000)
    >>> labels = rng.random(100_000) < scores
    >>> bound = published.total_variation(scores, labels, rng=0)
    >>> round(bound.value, 3), {name: round(term, 3) for name, term in bound.terms.items()}
    (0.184, {'gap to the curve': 0.017, 'denoising': 0.15, 'transfer': 0.016, 'Bernstein, gap': 0.001})
    """
    x, y = checked_pair(scores, labels)
    v, level = check_variation(variation), check_delta(delta)
    rows = fold_rows(x, y, folds=folds, rng=check_rng(rng), validation=validation)
    return denoised(rows, variation=v, delta=level, per_fold=per_fold)


def denoised(rows: FoldedRows, *, variation: float, delta: float, per_fold: bool) -> PublishedBound:
    """:func:`total_variation` of rows that are sorted and in folds already."""
    per_fold = per_fold or rows.given_split
    level = share(delta, _PARTS * len(rows.validation) if per_fold else _PARTS)
    folds, gaps = [], []
    for k, members in enumerate(rows.validation):
        size = rows.training_size(k)
        curve = denoised_curve(rows, k, noise(size, level))
        points = rows.scores[members]
        gap = np.abs(points - curve(points))
        terms = {
            "gap to the curve": float(gap.mean()),
            "denoising": denoising_error(size, variation, level),
            "transfer": transfer_error(size, variation + float(np.abs(np.diff(curve.values)).sum()), level),
        }
        if per_fold:
            terms["Bernstein, gap"] = bernstein(gap.size, level, float(gap.var()))
        folds.append(Fold(size, gap.size, terms, curve))
        gaps.append(gap)
    pooled, proved = None, f"At least the calibration error with probability {1 - delta:g}"
    guarantee = f"{proved}, if the variation is at most {variation:g}."
    if not per_fold:
        gap = np.concatenate(gaps)
        share_of_fold = np.array([g.size for g in gaps]) / gap.size
        pooled = {name: float(share_of_fold @ [f.terms[name] for f in folds]) for name in folds[0].terms}
        pooled["gap to the curve"] = float(gap.mean())
        pooled["Bernstein, gap"] = bernstein(gap.size, level, float(gap.var()))
        guarantee = "None that is proved for pooled folds, which is our reading; one bound per fold (per_fold) has one."
    return from_folds(
        "total variation",
        rows,
        folds,
        pooled,
        delta=delta,
        guarantee=guarantee,
        faults=[UNNEEDED] if per_fold else [POOLED, UNNEEDED],
        parameters={"variation": variation},
    )


def denoised_curve(rows: FoldedRows, held_out: int, penalty: float) -> Curve:
    """The denoised calibration curve of the rows outside one fold.

    At a score it takes the value of the largest training score that is not above, and below all of them the first.
    """
    start, values = pieces(rows.scores, rows.labels, rows.fold, held_out, penalty)
    return Curve(rows.scores[start], values, "step")


def noise(size: int, level: float) -> float:
    """t2 = sqrt(m ln(4(m - 1)/d1)/8), the penalty on the scale of sums over m training rows: lambda times m."""
    return math.sqrt(size * (math.log(4 * (size - 1)) - math.log(level)) / 8)


def denoising_error(size: int, variation: float, level: float) -> float:
    """TVB, the bound on the mean distance of curve and calibration function over the training rows."""
    t1 = math.sqrt((math.log(4) - math.log(level)) / 2)
    spread = 4 * noise(size, level) * variation
    return math.sqrt((2 * t1**2 + 2 * t1 * math.sqrt(t1**2 + spread) + spread) / size)


def transfer_error(size: int, variation: float, level: float) -> float:
    """PTB, the price of going from the training rows to the population; `variation` is that of truth and curve
    together."""
    root = math.sqrt((math.log(2) - math.log(level)) / (2 * size))
    return variation * root + root


def denoise(values: ArrayLike, penalty: float) -> Floats:
    """The minimiser v of 1/2 sum (values - v)^2 + penalty * sum |v[1:] - v[:-1]|.

    Parameters
    ----------
    values
        A sequence of finite numbers.
    penalty
        At least 0. At 0 the result is `values` itself; when it is large, their mean.

    Examples
    --------
    >>> from calcert.published.total_variation import denoise
    >>> denoise([0, 0, 1, 0, 1, 1], penalty=0.5)
    array([0.25, 0.25, 0.5 , 0.5 , 0.75, 0.75])
    """
    y = np.ascontiguousarray(values, np.float64)
    if y.ndim != 1 or not np.isfinite(y).all():
        raise ValueError("values must be a one-dimensional sequence of finite numbers.")
    if not 0 <= penalty < np.inf:
        raise ValueError(f"penalty must be at least 0 and finite; got {penalty!r}.")
    if y.size == 0 or penalty == 0:
        return y.copy()
    low, spread = y.min(), np.ptp(y)
    if spread == 0:
        return y.copy()
    row = np.arange(y.size, dtype=np.float64)
    start, level = pieces(row, (y - low) / spread, np.zeros(y.size, np.uint8), 1, penalty / spread)
    return np.repeat(low + spread * level, np.diff(start, append=y.size))


def pieces(
    scores: Floats, labels: NDArray[Any], fold: NDArray[np.uint8], held_out: int, penalty: float
) -> tuple[NDArray[np.int64], Floats]:
    """The constant pieces of the denoised labels of all rows outside the fold `held_out`: first row and value of
    each.

    Rows are sorted by score, labels lie in [0, 1]. A calibration curve is a function of the score, so rows with
    equal scores share one value: there are obstacles only where the score changes, and the order of tied rows does
    not matter.
    """
    # Nearer marks where the path is narrow; more than an eighth of its width apart they would nearly all be suspect.
    stride = int(min(max(penalty / 8, 1), _LONGEST_STRIDE))
    marks = marks_on_string(scores, stride)
    width, total = sums_below(labels, fold, held_out, marks)
    opened = np.zeros(marks.size, np.uint8)
    for attempt in range(_ROUNDS + 1):
        if attempt == _ROUNDS:
            opened[:] = 1
        place, w, s = obstacles(scores, labels, fold, held_out, marks, width, total, opened)
        bend, height = taut_string(w, s, float(penalty))
        if open_suspects(width, total, w[bend], s[bend] + height, float(penalty), opened) == 0:
            break
    level = (np.diff(s[bend]) + np.diff(height)) / np.diff(w[bend])
    return first_row(fold, held_out, place[bend[:-1]]), level
