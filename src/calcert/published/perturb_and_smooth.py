"""The paper's bound for a perturbed classifier: smooth the labels over the perturbed scores.

The smoother has tempered Epanechnikov weights. At a point x it needs, over the scores s_i within a window h of x and
with v = (x - s_i)/h, the sums of

    w,  w y_i,  w |v|,  w v^2  and  w^2,      w = (1 - v^2)^1.2.

The exponent rules out prefix sums, and at ten million rows a window may hold 10^5 of them. So the sorted rows form
a binary tree whose nodes know the moments of their scores, and few nodes cover a window: large ones in its middle,
small ones towards its ends. On a node, w is its Taylor series about the node's centre. w is singular at v = -1 and
v = 1 only; a node serves if its radius is at most a third of the distance from its centre to the nearer end, and
then sixteen terms err by at most 4.1e-11 of w at the node's worst row (the sums, by about 1e-12). Rows too close to
an end are summed one by one, as are those around x itself, where |v| has its corner.
"""

from __future__ import annotations

import math
import warnings
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calcert.certificates.several import share
from calcert.foundation.array_types import Floats
from calcert.foundation.validation import check_bandwidth, check_delta, check_rng
from calcert.kernels.windows import LEAF, RECORD, nearest, plant_leaves, plant_parents, sum_windows
from calcert.perturbation.noise import perturb
from calcert.published.bound import OVERSHOOT, POOLED, REALISED, Curve, Fold, PublishedBound, from_folds, judge
from calcert.published.folded_rows import FOLDS, FoldedRows, fold_rows
from calcert.sources.arrays import checked_pair

_NARROWEST, _WIDEST = 1e-4, 0.25

Scale = Literal["smoother", "perturbation"]


class DerivativeBounds(NamedTuple):
    """What the calibration curve of a perturbed classifier is known to keep: how steep it is, and how curved.

    Examples
    --------
    >>> from calcert.published.perturb_and_smooth import DerivativeBounds
    >>> print(DerivativeBounds(32.0, 6144.0))
    The calibration curve has a slope of at most 32 and a curvature of at most 6,144.
    """

    slope: float
    curvature: float

    def __str__(self) -> str:
        slope, curvature = f"a slope of at most {self.slope:,g}", f"a curvature of at most {self.curvature:,g}"
        return f"The calibration curve has {slope} and {curvature}."


def derivative_bounds(bandwidth: float) -> DerivativeBounds:
    """The published bounds on slope and curvature of the calibration function of a perturbed classifier.

    With the sech kernel of bandwidth h the absolute slope is at most 1/(2h), the absolute curvature 3/(2h^2).

    The paper's appendix also has the slightly sharper tanh(1/h)/(2h) and 3 tanh(1/h)^2/(2h^2); at every bandwidth
    below 1/20 they are the same double.

    Parameters
    ----------
    bandwidth
        h > 0, of the kernel.

    Examples
    --------
    >>> from calcert import published
    >>> published.derivative_bounds(1/64)
    DerivativeBounds(slope=32.0, curvature=6144.0)
    """
    h = check_bandwidth(bandwidth)
    return DerivativeBounds(1 / (2 * h), 1.5 / h**2)


