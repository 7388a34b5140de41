"""The paper's bound under bounded variation: denoise the labels, judge the curve on rows it has not seen."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from calcert.certificates.several import share
from calcert.foundation.validation import check_delta, check_rng, check_variation
from calcert.published.bound import POOLED, UNNEEDED, Curve, Fold, PublishedBound, bernstein, from_folds
from calcert.published.folded_rows import FOLDS, FoldedRows, fold_rows
from calcert.published.taut_string import pieces
from calcert.sources.arrays import checked_pair

_PARTS = 4


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
