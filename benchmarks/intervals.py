"""Intervals and tests, of others and of calcert, on many data sets: how often they hold, how wide, what they see.

    python -m benchmarks.intervals [--sets 200] [--rows 1000]

All intervals are at 95%, both sides together; all tests at 5%. Each method speaks of its own quantity, whose true value
stands beside it. The interval of Sun et al. (2024) is reimplemented here after their formulas, for two classes and with
the 50 equal bins of their simulations; where their test does not reject, it begins at 0. MCGrad is used if installed.
"""

from __future__ import annotations

import argparse
import importlib.util
import math
from collections.abc import Callable

import numpy as np
from experiments.laws import BANDWIDTH, LAWS, Law
from rich.console import Console
from rich.progress import track
from rich.table import Table
from scipy.stats import binom, norm

import calcert

LEVEL = 0.05
BINS = 50
FAINT = Law("faint", "x + sin(2 π x) / 20", lambda x: x + np.sin(2 * np.pi * x) / 20, 2.0)
SHOWN = (LAWS[-1], FAINT, LAWS[0], LAWS[3])

Interval = tuple[float, float]


def sun(x: np.ndarray, y: np.ndarray) -> Interval:
    """E(X - E[Y|X])^2 by Sun, Chaudhari, Barnett and Dobriban: asymptotic, if the calibration function is smooth."""
    n, bins = x.size, np.minimum((x * BINS).astype(int), BINS - 1)
    rows = np.bincount(bins, minlength=BINS)
    kept = rows > 0
    rows = rows[kept]
    values = (y - x, (y - x) ** 2, x * (1 - x))
    gap, square, spread = (np.bincount(bins, value, minlength=BINS)[kept] / rows for value in values)
    estimate = max(float((rows * (rows * gap**2 - square) / np.maximum(rows - 1, 1)).sum() / n), 0.0)
    share = rows / n
    variance = (share * (4 * gap**2 * square - 3 * gap**4)).sum() - (share * gap**2).sum() ** 2
    error = math.sqrt(max(variance, 0.0) / n)
    one, two = norm.isf(LEVEL), norm.isf(LEVEL / 2)
    upper = estimate + two * error
    if estimate < one * math.sqrt(2 * (spread**2).sum()) / n:
        return 0.0, upper
    if estimate >= 2 * two * error:
        return estimate - two * error, upper
    return (estimate / 2 if estimate >= 2 * one * error else max(estimate - one * error, 0.0)), upper


def ours(name: str, **settings: float) -> Callable[[np.ndarray, np.ndarray], Interval]:
    def interval(x: np.ndarray, y: np.ndarray) -> Interval:
        found = getattr(calcert, name)(calcert.summarize(x, y), delta=LEVEL / 2, **settings)
        return found.lower, found.upper

    return interval


def squared(law: Law) -> float:
    x = (np.arange(2_000_000) + 0.5) / 2_000_000
    return float(((x - law.eta(x)) ** 2).mean())


def miscount(law: Law) -> float:
    """The largest sum of E[Y|X] - X over a range of scores, per row: the range of its running integral."""
    x = (np.arange(2_000_000) + 0.5) / 2_000_000
    return float(np.ptp(np.concatenate([[0.0], np.cumsum(law.eta(x) - x)])) / x.size)


INTERVALS: dict[str, tuple[Callable[[Law], float], Callable[[np.ndarray, np.ndarray], Interval]]] = {
    "Sun et al., squared error as it is": (squared, sun),
    "calcert squared, served": (lambda law: law.served_squared_error, ours("squared", bandwidth=BANDWIDTH)),
    "calcert ranges, as it is": (miscount, ours("ranges")),
}

TESTS: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {
    "calcert.test": lambda x, y: calcert.test(x, y).p_value,
}
if importlib.util.find_spec("mcgrad"):
    from mcgrad.metrics import ecce, ecce_pvalue

    INTERVALS["MCGrad ecce, an estimate"] = (miscount, lambda x, y: (float(ecce(y.astype(float), x)),) * 2)
    TESTS["MCGrad ecce_pvalue (Kuiper)"] = lambda x, y: float(ecce_pvalue(y.astype(float), x))


def measure(law: Law, sets: int, rows: int) -> list[tuple[str, ...]]:
    """A line a method: true value, share of sets in which the interval holds it, means of its ends, share above 0."""
    found: dict[str, list[Interval]] = {name: [] for name in INTERVALS}
    rejected = dict.fromkeys(TESTS, 0)
    for seed in track(range(sets), law.name):
        x, y = law.rows(rows, np.random.default_rng([rows, seed]))
        for name, (_, interval) in INTERVALS.items():
            found[name].append(interval(x, y))
        for name, p_value in TESTS.items():
            rejected[name] += p_value(x, y) <= LEVEL
    lines = []
    for name, intervals in found.items():
        truth, (lower, upper) = INTERVALS[name][0](law), np.array(intervals).T
        estimate, held = bool((lower == upper).all()), int(((lower <= truth) & (truth <= upper)).sum())
        few = " TOO FEW" if held < binom.ppf(1e-3, sets, 1 - LEVEL) else ""
        ends = (f"{truth:.4f}", "-" if estimate else f"{held}{few}", f"{lower.mean():.4f}", f"{upper.mean():.4f}")
        lines.append((law.name, name, *ends, "-" if estimate else f"{(lower > 0).sum()}"))
    return lines + [(law.name, name, "", "", "", "", f"{count}") for name, count in rejected.items()]


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=200)
    parser.add_argument("--rows", type=int, default=1_000)
    arguments = parser.parse_args()
    table = Table("law", "method", "truth", f"holds, of {arguments.sets}", "mean from", "mean to", "sees an error")
    for law in SHOWN:
        for line in measure(law, arguments.sets, arguments.rows):
            table.add_row(*line)
    Console(width=140).print(table)


if __name__ == "__main__":
    main()