def perturb_and_smooth(
    scores: Any,
    labels: Any,
    *,
    bandwidth: float | None = None,
    perturbed: bool = False,
    slopes: tuple[float, float] | None = None,
    delta: float = 0.05,
    folds: int = FOLDS,
    per_fold: bool = False,
    validation: ArrayLike | None = None,
    scale: Scale = "smoother",
    rng: int | np.random.Generator | None = None,
) -> PublishedBound:
    """The published bound on the calibration error of a classifier whose scores :func:`calcert.perturb` perturbs.

    Perturbing makes the calibration function smooth, so a Nadaraya-Watson smoother of the training labels stays
    close to it, and the distance is bounded by two derivative terms and a noise term. The bound is the mean
    distance between score and smoothed curve on the validation rows, plus the mean error bound there, plus a
    Bernstein term for each.

    Not a certificate, in either reading: for one of the same classifier see :func:`calcert.bounds.perturbed`.

    Not proved
        The error bound holds on average over the training labels, and is used for the labels drawn. Where many scores
        are one number the printed statement fails more often than delta, with probability 1/4 for two training rows at
        score 1; a warning says so where half of the scores or more are one number. With perturbed scores, which are
        never equal, it fails far less often; at bandwidth 1/64 neither a failure more frequent than delta nor a proof
        is known. `per_fold` does not mend this. It does mend pooled folds, which the proof does not cover, and caps the
        error bound at 1, with R = 1. Theory, The published results, has the numbers, and what we chose where the paper
        leaves a choice.

    Parameters
    ----------
    scores, labels, delta, folds, per_fold, validation, rng
        As in :func:`total_variation`.
    bandwidth
        h of the perturbation; 1/64 if neither it nor `slopes` is given.
    perturbed
        True if `scores` were perturbed with this bandwidth already.
    slopes
        In place of `bandwidth`: b1 and b2 of Proposition 2, bounds on the first and second derivative of the
        calibration function of `scores`, which are then not perturbed.
    scale
        The bandwidth in R: that of the "smoother", which is how we read it, or of the "perturbation", as printed. The
        latter makes R 7/4 at every number of rows; it matters to the last term only.

    Examples
    --------
    >>> import numpy as np
    >>> from calcert import published
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.random(100_000)
    >>> labels = rng.random(100_000) < scores
    >>> bound = published.perturb_and_smooth(scores, labels, rng=0)
    >>> round(bound.value, 3), {name: round(term, 3) for name, term in bound.terms.items()}
    (0.084, {'gap to the curve': 0.029, 'error of the curve': 0.054,
    'Bernstein, gap': 0.001, 'Bernstein, error': 0.0})
    """
    x, y = checked_pair(scores, labels)
    level, generator = check_delta(delta), check_rng(rng)
    if scale not in ("smoother", "perturbation"):
        raise ValueError(f'scale must be "smoother" or "perturbation"; got {scale!r}.')
    if slopes is None:
        h = check_bandwidth(1 / 64 if bandwidth is None else bandwidth)
        bounds, printed = derivative_bounds(h), h if scale == "perturbation" else None
        x = x if perturbed else perturb(x, bandwidth=h, rng=generator)
    else:
        if bandwidth is not None or perturbed or scale == "perturbation":
            raise ValueError("slopes take the place of a perturbation: leave out bandwidth, perturbed and scale.")
        bounds, printed = _check_slopes(slopes), None
    rows = fold_rows(x, y, folds=folds, rng=generator, validation=validation)
    _warn_of_an_atom(rows.scores)
    return smoothed(rows, slopes=bounds, delta=level, per_fold=per_fold, printed=printed)


def smoothed(
    rows: FoldedRows, *, slopes: tuple[float, float], delta: float, per_fold: bool, printed: float | None = None
) -> PublishedBound:
    """:func:`perturb_and_smooth` of scores that are sorted and in folds already.

    `slopes` bounds the first and second derivative of their calibration function; `printed` is the bandwidth in R if
    not that of the smoother.
    """
    level = share(delta, len(rows.validation)) if per_fold else delta
    folds, gaps, errors, scales = [], [], [], []
    buffer = np.empty(rows.n), np.empty(rows.n, np.int8)
    for k, members in enumerate(rows.validation):
        training_scores, training_labels = rows.training(k, buffer)
        window = plug_in_window(training_scores.size, slopes)
        points = rows.scores[members]
        fit = smooth(training_scores, training_labels, points, window)
        gap = np.abs(fit.curve - points)
        error = slopes[0] * fit.distance + slopes[1] / 2 * fit.squared_distance + np.sqrt(fit.concentration) / 2
        across = window if printed is None else printed
        scale = slopes[0] * across + slopes[1] / 2 * across**2 + 0.5
        if per_fold:
            error, scale = np.minimum(error, 1.0), 1.0
            terms = judge(gap, error, scale, level)
        else:
            terms = {"gap to the curve": float(gap.mean()), "error of the curve": float(error.mean())}
        knots, first = np.unique(points, return_index=True)
        folds.append(Fold(training_scores.size, gap.size, terms, Curve(knots, fit.curve[first], "line")))
        gaps.append(gap)
        errors.append(error)
        scales.append(scale)
    pooled, faults = None, [REALISED]
    if not per_fold:
        pooled = judge(np.concatenate(gaps), np.concatenate(errors), max(scales), level)
        faults += [OVERSHOOT] if rows.given_split else [POOLED, OVERSHOOT]
    return from_folds(
        "perturb and smooth",
        rows,
        folds,
        pooled,
        delta=delta,
        guarantee="None that is proved: its error bound holds on average over the training labels only.",
        faults=faults,
        parameters={"first derivative": slopes[0], "second derivative": slopes[1]},
    )


