"""How tight the certificates are: upper minus truth, and lower bounds, on laws whose errors are known.

    python benchmarks/tightness.py [--seeds 20]

Each line prints what was measured, the figure it is held to, and their ratio; the script fails if a ratio exceeds 1.
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
from calcert.serving.kernel import density

Row = tuple[str, float, float, bool]
BANDWIDTH = 1 / 64


def served_truth(eta: Callable[[np.ndarray], np.ndarray], points: int = 20_000) -> float:
    """True L1 calibration error of the perturbed classifier for uniform scores: the integral of |m|, by midpoints."""
    x = (np.arange(points) + 0.5) / points
    t = (np.arange(4_000) + 0.5) / 4_000
    return float(np.mean([abs(((s - eta(x)) * density(s, x, BANDWIDTH)).mean()) for s in t]))


def uniform(n: int, eta: Callable[[np.ndarray], np.ndarray], seed: int) -> calcert.Summary:
    """n rows with uniform scores and label probability eta(score)."""
    rng = np.random.default_rng(seed)
    x = rng.random(n)
    return calcert.summarize(x, rng.random(n) < eta(x))


def identity(x: np.ndarray) -> np.ndarray:
    """A calibrated classifier."""
    return x


def square(x: np.ndarray) -> np.ndarray:
    """Label probability x^2: the L1 calibration error is 1/6."""
    return x * x


def upper_gaps(seeds: int) -> list[Row]:
    """Mean of upper minus truth over seeds; the report's own statement (delta shared with Theorem 4) beside it."""
    rows: list[Row] = []
    calibrated, squared = served_truth(identity), served_truth(square)
    cases = [
        (10_000, identity, calibrated, 0.0, 0.0193, 0.0475),
        (100_000, identity, calibrated, 0.0, 0.0059, 0.0199),
        (1_000_000, identity, calibrated, 0.0, 0.0019, 0.0086),
        (100_000, square, squared, 1 / 6, 0.0026, 0.0056),
    ]
    for n, eta, served, plain, served_limit, plain_limit in track(cases, "upper bounds", transient=True):
        gaps = []
        for seed in range(seeds):
            report = calcert.certify(uniform(n, eta, seed))
            alone = calcert.bounded_variation(report.summary).upper
            gaps.append((report.perturbed.upper - served, alone - plain, report.unmodified.upper - plain))
        perturbed, variation, unmodified = np.mean(gaps, axis=0)
        name = f"{'calibrated' if eta is identity else 'eta = x^2'}, n = {n:,}"
        rows += [
            (f"{name}: perturbed, upper - truth", perturbed, served_limit, True),
            (f"{name}: bounded variation, upper - truth", variation, plain_limit, True),
            (f"{name}: report.unmodified, upper - truth", unmodified, plain_limit, True),
        ]
    return rows


def lower_bounds(seeds: int) -> list[Row]:
    """Mean lower bounds where the truth is 1/6, and how often a calibrated classifier is given one above 0."""
    rows: list[Row] = []
    for n, limit in ((10_000, 0.140), (100_000, 0.160)):
        reports = [calcert.certify(uniform(n, square, seed)) for seed in range(seeds)]
        for name in ("perturbed", "unmodified"):
            mean = float(np.mean([getattr(report, name).lower for report in reports]))
            rows.append((f"eta = x^2, n = {n:,}: {name} lower", mean, limit, False))
    runs = 10 * seeds
    lows = [calcert.certify(uniform(2_000, identity, seed)) for seed in range(runs)]
    for name, truth in (("perturbed", served_truth(identity)), ("unmodified", 0.0)):
        share = float(np.mean([getattr(report, name).lower > truth for report in lows]))
        rows.append((f"calibrated, n = 2,000: share of {name} lower above the truth", share, 0.05, True))
    return rows


def special_laws() -> list[Row]:
    """Finite score sets, rare events and crowded scores."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 20, 100_000) / 19
    finite = calcert.summarize(x, rng.random(x.size) < x)
    x = rng.beta(0.5, 500, 1_000_000)
    rare = calcert.summarize(x, rng.random(x.size) < x)
    x = rng.beta(0.02, 5, 1_000_000)
    crowded = calcert.summarize(x, rng.random(x.size) < x)
    return [
        ("20 distinct scores, n = 100,000: finite upper", calcert.finite(finite).upper, 0.0072, True),
        ("20 distinct scores, n = 100,000: report.unmodified upper", calcert.certify(finite).unmodified.upper,
         0.0072, True),
        ("Beta(0.5, 500), n = 1,000,000, bandwidth 2^-13: perturbed upper",
         calcert.perturbed(rare, bandwidth=2**-13).upper, 0.00025, True),
        ("Beta(0.02, 5), n = 1,000,000: bounded variation upper", calcert.bounded_variation(crowded).upper,
         0.0012, True),
    ]  # fmt: skip


def main() -> None:
    """Print the table; exit with 1 if any figure is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    seeds = parser.parse_args().seeds
    table = Table("what", "measured", "held to", "ratio")
    missed = 0
    for name, value, limit, at_most in upper_gaps(seeds) + lower_bounds(seeds) + special_laws():
        ratio = value / limit if at_most else limit / max(value, 1e-12)
        missed += ratio > 1
        sign = "<=" if at_most else ">="
        table.add_row(name, f"{value:.5f}", f"{sign} {limit:g}", f"{ratio:.2f}" + (" MISSED" if ratio > 1 else ""))
    Console(width=120).print(table)
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()
