"""The total-variation denoiser against sorting the same scores, and against ProxTV, which the paper used.

python benchmarks/denoise.py [--rows 10000000] [--quick]

At the published penalty, on the distributions of the experiments. Both run in one process by turns and the shortest of
three times counts; held to three sorts. ``denoise``, in `calcert.published.total_variation`, is for
anyone; ``pieces`` what the published bound calls on rows that are sorted already. Where ProxTV is installed (``pip
install prox_tv``; its build needs the headers of LAPACKE), its default solver is given the same labels and penalty, and
must give the same curve to 1e-12. A quick run has 100,000 rows and takes no notice of times.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[1]))

from experiments.distributions import DISTRIBUTIONS

from calcert.published.total_variation import denoise, noise, pieces

LIMIT = 3.0
SAME = 1e-12


def quickest(*works: Callable[[], object]) -> list[float]:
    """The shortest of three times of each, by turns."""
    times: list[list[float]] = [[] for _ in works]
    for _ in range(3):
        for work, spent in zip(works, times, strict=True):
            start = time.process_time()
            work()
            spent.append(time.process_time() - start)
    return [min(spent) for spent in times]


def against(proxtv: Callable[..., np.ndarray] | None, labels: np.ndarray, penalty: float) -> tuple[float, float]:
    """The time of ProxTV, and how far its curve is from ours anywhere; zeros where it is not installed."""
    if proxtv is None:
        return 0.0, 0.0
    values = labels.astype(np.float64)
    (spent,) = quickest(lambda: proxtv(values, penalty))
    return spent, float(np.abs(proxtv(values, penalty) - denoise(labels, penalty)).max())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--quick", action="store_true", help="100,000 rows; ends with code 0")
    asked = parser.parse_args()
    rows = min(asked.rows, 100_000) if asked.quick else asked.rows
    proxtv = import_module("prox_tv").tv1_1d if find_spec("prox_tv") else None
    table = Table(
        "distribution", "sort s", "pieces / sort", "denoise / sort", "ProxTV / denoise", "apart", title=f"{rows:,} rows"
    )
    worst = furthest = 0.0
    for distribution in DISTRIBUTIONS:
        rng = np.random.default_rng(0)
        ordered, labels = distribution.rows(rows, rng)
        scores = rng.permutation(ordered)
        nobody, level = np.zeros(rows, np.uint8), noise(rows, 0.05 / 4)
        pieces(ordered[:1000], labels[:1000], nobody[:1000], 1, level)  # compile
        sorting, inner, outer = quickest(
            lambda s=scores: np.sort(s),
            lambda o=ordered, y=labels, f=nobody, p=level: pieces(o, y, f, 1, p),
            lambda y=labels, p=level: denoise(y, p),
        )
        worst = max(worst, inner / sorting, outer / sorting)
        theirs, apart = against(proxtv, labels, level)
        furthest = max(furthest, apart)
        beside = ("", "") if proxtv is None else (f"{theirs / outer:.2f}", f"{apart:.1g}")
        table.add_row(distribution.name, f"{sorting:.2f}", f"{inner / sorting:.2f}", f"{outer / sorting:.2f}", *beside)
    Console(width=100).print(table)
    print(f"{'held' if worst < LIMIT else 'MISSED'}: at most {worst:.2f} sorts, limit {LIMIT:g}")
    sys.exit(furthest > SAME or (worst >= LIMIT and not asked.quick))


if __name__ == "__main__":
    main()
