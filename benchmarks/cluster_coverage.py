"""Rows that are not independent, not equal: how often bounds miss, and what weights cost next to all rows.

    python benchmarks/cluster_coverage.py [--sets 400]

Each line prints what was measured and the figure it is held to; the script fails if one is exceeded. Lines without such
a figure are for the record. Ratios are of means over data sets, with the standard error of that ratio.
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
from calcert import bounds
from calcert.certificates import bounded_variation, crossings, cutoff, distance, finite, in_the_large, perturbed
from calcert.perturbation.noise import DEFAULT, Noise
from calcert.summary.summary import Summary

Row = tuple[str, float, float, float | None]
"""What, the value, its standard error (0 where it is a count), and the figure it is held to, if any."""

DELTA = 0.05
SCORES = np.arange(1, 20) / 20
UPPER: dict[str, Callable[[Summary], dict[str, float]]] = {
    "distance": lambda s: distance.upper_terms(s, DELTA),
    "cutoff": lambda s: cutoff.upper_terms(s, DELTA),
    "crossings": lambda s: crossings.upper_terms(s, 3, DELTA),
    "finite": lambda s: finite.upper_terms(s, DELTA),
    "bounded variation": lambda s: bounded_variation.upper_terms(s, 1.0, DELTA),
    "mean gap": lambda s: in_the_large.upper_terms(s, DELTA),
    "perturbed, odds 1/16": lambda s: perturbed.upper_terms(s, DEFAULT, DELTA),
    "perturbed, bandwidth 1/64": lambda s: perturbed.upper_terms(s, Noise("additive", 1 / 64), DELTA),
}


def upper(terms: dict[str, float]) -> float:
    """The bound that terms add up to."""
    return sum(terms.values())


def ratio(above: list[list[float]], below: list[list[float]]) -> list[tuple[float, float]]:
    """Means over data sets, one over the other, with standard errors: data sets are paired."""
    a, b = np.array(above), np.array(below)
    found = a.mean(axis=0) / b.mean(axis=0)
    errors = (a - found * b).std(axis=0, ddof=1) / b.mean(axis=0) / np.sqrt(len(a)) if len(a) > 1 else 0 * found
    return list(zip(found.tolist(), errors.tolist(), strict=True))


def misses(sets: int) -> list[Row]:
    """Clusters of 20 rows whose labels are equal where their scores are, on 19 scores, with chances x^2."""
    ones = np.rint(1e9 * SCORES**2).astype(np.int64)
    law = calcert.summarize(np.repeat(SCORES, 2), np.tile([0, 1], 19), counts=np.stack([10**9 - ones, ones], 1).ravel())
    truth = {name: terms(law)["plug-in"] for name, terms in UPPER.items()}
    truth["bounded variation"] = truth["finite"]
    missed = dict.fromkeys(UPPER, 0)
    plain = 0
    user = np.repeat(np.arange(1_000), 20)
    for seed in track(range(sets), "misses", transient=True):
        rng = np.random.default_rng(seed)
        x = rng.choice(SCORES, user.size)
        y = rng.random(1_000)[user] < x**2
        rows = calcert.summarize(x, y, clusters=user)
        for name, terms in UPPER.items():
            missed[name] += upper(terms(rows)) < truth[name] - 1e-6
        plain += upper(finite.upper_terms(calcert.summarize(x, y), DELTA)) < truth["finite"] - 1e-6
    print(f"as if rows were independent, finite misses {plain / sets:.3f}")
    return [(f"20 equal rows a cluster, x^2: misses of {name}", n / sets, 0.0, DELTA) for name, n in missed.items()]


def false_alarms(sets: int) -> list[Row]:
    """Calibrated clusters with heavy tails: lower bounds above 0."""
    alarms = 0
    for seed in track(range(sets // 2), "false alarms", transient=True):
        rng = np.random.default_rng(seed)
        sizes = np.minimum(np.ceil(rng.pareto(1.2, 1_000) + 1), 2_000).astype(np.int64)
        user = np.repeat(np.arange(1_000), sizes)
        x = rng.choice(SCORES, user.size)
        report = calcert.certify(x, rng.random(1_000)[user] < x, clusters=user)
        alarms += any(c.lower > 0 for name, c in report.certificates.items() if name != "perturbed")
    return [("calibrated, heavy-tailed clusters: false lower bounds", float(alarms), 0.0, 0.0)]


def thinned(seeds: int) -> list[Row]:
    """Beta(0.5, 500), a million rows: bounds of the rows that were kept next to those of all rows."""
    certify: dict[str, Callable[[Summary], float]] = {
        "perturbed, bandwidth 2^-13": lambda s: calcert.bounds.perturbed(s, bandwidth=2**-13).upper,
        "perturbed": lambda s: calcert.bounds.perturbed(s).upper,
        "distance": lambda s: calcert.bounds.distance(s).upper,
        "cutoff": lambda s: calcert.bounds.cutoff(s).upper,
    }
    kinds = ("all", "one negative in ten", "max(0.01, x / 0.1)", "sample_for_labelling, 16,000 with labels")
    found: dict[str, list[list[float]]] = {kind: [] for kind in kinds}
    share = []
    for seed in track(range(seeds), "thinned", transient=True):
        rng = np.random.default_rng(seed)
        x = rng.beta(0.5, 500, 1_000_000)
        y = rng.random(x.size) < x
        flat = y | (rng.random(x.size) < 0.1)
        weight = np.where(y, 1, np.floor(64 / np.clip(x / 0.1, 0.01, 1)) / 64)
        kept = rng.random(x.size) * weight < 1
        share.append(kept.mean())
        chosen = calcert.sample_for_labelling(x, 16_000, labels=y, seed=seed)
        summaries = (
            calcert.summarize(x, y),
            calcert.summarize(x[flat], y[flat], weights=np.where(y, 1, 10)[flat], largest_weight=10),
            calcert.summarize(
                x[kept], y[kept], weights=weight[kept], weight_unit=1 / 64, largest_weight=100, largest_gain=1
            ),
            calcert.summarize(x[chosen.rows], y[chosen.rows], **chosen.arguments),
        )
        for kind, summary in zip(kinds, summaries, strict=True):
            found[kind].append([bound(summary) for bound in certify.values()])
    print(f"max(0.01, x / 0.1) keeps {np.mean(share):.2%} of the rows")
    held = {"one negative in ten": 1.45, "max(0.01, x / 0.1)": 1.1}
    return [
        (f"{kind}: {name}, next to all rows", *value, held.get(kind) if "2^-13" in name else None)
        for kind in kinds[1:]
        for name, value in zip(certify, ratio(found[kind], found["all"]), strict=True)
    ]


def chosen_to_label(seeds: int) -> list[Row]:
    """Rows chosen by their scores alone, next to as many plain rows: one score in twenty is in doubt."""
    chosen_uppers, plain_uppers = [], []
    for seed in track(range(seeds), "to label", transient=True):
        rng = np.random.default_rng(seed)
        x = np.where(rng.random(1_000_000) < 0.95, rng.beta(1, 2_000, 1_000_000), rng.random(1_000_000))
        chosen = calcert.sample_for_labelling(x, 20_000, seed=seed)
        for rows, told, uppers in (
            (chosen.rows, chosen.arguments, chosen_uppers),
            (np.arange(chosen.rows.size), {}, plain_uppers),
        ):
            summary = calcert.summarize(x[rows], rng.random(rows.size) < x[rows], **told)
            uppers.append([calcert.bounds.perturbed(summary).upper, calcert.bounds.distance(summary).upper])
    found = ratio(chosen_uppers, plain_uppers)
    return [
        (f"20,000 labels chosen by score: {name}, next to plain rows", *value, None)
        for name, value in zip(("perturbed", "distance"), found, strict=True)
    ]


def single_rows() -> list[Row]:
    """Clusters of one row, next to plain rows: clusters need not be of one law, and pay for it."""
    rng = np.random.default_rng(0)
    x = rng.random(100_000)
    y = rng.random(x.size) < x
    plain, alone = calcert.summarize(x, y), calcert.summarize(x, y, clusters=np.arange(x.size))
    return [
        (f"clusters of one row: {certify.__name__}, next to plain rows",
         certify(alone).upper / certify(plain).upper, 0.0, None)
        for certify in (bounds.perturbed, bounds.distance, bounds.cutoff, bounds.bounded_variation)
    ]  # fmt: skip


def main() -> None:
    """Print the table; exit with 1 if any figure is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=400)
    sets = parser.parse_args().sets
    seeds = max(sets // 40, 1)
    table = Table("what", "measured", "held to")
    figures = single_rows() + thinned(seeds) + chosen_to_label(seeds) + misses(sets) + false_alarms(sets)
    missed = [name for name, value, _, limit in figures if limit is not None and value > limit]
    for name, value, error, limit in figures:
        shown = f"{value:.3f}" + (f" ± {error:.3f}" if error else "")
        table.add_row(name, shown, "" if limit is None else f"<= {limit:g}" + " MISSED" * (name in missed))
    Console(width=120).print(table)
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()
