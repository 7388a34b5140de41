"""Two methods by buckets of scores: the usual heuristic, ECE, and the paper's comparison method for Lipschitz
calibration functions, buckets of equal width, the best of several cuts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calcert.certificates.several import share
from calcert.foundation.array_types import Floats
from calcert.foundation.validation import check_constant, check_count, check_delta, check_rng
from calcert.kernels.strings import count_before_cells, look_up
from calcert.kernels.windows import binned as sums_of_bins
from calcert.perturbation.noise import perturb
from calcert.published.bound import POOLED, REALISED_BUCKETS, Curve, Fold, PublishedBound, from_folds, judge
from calcert.published.folded_rows import FOLDS, FoldedRows, fold_rows
from calcert.published.perturb_and_smooth import derivative_bounds
from calcert.sources.arrays import checked_pair

BINS = 15
_MOST_BINS = 2**24

BUCKETS = tuple(2**k for k in range(1, 14))
"""Bucket counts to choose from: 2, 4, ..., 8192. Ours: the paper gives none."""

SHIFTS = 4
"""Shifts of the inner edges by 0, 1/4, 2/4 and 3/4 of a bucket. Ours too."""

_MOST_BUCKETS, _MOST_SHIFTS, _MOST_WORK = 2**17, 64, 2**25


def ece(scores: Any, labels: Any, *, bins: int = BINS, scheme: Literal["width", "mass"] = "width") -> PublishedBound:
    """Expected calibration error: the mean over bins, weighted by rows, of ``|mean label - mean score|``.

    A heuristic without any guarantee, not a bound and not a certificate. Averaging inside a bin lets errors of
    opposite sign cancel, so that no amount of data brings it close to the calibration error of a curve that
    oscillates within bins; and noise pushes it up where bins hold few rows.

    Parameters
    ----------
    scores, labels
        Scores in [0, 1] and labels 0/1: arrays, lists, or columns of a frame.
    bins
        The number of bins; 15 is usual, the paper names no number.
    scheme
        "width": bins of equal width, closed on the left, the last on both sides. "mass": bins that hold equal
        numbers of rows, as far as ties permit; equal scores always share a bin.

    Examples
    --------
    >>> import numpy as np
    >>> from calcert import published
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.random(100_000)
    >>> labels = rng.random(100_000) < scores
    >>> round(published.ece(scores, labels).value, 4)
    0.0037
    """
    x, y = checked_pair(scores, labels)
    count = check_count("bins", bins, 1, _MOST_BINS)
    if scheme == "width":
        edges = np.arange(count) / count
    elif scheme == "mass":
        # With n rows in order, bin j begins at row floor(j n / bins); ties fall to the bin that begins with them.
        begins = np.arange(count) * x.size // count
        edges = np.unique(np.partition(x, begins)[begins])
    else:
        raise ValueError(f'scheme must be "width" or "mass"; got {scheme!r}.')
    return binned(x, y, edges, str(scheme))


def binned(scores: Floats, labels: NDArray[np.int8], edges: Floats, scheme: str = "width") -> PublishedBound:
    """:func:`ece` with bins that begin at given ascending edges."""
    rows, positives, total = sums_of_bins(scores, labels, edges)
    gap = float(np.abs(positives - total).sum() / scores.size)
    filled = rows > 0
    return PublishedBound(
        method="ece",
        value=gap,
        terms={"gap of the bins": gap},
        curve=Curve(edges[filled], positives[filled] / rows[filled], "step"),
        folds=(),
        n=int(scores.size),
        delta=None,
        guarantee="None: a heuristic.",
        faults=("Errors of opposite sign cancel inside a bin, at any number of rows.",),
        parameters={"bins": int(edges.size), "scheme": scheme},
    )


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
        As in :func:`perturb_and_smooth`, the error bound holds on average over the training labels and is used for the
        labels drawn. `per_fold=True` mends pooled folds alone, and caps error bounds at 1.

    Choices of ours
        The error bound, bucket counts 2, 4, ..., 8192, and four shifts by quarters of a bucket: the first bucket grows
        by what the last one loses. A bucket without training rows takes the mean training label and the error bound 1,
        which two numbers in [0, 1] never exceed; so the scale of the Bernstein term is at least 1.

    Parameters
    ----------
    scores, labels, delta, folds, per_fold, rng
        As in :func:`total_variation`.
    constant
        The Lipschitz constant of the calibration function of `scores` as they are.
    bandwidth
        In place of `constant`: perturb the scores with this bandwidth h first, which makes the constant 1/(2h).
    perturbed
        True if `scores` were perturbed with this bandwidth already.
    buckets, shifts
        The bucket counts, and into how many parts of a bucket the inner edges are shifted.

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


def bucketed(rows: FoldedRows, *, constant: float, cuts: Cuts, delta: float, per_fold: bool) -> PublishedBound:
    """:func:`lipschitz_buckets` of rows that are sorted and in folds already."""
    count = len(rows.validation)
    level = share(delta, len(cuts.candidates) * (count if per_fold else 1))
    trained = _training_counts(rows, cuts)
    points = [rows.scores[members] for members in rows.validation]
    cells = [np.searchsorted(cuts.cells, at, side="right") - 1 for at in points]
    numbers = [np.full(at.size, k) for k, at in enumerate(points)]

    def best_cut(judged: slice) -> tuple[Cut, dict[str, float]]:
        """The partition with the smallest bound on the validation rows of some folds, and the terms of that bound."""
        scores, cell, fold = (np.concatenate(values[judged]) for values in (points, cells, numbers))
        outcomes = []
        for cut in cuts.candidates:
            curve, error = _surrogate(cut, trained, constant, fold, cell)
            scale = max(1.0, constant * float(cut.widths.max()) + 0.5)
            if per_fold:
                error, scale = np.minimum(error, 1.0), 1.0
            outcomes.append((cut, judge(np.abs(curve - scores), error, scale, level)))
        return min(outcomes, key=lambda outcome: sum(outcome[1].values()))

    cut, pooled = (None, None) if per_fold else best_cut(slice(None))
    folds = []
    for k, at in enumerate(points):
        chosen, terms = best_cut(slice(k, k + 1)) if cut is None else (cut, {})
        values, _ = _surrogate(chosen, trained, constant, np.full(chosen.edges.size, k), chosen.first_cell[:-1])
        curve = Curve(chosen.edges, values, "step")
        if cut is not None:
            error = _surrogate(cut, trained, constant, numbers[k], cells[k])[1]
            gap = np.abs(curve(at) - at)
            terms = {"gap to the curve": float(gap.mean()), "error of the curve": float(error.mean())}
        folds.append(Fold(int(trained[k, 0, -1]), at.size, terms, curve))
    best = min(folds, key=lambda fold: fold.value)  # of all folds together any, as all have one cut
    return from_folds(
        "Lipschitz buckets",
        rows,
        folds,
        pooled,
        delta=delta,
        guarantee="None that is proved: our form of it has the gap of perturb_and_smooth.",
        faults=[REALISED_BUCKETS] if per_fold else [REALISED_BUCKETS, POOLED],
        parameters={"constant": constant, "buckets": best.curve.knots.size, "candidates": len(cuts.candidates)},
    )


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
