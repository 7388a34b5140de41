"""How tight the certificates are: upper minus truth, and lower bounds, on laws whose errors are known.

    python benchmarks/tightness.py [--seeds 20] [--only distances --only small_errors ...]
    python benchmarks/tightness.py --found

Each line prints what was measured, the figure it is held to, and their ratio; the script fails if a ratio exceeds 1.
With `--found`, how often lower bounds are positive: the table "What it finds" of the theory.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table
from scipy.special import erfc, expit

import calcert
from calcert.certificates.crossings import crossings_lower
from calcert.certificates.cutoff import cutoff_lower
from calcert.certificates.distance import distance_lower
from calcert.certificates.witnesses.betting import l1_lower
from calcert.perturbation.sech_kernel import density

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
            report = calcert.certify(uniform(n, eta, seed), settings=calcert.Settings(bandwidth=BANDWIDTH, variation=1))
            alone = calcert.bounds.bounded_variation(report.summary).upper
            gaps.append((report.perturbed.upper - served, alone - plain, report.l1.upper - plain))
        perturbed, variation, unmodified = np.mean(gaps, axis=0)
        name = f"{'calibrated' if eta is identity else 'eta = x^2'}, n = {n:,}"
        rows += [
            (f"{name}: perturbed, upper - truth", perturbed, served_limit, True),
            (f"{name}: bounded variation, upper - truth", variation, plain_limit, True),
            (f"{name}: report.l1, upper - truth", unmodified, plain_limit, True),
        ]
    return rows


def lower_bounds(seeds: int) -> list[Row]:
    """Mean lower bounds where the truth is 1/6, and how often a calibrated classifier is given one above 0."""
    rows: list[Row] = []
    for n, limit in ((10_000, 0.140), (100_000, 0.160)):
        reports = [
            calcert.certify(uniform(n, square, seed), settings=calcert.Settings(bandwidth=BANDWIDTH))
            for seed in range(seeds)
        ]
        for name in ("perturbed", "l1"):
            mean = float(np.mean([getattr(report, name).lower for report in reports]))
            rows.append((f"eta = x^2, n = {n:,}: {name} lower", mean, limit, False))
    runs = 10 * seeds
    lows = [
        calcert.certify(uniform(2_000, identity, seed), settings=calcert.Settings(bandwidth=BANDWIDTH))
        for seed in range(runs)
    ]
    for name, truth in (("perturbed", served_truth(identity)), ("l1", 0.0)):
        share = float(np.mean([getattr(report, name).lower > truth for report in lows]))
        rows.append((f"calibrated, n = 2,000: share of {name} lower above the truth", share, 0.05, True))
    return rows


def shrunk_odds(x: np.ndarray) -> np.ndarray:
    """Odds to the power 0.7: scores overconfident, an L1 calibration error of 0.05185."""
    return 1 / (1 + ((1 - x) / x) ** 0.7)


def sums_as_it_is(seeds: int) -> list[Row]:
    """Mean of upper minus truth for ranges and for crossings, and the width of the monotone band."""
    rows: list[Row] = []
    calibrated = ((10_000, 0.0155, 0.0215), (100_000, 0.0044, 0.0068), (1_000_000, 0.0016, 0.0022))
    for n, cutoff_limit, crossings_limit in track(calibrated, "ranges and crossings", transient=True):
        summaries = [uniform(n, identity, seed) for seed in range(seeds)]
        ranges = float(np.mean([calcert.bounds.cutoff(summary).upper for summary in summaries]))
        crossings = float(np.mean([calcert.bounds.crossings(summary).upper for summary in summaries]))
        rows.append((f"calibrated, n = {n:,}: ranges, upper - truth", ranges, cutoff_limit, True))
        rows.append((f"calibrated, n = {n:,}: 3 crossings, upper - truth", crossings, crossings_limit, True))
        if n == 10_000:
            width = float(np.mean([calcert.curves.monotone_band(summary).mean_width for summary in summaries]))
            rows.append((f"calibrated, n = {n:,}: mean width of the monotone band", width, 0.19, True))
    # The mean of 20 moves by a tenth of itself with the seeds; five times as many settle it.
    uppers = [calcert.bounds.crossings(uniform(100_000, shrunk_odds, seed)).upper for seed in range(5 * seeds)]
    gap = float(np.mean(uppers)) - 0.05185
    return [*rows, ("odds to the power 0.7, n = 100,000: 3 crossings, upper - truth", gap, 0.0038, True)]


def luck(summary: calcert.Summary, gap: float) -> float:
    """How much larger the mean gap of score and label is among these rows than in the law: 0 on average over seeds."""
    return summary.mean_score - summary.base_rate - gap


def distances(seeds: int) -> list[Row]:
    """The distance from calibration: both bounds where the truth is known, and that they close in on it.

    For eta = x^2 the plug-in is the mean gap of the rows, whose luck over 20 seeds is a tenth of what is measured. It
    is taken out, which changes no mean over all seeds. A bound that holds 95 times in a hundred cannot have much less
    than 1.645 standard errors there: 0.0061, 0.00194 and 0.00061.
    """
    rows: list[Row] = []
    cases = [
        (10_000, identity, 0.0, 0.0125, 0.0),
        (100_000, identity, 0.0, 0.0034, 0.0),
        (1_000_000, identity, 0.0, 0.00125, 0.0),
        (10_000, square, 1 / 6, 0.0070, 0.157),
        (100_000, square, 1 / 6, 0.0021, 0.163),
        (1_000_000, square, 1 / 6, 0.0009, 0.165),
    ]
    for n, eta, truth, most, least in track(cases, "distances", transient=True):
        summaries = [uniform(n, eta, seed) for seed in range(seeds)]
        found = [calcert.bounds.distance(summary) for summary in summaries]
        lucky = [luck(summary, truth) if truth else 0.0 for summary in summaries]
        name = f"{'calibrated' if eta is identity else 'eta = x^2'}, n = {n:,}: distance"
        gap = float(np.mean([c.upper - truth - by for c, by in zip(found, lucky, strict=True)]))
        rows.append((f"{name}, upper - truth", gap, most, True))
        if least:
            rows.append((f"{name}, lower", float(np.mean([c.lower for c in found])), least, False))
    for name, eta, truth, most in (
        ("labels 1{x > 1/2}", lambda x: (x > 0.5).astype(float), 0.0597, 0.062),
        ("labels 1{x < 1/2}", lambda x: (x < 0.5).astype(float), 0.25, 0.2545),
    ):
        c = calcert.bounds.distance(uniform(200_000, eta, 0))
        rows.append((f"{name}, n = 200,000: distance upper (truth {truth})", c.upper, most, True))
        rows.append((f"{name}, n = 200,000: distance lower (truth {truth})", c.lower, truth - 0.0025, False))
    uppers = []
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        x = rng.beta(0.5, 500, 1_000_000)
        uppers.append(calcert.bounds.distance(calcert.summarize(x, rng.random(x.size) < x)).upper)
    rows.append(("Beta(0.5, 500), n = 1,000,000: distance upper", float(np.mean(uppers)), 0.0001, True))
    return rows


def small_errors(seeds: int) -> list[Row]:
    """How often a thousand rows show the bend of x^1.1 to the distance, or to ranges."""
    runs = 20 * seeds
    summaries = [uniform(1_000, lambda x: x**1.1, seed) for seed in range(runs)]
    return [
        (f"x^1.1, n = 1,000: share of {name} lower above 0", float(np.mean([f(s).lower > 0 for s in summaries])), least,
         False)
        for name, f, least in (("distance", calcert.bounds.distance, 0.4), ("cutoff", calcert.bounds.cutoff, 0.35))
    ]  # fmt: skip


def found(seeds: int) -> Table:
    """In percent, how often each lower bound is positive at delta 0.05: 400 data sets, a tenth of them of many rows."""
    lowers = {
        "distance": lambda s: distance_lower(s, 0.05, 0),
        "cutoff": lambda s: cutoff_lower(s, 0.05, 0),
        "3 crossings": lambda s: crossings_lower(s, 3, 0.05, 0),
        "as it is": lambda s: l1_lower(s, 0.05, 0),
    }
    laws: dict[str, Callable[[np.ndarray], np.ndarray]] = {
        "x^1.1": lambda x: x**1.1,
        "odds to the power 0.7": shrunk_odds,
        "odds to the power 0.9": lambda x: 1 / (1 + ((1 - x) / x) ** 0.9),
        "x, calibrated": identity,
    }
    table = Table("chance of label 1", "rows", *lowers)
    for name, eta in laws.items():
        for n in (200, 1_000, 10_000):
            runs = (2 if n == 10_000 else 20) * seeds
            summaries = [uniform(n, eta, seed) for seed in track(range(runs), f"{name}, {n}", transient=True)]
            shares = (np.mean([lower(s).limit > 0 for s in summaries]) for lower in lowers.values())
            table.add_row(name, f"{n:,}", *(f"{100 * share:.0f}" for share in shares))
    return table


def kuiper(x: np.ndarray, y: np.ndarray) -> float:
    """Kuiper's asymptotic p-value: the range of running sums as if of Brownian motion."""
    sums = np.append(0.0, np.cumsum((y - x)[np.argsort(x)]))
    r = (sums.max() - sums.min()) / np.sqrt((x * (1 - x)).sum())
    k = np.arange(1, 60)
    return float(4 * ((-1.0) ** (k - 1) * k * erfc(k * r / np.sqrt(2))).sum())


