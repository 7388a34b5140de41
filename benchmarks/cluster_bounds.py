"""What bounds for clusters cost and promise: widths of upper bounds, misses and false alarms over many data sets.

    python benchmarks/cluster_bounds.py [--sets 400] [--alarms 200] [--seeds 10]

Each line prints what was measured and the most that it may be; the script fails if one exceeds it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

import calcert
from calcert.certificates.distance import distance_lower
from calcert.certificates.witnesses.betting import l1_lower
from calcert.perturbation.sech_kernel import density

Row = tuple[str, float, float]
BANDWIDTH = 1 / 64
SCORES = np.arange(1, 20) / 20
TRUTH = float(np.mean(SCORES - SCORES**2))
"""Of x^2 on 19 scores: of the L1 error, of the distance, of the worst range, as all scores are too high."""


def served(summary: calcert.Summary) -> calcert.Certificate:
    """The statement for what is served with additive noise."""
    return calcert.bounds.perturbed(summary, bandwidth=BANDWIDTH)


def served_truth() -> float:
    """The error of x^2 on the 19 scores when it is served, by midpoints."""
    t = (np.arange(8000) + 0.5) / 8000
    return float(np.mean(np.abs(np.mean([(t - x * x) * density(t, x, BANDWIDTH) for x in SCORES], axis=0))))


STATEMENTS: dict[str, Callable[[calcert.Summary], calcert.Certificate]] = {
    "finite": calcert.bounds.finite,
    "distance": calcert.bounds.distance,
    "cutoff": calcert.bounds.cutoff,
    "crossings": calcert.bounds.crossings,
    "mean gap": calcert.bounds.in_the_large,
    "bounded variation": calcert.bounds.bounded_variation,
    "served": served,
}


def widths(seeds: int) -> list[Row]:
    """Mean upper bound of the served error, calibrated uniform scores, clusters of 5 independent rows, n = 1e5."""
    found = []
    cluster = np.repeat(np.arange(20_000), 5)
    for seed in track(range(seeds), "widths", transient=True):
        rng = np.random.default_rng(seed)
        x = rng.random(100_000)
        y = rng.random(100_000) < x
        found.append(
            [served(calcert.summarize(x, y, clusters=cluster, pair_sums=paired)).upper for paired in (False, True)]
        )
    plain, paired = np.mean(found, axis=0)
    return [("clusters of 5, served, at most", plain, 0.0092), ("the same with pair sums", paired, 0.0075)]


def misses(sets: int) -> list[Row]:
    """Shares of data sets of 1,000 clusters of 20 rows with equal labels, x^2, in which a bound misses."""
    missed: dict[str, int] = {}
    truths = dict.fromkeys(STATEMENTS, TRUTH) | {"served": served_truth()}
    cluster = np.repeat(np.arange(1000), 20)
    for seed in track(range(sets), "misses", transient=True):
        rng = np.random.default_rng(seed)
        x = rng.choice(SCORES, cluster.size)
        y = rng.random(1000)[cluster] < x**2
        rows = {
            "": calcert.summarize(x, y, clusters=cluster),
            ", pair sums": calcert.summarize(x, y, clusters=cluster, pair_sums=True),
        }
        for kind, summary in rows.items():
            for name, certify in STATEMENTS.items():
                found = certify(summary)
                true = truths[name]
                for side, wrong in (("upper", found.upper < true - 1e-6), ("lower", found.lower > true + 1e-6)):
                    missed[f"{name}{kind}, {side}"] = missed.get(f"{name}{kind}, {side}", 0) + wrong
        plain = calcert.bounds.finite(calcert.summarize(x, y)).upper < TRUTH
        missed["as if rows were independent"] = missed.get("as if rows were independent", 0) + plain
    print(f"as if rows were independent: misses {missed.pop('as if rows were independent') / sets:.3f}")
    worst = max(missed, key=lambda name: missed[name])
    print(f"most misses: {worst}, {missed[worst] / sets:.4f}; delta is 0.05")
    return [(f"misses, {name}", count / sets, 0.05) for name, count in missed.items()]


def false_alarms(sets: int) -> list[Row]:
    """Calibrated heavy-tailed clusters with one uniform number each: lower bounds above 0."""
    alarms = {False: 0, True: 0}
    for seed in track(range(sets), "false alarms", transient=True):
        rng = np.random.default_rng(seed)
        sizes = np.minimum(np.ceil(rng.pareto(1.2, 2000) + 1), 2000).astype(np.int64)
        cluster = np.repeat(np.arange(sizes.size), sizes)
        x = rng.choice(SCORES, cluster.size)
        y = rng.random(sizes.size)[cluster] < x
        for paired in alarms:
            rows = calcert.summarize(x, y, clusters=cluster, pair_sums=paired)
            lower = [l1_lower(rows, 0.05, 0).limit, distance_lower(rows, 0.05, 0).limit]
            lower += [
                calcert.bounds.cutoff(rows).lower,
                calcert.bounds.crossings(rows).lower,
                calcert.bounds.in_the_large(rows).lower,
            ]
            alarms[paired] += max(lower) > 0
    return [
        (f"false alarms of heavy-tailed clusters{', pair sums' * paired}", count, 0) for paired, count in alarms.items()
    ]


def main() -> int:
    """Print the table; 1 where something exceeds what it may be."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("sets", 400), ("alarms", 200), ("seeds", 10)):
        parser.add_argument(f"--{name}", type=int, default=default)
    given = parser.parse_args()
    rows = [*widths(given.seeds), *misses(given.sets), *false_alarms(given.alarms)]
    table = Table("what", "found", "at most")
    for what, found, most in rows:
        table.add_row(what, f"{found:.4f}", f"{most:.4f}")
    Console(width=100).print(table)
    return int(any(found > most for _, found, most in rows))


if __name__ == "__main__":
    sys.exit(main())
