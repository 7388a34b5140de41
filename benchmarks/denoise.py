"""The total-variation denoiser against sorting the same scores.

python benchmarks/denoise.py [--rows 10000000] [--quick]

At the published penalty, on the laws of the experiments. Both run in one process by turns and the shortest of three
times counts; held to three sorts. ``denoise`` is what `calcert.published.taut_string.denoise` does for anyone;
``pieces`` what the published bound calls on rows that are sorted already. A quick run has 100,000 rows and
always ends with code 0.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[1]))

from experiments.laws import LAWS

from calcert.published.taut_string import denoise, pieces
from calcert.published.total_variation import noise

LIMIT = 3.0


def quickest(*works: Callable[[], object]) -> list[float]:
    """The shortest of three times of each, by turns."""
    times: list[list[float]] = [[] for _ in works]
    for _ in range(3):
        for work, spent in zip(works, times, strict=True):
            start = time.process_time()
            work()
            spent.append(time.process_time() - start)
    return [min(spent) for spent in times]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--quick", action="store_true", help="100,000 rows; ends with code 0")
    asked = parser.parse_args()
    rows = min(asked.rows, 100_000) if asked.quick else asked.rows
    table = Table("law", "sort s", "pieces / sort", "denoise / sort", title=f"{rows:,} rows")
    worst = 0.0
    for law in LAWS:
        rng = np.random.default_rng(0)
        ordered, labels = law.rows(rows, rng)
        scores = rng.permutation(ordered)
        nobody, level = np.zeros(rows, np.uint8), noise(rows, 0.05 / 4)
        pieces(ordered[:1000], labels[:1000], nobody[:1000], 1, level)  # compile
        sorting, inner, outer = quickest(
            lambda s=scores: np.sort(s),
            lambda o=ordered, y=labels, f=nobody, p=level: pieces(o, y, f, 1, p),
            lambda y=labels, p=level: denoise(y, p),
        )
        worst = max(worst, inner / sorting, outer / sorting)
        table.add_row(law.name, f"{sorting:.2f}", f"{inner / sorting:.2f}", f"{outer / sorting:.2f}")
    Console(width=100).print(table)
    print(f"{'held' if worst < LIMIT else 'MISSED'}: at most {worst:.2f} sorts, limit {LIMIT:g}")
    sys.exit(worst >= LIMIT and not asked.quick)


if __name__ == "__main__":
    main()
