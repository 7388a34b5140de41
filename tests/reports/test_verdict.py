"""The verdict follows one rule, says what the bounds say and no more, and never calls a classifier calibrated."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import calcert
from calcert.certificates import too_good_to_be_true
from calcert.reports import report as report_module
from calcert.reports.advice_and_warnings import warnings_of
from calcert.reports.report import Report
from calcert.reports.verdict import verdict_of

RNG = np.random.default_rng(0)
X = RNG.random(6_000)
RIGHT, OFF = RNG.random(6_000) < X, RNG.random(6_000) < X**1.5


@pytest.mark.parametrize("labels", [RIGHT, OFF], ids=["right", "off"])
@pytest.mark.parametrize("tolerance", [None, 0.01, 0.03, 0.05, 0.3])
def test_the_rule_reads_the_bounds_of_the_l1_error(labels: np.ndarray, tolerance: float | None) -> None:
    report = calcert.certify(X, labels, tolerance=tolerance)
    lower, upper = report.l1.lower, report.l1.upper
    if tolerance is None:
        expected = "miscalibrated" if lower > 0 else "not detected"
    else:
        expected = "within" if upper <= tolerance else "beyond" if lower > tolerance else "cannot tell"
    assert report.verdict.kind == expected
    assert "calibrated" not in report.verdict.sentence.replace("Miscalibrated", "").replace("miscalibration", "")
    assert (report.verdict.direction == "too high") == (lower > 0)
    again = Report.from_dict(json.loads(json.dumps(report.to_dict())))
    assert again.verdict == report.verdict
    assert str(again) == str(report)
    assert report.to_dict()["verdict"]["kind"] == expected


def test_the_text_is_at_most_twelve_lines_of_eighty_columns_and_warnings_follow_the_verdict() -> None:
    backwards = calcert.certify(1 - X, RIGHT, tolerance=0.03)
    lines = str(backwards).splitlines()
    assert len(lines) <= 12
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith("Beyond 0.03")
    text = str(backwards)
    assert text.index("overconfident") < text.index("Warning: scores rank labels") < text.index("Calibration error")
    assert "which class the scores are for" in backwards.verdict.next
    for report in (calcert.certify(X, RIGHT), calcert.certify(X, OFF), calcert.certify(X[:40], RIGHT[:40])):
        assert len(str(report).splitlines()) <= 12
        for name in ("Observed / expected", "Calibration error", "Worst score range", "Distance", "ECE", "Next:"):
            assert name in str(report)
        assert all(certificate.theorem in report.details() for certificate in report.certificates.values())


def test_noise_that_is_asked_for_leads() -> None:
    report = calcert.certify(X, OFF, settings=calcert.Settings(odds=1 / 16))
    assert str(report).splitlines()[1].lstrip().startswith("Perturbed scores")
    judged = calcert.certify(X, OFF, settings=calcert.Settings(odds=1 / 16, tolerance=report.perturbed.upper))
    assert judged.verdict.kind == "within"


def test_rows_that_cannot_tell_are_told_how_many_would() -> None:
    report = calcert.certify(X[:1_000], RIGHT[:1_000], tolerance=0.03)
    assert report.verdict.kind == "cannot tell"
    assert "fresh rows should be enough" in report.verdict.sentence
    assert report.verdict.next.startswith("label fresh rows. Estimate: ")
    groups = calcert.certify(X, RIGHT, groups=np.arange(X.size) % 60, settings=calcert.Settings(tolerance=0.03))
    told = next(iter(groups.groups.values())).verdict
    assert (told.kind, "Estimate" in told.next) == ("cannot tell", False), "plans of many groups would take minutes"


def test_few_rows_are_told_to_be_more_and_not_to_set_a_tolerance() -> None:
    rng = np.random.default_rng(3)
    x = rng.beta(2, 3, 60)
    found = calcert.certify(x, rng.random(60) < x)
    assert found.l1.upper > 0.1
    assert found.verdict.kind == "cannot tell"
    assert found.verdict.sentence.startswith("Cannot tell: 60 rows can hide an error of up to 0.")
    assert found.verdict.next.startswith("label more rows")
    many = rng.beta(2, 3, 20_000)
    assert calcert.certify(many, rng.random(20_000) < many).verdict.next.startswith("decide which error you can accept")


@pytest.mark.parametrize("n", [1, 60, 400, 6_000])
@pytest.mark.parametrize("scale", [1.0, 0.01], ids=["common", "rare"])
def test_rows_that_can_hide_much_never_look_like_a_pass(n: int, scale: float, tmp_path: Path) -> None:
    x = X[:n] * scale
    report = calcert.certify(x, np.random.default_rng(1).random(n) < x)
    ratio, rare = report.observed_over_expected, scale < 1
    assert report.l1.lower == 0
    assert ratio is not None
    hidden = (ratio.upper > 2 or ratio.lower < 0.5) if rare or n == 1 else report.l1.upper > 0.1
    assert report.verdict.kind == ("cannot tell" if hidden else "not detected")
    assert report.verdict.sentence.startswith("Cannot tell: " if hidden else "No miscalibration detected; ")
    page = report.to_html(tmp_path / "report.html").read_text(encoding="utf-8")
    assert ('<h2 class="verdict cannot-tell">' in page) == hidden
    assert "h2.cannot-tell { border-color: var(--orange); }" in page, "not the colour of rows that detect nothing"


def test_observed_over_expected_takes_no_time_before_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    for name in ("range_probability", "observed_over_expected"):
        module = too_good_to_be_true if name == "range_probability" else report_module
        known = getattr(module, name)

        def noted(*given, known=known, name=name, **named):
            asked.append(name)
            return known(*given, **named)

        monkeypatch.setattr(module, name, noted)
    ordinary, rare = (calcert.certify(scores[:777], RIGHT[:777]) for scores in (X, X / 50))
    assert asked == ["range_probability", "range_probability", "observed_over_expected"]  # The headline of rare events.
    assert "observed / expected" in rare.verdict.sentence
    assert ordinary.observed_over_expected is not None
    assert asked[-1] == "observed_over_expected"
    assert len(asked) == 4


def test_a_slight_error_is_no_reason_to_recalibrate_and_more_rows_promise_nothing_else() -> None:
    c = calcert.certify(X, OFF).l1
    settings = calcert.Settings()
    slight = verdict_of({"l1": replace(c, lower=2.9e-9, upper=0.045)}, settings, None, None)
    assert slight.kind == "miscalibrated"
    assert slight.next.startswith("the proven error is slight; decide which error you can accept")
    assert "if 0.045 is too much" in slight.next
    large = verdict_of({"l1": replace(c, lower=0.02, upper=0.045)}, settings, None, None)
    assert large.next.endswith("more rows will not make the error go away.")


def test_other_lines_that_show_an_error_are_named_where_the_verdict_shows_none() -> None:
    found = calcert.certify(X, OFF).certificates
    none = {name: replace(c, lower=0.0) for name, c in found.items()}
    summary, settings = calcert.summarize(X, OFF), calcert.Settings()
    assert not any("rests on" in words for words in warnings_of(summary, none, settings))
    some = none | {name: replace(none[name], lower=0.002) for name in ("cutoff", "distance")}
    (words,) = [words for words in warnings_of(summary, some, settings) if "rests on" in words]
    assert words.startswith("the verdict rests on l1, which shows no error here; cutoff and distance do, with 95%")
    assert not any("rests on" in words for words in warnings_of(summary, found, settings))


@pytest.mark.parametrize(("label", "rows", "warned"), [(0, 1_000, True), (1, 1_000, True), (0, 60, False)])
def test_labels_that_are_all_the_same_are_warned_of_where_others_are_expected(
    label: int, rows: int, warned: bool
) -> None:
    report = calcert.certify(X[:rows], np.full(rows, label))
    assert any(f"every label is {label}" in words for words in report.warnings) == warned
    rare = calcert.certify(X[:1_000] / 200, np.zeros(1_000))
    assert not any("every label" in words for words in rare.warnings)
