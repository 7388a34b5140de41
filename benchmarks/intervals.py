"""Intervals, bands and tests, of others and of calcert, on many data sets: how often they miss and what they see.

    python -m benchmarks.intervals [--sets 200] [--rows 1000 10000] [--publish] [--fresh]

All intervals and bands are at 95%, both sides together; all tests at 5%. Each method speaks of its own quantity, whose
true value stands beside it. What is not installed is named and left out. What is measured is kept in
``build/benchmarks/intervals.json`` law by law; ``--fresh`` forgets it. ``--publish`` writes the tables to
``docs/peers.md`` between their markers, if every method was there.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import re
import warnings
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks import bands
from benchmarks.unpackaged import Interval, cutoff_error, cutoff_p_value, sun
from experiments.distributions import BANDWIDTH, DISTRIBUTIONS, Distribution
from rich.progress import track

import calcert
from calcert.foundation.whole_regular_file import replacing

LEVEL = 0.05
FAINT = Distribution("faint", "x + sin(2 π x) / 20", lambda x: x + np.sin(2 * np.pi * x) / 20, 1.0)
SHOWN = (DISTRIBUTIONS[-1], FAINT, DISTRIBUTIONS[0], DISTRIBUTIONS[3])
PAGE = Path("docs/peers.md")
KEPT = Path("build/benchmarks/intervals.json")
BEGIN, END = "<!-- written by python -m benchmarks.intervals --publish: begin -->", "<!-- end -->"

Method = Callable[[Distribution, np.ndarray, np.ndarray], Interval]
Measured = dict[str, dict[str, Any]]
FINE = (np.arange(2_000_000) + 0.5) / 2_000_000


def ours(name: str, **settings: Any) -> Method:
    """A certificate of calcert, both sides together at the level; a setting may depend on the law."""

    def interval(law: Distribution, x: np.ndarray, y: np.ndarray) -> Interval:
        fixed = {key: value(law) if callable(value) else value for key, value in settings.items()}
        found = getattr(calcert.bounds, name)(x, y, confidence=1 - LEVEL / 2, **fixed)
        return found.lower, found.upper

    return interval


@cache
def squared(law: Distribution) -> float:
    return float(((FINE - law.eta(FINE)) ** 2).mean())


@cache
def cutoff(law: Distribution) -> float:
    """The largest |E[(Y - X) 1{X in I}]| over intervals I: the range of the running integral of E[Y|X] - X."""
    return float(np.ptp(np.concatenate([[0.0], np.cumsum(law.eta(FINE) - FINE)])) / FINE.size)


@cache
def recalibrated() -> Any:
    """Two losses of probmetrics before and after its isotonic recalibration, on rows kept out, by five folds."""
    import torch
    from probmetrics.calibrators import get_calibrator
    from probmetrics.metrics import BrierLoss, CombinedMetrics, MetricsWithCalibration, ProperLpLoss
    from probmetrics.splitters import CVSplitter

    torch.set_num_threads(1)
    # In 1.3.0 the L1 error for two classes as one column subtracts two columns from one; that for several is right.
    losses = CombinedMetrics([BrierLoss(), ProperLpLoss(p=1, binary_as_multiclass=True)])
    isotonic = get_calibrator("isotonic", calibrate_with_mixture=True)
    return MetricsWithCalibration(losses, isotonic, CVSplitter(n_cv=5), random_state=0)


def probmetrics(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Estimates of lower bounds on the squared and on the L1 error; both classes add up, so half of what it says."""
    import torch

    logits = torch.log(torch.from_numpy(np.column_stack([1 - x, x])))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = recalibrated().compute_all_from_labels_logits(torch.from_numpy(y.astype(np.int64)), logits)
    says = {name.split("_")[1]: float(value) / 2 for name, value in found.items() if name.startswith("calib-err")}
    return says["brier"], says["proper-L1"]


INTERVALS: dict[str, tuple[Callable[[Distribution], float], Method]] = {
    "Sun et al., reimplemented, 50 bins: squared error": (squared, lambda _, x, y: sun(x, y, LEVEL)[0]),
    "Sun et al., reimplemented, 200 bins: squared error": (squared, lambda _, x, y: sun(x, y, LEVEL, bins=200)[0]),
    "calcert `squared`: squared error, perturbed": (
        lambda law: law.perturbed_squared_error,
        ours("squared", bandwidth=BANDWIDTH),
    ),
    "calcert `bounded_variation`, told the variation: L1 error": (
        lambda law: law.error,
        ours("bounded_variation", variation=lambda law: law.variation),
    ),
    "calcert `cutoff`: cutoff error": (cutoff, ours("cutoff")),
}
"""Name, what it speaks of, and the interval. Estimates have one end or none: see `measure`."""

