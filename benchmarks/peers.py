"""Other packages and calcert on the same rows in one run: time, memory, and what each says where the truth is known.

    python benchmarks/peers.py [--rows 1000000] [--limit 120] [--json]

Each peer runs in a process of its own, on one thread; those that are not installed are skipped by name and reason
(`pip install "calcert[peers]"` has those that install from wheels alone). Times are ratios to scikit-learn's
calibration_curve with 15 equal bins, which takes turns with the peer in the same process: processor seconds, which
other work on the machine distorts least, the shortest of the rounds. Memory is the peak of the call above what the
process held before it.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import math
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

BINS = 15
LEAST_FASTER_THAN_SMECE = 5.0
MOST_OF_CALIBRATION_CURVE = 2.0
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "POLARS_MAX_THREADS"), "1"
)

Answers = dict[str, float]
Call = Callable[[np.ndarray, np.ndarray], Answers]


@dataclass(frozen=True)
class Law:
    """Scores uniform on [low, high] with a chance of label 1 that is known; `error` is E|X - E[Y|X]|, exact."""

    name: str
    rows: int
    error: float
    variation: float
    low: float
    high: float
    chance: Callable[[np.ndarray], np.ndarray]

    def draw(self, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng(seed)
        x = self.low + (self.high - self.low) * rng.random(self.rows)
        return x, (rng.random(self.rows) < self.chance(x)).astype(np.int64)


def wiggle(frequency: int, rows: int) -> Law:
    """Label chance x + (pi/10) sin(2 pi frequency x): scores in [0.32, 0.68] keep it in [0, 1], over whole periods.

    The mean of |sin| over whole periods is 2/pi, so that the error is exactly 0.2. A period has variation 4 pi/10, and
    the slope of the line adds less than a thousandth to that.
    """
    amplitude, low, high = math.pi / 10, 0.32, 0.68
    variation = math.ceil(1.001 * 4 * amplitude * frequency * (high - low))

    def chance(x: np.ndarray) -> np.ndarray:
        return x + amplitude * np.sin(2 * math.pi * frequency * x)

    return Law(f"wiggle, frequency {frequency:,}", rows, 0.2, variation, low, high, chance)


LAWS = [
    Law("calibrated", 1_000, 0.0, 1, 0.0, 1.0, lambda x: x),
    Law("eta = x^2", 100_000, 1 / 6, 1, 0.0, 1.0, np.square),
    wiggle(300, 100_000),
    wiggle(3_000, 100_000),
]


def scikit_learn(strategy: str) -> Call:
    from sklearn.calibration import calibration_curve

    def call(x: np.ndarray, y: np.ndarray) -> Answers:
        true, predicted = calibration_curve(y, x, n_bins=BINS, strategy=strategy)
        if x.size > max(law.rows for law in LAWS):
            return {"largest gap of the curve": float(np.abs(true - predicted).max())}
        # The curve comes without the numbers of rows behind it, which the weighted mean of its gaps needs.
        edges = np.linspace(0, 1, BINS + 1)
        edges = edges if strategy == "uniform" else np.percentile(x, edges * 100)
        rows = np.bincount(np.searchsorted(edges[1:-1], x), minlength=BINS)
        return {"ECE from the curve": float((np.abs(true - predicted) * rows[rows > 0]).sum() / x.size)}

    return call


def scores_of_scikit_learn() -> Call:
    from sklearn.metrics import brier_score_loss, log_loss

    return lambda x, y: {"Brier score": brier_score_loss(y, x), "log loss": log_loss(y, x)}


def relplot() -> Call:
    import relplot

    return lambda x, y: {"smECE": relplot.smECE(x, y)}


def netcal_ece() -> Call:
    from netcal.metrics import ECE

    return lambda x, y: {"ECE": ECE(BINS).measure(x, y)}


def netcal_others() -> Call:
    from netcal.metrics import ACE, MCE

    return lambda x, y: {"ACE": ACE(BINS).measure(x, y), "MCE": MCE(BINS).measure(x, y)}


def mapie_ece() -> Call:
    from mapie.metrics.calibration import expected_calibration_error

    # Its number of bins is the number of edges.
    return lambda x, y: {"ECE": expected_calibration_error(y, x, num_bins=BINS + 1, split_strategy="uniform")}


def mapie_tests() -> Call:
    from mapie.metrics import calibration

    return lambda x, y: {
        "p, Kolmogorov-Smirnov": calibration.kolmogorov_smirnov_p_value(y, x),
        "p, Kuiper": calibration.kuiper_p_value(y, x),
        "p, Spiegelhalter": calibration.spiegelhalter_p_value(y, x),
    }


def torchmetrics() -> Call:
    import torch
    from torchmetrics.functional.classification import binary_calibration_error

    torch.set_num_threads(1)
    return lambda x, y: {
        "ECE": float(binary_calibration_error(torch.from_numpy(x), torch.from_numpy(y), n_bins=BINS, norm="l1"))
    }


def model_diagnostics() -> Call:
    from model_diagnostics.scoring import SquaredError, decompose

    def call(x: np.ndarray, y: np.ndarray) -> Answers:
        parts = decompose(y, x, scoring_function=SquaredError())
        return {"miscalibration (Brier)": parts["miscalibration"][0]}

    return call


def model_diagnostics_bias() -> Call:
    from model_diagnostics.calibration import compute_bias

    def call(x: np.ndarray, y: np.ndarray) -> Answers:
        table = compute_bias(y, x, feature=x, n_bins=BINS, bin_method="quantile")
        return {f"p, least of {BINS} bins": float(table["p_value"].min())}

    return call


def uncertainty_calibration() -> Call:
    import calibration

    return lambda x, y: {"debiased L2 lower bound": calibration.get_calibration_error(x, y, p=2)}


def uncertainty_calibration_interval() -> Call:
    import calibration

    def call(x: np.ndarray, y: np.ndarray) -> Answers:
        np.random.seed(0)  # noqa: NPY002 -- the package resamples by NumPy's global state
        low, _, high = calibration.get_calibration_error_uncertainties(x, y, p=1, alpha=5.0)
        return {"bootstrap 95% from": low, "to": high}

    return call


def mcgrad() -> Call:
    from mcgrad.metrics import ecce, ecce_pvalue

    return lambda x, y: {"ECCE": ecce(y.astype(float), x), "p, Kuiper": ecce_pvalue(y.astype(float), x)}


def probmetrics() -> Call:
    import torch
    from probmetrics.metrics import Metrics

    # What isotonic regression saves of the Brier score on rows kept out; it adds up both classes.
    name = "calib-err_brier_isotonic-mix_cv-5"
    metrics = Metrics.from_names([name])

    def call(x: np.ndarray, y: np.ndarray) -> Answers:
        logits = torch.log(torch.from_numpy(np.column_stack([1 - x, x])))
        found = metrics.compute_all_from_labels_logits(torch.from_numpy(y), logits)
        return {"estimate of a lower bound, squared": float(found[name]) / 2}

    return call


def confseq() -> Call:
    from confseq.betting import betting_ci

    def call(x: np.ndarray, y: np.ndarray) -> Answers:
        low, high = (2 * end - 1 for end in betting_ci((1 + x - y) / 2, alpha=0.05))
        return {"95% for E[X - Y], from": low, "to": high}

    return call


def calcert() -> Call:
    import calcert

    def call(x: np.ndarray, y: np.ndarray) -> Answers:
        report = calcert.certify(x, y, settings=calcert.Settings(odds=1 / 16))
        answers = {}
        for name, statement in (
            ("distance", report.distance),
            ("cutoff", report.cutoff),
            ("perturbed", report.perturbed),
            ("L1", report.l1),
        ):
            answers |= {f"{name}, at least": statement.lower, f"{name}, at most": statement.upper}
        return answers | {"few crossings are refuted (1: yes)": float(report.l1.lower >= report.l1.upper)}

    return call


PEERS: dict[str, tuple[str, Callable[[], Call]]] = {
    "scikit-learn calibration_curve, uniform": ("scikit-learn", lambda: scikit_learn("uniform")),
    "scikit-learn calibration_curve, quantile": ("scikit-learn", lambda: scikit_learn("quantile")),
    "scikit-learn Brier score and log loss": ("scikit-learn", scores_of_scikit_learn),
    "torchmetrics binary_calibration_error": ("torchmetrics", torchmetrics),
    "netcal ECE": ("netcal", netcal_ece),
    "netcal ACE and MCE": ("netcal", netcal_others),
    "MAPIE ECE": ("mapie", mapie_ece),
    "MAPIE three tests": ("mapie", mapie_tests),
    "model-diagnostics decompose": ("model-diagnostics", model_diagnostics),
    "model-diagnostics compute_bias": ("model-diagnostics", model_diagnostics_bias),
    "relplot smECE": ("relplot", relplot),
    "uncertainty-calibration get_calibration_error": ("uncertainty-calibration", uncertainty_calibration),
    "uncertainty-calibration, bootstrap interval": ("uncertainty-calibration", uncertainty_calibration_interval),
    "MCGrad ecce": ("mcgrad", mcgrad),
    "probmetrics calib-err_brier": ("probmetrics", probmetrics),
    "confseq betting_ci": ("confseq", confseq),
    "calcert certify": ("calcert", calcert),
}
"""Distribution and call of each peer. Those without a package of Python are in `benchmarks/intervals.py`."""


def resident(field: str) -> float:
    """Megabytes of a field of this process, VmRSS or VmHWM."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) / 1024
    raise SystemExit(f"/proc/self/status has no {field}: memory is measured on Linux only")


