"""The paper's comparison method for Lipschitz calibration functions: buckets of equal width, the best of several
cuts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calcert.certificates.several import share
from calcert.foundation.array_types import Floats
from calcert.foundation.validation import check_constant, check_count, check_delta, check_rng
from calcert.kernels.strings import count_before_cells, look_up
from calcert.perturbation.noise import perturb
from calcert.published.bound import POOLED, REALISED_BUCKETS, Curve, Fold, PublishedBound, judge, smallest
from calcert.published.folded_rows import FOLDS, FoldedRows, fold_rows
from calcert.published.perturb_and_smooth import derivative_bounds
from calcert.sources.arrays import checked_pair

BUCKETS = tuple(2**k for k in range(1, 14))
"""Bucket counts to choose from: 2, 4, ..., 8192. Ours: the paper gives none."""

SHIFTS = 4
"""Shifts of the inner edges by 0, 1/4, 2/4 and 3/4 of a bucket. Ours too."""

_MOST_BUCKETS, _MOST_SHIFTS, _MOST_WORK = 2**17, 64, 2**25


def lipschitz_buckets(
    scores: Any,
    labels: Any,
    *,
    constant: float | None = None,
    bandwidth: float | None = None,
    perturbed: bool = False,
    buckets: Sequence[int] = BUCKETS,
    shifts: int = SHIFTS,
    delta: float = 0.05,
    folds: int = FOLDS,
    per_fold: bool = False,
    rng: int | np.random.Generator | None = None,
) -> PublishedBound:
    """The bucketing bound that the paper compares with, for a classifier with a Lipschitz calibration function.

    Scores are cut into buckets of equal width and the curve is the mean training label of each bucket. Inside a
    bucket its error is bounded by (Lipschitz constant) x (width) + 1/(2 sqrt(training rows)). The bound has the
    form of :func:`perturb_and_smooth`. It is computed for every bucket count and every shift of the inner edges,
    each at its Bonferroni level, and the smallest is kept. The paper describes the method and prints no bound; this
    one is ours.

    Not a certificate, in either reading: for one under the same assumption see :func:`calcert.bounds.lipschitz`.

    Not proved
        *Realised labels.* In our form of it, as in :func:`perturb_and_smooth`, the error bound holds on average over
        the training labels and is used for the labels drawn. `per_fold` does not mend this.
        *Pooling.* By default, as we read the paper, validation rows of all folds enter one Bernstein bound, though each
        fold's rows trained the other folds' curves. `per_fold=True` takes one bound a fold at delta/folds, and the
        smallest.

    Choices and readings of ours
        The error bound; bucket counts 2, 4, ..., 8192; four shifts by quarters of a bucket, where the paper says a
        small fraction of a width and prints r/B (the first bucket grows by what the last one loses); delta in equal
        parts, for its delta/(BR); five folds. A bucket without training rows takes the mean training label and
        the error bound 1, which two numbers in [0, 1] never exceed; the scale of the Bernstein term is at least 1 for
        the same reason.
        `per_fold=True` caps all error bounds at 1.

    Parameters
    ----------
    scores, labels
        Scores in [0, 1] and labels 0/1: arrays, lists, or columns of a frame.
    constant
        The Lipschitz constant of the calibration function of `scores` as they are.
    bandwidth
        In place of `constant`: perturb the scores with this bandwidth h first, which makes the constant 1/(2h).
    perturbed
        True if `scores` were perturbed with this bandwidth already.
    buckets, shifts
        The bucket counts, and into how many parts of a bucket the inner edges are shifted.
    delta
        The nominal probability of failure.
    folds
        The number of folds, at least 2.
    per_fold
        One bound a fold at delta/folds each, the smallest returned, in place of the pooled bound.
    rng
        Seed or generator of the perturbation and the random folds.

    Examples
    --------
    >>> import numpy as np
    >>> from calcert import published
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.random(100_000)
    >>> labels = rng.random(100_000) < scores
    >>> bound = published.lipschitz_buckets(scores, labels, constant=2.0, rng=0)
    >>> round(bound.value, 3), bound.parameters["buckets"]
    (0.051, 128)
    """
    x, y = checked_pair(scores, labels)
    if (constant is None) == (bandwidth is None):
        raise ValueError(
            "give either constant (the Lipschitz constant of the calibration function) or bandwidth (of the "
            f"perturbation); got constant={constant!r} and bandwidth={bandwidth!r}."
        )
    generator, level = check_rng(rng), check_delta(delta)
    cuts = cuts_of(_check_buckets(buckets), check_count("shifts", shifts, 1, _MOST_SHIFTS))
    if bandwidth is not None:
        slope = derivative_bounds(bandwidth)[0]
        x = x if perturbed else perturb(x, bandwidth=bandwidth, rng=generator)
    elif constant is not None:
        slope = check_constant(constant)
    rows = fold_rows(x, y, folds=folds, rng=generator)
    return bucketed(rows, constant=slope, cuts=cuts, delta=level, per_fold=per_fold)


class Cut(NamedTuple):
    """One partition of [0, 1] into buckets, each closed on the left, and how it joins cells of the common refinement.

    Bucket b begins with cell `first_cell[b]` and ends before cell `first_cell[b + 1]`.
    """

    edges: Floats
    widths: Floats
    first_cell: NDArray[np.int64]
    bucket_of_cell: NDArray[np.int32]


class Cuts(NamedTuple):
    """All candidate partitions, and the left edges of the cells of their common refinement."""

    cells: Floats
    candidates: tuple[Cut, ...]


@lru_cache(maxsize=2)
def cuts_of(buckets: tuple[int, ...] = BUCKETS, shifts: int = SHIFTS) -> Cuts:
    """The partition into B buckets with inner edges (j + r/shifts)/B, j = 1, ..., B - 1, for every B and r."""
    partitions = [
        np.concatenate([[0.0], (np.arange(1, count) + r / shifts) / count])
        for count in buckets
        for r in range(shifts if count > 1 else 1)
    ]
    cells = np.unique(np.concatenate(partitions))
    if len(partitions) * cells.size > _MOST_WORK:
        raise ValueError(
            f"buckets and shifts make {len(partitions)} partitions of {cells.size} cells; that is too many. "
            "Pass fewer bucket counts, such as powers of two, or fewer shifts."
        )
    return Cuts(
        cells,
        tuple(
            Cut(
                edges,
                np.diff(edges, append=1.0),
                np.append(np.searchsorted(cells, edges), cells.size),
                (np.searchsorted(edges, cells, side="right") - 1).astype(np.int32),
            )
            for edges in partitions
        ),
    )


class _Judged(NamedTuple):
    """The validation rows of some folds: fold, score and cell of each."""

    fold: NDArray[np.int64]
    scores: Floats
    cell: NDArray[np.int64]


def bucketed(rows: FoldedRows, *, constant: float, cuts: Cuts, delta: float, per_fold: bool) -> PublishedBound:
    """:func:`lipschitz_buckets` of rows that are sorted and in folds already."""
    count = len(rows.validation)
    level = share(delta, len(cuts.candidates) * (count if per_fold else 1))
    trained = _training_counts(rows, cuts)
    judged = []
    for k, members in enumerate(rows.validation):
        points = rows.scores[members]
        cell = np.searchsorted(cuts.cells, points, side="right") - 1
        judged.append(_Judged(np.full(points.size, k), points, cell))

    if per_fold:
        found = [_best_cut([part], trained, cuts, constant, level, cap=True) for part in judged]
    else:
        found = [_best_cut(judged, trained, cuts, constant, level, cap=False)] * count
    folds = []
    for k, (part, (cut, terms)) in enumerate(zip(judged, found, strict=True)):
        values, _ = _surrogate(cut, trained, constant, np.full(cut.edges.size, k), cut.first_cell[:-1])
        curve = Curve(cut.edges, values, "step")
        if not per_fold:
            error = _surrogate(cut, trained, constant, part.fold, part.cell)[1]
            gap = np.abs(curve(part.scores) - part.scores)
            terms = {"gap to the curve": float(gap.mean()), "error of the curve": float(error.mean())}
        folds.append(Fold(int(trained[k, 0, -1]), part.scores.size, terms, curve))
    if per_fold:
        best = smallest(folds)
        terms, curve = dict(best.terms), best.curve
    else:
        terms, curve = found[0][1], Curve.mean([f.curve for f in folds])
    return PublishedBound(
        method="Lipschitz buckets",
        value=float(sum(terms.values())),
        terms=terms,
        curve=curve,
        folds=tuple(folds),
        n=rows.n,
        delta=delta,
        guarantee="None that is proved: our form of it has the gap of perturb_and_smooth.",
        faults=(REALISED_BUCKETS,) if per_fold else (REALISED_BUCKETS, POOLED),
        parameters={
            "constant": constant,
            "buckets": curve.knots.size,
            "candidates": len(cuts.candidates),
            "folds": count,
            "reading": rows.reading(per_fold),
        },
    )


def _best_cut(
    parts: list[_Judged], trained: NDArray[np.int64], cuts: Cuts, constant: float, level: float, *, cap: bool
) -> tuple[Cut, dict[str, float]]:
    """The partition with the smallest bound on these validation rows, and the terms of that bound."""
    every = _Judged(*(np.concatenate(column) for column in zip(*parts, strict=True)))
    outcomes = []
    for cut in cuts.candidates:
        curve, error = _surrogate(cut, trained, constant, every.fold, every.cell)
        gap = np.abs(curve - every.scores)
        scale = max(1.0, constant * float(cut.widths.max()) + 0.5)
        if cap:
            error, scale = np.minimum(error, 1.0), 1.0
        outcomes.append((cut, judge(gap, error, scale, level)))
    return min(outcomes, key=lambda outcome: sum(outcome[1].values()))


def _surrogate(
    cut: Cut, trained: NDArray[np.int64], constant: float, fold: NDArray[np.int64], cell: NDArray[np.int64]
) -> tuple[Floats, Floats]:
    """Mean training label and error bound of the buckets that given cells lie in, for the fold of each."""
    curve, error = np.empty(cell.size), np.empty(cell.size)
    look_up(cut.bucket_of_cell, cut.first_cell, cut.widths, trained, constant, fold, cell, curve, error)
    return curve, error


def _training_counts(rows: FoldedRows, cuts: Cuts) -> NDArray[np.int64]:
    """Training rows, and positive ones, before each cell and in all: indexed by fold, (all, positive) and cell."""
    position = np.append(np.searchsorted(rows.scores, cuts.cells), rows.n)
    trained = np.empty((int(rows.fold.max()) + 1, 2, position.size), np.int64)
    count_before_cells(rows.labels, rows.fold, position, trained)
    return trained


def _check_buckets(buckets: Any) -> tuple[int, ...]:
    if isinstance(buckets, (str, bytes)) or not isinstance(buckets, (Sequence, np.ndarray)) or len(buckets) == 0:
        raise TypeError(f"buckets must be a sequence of bucket counts, such as (2, 4, 8); got {buckets!r}.")
    return tuple(check_count("buckets", count, 1, _MOST_BUCKETS) for count in buckets)
