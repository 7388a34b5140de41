"""Methods of others that the benchmarks reimplement or call, checked where the answer is known exactly."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from benchmarks import bands, intervals
from benchmarks.unpackaged import cutoff_error, cutoff_p_value, sun
from scipy.stats import binom, norm

NEEDS_R = pytest.mark.skipif(bands.missing() is not None, reason=str(bands.missing()))


def by_definition(x: np.ndarray, y: np.ndarray) -> float:
    """The largest |sum of y - x| over rows with scores in an interval, per row: every pair of ends is tried."""
    ends = np.unique(x)
    sums = (((y - x)[(x >= low) & (x <= high)]).sum() for low in ends for high in ends if low <= high)
    return max(map(abs, sums)) / x.size


def test_the_cutoff_error_is_the_largest_over_all_intervals_ties_included() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        x = rng.integers(0, 6, 9) / 5
        y = rng.integers(0, 2, 9)
        assert cutoff_error(x, y) == pytest.approx(by_definition(x, y), abs=1e-12)


def test_rows_of_one_score_are_not_parted_by_an_interval() -> None:
    x, y = np.full(4, 0.5), np.array([1, 1, 0, 0])
    assert cutoff_error(x, y) == 0
    # Running sums that stop between equal scores say more.
    assert np.ptp(np.append(0, np.cumsum(y - x))) / 4 == 0.25


def test_the_cutoff_test_has_the_p_value_that_all_labels_give() -> None:
    x = np.array([0.1, 0.3, 0.3, 0.6, 0.8, 0.9])
    outcomes = np.array(list(itertools.product((0, 1), repeat=x.size)))
    chance = np.where(outcomes, x, 1 - x).prod(axis=1)
    statistic = np.array([by_definition(x, y) for y in outcomes])
    for row in (0, 7, 33, 63):
        exact = chance[statistic >= statistic[row] - 1e-12].sum()
        draws = 9_999
        reached = round(cutoff_p_value(x, outcomes[row], draws=draws) * (1 + draws)) - 1
        assert binom.ppf(1e-6, draws, exact) <= reached <= binom.isf(1e-6, draws, exact)


@pytest.mark.parametrize(("rows", "sides"), [(60, 1.0), (68, 0.5), (200, 2.0)])
def test_the_interval_of_sun_is_made_from_products_of_pairs_in_a_bin(rows: int, sides: float) -> None:
    """Its lower end: both tails far from nothing (2), half the estimate between (0.5), one tail near it (1)."""
    rng = np.random.default_rng(1)
    x = rng.random(rows)
    y = (rng.random(rows) < x**3).astype(int)
    inside = [(y - x)[np.floor(x * 4) == each] for each in range(4)]
    estimate = sum((gap.sum() ** 2 - (gap**2).sum()) / (gap.size - 1) for gap in inside) / rows
    # The variance of 2 times the bin's mean gap times a row's gap, less its square: their delta method.
    first = sum(gap.size * (4 * gap.mean() ** 2 * (gap**2).mean() - 3 * gap.mean() ** 4) for gap in inside) / rows
    error = math.sqrt((first - (sum(gap.size * gap.mean() ** 2 for gap in inside) / rows) ** 2) / rows)
    one, two = norm.isf(0.05) * error, norm.isf(0.025) * error
    (lower, upper), rejected = sun(x, y, 0.05, bins=4)
    assert rejected
    assert upper == pytest.approx(estimate + two)
    assert {1.0: estimate < 2 * one, 0.5: 2 * one <= estimate < 2 * two, 2.0: 2 * two <= estimate}[sides]
    assert lower == pytest.approx({1.0: max(estimate - one, 0), 0.5: estimate / 2, 2.0: estimate - two}[sides])


def test_where_the_test_of_sun_does_not_reject_its_interval_begins_at_nothing() -> None:
    # One bin with gaps that add up to nothing: the debiased estimate is below 0.
    (lower, upper), rejected = sun(np.full(4, 0.5), np.array([0, 1, 0, 1]), 0.05, bins=1)
    assert (lower, upper, rejected) == (0.0, 0.0, False)


def test_a_band_leaves_out_what_is_outside_and_nothing_else() -> None:
    band = bands.Band(np.array([0.0, 0.5, 1.0]), np.array([0.0, 0.25, 0.25]), np.array([0.5, 0.75, 1.0]))
    assert band.width == pytest.approx(0.5 * 0.75 + 0.5 * 0.75)
    assert not band.crosses
    assert not band.leaves_out(lambda x: x)
    # The lower limit holds from its edge on, the edge included, and the upper one up to its edge.
    assert band.leaves_out(lambda x: np.where(x == 0.5, 0.24, x))
    assert not band.leaves_out(lambda x: np.where(x < 0.5, 0.0, 0.25))
    assert band.leaves_out(lambda x: np.where(x <= 0.5, 0.76, 0.8))
    assert bands.Band(band.edges, np.array([0.0, 0.8, 0.8]), band.upper).crosses


@NEEDS_R
def test_calibrationband_says_what_its_formula_gives() -> None:
    """Clopper and Pearson for every run of scores, each at alpha / (m (m + 1)), carried along."""
    from scipy.stats import beta

    x, y = np.array([0.2, 0.4, 0.6, 0.8]), np.array([0, 1, 0, 1])
    (band,) = bands.of_calibrationband([(x, y)], 0.5, "standard")
    share = 0.5 / (4 * 5)
    expected = []
    for last in range(4):
        counted = [(y[first : last + 1].sum(), last + 1 - first) for first in range(last + 1)]
        expected.append(max(beta.ppf(share, k, m - k + 1) if k else 0.0 for k, m in counted))
    assert np.array_equal(band.edges, [0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
    assert band.lower[1:-1] == pytest.approx(np.maximum.accumulate(expected))


@NEEDS_R
def test_bands_from_r_come_back_in_order_and_hold_the_curve() -> None:
    rng = np.random.default_rng(2)
    rows = []
    for size in (0.5, 2.0):
        x = rng.random(400)
        rows.append((x, (rng.random(400) < x**size).astype(int)))
    first, second = bands.of_calibrationband(rows, 1e-3, "round", 2)
    assert not first.leaves_out(np.sqrt)
    assert not second.leaves_out(np.square)
    assert second.leaves_out(np.sqrt)


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intervals, "find_spec", lambda name: None)
    monkeypatch.setattr(bands, "missing", lambda: "calibrationband: there is no Rscript")
    assert intervals.absent() == [
        "mcgrad is not installed",
        "probmetrics is not installed",
        "calibrationband: there is no Rscript",
    ]
    measured = intervals.measure(intervals.SHOWN[0], 2, 100)
    named = " ".join([*measured["intervals"], *measured["bands"], *measured["seen"]])
    assert "Sun" in named
    assert "MCGrad" not in named
    assert "probmetrics" not in named
    assert "calibrationband" not in named


def test_tables_go_between_the_markers_and_nowhere_else(
    tmp_path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"Before.\n{intervals.BEGIN}\nold\n{intervals.END}\nAfter.\n")
    monkeypatch.setattr(intervals, "PAGE", page)
    intervals.publish(["new"])
    assert page.read_text() == f"Before.\n{intervals.BEGIN}\n\nnew\n{intervals.END}\nAfter.\n"
    page.write_text("No markers.")
    with pytest.raises(SystemExit, match="must have"):
        intervals.publish(["new"])
    assert page.read_text() == "No markers."


def test_the_page_has_its_markers() -> None:
    text = intervals.PAGE.read_text(encoding="utf-8")
    assert text.count(intervals.BEGIN) == 1
    assert text.index(intervals.BEGIN) < text.index(intervals.END)


def test_the_cutoff_error_is_ecce_where_scores_differ() -> None:
    metrics = pytest.importorskip("mcgrad.metrics", reason="MCGrad is not installed")
    rng = np.random.default_rng(3)
    x = rng.random(50)
    y = (rng.random(50) < x).astype(float)
    assert metrics.ecce(y, x) == pytest.approx(cutoff_error(x, y))