def clocked(action: Callable[[], object]) -> float:
    start = time.process_time()
    action()
    return time.process_time() - start


def measure(peer: str, folder: Path, rounds: int) -> dict[str, Any]:
    """Answers on the laws, then time and memory on the large file, of one peer in this process."""
    warnings.simplefilter("ignore")
    distribution, make = PEERS[peer]
    call = make()
    result: dict[str, Any] = {"version": importlib.metadata.version(distribution), "answers": {}}
    for law in LAWS:
        result["answers"][law.name] = {k: float(v) for k, v in call(*law.draw()).items()}
        if peer == "calcert certify":
            import calcert

            alone = calcert.bounds.bounded_variation(calcert.summarize(*law.draw()), variation=law.variation)
            result["answers"][law.name] |= {"if variation is as it is, at least": alone.lower, "at most": alone.upper}
        print(json.dumps(result), flush=True)
    x, y = np.load(folder / "scores.npy"), np.load(folder / "labels.npy")
    # Peaks count from here on.
    Path("/proc/self/clear_refs").write_text("5")
    before = resident("VmRSS")
    first = clocked(lambda: call(x, y))
    result |= {"megabytes": max(resident("VmHWM") - before, 0.0), "seconds": first}
    yardstick = scikit_learn("uniform")
    result["yardstick"] = min(clocked(lambda: yardstick(x, y)) for _ in range(2))
    for _ in range(rounds - 1 if first < 10 else 0):
        result["seconds"] = min(result["seconds"], clocked(lambda: call(x, y)))
        result["yardstick"] = min(result["yardstick"], clocked(lambda: yardstick(x, y)))
    return result


