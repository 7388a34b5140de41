"""What is heavy is optional: results come without SciPy and DuckDB, and what stands for SciPy equals it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import isotonic_regression, nnls
from scipy.special import betainc, betainccinv
from scipy.stats import binom

from calcert.kernels.clusters import add_products
from calcert.kernels.few_values import largest_shares, tail
from calcert.kernels.strings import rising
from calcert.reports.plan import _least_squares
from calcert.show.report_details import _beta_below

ALL = """
import sys
sys.modules["scipy"] = sys.modules["duckdb"] = None  # Importing them raises ImportError.
import json, pathlib, numpy as np, calcert
from calcert.cli import main
rng = np.random.default_rng(0)
x = rng.integers(1, 20, 3000) / 20
y, user = rng.random(3000) < x**1.5, rng.integers(0, 500, 3000)
report = calcert.certify(x, y, settings=calcert.Settings(odds=1 / 16, threshold=0.3))
assert report.l1.lower > 0
report.details(), report.to_html(sys.argv[1] + "/page.html")
calcert.certify(calcert.Rows(x, y, clusters=user, pair_sums=True, groups=user % 3)).details()
calcert.certify(np.stack([x / 2, x / 2, 1 - x], 1), rng.integers(0, 3, 3000)).details()
calcert.curves.monotone_band(x, y), calcert.curves.score_table(x, y), calcert.bounds.calibration_test(x, y)
calcert.recalibrate(x, y), calcert.plan(calcert.Rows(x, y), 0.05), calcert.noise_costs(x, y)
calcert.compare({"plain": x, "square": x**2}, y)
monitor = calcert.Monitor(sys.argv[1] + "/state.calcert")
monitor.add(x[:1500], y[:1500], batch_id="a"), monitor.add(x[1500:], y[1500:], batch_id="b"), monitor.status()
lines = "".join(json.dumps({"p": float(p), "y": int(q)}) + chr(10) for p, q in zip(x, y))
pathlib.Path(sys.argv[1], "rows.jsonl").write_text(lines)
assert calcert.summarize(sys.argv[1] + "/rows.jsonl", score="p", label="y") == calcert.summarize(x, y)
main.main(["demo", "--rows", "2000"], standalone_mode=False)
"""


def test_every_kind_of_result_comes_without_scipy_and_duckdb(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", ALL, str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_reading_and_certifying_load_neither() -> None:
    code = "import sys, calcert; calcert.certify([.1, .9] * 50, [0, 1] * 50).details()"
    shown = f"{code}; print([m for m in ('scipy', 'duckdb') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", shown], capture_output=True, text=True, check=True).stdout == "[]\n"


@pytest.mark.parametrize("trials", [1, 2, 30, 1000, 10**6])
@pytest.mark.parametrize("delta", [0.5, 0.05, 1e-8])
def test_largest_shares_leave_at_most_delta_and_hardly_less(trials: int, delta: float) -> None:
    hits = np.unique(np.linspace(0, trials - 1, 60).astype(int)).astype(float)
    found = np.empty(hits.size)
    largest_shares(hits, np.full(hits.size, float(trials)), np.full(hits.size, delta), found)
    left = binom.cdf(hits, trials, found)
    assert (left <= delta * (1 + 1e-9)).all()
    assert found == pytest.approx(betainccinv(hits + 1, trials - hits, delta), rel=3e-6)  # Stirling, from above


def test_largest_shares_are_good_for_as_many_trials_as_a_summary_holds() -> None:
    hits, trials = np.array([0.0, 3.0, 1e6, 3e10]), np.full(4, 2.0**36)
    found = np.empty(4)
    largest_shares(hits, trials, np.full(4, 0.05), found)
    left = 1 - betainc(hits + 1, trials - hits, found)
    assert left == pytest.approx(0.05, rel=1e-6)


@pytest.mark.parametrize("share", [1e-9, 0.03, 0.5, 0.97])
def test_tails_are_rounded_up(share: float) -> None:
    for trials in (1, 2, 7, 400):
        for least in range(trials + 2):
            exact = float(binom.sf(least - 1, trials, share))
            assert exact * (1 - 1e-12) <= tail(least, trials, share) <= exact * (1 + 4e-6) + 1e-300


def test_pools_are_those_of_isotonic_regression() -> None:
    rng = np.random.default_rng(1)
    for size in (1, 2, 50, 3000):
        values, weight = rng.random(size).round(1), rng.integers(1, 9, size).astype(float)
        assert rising(values, weight) == pytest.approx(isotonic_regression(values, weights=weight).x, abs=1e-12)


def test_products_of_places_are_those_of_matrices() -> None:
    rng = np.random.default_rng(2)
    cluster = np.sort(rng.integers(0, 60, 400))
    place, value = rng.integers(0, 9, (400, 2)), rng.integers(-50, 50, (400, 2))
    held, table = np.zeros((60, 9), np.int64), np.zeros((9, 9), np.int64)
    np.add.at(held, (cluster[:, None], place), value)
    add_products(cluster, place, value, table)
    assert (table == held.T @ held).all()


def test_least_squares_without_negative_weights_are_the_least() -> None:
    rng = np.random.default_rng(3)
    for _ in range(50):
        columns, wanted = rng.random((20, 6)), rng.normal(size=20)
        assert _least_squares(columns, wanted) == pytest.approx(nnls(columns, wanted)[0], abs=1e-9)


def test_beta_distributions_are_what_they_are_called() -> None:
    for a, b in ((0.5, 0.5), (3.5, 120.5), (900.5, 4.5), (40_000.5, 30_000.5)):
        for x in (0.0, 1e-4, 0.2, a / (a + b), 0.9, 1.0):
            assert _beta_below(a, b, x) == pytest.approx(betainc(a, b, x), rel=1e-8, abs=1e-12)


def test_evidence_of_repeated_batches_is_that_of_binomial_distributions() -> None:
    from calcert.monitoring.new_batches import _log_binomial

    hits, trials = np.array([0, 3, 9, 5]), np.array([4, 9, 9, 10])
    for probability in (0.3, 1.0, hits / trials):
        expected = binom.logpmf(hits, trials, probability)
        assert _log_binomial(hits, trials, probability) == pytest.approx(expected, abs=1e-11)