SETTINGS = {"2 digits": ("round", 2, 10**6), "3 digits": ("round", 3, 20), "standard": ("standard", 0, 20)}
"""Of calibrationband: method, digits, and for how many data sets at most: the slow ones, which are wider, for few."""
MOST_ROWS_OF_SLOW = 2_000


def absent() -> list[str]:
    """What cannot be measured here, and why."""
    reasons = [f"{name} is not installed" for name in ("mcgrad", "probmetrics") if find_spec(name) is None]
    return reasons + ([bands.missing()] if bands.missing() else [])


def versions() -> str:
    """The versions of the peers."""
    by_pip = (f"{name} {importlib.metadata.version(name)}" for name in ("MCGrad", "probmetrics"))
    return ", ".join([*by_pip, bands.version()])


def estimates(x: np.ndarray, y: np.ndarray) -> dict[str, float]:
    """What comes without a promise of how often it holds."""
    found = {"Rossellini et al., reimplemented: cutoff error": float(cutoff_error(x, y))}
    if find_spec("mcgrad"):
        from mcgrad.metrics import ecce

        found["MCGrad `ecce`: cutoff error"] = float(ecce(y.astype(float), x))
    if find_spec("probmetrics"):
        for quantity, value in zip(("squared error", "L1 error"), probmetrics(x, y), strict=True):
            found[f"probmetrics, lower bound: {quantity}"] = value
    return found


def rejections(x: np.ndarray, y: np.ndarray, seed: int) -> dict[str, bool]:
    """Which tests reject calibration at the level."""
    found = {f"Sun et al., reimplemented, {bins} bins": sun(x, y, LEVEL, bins)[1] for bins in (50, 200)}
    found["`calcert.bounds.calibration_test`"] = calcert.bounds.calibration_test(x, y).p_value <= LEVEL
    found["Rossellini et al., reimplemented, level by draws"] = cutoff_p_value(x, y, seed=seed) <= LEVEL
    if find_spec("mcgrad"):
        from mcgrad.metrics import ecce_pvalue

        found["MCGrad `ecce_pvalue`, Kuiper"] = float(ecce_pvalue(y.astype(float), x)) <= LEVEL
    return found


def curves(law: Distribution, drawn: bands.Rows) -> dict[str, list[bands.Band]]:
    """The bands for each data set; those of slow settings for the first of them, if short and of a curve that rises."""
    made = {"calcert `monotone_band`": bands.of_calcert(drawn, LEVEL)}
    slow = drawn[0][0].size <= MOST_ROWS_OF_SLOW and bool((np.diff(law.eta(FINE)) >= 0).all())
    for name, (method, digits, most) in SETTINGS.items():
        if not bands.missing() and (slow or most > len(drawn)):
            made[f"calibrationband, {name}"] = bands.of_calibrationband(drawn[:most], LEVEL, method, digits)
    return made


def measure(law: Distribution, sets: int, rows: int) -> Measured:
    """By table and method: misses, means of ends or of widths, and how often calibration is rejected."""
    drawn = [law.rows(rows, np.random.default_rng([rows, seed])) for seed in range(sets)]
    found = {name: [] for name in INTERVALS}
    guessed: list[dict[str, float]] = []
    rejected: list[dict[str, bool]] = []
    for seed, (x, y) in enumerate(track(drawn, f"{law.name}, {rows:,} rows")):
        for name, (_, method) in INTERVALS.items():
            found[name].append(method(law, x, y))
        guessed.append(estimates(x, y))
        rejected.append(rejections(x, y, seed))
    seen = {name: sum(bool(each[name]) for each in rejected) for name in rejected[0]}
    intervals: dict[str, Any] = {}
    for name, ends in found.items():
        truth, (low, high) = INTERVALS[name][0](law), np.array(ends).T
        missed = int(((truth < low) | (truth > high)).sum())
        intervals[name] = {"truth": truth, "misses": missed, "from": low.mean(), "to": high.mean()}
        if name.startswith("calcert"):
            seen[name.partition(":")[0] + ", lower end above 0"] = int((low > 0).sum())
    truths = {"squared error": squared(law), "L1 error": law.error, "cutoff error": cutoff(law)}
    for name in guessed[0]:
        truth, values = truths[name.partition(": ")[2]], np.array([each[name] for each in guessed])
        intervals[name] = {"truth": truth, "above": int((values > truth).sum()), "from": values.mean()}
    widths: dict[str, Any] = {}
    for name, each in curves(law, drawn).items():
        missed, crossed = sum(band.leaves_out(law.eta) for band in each), sum(band.crosses for band in each)
        width = float(np.mean([band.width for band in each]))
        widths[name] = {"misses": missed, "crosses": crossed, "width": width, "sets": len(each)}
        if len(each) == sets:
            seen[name + ", leaves out the diagonal"] = sum(band.leaves_out(lambda x: x) for band in each)
    return {"intervals": intervals, "bands": widths, "seen": seen}