def in_process_of_its_own(peer: str, folder: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """`measure` elsewhere; what it had to say before an error or the limit ended it, and the reason."""
    try:
        importlib.metadata.version(PEERS[peer][0])
    except importlib.metadata.PackageNotFoundError:
        return {"skipped": f"{PEERS[peer][0]} is not installed"}
    command = [sys.executable, __file__, "--peer", peer, "--folder", str(folder), "--rounds", str(arguments.rounds)]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=arguments.limit, env=os.environ | ONE_THREAD
        )
    except subprocess.TimeoutExpired as ended:
        said = (ended.stdout or b"").decode().splitlines()
        found: dict[str, Any] = json.loads(said[-1]) if said else {}
        return found | {"skipped": f"more than {arguments.limit:g} s"}
    said = done.stdout.splitlines()
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["no message"])[-1]
        return (json.loads(said[-1]) if said else {}) | {"skipped": reason}
    last: dict[str, Any] = json.loads(said[-1])
    return last


def show(results: dict[str, dict[str, Any]], rows: int) -> None:
    """Two tables: cost on the large file, and answers beside the truth."""
    from rich.console import Console
    from rich.table import Table

    cost = Table(f"{rows:,} calibrated rows", "version", "time / calibration_curve", "time / certify", "MB above rows")
    ours = results["calcert certify"]
    own = ours["seconds"] / ours["yardstick"] if "seconds" in ours else math.nan
    for peer, found in results.items():
        if "seconds" not in found:
            cost.add_row(peer, found.get("version", ""), found["skipped"], "", "")
            continue
        ratio = found["seconds"] / found["yardstick"]
        cost.add_row(peer, found["version"], f"{ratio:.2f}", f"{ratio / own:.2f}", f"{found['megabytes']:.0f}")
    said = Table("what it says", *(f"{law.name}, {law.rows:,} rows" for law in LAWS))
    said.add_row("true L1 calibration error", *(f"{law.error:.4f}" for law in LAWS), end_section=True)
    for peer, found in results.items():
        answers = found.get("answers", {})
        for line, name in enumerate(next(iter(answers.values()), {})):
            values = (f"{answers[law.name][name]:.4f}" if law.name in answers else "-" for law in LAWS)
            said.add_row(f"{peer}: {name}" if line == 0 else f"    {name}", *values)
    console = Console(width=150)
    console.print(cost, said)


