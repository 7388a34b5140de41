"""The paper's bound under bounded variation: denoise the labels, judge the curve on rows it has not seen."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from calcert.certificates.several import share
from calcert.foundation.validation import check_delta, check_rng, check_variation
from calcert.published.bound import POOLED, UNNEEDED, Curve, Fold, PublishedBound, bernstein, smallest
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

    Not proved, or looser than needed
        *Pooling.* By default, as we read the paper, validation rows of all folds enter one Bernstein bound. Each fold's
        rows trained the other folds' curves, so they are not independent and the proof does not cover this.
        `per_fold=True` is covered: one bound per fold at delta/folds, of which the smallest is returned. So is one
        given split, `validation`, for which the paper prints its Proposition 1.
        *Waste.* Going to the population, the paper pays sqrt(ln(2/d)/2m) for a possible atom at score 0. The total
        variation term covers that already.

    Choices of ours, where the paper names none
        Five folds; delta in four equal parts; the denoising and transfer terms of folds averaged by validation
        rows; rows with equal scores share one curve value, without which the curve would depend on the order of
        tied rows and would not be a function of the score. The paper divides the sum over validation rows by the
        number of training rows, evidently a slip: here it is a mean. As in the paper, each fold is judged on a
        sample of at most 15,000 of its rows.

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
        Seed or generator of the random folds.

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
    if per_fold:
        best = smallest(folds)
        terms, curve = dict(best.terms), best.curve
        guarantee = (
            f"At least the calibration error with probability {1 - delta:g}, if the variation is at most {variation:g}."
        )
        faults: tuple[str, ...] = (UNNEEDED,)
    else:
        gap = np.concatenate(gaps)
        share_of_fold = np.array([g.size for g in gaps]) / gap.size
        terms = {name: float(share_of_fold @ [f.terms[name] for f in folds]) for name in folds[0].terms}
        terms["gap to the curve"] = float(gap.mean())
        terms["Bernstein, gap"] = bernstein(gap.size, level, float(gap.var()))
        curve = Curve.mean([f.curve for f in folds])
        guarantee = "None that is proved for pooled folds, which is our reading; one bound per fold (per_fold) has one."
        faults = (POOLED, UNNEEDED)
    return PublishedBound(
        method="total variation",
        value=float(sum(terms.values())),
        terms=terms,
        curve=curve,
        folds=tuple(folds),
        n=rows.n,
        delta=delta,
        guarantee=guarantee,
        faults=faults,
        parameters={"variation": variation, "folds": len(folds), "reading": rows.reading(per_fold)},
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
