"""Calibration slope and intercept: the logistic regression of labels on the log-odds of scores; estimates."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from calcert.foundation.array_types import Floats, Integers
from calcert.summary import cells
from calcert.summary.summary import Summary


def calibration_intercept(summary: Summary) -> float:
    """The a for which log-odds of scores plus a add up to the positives.

    Examples
    --------
    >>> round(calibration_intercept(calcert.summarize([0.5] * 4, [1, 1, 1, 0])), 4)
    1.0986
    """
    return _calibration_regression(summary, slope=False)


def calibration_slope(summary: Summary) -> float:
    """The slope of the logistic regression of labels on the log-odds of scores."""
    return _calibration_regression(summary, slope=True)


def _calibration_regression(summary: Summary, *, slope: bool) -> float:
    """The most likely slope, or intercept at a slope of 1, of the regression (Newton's method); NaN where none is."""
    rows, score, label = _by_odds(summary)
    if label.min() == label.max() or score.min() <= 0 or score.max() >= 1:
        return math.nan
    odds = np.log(score) - np.log1p(-score)
    tilt, shift = 1.0, 0.0
    for _ in range(50):
        probability = 1 / (1 + np.exp(-np.clip(tilt * odds + shift, -700, 700)))
        missed, weight = rows * (label - probability), rows * probability * (1 - probability)
        of_shift, across = float(missed.sum()), float(weight.sum())
        of_tilt, mixed, along = 0.0, 0.0, across
        if slope:
            of_tilt, mixed, along = float(missed @ odds), float(weight @ odds), float(weight @ odds**2)
        spread = across * along - mixed**2
        # About the ratio of what fits least well to what fits best.
        if not spread > 1e-12 * (across + along) ** 2 > 0:
            return math.nan
        step = (across * of_tilt - mixed * of_shift) / spread, (along * of_shift - mixed * of_tilt) / spread
        tilt, shift = tilt + step[0], shift + step[1]
        if max(map(abs, step)) < 1e-9:
            return tilt if slope else shift
    return math.nan


@lru_cache(maxsize=2)
def _by_odds(summary: Summary) -> tuple[Floats, Floats, Floats]:
    """Rows, their mean score and their label, by listed score or by stretches of about equal odds."""
    if summary.is_finite:
        count, total = summary.points.count, summary.points.count * summary.points.positions
    else:
        start = np.flatnonzero(np.diff(_stretch_of_cells()[summary.cell], prepend=-1))
        count, total = (np.add.reduceat(part, start, axis=0) for part in (summary.count, summary.score_sum))
    held = count.ravel() > 0
    rows = count.ravel()[held].astype(np.float64)
    return rows, total.ravel()[held] / rows, np.tile([0.0, 1.0], len(count))[held]


@lru_cache(maxsize=1)
def _stretch_of_cells() -> Integers:
    """For every cell a number that rises with the log-odds of its middle, by 64 for each unit; score 1 has the last."""
    left, width = cells.bounds(np.arange(cells.CELL_OF_ONE))
    middle = (left + width / 2) / cells.UNIT
    return np.append(np.floor(64 * (np.log(middle) - np.log1p(-middle))) + 2**11, 2**12).astype(np.int64)