def tests_of_calibration(seeds: int) -> list[Row]:
    """How often perfect calibration is rejected at 0.05 with 1,000 rows, beside Kuiper's test on the same rows."""
    runs, shares = 20 * seeds, {}
    for name, power in (("x^1.1", 1.1), ("calibrated", 1.0)):
        ours = theirs = 0
        for seed in track(range(runs), f"test, {name}", transient=True):
            rng = np.random.default_rng(seed)
            x = rng.random(1_000)
            y = rng.random(1_000) < x**power
            ours += calcert.bounds.calibration_test(x, y).p_value <= 0.05
            theirs += kuiper(x, y) <= 0.05
        shares[name] = (ours / runs, theirs / runs)
    slack = 2 / np.sqrt(runs) * 0.1  # Two deviations of the difference: the two tests seldom disagree.
    return [
        ("x^1.1, n = 1,000: share rejected (Kuiper's share on the right)", shares["x^1.1"][0],
         shares["x^1.1"][1] - slack, False),
        ("calibrated, n = 1,000: share rejected", shares["calibrated"][0], 0.05 + 3 * np.sqrt(0.0475 / runs), True),
    ]  # fmt: skip


def special_laws(seeds: int) -> list[Row]:
    """Finite score sets, rare events and crowded scores: one draw each, whatever the seeds."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 20, 100_000) / 19
    finite = calcert.summarize(x, rng.random(x.size) < x)
    x = rng.beta(0.5, 500, 1_000_000)
    rare = calcert.summarize(x, rng.random(x.size) < x)
    x = rng.beta(0.02, 5, 1_000_000)
    crowded = calcert.summarize(x, rng.random(x.size) < x)
    return [
        ("20 distinct scores, n = 100,000: finite upper", calcert.bounds.finite(finite).upper, 0.0072, True),
        ("20 distinct scores, n = 100,000: report.l1 upper", calcert.certify(finite).l1.upper,
         0.0072, True),
        ("Beta(0.5, 500), n = 1,000,000, bandwidth 2^-13: perturbed upper",
         calcert.bounds.perturbed(rare, bandwidth=2**-13).upper, 0.00025, True),
        ("Beta(0.02, 5), n = 1,000,000: bounded variation upper", calcert.bounds.bounded_variation(crowded).upper,
         0.0012, True),
    ]  # fmt: skip


def noise_on_the_odds(seeds: int) -> list[Row]:
    """Calibrated laws served with odds 1/16: the upper bound, the AUROC lost, and at 10^6 rows what cells hide."""
    laws: list[tuple[str, Callable[[np.random.Generator, int], np.ndarray], int, float, float]] = [
        ("Beta(0.5, 500)", lambda rng, n: rng.beta(0.5, 500, n), 1_000_000, 1.65e-4, 0.0009),
        ("uniform", lambda rng, n: rng.random(n), 100_000, 0.0073, 0.0007),
        ("logit-normal, sd 6", lambda rng, n: expit(6 * rng.standard_normal(n)), 100_000, 0.0050, 0.0001),
    ]
    rows: list[Row] = []
    for name, scores, n, upper, lost in track(laws, "noise on the odds", transient=True):

        def drawn(seed: int, n: int, scores: Callable[..., np.ndarray] = scores) -> calcert.Summary:
            rng = np.random.default_rng(seed)
            x = scores(rng, n)
            return calcert.summarize(x, rng.random(n) < x)

        costs = [calcert.noise_costs(drawn(seed, n), odds=[1 / 16]).rows[0] for seed in range(max(seeds // 4, 1))]
        rows.append((f"{name}, n = {n:,}, odds 1/16: upper", float(np.mean([c.upper for c in costs])), upper, True))
        loss = float(np.mean([c.auroc_loss for c in costs]))
        rows.append((f"{name}, n = {n:,}, odds 1/16: AUROC lost", loss, lost, True))
        many = drawn(0, 1_000_000)
        hidden = [calcert.bounds.perturbed(many, odds=b) for b in (1 / 4, 1 / 16, 1 / 64)]
        share = max(c.terms["discretisation"] / c.upper for c in hidden)
        rows.append((f"{name}, n = 1,000,000, odds 1/4 to 1/64: discretisation / upper", share, 0.005, True))
    return rows


FIGURES: dict[str, Callable[[int], list[Row]]] = {
    figure.__name__: figure
    for figure in (
        upper_gaps,
        lower_bounds,
        special_laws,
        noise_on_the_odds,
        sums_as_it_is,
        distances,
        small_errors,
        tests_of_calibration,
    )
}


def main() -> None:
    """Print the table; exit with 1 if any figure is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--only", action="append", choices=FIGURES, help="Some of the figures; may be repeated.")
    parser.add_argument("--found", action="store_true")
    given = parser.parse_args()
    if given.found:
        Console(width=120).print(found(given.seeds))
        return
    table = Table("what", "measured", "held to", "ratio")
    missed = 0
    for name, value, limit, at_most in (row for key in given.only or FIGURES for row in FIGURES[key](given.seeds)):
        ratio = value / limit if at_most else limit / max(value, 1e-12)
        missed += ratio > 1
        sign = "<=" if at_most else ">="
        table.add_row(name, f"{value:.5f}", f"{sign} {limit:g}", f"{ratio:.2f}" + (" MISSED" if ratio > 1 else ""))
    Console(width=120).print(table)
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()