def figures(results: dict[str, dict[str, Any]]) -> list[tuple[str, float, bool]]:
    """What certify is held to, measured, and whether it is met."""
    ratio = {peer: found["seconds"] / found["yardstick"] for peer, found in results.items() if "seconds" in found}
    own, lines = ratio.get("calcert certify", math.nan), []
    if "relplot smECE" in ratio:
        faster = ratio["relplot smECE"] / own
        lines.append((f"relplot smECE / certify (>= {LEAST_FASTER_THAN_SMECE:g})", faster, faster >= 5))
    for strategy in ("uniform", "quantile"):
        times = own / ratio.get(f"scikit-learn calibration_curve, {strategy}", math.nan)
        name = f"certify / calibration_curve, {strategy} (<= {MOST_OF_CALIBRATION_CURVE:g})"
        lines.append((name, times, times <= MOST_OF_CALIBRATION_CURVE))
    return lines


def main() -> None:
    """Run every peer; print tables or JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--limit", type=float, default=120.0, help="seconds that a peer may take in all")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--peer", choices=PEERS, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.peer:
        print(json.dumps(measure(arguments.peer, arguments.folder, arguments.rounds)))
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rng = np.random.default_rng(0)
        x = rng.random(arguments.rows)
        np.save(folder / "scores.npy", x)
        np.save(folder / "labels.npy", (rng.random(x.size) < x).astype(np.int64))
        results = {peer: in_process_of_its_own(peer, folder, arguments) for peer in PEERS}
    lines = figures(results)
    if arguments.json:
        print(json.dumps({"rows": arguments.rows, "peers": results, "figures": lines}, indent=1))
    else:
        show(results, arguments.rows)
        for name, value, met in lines:
            print(f"{name}: {value:.2f}" + ("" if met else " MISSED"))
        print("calibrationband, Sun et al., Rossellini et al. and how often all hold: python -m benchmarks.intervals")
    sys.exit(not all(met for _, _, met in lines))


if __name__ == "__main__":
    main()
