"""How fast summarising and certifying are, as ratios to np.histogram(scores, 15) on the same rows in the same run.

python benchmarks/speed.py [--rows 10000000]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.calibration import calibration_curve

import calcert

FRESH = 6
"""Different sets of rows that are certified in turns."""

HEAVY = ("pandas", "polars", "torch", "sklearn", "matplotlib", "pyspark", "duckdb")


def best(function: Callable[[], object], repeats: int) -> float:
    """The shortest of several runs in seconds: the one least disturbed by other processes."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def to_curve(rows: int, rng: np.random.Generator) -> float:
    """The time of certify over that of calibration_curve, in turns and on other rows every time.

    Nothing that was kept of the same rows may help.
    """
    scores = rng.random(rows + FRESH)
    labels = rng.random(rows + FRESH) < scores
    calcert.certify(scores, labels)
    parts = [slice(k, k + rows) for k in range(FRESH)]
    curve, certified = zip(
        *(
            (
                best(lambda p=p: calibration_curve(labels[p], scores[p], n_bins=15), 1),
                best(lambda p=p: calcert.certify(scores[p], labels[p]), 1),
            )
            for p in parts
        ),
        strict=True,
    )
    return min(certified) / min(curve)


def peak_memory(n: int) -> float:
    """Extra megabytes that certify needs on top of the two arrays, in a process of its own, compiled kernels warm."""
    script = (
        "import numpy as np, calcert, tracemalloc\n"
        "calcert.certify([0.5], [1])\n"
        f"x = np.random.default_rng(0).random({n}); y = np.zeros({n}, bool); y[::2] = True\n"
        "tracemalloc.start()\n"
        "calcert.certify(x, y)\n"
        "print(tracemalloc.get_traced_memory()[1])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return int(done.stdout) / 1e6


def main() -> None:
    """Print the table; exit with 1 if any figure is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000_000)
    n = parser.parse_args().rows
    rng = np.random.default_rng(0)
    table = Table("what", "measured", "held to")
    missed = 0

    def add(name: str, value: float, limit: float, unit: str) -> None:
        nonlocal missed
        missed += value > limit
        table.add_row(name, f"{value:.2f} {unit}", f"<= {limit:g} {unit}" + (" MISSED" if value > limit else ""))

    for name, scores, limit in (
        ("uniform", rng.random(n), 1.0),
        ("Beta(0.3, 0.3)", rng.beta(0.3, 0.3, n), 1.8),
    ):
        labels = rng.random(n) < scores
        summary = calcert.summarize(scores, labels)
        assert summary.n == n
        assert summary.positives == labels.sum()
        yardstick = best(lambda s=scores: np.histogram(s, 15), 5)
        ratio = best(lambda s=scores, y=labels: calcert.summarize(s, y), 5) / yardstick
        add(f"summarize, {name}, {n:,} rows, / np.histogram", ratio, limit, "x")
        small = calcert.summarize(scores[: n // 100], labels[: n // 100])
        large, short = (best(lambda s=s: calcert.certify(s), 3) for s in (summary, small))
        add(f"certify after summarising, {name}, {n:,} rows", large, 1.5, "s")
        table.add_row(f"   the same on {n // 100:,} rows", f"{short:.2f} s", "")
        additive = best(lambda s=summary: calcert.certify(s, bandwidth=1 / 64), 3)
        add(f"certify with odds 1/16 / with bandwidth 1/64, {name}", large / additive, 1.2, "x")
    million = rng.random(1_000_000)
    for rows, limit in ((100_000, 4.0), (1_000_000, 1.0), (n, 0.25)):
        add(f"certify, all statements, {rows:,} rows, / calibration_curve", to_curve(rows, rng), limit, "x")
    scores, site = rng.random(100_000), np.repeat(np.arange(100), 1000)
    labels = rng.random(100_000) < scores
    few = min(best(lambda k=k: calcert.certify(scores[k : k + 1000], labels[k : k + 1000]), 1) for k in range(1, 40))
    add("certify, 1,000 rows, / np.sort of 1,000,000", few / best(lambda: np.sort(million), 10), 0.2, "x")
    for workers, limit in ((1, 1.0), (2, 0.6)):
        ratio = best(lambda w=workers: calcert.certify(scores, labels, groups=site, workers=w), 2) / (100 * few)
        add(f"100 groups of 1,000 rows, workers={workers}, / 100 times 1,000 rows", ratio, limit, "x")
    chances = rng.dirichlet(np.full(20, 0.3), 50_000)
    right = (rng.random((50_000, 1)) > chances.cumsum(axis=1)).sum(axis=1)
    columns = best(lambda: [calibration_curve(right == k, chances[:, k], n_bins=15) for k in range(20)], 3)
    ratio = best(lambda: calcert.certify(chances, right), 2) / columns
    add("20 classes, 50,000 rows, / calibration_curve of each", ratio, 5.0, "x")
    sorting = rng.random(2_000_000)
    for rows, limit in ((1_000, 0.1), (100_000, 1.0), (n, 1.0)):
        scores = rng.random(rows)
        summary = calcert.summarize(scores, rng.random(rows) < scores)
        for certify in (calcert.distance, calcert.ranges, calcert.crossings):
            interval = certify(summary)
            assert 0 <= interval.lower < interval.upper < 4 / rows**0.5
            ratio = best(lambda s=summary, f=certify: f(s), 20) / best(lambda: np.sort(sorting), 10)
            add(f"{certify.__name__} after summarising, {rows:,} rows, / np.sort of 2,000,000", ratio, limit, "x")
    add(f"extra memory of certify, {n:,} rows", peak_memory(n), 120, "MB")
    code = f"import sys, calcert; print(*[m for m in {HEAVY!r} if m in sys.modules])"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    add("heavy libraries loaded by import calcert", len(loaded), 0, "")
    Console(width=110).print(table)
    sys.exit(missed > 0)


if __name__ == "__main__":
    main()
