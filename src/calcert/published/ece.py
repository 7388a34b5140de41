"""Expected calibration error of binned scores: the usual heuristic, for comparison."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from calcert.foundation.array_types import Floats
from calcert.foundation.validation import check_count
from calcert.kernels.windows import binned as sums_of_bins
from calcert.published.bound import Curve, PublishedBound
from calcert.sources.arrays import checked_pair

BINS = 15
_MOST_BINS = 2**24


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