def table(header: list[str], lines: list[list[str]], numbers_from: int) -> list[str]:
    marks = ["---" if i < numbers_from else "---:" for i in range(len(header))]
    return ["| " + " | ".join(line) + " |" for line in (header, marks, *lines)] + [""]


def page(measured: dict[str, Measured], sets: int, sizes: list[int]) -> list[str]:
    """The three tables, in Markdown."""

    def at(law: Distribution, rows: int, kind: str) -> dict[str, Any]:
        return measured[f"{law.name}, {rows} rows, {sets} sets"][kind]

    def names(law: Distribution, kind: str) -> list[str]:
        """Each method once, neighbours by what they speak of."""
        found = list(dict.fromkeys(name for rows in sizes for name in at(law, rows, kind)))
        return sorted(found, key=lambda name: name.partition(": ")[2])

    def cells(
        law: Distribution, kind: str, name: str, show: Callable[[dict[str, Any]], list[str]], empty: int
    ) -> list[str]:
        each = (at(law, rows, kind).get(name) for rows in sizes)
        return [cell for found in each for cell in (show(found) if found else ["–"] * empty)]

    def interval(found: dict[str, Any]) -> list[str]:
        if "to" in found:
            return [str(found["misses"]), f"{found['from']:.4f} to {found['to']:.4f}"]
        return [f"({found['above']} above)", f"{found['from']:.4f}"]

    def band(found: dict[str, Any]) -> list[str]:
        few = f" of {found['sets']}" if found["sets"] < sets else ""
        return [f"{found['misses']}{few}", f"{found['width']:.3f}", f"{found['crosses']}{few}"]

    first, second, third = [], [], []
    for law in SHOWN:
        for i, name in enumerate(names(law, "intervals")):
            method, _, quantity = name.partition(": ")
            truth = at(law, sizes[0], "intervals")[name]["truth"]
            start = [law.name if i == 0 else "", quantity, method, f"{truth:.4f}"]
            first.append(start + cells(law, "intervals", name, interval, 2))
        for i, name in enumerate(names(law, "bands")):
            second.append([law.name if i == 0 else "", name, *cells(law, "bands", name, band, 3)])
    for name in names(SHOWN[0], "seen"):
        third.append([name] + [str(at(law, rows, "seen").get(name, "–")) for law in SHOWN for rows in sizes])
    counted = [f"{rows:,} rows" for rows in sizes]
    heads = (
        [f"{size}: {what}" for size in counted for what in ("misses", "mean interval")],
        [f"{size}: {what}" for size in counted for what in ("misses", "mean width", "sides cross")],
        [f"{law.name}, {size}" for law in SHOWN for size in counted],
    )
    return [
        *table(["distribution", "quantity", "method", "truth", *heads[0]], first, 3),
        *table(["distribution", "band", *heads[1]], second, 2),
        *table(["rejects calibration", *heads[2]], third, 1),
    ]


def publish(lines: list[str]) -> None:
    """Put the tables between the markers of the page."""
    text = PAGE.read_text(encoding="utf-8")
    pattern = re.compile(re.escape(BEGIN) + ".*?" + re.escape(END), re.DOTALL)
    if len(pattern.findall(text)) != 1:
        raise SystemExit(f"{PAGE} must have {BEGIN!r} and {END!r} once, in this order.")
    new = "\n".join([BEGIN, "", *lines, END])
    with replacing(PAGE) as unfinished:
        unfinished.write_text(pattern.sub(lambda _: new, text), encoding="utf-8")


def main() -> None:
    """Measure what is not kept, print the tables, and publish them if asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=200)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--publish", action="store_true")
    parser.add_argument("--fresh", action="store_true")
    arguments = parser.parse_args()
    lacking = absent()
    for reason in lacking:
        print(f"Left out: {reason}.")
    if arguments.publish and lacking:
        raise SystemExit("Tables are published with every method in them only: install what is left out.")
    KEPT.parent.mkdir(parents=True, exist_ok=True)
    kept: dict[str, Measured] = {} if arguments.fresh or not KEPT.exists() else json.loads(KEPT.read_text())
    for rows in arguments.rows:
        for law in SHOWN:
            key = f"{law.name}, {rows} rows, {arguments.sets} sets"
            if key not in kept or kept[key].get("absent") != lacking:
                kept[key] = measure(law, arguments.sets, rows) | {"absent": lacking}
                with replacing(KEPT) as unfinished:
                    unfinished.write_text(json.dumps(kept, indent=1))
    lines = page(kept, arguments.sets, arguments.rows)
    if not lacking:
        lines = [f"{arguments.sets} data sets per distribution and size; {versions()}.", "", *lines]
    print("\n".join(lines))
    if arguments.publish:
        publish(lines)


if __name__ == "__main__":
    main()
