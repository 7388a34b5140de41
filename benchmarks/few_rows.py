"""How close bounds from few rows are to what a normal approximation would say, which holds only about as often.

    python benchmarks/few_rows.py [--seeds 200]

Calibrated rows; the mean over samples of the upper bound for calibration in the large over (mean gap + 1.645 standard
errors), and of distance, cutoff and L1 error (three crossings) over the same. The script fails if a figure is missed.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

import calcert
from calcert.certificates import crossings, cutoff, distance, in_the_large

Draw = Callable[[np.random.Generator, int], np.ndarray]
GRID = np.linspace(0.6, 0.99, 40)
ROWS = (100, 300, 1_000)
LAWS: dict[str, tuple[Draw, tuple[float, ...]]] = {
    "Beta(2, 3)": (lambda rng, n: rng.beta(2, 3, n), (1.45, 1.39, 1.24)),
    "0.60, 0.61 ... 0.99": (lambda rng, n: rng.choice(GRID, n), (1.60, 1.45, 1.33)),
    "Beta(0.5, 20)": (lambda rng, n: rng.beta(0.5, 20, n), (2.68, 2.02, 1.68)),
}
STATEMENTS: dict[str, Callable[[calcert.Summary], dict[str, float]]] = {
    "in the large": lambda summary: in_the_large.upper_terms(summary, 0.05),
    "distance": lambda summary: distance.upper_terms(summary, 0.05),
    "cutoff": lambda summary: cutoff.upper_terms(summary, 0.05),
    "L1": lambda summary: crossings.upper_terms(summary, 3, 0.05),
}


def ratios(draw: Draw, n: int, seeds: int) -> list[float]:
    """The mean over samples of each statement's upper bound over the normal approximation of the mean gap."""
    found = []
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        x = draw(rng, n)
        gap = x - (rng.random(n) < x)
        normal = abs(gap.mean()) + 1.645 * gap.std() / math.sqrt(n)
        summary = calcert.summarize(x, x - gap)
        found.append([math.fsum(terms(summary).values()) / normal for terms in STATEMENTS.values()])
    return [float(value) for value in np.mean(found, axis=0)]


def main() -> None:
    """Print the table; exit with 1 if a figure for calibration in the large is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=200)
    seeds = parser.parse_args().seeds
    table, missed = Table("scores", "rows", *STATEMENTS, "in the large, held to"), False
    cases = [(name, n, limit) for name, (_, limits) in LAWS.items() for n, limit in zip(ROWS, limits, strict=True)]
    for name, n, limit in track(cases, "few rows", transient=True):
        found = ratios(LAWS[name][0], n, seeds)
        missed |= found[0] > limit
        table.add_row(name, f"{n:,}", *(f"{value:.3f}" for value in found), f"<= {limit:g}")
    Console(width=120).print(table)
    sys.exit(missed)


if __name__ == "__main__":
    main()
