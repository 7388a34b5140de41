"""Deploying few values: the L1 bound without assumption and the AUROC lost, beside perturbed scores.

    python -m experiments.few_values [--quick] [--publish]

Scores follow Beta(2, 3) and are calibrated. Rounding to K levels means the nearest multiple of 1 / (K - 1). Bounds are
at 95% confidence and means over the data sets, and so are the AUROCs lost; that of perturbed scores is computed without
drawing them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

import calcert
from calcert.perturbation.noise import Noise
from calcert.reports.noise_costs import ranking_and_log_loss
from experiments.results import Results, experiment

SIZES, QUICK = {10_000: 20, 100_000: 20}, {10_000: 2}
"""Rows -> data sets."""

LEVELS = (10, 21, 101)
NOISES = {"perturbed, bandwidth 1/64": Noise("additive", 1 / 64), "perturbed, odds 1/16": Noise("odds", 1 / 16)}
HEADER = ("rows", "deployed", "L1 bound", "AUROC lost")

Floats = NDArray[np.float64]
Measure = Callable[[Floats, NDArray[np.bool_], float], tuple[float, float]]


def rounded(levels: int) -> Measure:
    """Theorem 4 for scores that are rounded, and what ties cost."""

    def measure(x: Floats, y: NDArray[np.bool_], ranked: float) -> tuple[float, float]:
        rows = calcert.summarize(np.rint(x * (levels - 1)) / (levels - 1), y)
        return calcert.bounds.finite(rows).upper, ranked - calcert.estimates(rows)["AUROC"]

    return measure


def perturbed(noise: Noise) -> Measure:
    """Theorem 1 for scores with noise, and what the noise costs."""

    def measure(x: Floats, y: NDArray[np.bool_], ranked: float) -> tuple[float, float]:
        rows = calcert.summarize(x, y)
        bound = calcert.bounds.perturbed(rows, **noise.parameters).upper
        return bound, ranked - ranking_and_log_loss(rows, noise)[0]

    return measure


@experiment("few_values.csv", quick="One size, two data sets.")
def main(out: Results, quick: bool) -> None:
    """Measure, write the table and print it."""
    ways = {f"{levels} levels": rounded(levels) for levels in LEVELS}
    ways |= {name: perturbed(noise) for name, noise in NOISES.items()}
    table, lines = Table(*HEADER), []
    for rows, sets in (QUICK if quick else SIZES).items():
        found: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
        for seed in range(sets):
            rng = np.random.default_rng([rows, seed])
            x = rng.beta(2, 3, rows)
            y = rng.random(rows) < x
            ranked = calcert.estimates(calcert.summarize(x, y))["AUROC"]
            for name, way in ways.items():
                found[name].append(way(x, y, ranked))
        for name, pairs in found.items():
            bound, lost = np.mean(pairs, axis=0)
            lines.append([f"{rows:,}", name, f"{bound:.4f}", f"{lost:.5f}"])
            table.add_row(*lines[-1])
    out.table("few_values.csv", HEADER, lines)
    Console(width=100).print(table)


if __name__ == "__main__":
    main()
