"""Recalibrating with a certificate: bounds, truth, coverage and log loss after the map, beside scikit-learn.

    python -m experiments.fix [--quick] [--publish]

Scores are uniform and the probability of label 1 is s^1.6, so that the truth of every map is known exactly: no number
of the columns truth, covered and log loss is estimated from rows. Half of the rows fit, as in calcert.recalibrate;
scikit-learn is fitted on the same half, and once more on all rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator

import calcert
from calcert.reports.recalibrate import Recalibration, recalibrate_rows
from calcert.sources.rows_in_memory import rows_in_memory
from experiments.results import Results, experiment

POWER = 1.6
SIZES = {1_000: (400, 40), 10_000: (400, 40), 100_000: (40, 40)}
"""Rows -> data sets in all, and how many of them are compared with scikit-learn."""

QUICK = {1_000: (20, 2)}
GRID = (np.arange(200_000) + 0.5) / 200_000
"""On which log losses are integrated."""

HEADER = (
    *("rows", "data sets", "levels", "bound", "truth", "covered", "log loss", "scikit-learn, same half"),
    "scikit-learn, all rows",
)

Floats = NDArray[np.float64]


class Scores(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier whose probability is its only feature."""

    def fit(self, X: Any, y: Any) -> Scores:
        """Nothing to learn."""
        self.classes_ = np.array([0, 1])
        return self

    def predict_proba(self, X: Any) -> Floats:
        """The feature."""
        return np.column_stack([1 - X[:, 0], X[:, 0]])

    def predict(self, X: Any) -> NDArray[np.bool_]:
        """The more probable label."""
        return np.asarray(X[:, 0] > 0.5)


def truth(fixed: Recalibration) -> float:
    """The L1 error of a map to few levels, exactly."""
    edges = np.array([0.0, *fixed.map.edges, 1.0])
    ones = edges ** (POWER + 1) / (POWER + 1)
    return float(np.abs(np.diff(ones) - np.diff(edges) * np.array(fixed.map.values)).sum())


def log_loss(probability: Floats) -> float:
    """The mean log loss of a map on the grid, cut as scikit-learn cuts it."""
    p, q = np.clip(probability, 2.0**-52, 1 - 2.0**-52), GRID**POWER
    return -float((q * np.log(p) + (1 - q) * np.log1p(-p)).mean())


def best_of_scikit_learn(x: Floats, y: NDArray[np.bool_]) -> float:
    """The smaller log loss of its two maps."""
    model = FrozenEstimator(Scores().fit(None, None))
    maps = (CalibratedClassifierCV(model, method=method).fit(x[:, None], y) for method in ("sigmoid", "isotonic"))
    return min(log_loss(found.predict_proba(GRID[:, None])[:, 1]) for found in maps)


def measured(rows: int, sets: int, compared: int) -> list[str]:
    """A line of the table."""
    found = []
    for seed in range(sets):
        rng = np.random.default_rng([rows, seed])
        x = rng.random(rows)
        y = rng.random(rows) < x**POWER
        held = rows_in_memory(calcert.Rows(x, y), "recalibrate")
        fixed = recalibrate_rows(held, calcert.Settings(statements=("distance",)))
        assert fixed.l1 is not None
        half = slice(0, rows // 2)  # As good as any other: rows are independent.
        theirs = [best_of_scikit_learn(x[part], y[part]) for part in (half, slice(None))] if seed < compared else []
        own = (len(fixed.map.values), fixed.l1.upper, truth(fixed), fixed.l1.upper >= truth(fixed))
        found.append([*own, log_loss(fixed(GRID)), *(theirs or [np.nan, np.nan])])
    levels, bound, true, covered, *losses = np.nanmean(np.array(found, float), axis=0)
    shown = (f"{levels:.1f}", f"{bound:.4f}", f"{true:.4f}", f"{covered:.2%}", *(f"{loss:.4f}" for loss in losses))
    return [f"{rows:,}", f"{sets:,}", *shown]


@experiment("fix.csv", quick="One size, few data sets.")
def main(out: Results, quick: bool) -> None:
    """Measure, write the table and print it."""
    table = Table(*HEADER)
    lines = [measured(rows, *sets) for rows, sets in (QUICK if quick else SIZES).items()]
    for line in lines:
        table.add_row(*line)
    out.table("fix.csv", HEADER, lines)
    Console(width=140).print(table)


if __name__ == "__main__":
    main()
