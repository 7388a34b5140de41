"""A map fitted on one half and certified on the other: what it promises holds, and every source gives the same map."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import binom

import calcert
from calcert import Rows, Settings
from calcert.foundation.number_text import at_most
from calcert.perturbation.score_map import ScoreMap
from calcert.reports.fitted_maps import fitted_map, most_levels
from calcert.reports.recalibrate import Recalibration
from calcert.sources.rows_in_memory import rows_in_memory

POWER = 1.6
FAST = Settings(statements=("distance",))


def drawn(n: int, seed: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    x = rng.random(n)
    return x, rng.random(n) < x**POWER


def truth(found: ScoreMap) -> float:
    """The L1 error after a map to levels, exactly."""
    edges = np.array([0.0, *found.edges, 1.0])
    return float(np.abs(np.diff(edges**2.6 / 2.6) - np.diff(edges) * np.array(found.values)).sum())


def test_the_l1_error_after_the_map_is_covered_and_small() -> None:
    """Without assumption; the command experiments.fix has 400 data sets of each size."""
    found = [calcert.recalibrate(*drawn(1_000, seed), settings=FAST) for seed in range(30)]
    bounds = [fixed.l1.upper for fixed in found if fixed.l1 is not None]
    missed = sum(bound < truth(fixed.map) for bound, fixed in zip(bounds, found, strict=True))
    assert missed <= binom.isf(1e-6, 30, 0.05)
    assert np.mean(bounds) <= 0.105
    assert {fixed.l1.assumption for fixed in found if fixed.l1 is not None} == {"none"}


def test_the_bound_is_small_for_many_rows() -> None:
    fixed = calcert.recalibrate(*drawn(100_000, 0), settings=FAST)
    assert fixed.l1 is not None
    assert truth(fixed.map) <= fixed.l1.upper <= 0.0115
    assert fixed.before.distance.lower > 0.1
    assert fixed.log_loss["after"] < fixed.log_loss["before"]


def test_certified_on_the_rows_it_was_fitted_on_it_would_not_be_covered() -> None:
    """The negative control: that is why rows are split."""
    missed = 0
    for seed in range(10):
        x, y = drawn(10_000, seed)
        found = fitted_map(rows_in_memory(Rows(x, y), ""), "isotonic", 4_096)
        missed += calcert.bounds.finite(calcert.summarize(found(x), y)).upper < truth(found)
    assert missed >= 9


@pytest.mark.parametrize(
    ("curve", "levels"), [("logistic", 0), ("beta", 0), ("logistic", 8), ("isotonic", 8), (None, 0)]
)
def test_curves_and_levels_can_be_named(curve: str | None, levels: int) -> None:
    fixed = calcert.recalibrate(*drawn(4_000, 1), curve=curve, levels=levels, settings=FAST)
    assert curve in (None, fixed.curve)
    assert (fixed.l1 is None) == (levels == 0)
    assert len(fixed.map.values) <= levels
    assert fixed([0.1])[0] < 0.1
    assert (np.diff(fixed(np.linspace(0, 1, 500))) >= 0).all()
    assert set(fixed.choice) == (set() if curve else {"logistic", "beta"})


def test_a_logistic_curve_finds_its_own_parameters() -> None:
    rng = np.random.default_rng(0)
    x = rng.beta(2, 3, 200_000)
    p = 1 / (1 + np.exp(-(-0.5 + 1.5 * np.log(x / (1 - x)))))
    fixed = calcert.recalibrate(x, rng.random(x.size) < p, curve="logistic", levels=0, settings=FAST)
    np.testing.assert_allclose(fixed.map.coefficients, (-0.5, 1.5, 1.5), atol=0.03)


def test_scores_that_rank_backwards_become_one_level() -> None:
    x, y = drawn(2_000, 0)
    fixed = calcert.recalibrate(1 - x, y, settings=FAST)
    assert np.ptp(fixed([0.01, 0.99])) < 0.2
    assert any("backwards" in said for said in fixed.before.warnings)
    assert "\nWarning: before the map, scores rank labels backwards" in str(fixed)


@pytest.mark.parametrize("share", [0.0, 0.001, 1.0])
def test_rare_events_and_separated_labels_have_a_finite_log_loss(share: float) -> None:
    rng = np.random.default_rng(0)
    x = rng.beta(0.5, 50, 5_000)
    fixed = calcert.recalibrate(x, rng.random(5_000) < share * (x > 0.01), settings=FAST)
    assert 0 < fixed([0.0])[0] <= fixed([1.0])[0] < 1
    separated = calcert.recalibrate(x, x > 0.01, settings=FAST)
    assert np.isfinite(separated.log_loss["after"])
    assert separated([0.0])[0] < 0.05 < 0.95 < separated([1.0])[0]


def test_every_source_gives_the_same_map(tmp_path: Path) -> None:
    x, y = drawn(2_000, 3)
    expected = calcert.recalibrate(x, y, settings=FAST)
    frame = pl.DataFrame({"p": x, "y": y})
    frame.write_parquet(tmp_path / "rows.parquet")
    frame.with_columns(y=pl.col("y").cast(int)).write_csv(tmp_path / "rows.csv")
    for source in (frame, frame.to_pandas(), tmp_path / "rows.parquet", tmp_path / "rows.csv"):
        found = calcert.recalibrate(source, score="p", label="y", settings=FAST)
        assert found.map == expected.map
        assert found.l1 == expected.l1


def test_clusters_stay_in_one_half_and_weights_count() -> None:
    x, y = drawn(3_000, 4)
    user = np.arange(3_000) // 3
    held = rows_in_memory(Rows(x, y, clusters=user, weights=np.ones(3_000)), "")
    np.testing.assert_array_equal(held.clusters, user)
    fixed = calcert.recalibrate(Rows(x, y, clusters=user), settings=FAST)
    assert fixed.fitted_rows == 1_500
    assert fixed.report.summary is not None
    assert fixed.report.summary.clusters is not None
    assert fixed.report.summary.clusters.number == 500
    weights = np.where(y, 1.0, 3.0)
    heavy = calcert.recalibrate(Rows(x, y, weights=weights, largest_weight=3), settings=FAST)
    assert heavy([0.5])[0] < fixed([0.5])[0]
    some = calcert.recalibrate(Rows(x, y, weights=np.where(x > 0.5, 1.0, 0.0)), settings=FAST)
    assert some.fitted_rows < 800
    assert np.isfinite(some.map.values).all()


def test_soft_labels_are_fitted_as_shares() -> None:
    rng = np.random.default_rng(0)
    x = rng.random(4_000)
    fixed = calcert.recalibrate(Rows(x, np.round(x**POWER, 2), soft_labels=True), settings=FAST)
    np.testing.assert_allclose(fixed([0.2, 0.5, 0.8]), np.array([0.2, 0.5, 0.8]) ** POWER, atol=0.05)


def test_it_comes_back_from_json() -> None:
    fixed = calcert.recalibrate(*drawn(1_000, 0))
    again = Recalibration.from_dict(json.loads(json.dumps(fixed.to_dict(), allow_nan=False)))
    assert again.map == fixed.map
    np.testing.assert_array_equal(again([0.1, 0.9]), fixed([0.1, 0.9]))
    assert again.l1 == fixed.l1
    assert str(again.report.distance) == str(fixed.report.distance)
    broken = fixed.to_dict()
    broken["map"]["values"][0] = 0.999
    with pytest.raises(ValueError, match="must increase"):
        Recalibration.from_dict(broken)


def test_it_says_before_and_after_and_draws_both() -> None:
    fixed = calcert.recalibrate(*drawn(2_000, 0))
    text = str(fixed)
    assert text.startswith("After the map, a score is on average at most 0.0")
    assert "not to one that is fitted again on all rows" in " ".join(text.split())
    assert [line.get_label() for line in fixed.plot().axes[0].lines][1:] == [
        "the map",
        "before: shares of label 1",
        "after: shares of label 1",
    ]
    assert len(fixed.to_frame()) == len(fixed.before.certificates) + len(fixed.report.certificates)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (lambda x, y: calcert.summarize(x, y), "recalibrate must see the rows; got a Summary"),
        (lambda x, y: pl.DataFrame({"p": x, "y": y}).lazy(), "must have the rows in memory; got a table of polars"),
        (lambda x, y: Rows(x, y, groups=y), "groups must be left out of recalibrate"),
        (lambda x, y: Rows(x, y, counts=np.ones(x.size)), "counts must be left out of recalibrate"),
        (lambda x, y: Rows(x[:1], y[:1]), "recalibrate must have 2 rows or more"),
        (lambda x, y: Rows(x, y, clusters=np.zeros(x.size)), "recalibrate must have 2 clusters or more"),
        (lambda x, y: Rows(x + 1, y), r"scores must lie in \[0, 1\]"),
        (lambda x, y: Rows(x, y * 0.5), "labels must be"),
        (lambda x, y: Rows(x, y * 0.5, clusters=np.arange(x.size)), "labels must be"),
    ],
)
def test_what_cannot_be_split_is_refused(rows: Any, words: str) -> None:
    with pytest.raises((TypeError, ValueError), match=words):
        calcert.recalibrate(rows(*drawn(100, 0)))


def test_arguments_are_checked() -> None:
    x, y = drawn(100, 0)
    with pytest.raises(ValueError, match="curve must be 'logistic', 'beta' or 'isotonic'"):
        calcert.recalibrate(x, y, curve="platt")
    with pytest.raises(ValueError, match="levels must be 1 or more for an isotonic curve"):
        calcert.recalibrate(x, y, curve="isotonic", levels=0)
    with pytest.raises(ValueError, match="levels must be"):
        calcert.recalibrate(x, y, levels=-3)


@pytest.mark.parametrize("rows", [2, 3])
def test_few_rows_are_told_that_they_say_nothing(rows: int) -> None:
    assert str(calcert.recalibrate(*drawn(rows, 0))).startswith("Too few rows to certify the recalibrated scores yet.")


def test_levels_grow_with_the_rows_and_stay_few() -> None:
    assert [most_levels(rows) for rows in (10, 500, 5_000, 50_000, 500_000)] == [3, 10, 14, 21, 31]


def test_an_upper_bound_that_says_nothing_is_no_answer() -> None:
    rng = np.random.default_rng(0)
    x = rng.random(1_000)
    found = calcert.recalibrate(x, rng.random(1_000) < x, levels=4)
    assert found.l1 is not None
    assert f"at most {at_most(found.l1.upper)} away" in " ".join(str(found).split())
    shown = str(replace(found, l1=replace(found.l1, upper=0.99, lower=0.01)))
    assert "Too few rows to certify the recalibrated scores yet." in shown


def test_certificates_are_not_read_beside_another_map() -> None:
    rng = np.random.default_rng(0)
    x = rng.random(2_000)
    fixed = calcert.recalibrate(x, rng.random(2_000) < x**1.6)
    written = json.loads(json.dumps(fixed.to_dict()))
    assert calcert.Recalibration.from_dict(written).map == fixed.map
    written["map"]["edges"].pop()
    written["map"]["values"].pop()
    with pytest.raises(ValueError, match="map must be the one that was certified"):
        calcert.Recalibration.from_dict(written)
