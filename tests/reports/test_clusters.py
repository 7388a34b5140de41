"""Reports on rows in clusters and with weights: what they say, what they leave out and why, and who refuses them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import calcert
from calcert import Report
from calcert.perturbation.noise import Noise
from calcert.reports.planning_distribution import fit
from calcert.show import as_page
from tests.lab.clusters import units_of

RNG = np.random.default_rng(0)
N = 5000
X = RNG.random(N)
Y = RNG.random(N) < X
VARIATION = calcert.Settings(variation=1)
CLUSTERED = calcert.certify(X, Y, clusters=np.arange(N) // 5, settings=VARIATION)
DECLARED = calcert.certify(calcert.Rows(X, Y, weights=RNG.integers(1, 4, N), largest_weight=3), settings=VARIATION)


def test_weights_alone_assume_nothing_of_clusters() -> None:
    report = calcert.certify(calcert.Rows(X, Y, weights=RNG.integers(1, 4, N)), settings=VARIATION)
    assert "and given its score a label does not depend on its weight" in report.l1.assumption
    page = as_page(report)
    for said in (str(report), page):
        assert "of its cluster" not in said


def test_a_report_says_what_rows_in_clusters_count_for() -> None:
    text = " ".join(str(CLUSTERED).split())
    assert "5,000 rows in 1,000 clusters, none of more than 5; they count as 1," in text
    assert "(design effect 3." in text
    assert all(
        "for a row drawn at random from clusters of these sizes" in c.subject for c in CLUSTERED.certificates.values()
    )
    assert "given its score a label depends neither on other scores of its cluster" in CLUSTERED.l1.assumption
    assert CLUSTERED.distance.theorem == "Theorem 6 for clusters"
    assert CLUSTERED.warnings == ()


@pytest.mark.parametrize("report", [CLUSTERED, DECLARED], ids=["clusters", "weights"])
def test_reports_travel_and_are_shown_without_a_band(report: Report, tmp_path: Path) -> None:
    assert Report.from_dict(json.loads(json.dumps(report.to_dict()))) == report
    page = report.to_html(tmp_path / "page.html")
    assert "band, if the curve" not in Path(page).read_text(encoding="utf-8").lower()
    assert len(report.plot().axes) == 2
    assert len(report.to_frame()) == len(report.certificates)
    assert report.miscalibrated_ranges is None
    assert ((report.band.lower >= 0) & (report.band.upper <= 1)).all()


def test_what_is_not_proved_is_left_out_with_its_reason() -> None:
    assert "l1" not in DECLARED.certificates
    assert any(warning.startswith("l1 is left out: a bound on a variation") for warning in DECLARED.warnings)
    assert all(
        "in the population that the weights stand for, none above 3" in c.subject
        for c in DECLARED.certificates.values()
    )
    few = calcert.certify(calcert.Rows(np.round(X, 1), Y, weights=np.ones(N), largest_weight=3))
    assert few.l1.assumption == "none"


def test_a_heavy_cluster_is_warned_of() -> None:
    report = calcert.certify(X, Y, clusters=np.maximum(np.arange(N) - 100, 0))
    assert any("one cluster holds 2% of the weight" in warning for warning in report.warnings)


def test_few_clusters_of_nearly_one_size_are_no_heavy_ones() -> None:
    report = calcert.certify(X[:298], Y[:298], clusters=np.arange(298) % 100)
    assert not any("of the weight" in warning for warning in report.warnings)
    one = calcert.certify(X[:298], Y[:298], clusters=np.maximum(np.arange(298) % 100 - 5, 0))
    assert any("one cluster holds 6% of the weight" in warning for warning in one.warnings)


def test_classes_and_monitors_refuse_them(tmp_path: Path) -> None:
    summary = CLUSTERED.summary
    assert summary is not None
    with pytest.raises(TypeError, match="largest_weight must not come with groups"):
        calcert.certify(calcert.Rows(X, Y, groups=np.arange(N) % 2, clusters=np.arange(N), largest_weight=9))
    with pytest.raises(TypeError, match="weights must not come with classes"):
        calcert.certify(calcert.Rows(np.full((9, 3), 1 / 3), np.arange(9) % 3, weights=np.ones(9)))
    with pytest.raises(ValueError, match=r"5,000 rows in 1,000 clusters"):
        calcert.Monitor(tmp_path / "state").add(summary, batch_id="monday")


def test_rows_without_doubt_count_as_what_they_are() -> None:
    sure = calcert.summarize([0.0, 1.0] * 50, [0, 1] * 50, clusters=np.arange(100) // 2)
    assert "count as 100 independent rows (design effect 1)" in calcert.certify(sure).sample
    # |y - x| is rounded up to 2^-20, far above these scores: as if all rows of a cluster were one.
    tiny = calcert.summarize(np.full(100, 1e-12), np.zeros(100), clusters=np.arange(100) // 4)
    assert "count as 25 independent rows (design effect 4)" in calcert.certify(tiny).sample
    for summary in (sure, tiny):
        assert calcert.plan(summary, 0.1).rows is not None


def test_pair_sums_are_said_and_shown_and_no_part_of_a_plan(tmp_path: Path) -> None:
    rows = calcert.summarize(X, Y, clusters=np.arange(N) // 4, pair_sums=True)
    report = calcert.certify(rows)
    assert all(c.theorem.endswith("for clusters, pair sums") for c in report.certificates.values())
    assert report.cutoff.e_value is not None
    assert Report.from_dict(json.loads(json.dumps(report.to_dict()))) == report
    assert "pair_sums=True" in Path(report.to_html(tmp_path / "page.html")).read_text(encoding="utf-8")
    drawn = fit(rows, Noise("odds", 1 / 16)).draw(2 * N, np.random.default_rng(0))
    assert units_of(drawn).pair_sums is None
    assert not units_of(drawn).design.paired
