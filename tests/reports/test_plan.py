"""Plans are estimates: near what simulation finds, honest where no number of rows would do."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import calcert
from calcert.certificates import perturbed
from calcert.certificates.certificate import Lower
from calcert.commands.demo import simulate
from calcert.perturbation.noise import Noise
from calcert.reports import plan as plan_module
from calcert.reports.plan import Plan, plan
from calcert.reports.planning_distribution import fit
from calcert.reports.settings import Settings
from calcert.reports.statements import STATEMENTS
from calcert.summary.summary import Summary

Draw = Callable[[int, int], Summary]


def calibrated(n: int, seed: int) -> Summary:
    rng = np.random.default_rng(seed)
    x = rng.random(n)
    return calcert.summarize(x, rng.random(n) < x)


def overconfident(n: int, seed: int) -> Summary:
    return calcert.summarize(*simulate(n, seed))


def rounded(n: int, seed: int) -> Summary:
    rng = np.random.default_rng(seed)
    x = rng.integers(1, 20, n) / 20
    return calcert.summarize(x, rng.random(n) < x)


def clustered(n: int, seed: int) -> Summary:
    """Clusters of 10 whose labels are decided by one uniform number."""
    rng = np.random.default_rng(seed)
    x, user = rng.random(n), np.arange(n) // 10
    return calcert.summarize(x, rng.random(n // 10 + 1)[user] < x, clusters=user)


def kept(n: int, seed: int) -> Summary:
    """Rows with label 0 are kept one time in eight."""
    rng = np.random.default_rng(seed)
    x = rng.random(8 * n)
    y = rng.random(8 * n) < x / 8
    rows = np.flatnonzero(y | (rng.random(8 * n) < 1 / 8))[:n]
    return calcert.summarize(x[rows] / 8, y[rows], weights=np.where(y, 1, 8)[rows], largest_weight=8)


def mean_upper(draw: Draw, n: int, noise: Noise, runs: int = 12) -> float:
    terms = [perturbed.upper_terms(draw(n, 1000 + i), noise, 0.05) for i in range(runs)]
    return float(np.mean([math.fsum(t.values()) for t in terms]))


@pytest.mark.parametrize(
    ("draw", "n", "target", "noise", "factor"),
    [
        (calibrated, 8000, 0.01, Noise("odds", 1 / 16), 1.35),
        (calibrated, 8000, 0.01, Noise("additive", 1 / 64), 1.35),
        (overconfident, 400_000, 0.055, Noise("odds", 1 / 16), 1.35),
        (overconfident, 400_000, 0.055, Noise("additive", 1 / 64), 1.35),
        # Fewer rows show the error to 0.0025, and 0.01 is left of it to the target: the third was luck.
        (overconfident, 40_000, 0.055, Noise("odds", 1 / 16), 1.5),
    ],
)
def test_rows_are_within_a_third_of_what_simulation_finds(
    draw: Draw, n: int, target: float, noise: Noise, factor: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Rows are planned by upper bounds alone; lower ones, and sizes that are only shown, would take as long again.
    monkeypatch.setattr(perturbed, "perturbed_lower", lambda *_: Lower(0.0))
    monkeypatch.setattr(plan_module, "SHOWN", ())
    asked: dict[str, Any] = noise.parameters
    found = [
        plan(draw(n, seed), target, statement="perturbed", settings=calcert.Settings(**asked)).rows for seed in range(5)
    ]
    middle = sorted(math.inf if rows is None else rows for rows in found)[len(found) // 2]
    assert mean_upper(draw, round(middle / factor), noise) > target
    assert mean_upper(draw, round(middle * factor), noise) < target


def leaning(n: int, seed: int) -> Summary:
    """An error of 0.0296 to one side: about 5,500 rows certify a distance of at most 0.04."""
    rng = np.random.default_rng([seed, n])
    x = rng.random(n)
    return calcert.summarize(x, rng.random(n) < x**1.126)


def test_a_plan_names_a_range_that_holds_the_truth_and_never_fewer_rows_than_have_failed() -> None:
    plans = [plan(leaning(2000, seed), 0.04, statement="distance") for seed in range(16)]
    failed = [found for found in plans if found.now.upper > 0.04]
    assert 8 <= len(failed) < 16
    for found in plans:
        assert (np.diff(found.uppers) <= 0).all(), "more rows never have a larger bound"
        assert (np.diff(found.lowers) >= 0).all()
    for found in failed:
        named = [rows for rows in (found.fewest, found.rows, found.most) if rows is not None]
        assert named == sorted(named)
        assert named[0] > 2000
        assert max(named) <= 1100 * 2000, "nobody believes more"
        assert found.now.lower < 0.0296
        assert "Recalibrate" not in found.answer()
    missed = [found for found in failed if not (found.fewest or math.inf) <= 5500 <= (found.most or math.inf)]
    assert len(missed) <= binom.isf(0.01, len(failed), 0.2)


def test_a_plan_says_what_it_knows() -> None:
    now = calcert.bounds.distance(leaning(2000, 0))
    wanted = Plan("distance", 0.04, 6000, 3000, 40_000, 0.0297, now, (2000,), (0.05,), (0.0,))
    assert wanted.answer() == (
        "Estimate: between 3,000 and 40,000 rows; about 6,000 if the error is as estimated (0.0297)."
    )
    assert (
        replace(wanted, most=None).answer(" of the group c").startswith("Estimate: 3,000 rows of the group c or more;")
    )
    assert "The error may also be above 0.04" in replace(wanted, most=None).answer()
    assert (
        "3,000 rows or more, if any number would do: the error is estimated at 0.0297, and proven to be at least"
        in (replace(wanted, rows=None, most=None).answer())
    )
    far = replace(wanted, rows=None, fewest=None, most=None)
    assert far.answer() == "Estimate: more than 2,100,000 rows; how many, so few rows cannot tell."
    assert "probably no number of rows would do" in replace(far, limit=0.05).answer()
    assert replace(wanted, now=replace(now, lower=0.041, upper=0.06)).answer().endswith("Recalibrate the classifier.")
    assert "recalibrating by more" in replace(wanted, now=replace(now, lower=0.039, upper=0.041)).answer()
    assert "certify it already" in replace(wanted, now=replace(now, upper=0.04)).answer()


def test_no_number_of_rows_certifies_less_than_the_error_itself() -> None:
    wanted = plan(overconfident(20_000, 0), 0.03, statement="perturbed")
    assert wanted.rows is None
    assert 0.03 < wanted.limit < 0.05
    assert wanted.fewest is None, "but it is not certain"
    assert wanted.answer().startswith("Estimate: probably no number of rows would do: the error is estimated at 0.04")
    wanted = plan(overconfident(20_000, 0), 0.01, statement="distance")
    assert wanted.fewest is wanted.rows is wanted.most is None
    assert wanted.answer().startswith("It is at least 0.01")


def test_bounds_close_in_on_each_other_with_more_rows() -> None:
    summary = overconfident(4000, 1)
    wanted = plan(summary, 0.07, statement="perturbed")
    assert wanted.now == calcert.bounds.perturbed(summary)
    assert list(wanted.sizes) == sorted(wanted.sizes)
    assert {1000, 4000, 16_000, 64_000} <= set(wanted.sizes)
    gaps = np.subtract(wanted.uppers, wanted.lowers)
    assert (np.diff(gaps) < 0).all()
    assert wanted.uppers[-1] >= 0.99 * wanted.limit


def test_a_target_already_met_needs_fewer_rows_than_there_are() -> None:
    wanted = plan(calibrated(20_000, 2), 0.03)
    assert wanted.rows is not None
    assert 500 < wanted.rows < 20_000


def test_every_statement_can_be_planned() -> None:
    summary = rounded(3000, 3)
    by_score = plan(summary, 0.02, statement="l1")
    assert by_score.now.theorem == "Theorem 4"
    assert by_score.rows is not None
    assert calcert.certify(rounded(4 * by_score.rows, 4)).l1.upper < 0.02
    assert plan(summary, 0.2, statement="distance").now.theorem == "Theorem 6"


def test_impossible_requests_are_refused() -> None:
    summary = rounded(100, 5)
    with pytest.raises(ValueError, match=r"target must lie strictly between 0 and 1, such as 0\.02; got 2\."):
        plan(summary, 2)
    with pytest.raises(ValueError, match=r"statement must be one of 'perturbed', .*; got 'served'"):
        plan(summary, 0.1, statement="served")


def test_noise_is_taken_for_noise_and_error_for_error() -> None:
    found = [plan(calibrated(5000, seed), 0.02, statement="distance").limit for seed in range(5)]
    assert np.median(found) < 0.0075, "the means of so many rows have a standard deviation of 0.006"
    assert plan(overconfident(50_000, 0), 0.06, statement="l1").limit == pytest.approx(0.04, abs=0.01)


def test_fitted_law_draws_as_many_rows_as_asked_where_the_scores_were() -> None:
    rng = np.random.default_rng(0)
    listed, spread = rounded(5000, 6), calibrated(5000, 7)
    drawn = fit(listed, Noise("additive", 1 / 64)).draw(70_000, rng)
    assert drawn.n == 70_000
    assert set(drawn.values) == set(listed.values)
    assert drawn.mean_score == pytest.approx(listed.mean_score, abs=0.01)
    drawn = fit(spread, Noise("additive", 1 / 64)).draw(300, rng)
    assert drawn.n == 300
    assert not drawn.is_finite
    assert np.isin(drawn.cell, spread.cell).all()
    assert drawn.mean_score == pytest.approx(spread.mean_score, abs=0.1)


@pytest.mark.parametrize(("draw", "n", "target", "least"), [(clustered, 10_000, 0.03, 2.5), (kept, 4_000, 0.007, 1.5)])
def test_rows_in_units_are_planned_on_the_safe_side(draw: Draw, n: int, target: float, least: float) -> None:
    # Rows of a cluster are taken to depend as much as they can.
    rows, noise = plan(draw(n, 0), target, statement="perturbed").rows, Noise("odds", 1 / 16)
    assert rows is not None
    assert mean_upper(draw, round(rows / least), noise, runs=3) > target
    assert mean_upper(draw, round(1.1 * rows), noise, runs=3) < target


def test_a_plan_for_clusters_counts_clusters() -> None:
    found = plan(clustered(5_000, 0), 0.1, statement="distance")
    assert found.rows_per_cluster == 10
    assert found.rows is not None
    said = " ".join(str(replace(found, now=replace(found.now, upper=0.5))).split())
    assert "such clusters, if the error is as estimated" in said
    assert Plan.from_dict(json.loads(json.dumps(found.to_dict()))) == found


def test_shares_for_labels_are_not_planned_with() -> None:
    shares = calcert.summarize([0.25, 0.5], [0.5, 1.0], soft_labels=True)
    with pytest.raises(ValueError, match="summary must have labels 0 and 1 for a plan; got shares"):
        plan(shares, 0.1)


@pytest.mark.parametrize("noise", [{}, {"odds": 1 / 16}], ids=["current scores", "perturbed scores"])
def test_certify_check_and_plan_answer_the_same_question_with_the_same_number(noise: dict[str, Any]) -> None:
    rows, settings = calibrated(1_000, 3), calcert.Settings(**noise)
    wanted = plan(rows, 0.03, settings=settings)
    assert wanted.statement == ("perturbed" if noise else "l1")
    assert "Estimate: " in wanted.answer()
    report = calcert.certify(rows, settings=calcert.Settings(**noise, tolerance=0.03))
    outcome = calcert.check(rows, max=0.03, settings=settings)
    assert report.verdict.next == outcome.verdict.next == f"label fresh rows. {wanted.answer()}"
    assert outcome.verdict.sentence == report.verdict.sentence
    assert outcome.statement == wanted.statement


def test_a_plan_for_a_loss_certifies_no_more_rows_than_its_limit_is_quick_for(monkeypatch: pytest.MonkeyPatch) -> None:
    # Lemma T takes time that grows with the root of the rows: a gate that failed once took a minute to say so.
    rng = np.random.default_rng(0)
    x = rng.random(2_000)
    summary = calcert.summarize(x, rng.random(x.size) < x**1.3)
    seen: list[int] = []
    certify = STATEMENTS["regret"].certify

    def watched(drawn: calcert.Summary, settings: Settings) -> calcert.Certificate:
        seen.append(drawn.n)
        return certify(drawn, settings)

    monkeypatch.setitem(STATEMENTS, "regret", replace(STATEMENTS["regret"], certify=watched))
    wanted = calcert.plan(summary, 0.004, statement="regret", settings=Settings(threshold=0.3))
    assert max(seen) <= 1 << 20
    assert sum(size >= 1 << 14 for size in seen) <= 20
    assert wanted.uppers[-1] < wanted.uppers[0]