class Smoothed(NamedTuple):
    """The smoother at each point, with what its error bound needs; the weights w_i sum to one."""

    curve: Floats
    """sum w_i y_i."""
    distance: Floats
    """sum w_i |x - s_i|."""
    squared_distance: Floats
    """sum w_i (x - s_i)^2."""
    concentration: Floats
    """sum w_i^2."""


def smooth(scores: Floats, labels: NDArray[np.int8], points: Floats, window: float) -> Smoothed:
    """Smooth the labels of rows sorted by score, at ascending points, with weights (1 - ((x - s_i)/window)^2)^1.2.

    Where no score lies within the window, the nearest score counts alone; should several rows be equally near, they
    share the weight. Near 0 and 1 the weights sum to one over the rows that there are: so we read the paper's boundary
    renormalisation.
    """
    counts = [-(-scores.size // LEAF)]
    while counts[-1] > 1:
        counts.append(-(-counts[-1] // 2))
    offsets = np.cumsum([0, *counts])
    tree = np.empty((offsets[-1], RECORD))
    plant_leaves(scores, labels, tree)
    for level, count in enumerate(counts[1:]):
        plant_parents(tree, offsets[level], offsets[level + 1], count)
    sums = np.empty((points.size, 5))
    sum_windows(scores, labels, points, window, tree, offsets, sums)
    empty = np.flatnonzero(sums[:, 0] == 0)
    nearest(scores, labels, points, window, empty, sums)
    w, wy, wv, wvv, ww = sums.T
    return Smoothed(wy / w, window * (wv / w), window * window * (wvv / w), ww / (w * w))


def _check_slopes(slopes: Any) -> DerivativeBounds:
    """Bounds on the first and second derivative, zero included."""
    try:
        pair = np.asarray(slopes, np.float64)
    except (TypeError, ValueError):
        pair = np.empty(0)
    if pair.shape != (2,) or not np.isfinite(pair).all() or (pair < 0).any():
        raise ValueError(f"slopes must be two numbers that are not negative, such as (32, 6144); got {slopes!r}.")
    return DerivativeBounds(float(pair[0]), float(pair[1]))


def _warn_of_an_atom(ordered: NDArray[np.float64]) -> None:
    """F1 bites hardest where many scores are one number, which scores that were perturbed are not."""
    middle = ordered[[(ordered.size - 1) // 2, ordered.size // 2]]  # what half of the rows share is in the middle
    same = np.searchsorted(ordered, middle, "right") - np.searchsorted(ordered, middle)
    if 1 < same.max() >= ordered.size / 2:
        warnings.warn(
            f"{same.max():,} of {ordered.size:,} scores are {middle[same.argmax()]:g}. {REALISED}",
            UserWarning,
            stacklevel=3,
        )


def plug_in_window(size: int, slopes: tuple[float, float]) -> float:
    """The smoother's window for `size` training rows: the t^2 with 2 b t^5 + a t^3 = c/2, within [1e-4, 1/4].

    It minimises a h + b h^2 + c/sqrt(h): bias and noise of the smoother if the scores were uniform.
    """
    a, b = 3 * slopes[0] / 8, slopes[1] / 10
    half = 1.15 / (2 * math.sqrt(2 * size)) / 2
    if a * _WIDEST**1.5 + 2 * b * _WIDEST**2.5 <= half:
        return _WIDEST
    # Each term alone gives a t that is too large. From there the Newton steps of a convex increasing function descend.
    t = min((half / a) ** (1 / 3) if a > 0 else math.inf, (half / (2 * b)) ** (1 / 5) if b > 0 else math.inf)
    for _ in range(64):
        t -= (2 * b * t**5 + a * t**3 - half) / (10 * b * t**4 + 3 * a * t**2)
    return min(max(t * t, _NARROWEST), _WIDEST)
