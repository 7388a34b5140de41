"""Methods that come without a package, reimplemented here after what their authors publish.

Sun, Chaudhari, Barnett and Dobriban (2024), "A Confidence Interval for the l2 Expected Calibration Error": estimate,
variance and ends agree with the code of their simulations (github.com/sylydya/CI-ECE), for two classes and the score
of class 1.

Rossellini, Soloff, Barber, Ren and Willett (2025), "Can a calibration metric be both testable and actionable?": the
cutoff calibration error. Its definition is known here at second hand, the constants of its test are not; so the
level of the test here is found by drawing labels from the scores: our choice, and exact at every number of rows.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import norm

Interval = tuple[float, float]


def sun(x: np.ndarray, y: np.ndarray, level: float, bins: int = 50) -> tuple[Interval, bool]:
    """An interval for E(X - E[Y|X])^2, and whether their test rejects calibration; where it does not, it begins at 0.

    Right as rows grow, if the calibration function is smooth. They simulate with 50 equal bins.
    """
    n, bin_of = x.size, np.minimum((x * bins).astype(int), bins - 1)
    rows = np.bincount(bin_of, minlength=bins)
    kept = rows > 0
    rows = rows[kept]
    values = (y - x, (y - x) ** 2, x * (1 - x))
    gap, square, spread = (np.bincount(bin_of, value, minlength=bins)[kept] / rows for value in values)
    estimate = max(float((rows * (rows * gap**2 - square) / np.maximum(rows - 1, 1)).sum() / n), 0.0)
    share = rows / n
    variance = (share * (4 * gap**2 * square - 3 * gap**4)).sum() - (share * gap**2).sum() ** 2
    error = math.sqrt(max(variance, 0.0) / n)
    one, two = norm.isf(level), norm.isf(level / 2)
    upper = estimate + two * error
    if estimate < one * math.sqrt(2 * (spread**2).sum()) / n:
        return (0.0, upper), False
    if estimate >= 2 * two * error:
        return (estimate - two * error, upper), True
    return ((estimate / 2 if estimate >= 2 * one * error else max(estimate - one * error, 0.0)), upper), True


def cutoff_error(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Plug-in of sup over intervals I of |E[(Y - X) 1{X in I}]|; for each line of labels, if there are many.

    Sums over intervals are differences of running sums, taken where a score ends, as no interval parts equal scores.
    """
    order = np.argsort(x, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(x[order])), x.size - 1)
    sums = np.cumsum((y - x)[..., order], axis=-1)[..., ends]
    return (np.maximum(sums.max(axis=-1), 0.0) - np.minimum(sums.min(axis=-1), 0.0)) / x.size


def cutoff_p_value(x: np.ndarray, y: np.ndarray, draws: int = 199, seed: int = 0) -> float:
    """Where the plug-in ranks among those of labels drawn from the scores: a p-value of calibration at every n."""
    rng = np.random.default_rng(seed)
    drawn = cutoff_error(x, rng.random((draws, x.size)) < x)
    return (1 + int((drawn >= cutoff_error(x, y) - 1e-12).sum())) / (1 + draws)
