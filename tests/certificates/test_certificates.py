"""Certificates and reports as results: complete, frozen, repeatable, and as tight as promised."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import calcert
from calcert import Certificate, Report, Summary
from calcert.certificates.certificate import total
from calcert.foundation.number_text import at_least, at_most, e_value

Floats = NDArray[np.float64]

CERTIFICATES: dict[str, Callable[..., Certificate]] = {
    "perturbed": calcert.bounds.perturbed,
    "perturbed by a bandwidth": lambda summary, **options: calcert.bounds.perturbed(
        summary, bandwidth=1 / 64, **options
    ),
    "bounded_variation": calcert.bounds.bounded_variation,
    "lipschitz": lambda summary, **options: calcert.bounds.lipschitz(summary, constant=2.0, **options),
    "finite": calcert.bounds.finite,
    "distance": calcert.bounds.distance,
    "squared": calcert.bounds.squared,
    "squared, a bandwidth": lambda summary, **options: calcert.bounds.squared(summary, bandwidth=1 / 64, **options),
    "cutoff": calcert.bounds.cutoff,
    "crossings": calcert.bounds.crossings,
    "in_the_large": calcert.bounds.in_the_large,
}


def rows(n: int, eta: Callable[[Floats], Floats], seed: int = 0) -> tuple[Floats, NDArray[np.bool_]]:
    rng = np.random.default_rng(seed)
    x = rng.random(n)
    return x, rng.random(n) < eta(x)


def deciles(n: int, seed: int = 0) -> Summary:
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 11, n) / 10
    return calcert.summarize(x, rng.random(n) < x)


DATA = {
    "one row": calcert.summarize([0.3], [1]),
    "hopeless": calcert.summarize([1.0] * 50, [0] * 50),
    "perfect": calcert.summarize([0.0, 1.0] * 500, [0, 1] * 500),
    "deciles": deciles(5000),
}


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("name", CERTIFICATES)
def test_terms_add_up_to_the_upper_bound(name: str, data: str) -> None:
    c = CERTIFICATES[name](DATA[data])
    assert math.fsum(c.terms.values()) == pytest.approx(c.upper, abs=1e-12)
    assert all(math.isfinite(value) for value in c.terms.values())
    assert {"plug-in", "sampling", "discretisation"} <= c.terms.keys()
    assert 0 <= c.lower <= c.upper <= 1
    assert c.n == DATA[data].n


def test_terms_are_named_after_what_they_charge() -> None:
    summary = calcert.summarize(*rows(5000, lambda x: x))
    assert "binning bias" in calcert.bounds.bounded_variation(summary).terms
    assert "binning bias" in calcert.bounds.lipschitz(summary, constant=2.0).terms
    assert calcert.bounds.distance(summary).terms.keys() == {"plug-in", "sampling", "discretisation"}
    assert calcert.bounds.perturbed(summary).terms["discretisation"] > 0


@pytest.mark.parametrize(
    ("name", "theorem", "assumption", "subject"),
    [
        ("perturbed", "Theorem 1L", "none", "with perturbed scores, log-odds noise, scale 1/16"),
        ("perturbed by a bandwidth", "Theorem 1", "none", "with perturbed scores, bandwidth 1/64"),
        (
            "bounded_variation",
            "Theorem 2",
            "total variation at most 1 (as any monotone one)",
            "with its current scores",
        ),
        ("lipschitz", "Theorem 3", "Lipschitz with constant 2", "with its current scores"),
        ("finite", "Theorem 4", "none", "with its current scores"),
        ("distance", "Theorem 6", "none", "with its current scores"),
        ("squared", "Theorem 7L", "none", "with perturbed scores, log-odds noise, scale 1/16"),
        ("squared, a bandwidth", "Theorem 7", "none", "with perturbed scores, bandwidth 1/64"),
        ("cutoff", "Theorem 9", "none", "with its current scores"),
        ("crossings", "Theorem 10", "changes sides of the diagonal at most 3 times", "with its current scores"),
        ("in_the_large", "Theorem 11", "none", "with its current scores"),
    ],
)
def test_a_certificate_says_what_it_certifies_of_whom_and_under_what(
    name: str, theorem: str, assumption: str, subject: str
) -> None:
    c = CERTIFICATES[name](DATA["deciles"], confidence=0.9)
    assert c.theorem == theorem
    assert assumption in c.assumption
    assert c.subject == subject
    assert c.delta == 0.1
    text = str(c)
    assert subject in text
    assert theorem in text
    assert "5,000 rows" in text


def test_parameters_are_those_that_were_fixed_in_advance() -> None:
    summary = DATA["deciles"]
    assert calcert.bounds.perturbed(summary, bandwidth=0.1, seed=3).parameters == {"bandwidth": 0.1, "seed": 3}
    assert calcert.bounds.bounded_variation(summary, variation=2.5).parameters == {"variation": 2.5, "seed": 0}
    assert calcert.bounds.lipschitz(summary, constant=4.0).parameters == {"constant": 4.0, "seed": 0}
    assert calcert.bounds.finite(summary).parameters == {"distinct scores": 11, "seed": 0}
    assert calcert.bounds.distance(summary, seed=2).parameters == {"seed": 2}


@pytest.mark.parametrize("name", CERTIFICATES)
def test_a_certificate_survives_json(name: str) -> None:
    c = CERTIFICATES[name](DATA["deciles"])
    assert Certificate.from_dict(json.loads(json.dumps(c.to_dict()))) == c
    assert c.to_dict()["vacuous"] is False


@pytest.mark.parametrize("name", CERTIFICATES)
def test_a_certificate_cannot_be_changed(name: str) -> None:
    c = CERTIFICATES[name](DATA["deciles"])
    with pytest.raises(dataclasses.FrozenInstanceError):
        c.upper = 0.0  # type: ignore[misc]


def test_a_bound_that_says_nothing_is_vacuous_and_no_error() -> None:
    c = calcert.bounds.distance(calcert.summarize([0.0], [1]))
    assert (c.upper, c.lower, c.vacuous) == (1.0, 0.0, True)
    assert "cap at 1" in c.terms
    assert math.fsum(c.terms.values()) == 1.0
    assert not calcert.bounds.finite(DATA["deciles"]).vacuous


@pytest.mark.parametrize("name", CERTIFICATES)
def test_less_risk_gives_wider_bounds(name: str) -> None:
    careful = CERTIFICATES[name](DATA["deciles"], confidence=0.999)
    bold = CERTIFICATES[name](DATA["deciles"], confidence=0.51)
    assert careful.upper > bold.upper
    assert careful.lower <= bold.lower


@pytest.mark.parametrize("name", CERTIFICATES)
@pytest.mark.parametrize("delta", [1e-12, 0.499])
def test_extreme_delta_is_no_error(name: str, delta: float) -> None:
    c = CERTIFICATES[name](DATA["deciles"], confidence=1 - delta)
    assert 0 <= c.lower <= c.upper <= 1


@pytest.mark.parametrize("name", CERTIFICATES)
def test_more_rows_of_the_same_kind_give_tighter_bounds(name: str) -> None:
    summary = DATA["deciles"]
    widths = []
    for _ in range(3):
        widths.append(CERTIFICATES[name](summary).upper)
        summary = summary + summary + summary + summary
    assert widths[0] > widths[1] > widths[2]


def test_a_finite_certificate_needs_a_finite_score_set() -> None:
    with pytest.raises(ValueError, match=r"not a finite set: there are more than 4,096 distinct ones\. Use"):
        calcert.bounds.finite(calcert.summarize(*rows(5000, lambda x: x)))


def test_the_report_is_the_same_for_any_order_and_any_cutting_of_the_rows() -> None:
    x, y = rows(20_000, lambda x: x**2)
    order = np.random.default_rng(1).permutation(x.size)
    whole = calcert.certify(x, y)
    assert calcert.certify(x[order], y[order]) == whole
    assert calcert.certify(calcert.summarize(x[:7000], y[:7000]) + calcert.summarize(x[7000:], y[7000:])) == whole


def test_the_same_seed_gives_the_same_lower_bounds_and_another_seed_only_others() -> None:
    summary = calcert.summarize(*rows(5000, lambda x: x**2))
    first, again, other = (calcert.certify(summary, settings=calcert.Settings(seed=seed)) for seed in (0, 0, 1))
    assert first == again
    assert first.l1.upper == other.l1.upper
    assert first.l1.lower != other.l1.lower


def test_a_report_survives_json_with_its_schema() -> None:
    report = calcert.certify(*rows(2000, lambda x: x))
    found = json.loads(json.dumps(report.to_dict()))
    assert (found["kind"], found["schema"]) == ("report", 2)
    assert Report.from_dict(found) == report
    one_label = calcert.certify([0.1, 0.2], [0, 0])
    assert math.isnan(one_label.estimates["AUROC"])
    restored = Report.from_dict(json.loads(json.dumps(one_label.to_dict(), allow_nan=False)))
    assert math.isnan(restored.estimates["AUROC"])


def test_a_report_of_another_schema_is_refused_by_number() -> None:
    found = calcert.certify([0.1, 0.2], [0, 1]).to_dict()
    with pytest.raises(ValueError, match="the report has schema 99; this calcert reads schema 2"):
        Report.from_dict(found | {"schema": 99})


def test_a_report_cannot_be_changed_and_prints_its_statements() -> None:
    report = calcert.certify(*rows(20_000, lambda x: x**2), settings=calcert.Settings(odds=1 / 16))
    with pytest.raises(dataclasses.FrozenInstanceError):
        report.warnings = ()  # type: ignore[misc]
    text = str(report)
    for words in ("20,000 rows", "Perturbed scores", "Distance", "95% confidence"):
        assert words in text
    details = str(report.details())
    for c in report.certificates.values():
        assert f"{at_most(c.upper)}" in details
        assert f"{at_least(c.lower)}" in details


def test_few_distinct_scores_are_certified_without_assumption() -> None:
    report = calcert.certify(deciles(20_000))
    assert report.l1.theorem == "Theorem 4"
    assert report.l1.assumption == "none"


def test_continuous_scores_are_certified_by_their_variation_where_it_is_given() -> None:
    report = calcert.certify(*rows(20_000, lambda x: x), settings=calcert.Settings(variation=1))
    assert report.l1.theorem == "Theorem 2"
    assert "total variation at most 1" in report.l1.assumption


def test_choosing_between_two_theorems_is_paid_for_with_half_of_delta_each() -> None:
    summary, settings = deciles(20_000), calcert.Settings(confidence=0.9, variation=1)
    chosen = calcert.certify(summary, settings=settings).l1
    assert chosen.upper == pytest.approx(calcert.bounds.finite(summary, confidence=0.95).upper, abs=1e-12)
    assert chosen.delta == 0.1
    summary = calcert.summarize(*rows(20_000, lambda x: x))
    chosen = calcert.certify(summary, settings=settings).l1
    assert chosen.upper == pytest.approx(calcert.bounds.bounded_variation(summary, confidence=0.95).upper, abs=1e-12)


def test_rare_events_under_a_wide_bandwidth_are_warned_of_by_name() -> None:
    rng = np.random.default_rng(0)
    x = rng.beta(0.5, 500, 5000)
    y = rng.random(x.size) < x
    (warning,) = calcert.certify(x, y, settings=calcert.Settings(bandwidth=1 / 64)).warnings
    assert "2**-13" in warning
    assert "bandwidth 0.015625 is large" in warning
    assert calcert.certify(x, y, settings=calcert.Settings(bandwidth=2.0**-13)).warnings == ()
    (mirrored,) = calcert.certify(1 - x, ~y, settings=calcert.Settings(bandwidth=1 / 64)).warnings
    assert "2**-13" in mirrored
    assert calcert.certify(*rows(5000, lambda x: x), settings=calcert.Settings(bandwidth=1 / 64)).warnings == ()
    for size in (1 / 2, 1 / 16, 1 / 256):
        assert calcert.certify(x, y, settings=calcert.Settings(odds=size)).warnings == ()


def test_a_lower_bound_above_the_upper_one_is_called_a_false_assumption() -> None:
    x, y = rows(20_000, lambda x: np.where((40 * x).astype(int) % 2, 0.0, 1.0))
    report = calcert.certify(x, y, settings=calcert.Settings(variation=0.01))
    assert any("the assumption is false" in warning for warning in report.warnings)
    true = calcert.certify(x, y, settings=calcert.Settings(crossings=80, variation=40.0))
    assert not any("assumption" in warning for warning in true.warnings)


def test_a_lower_bound_that_assumes_nothing_refutes_few_crossings() -> None:
    x, y = rows(20_000, lambda x: np.where((40 * x).astype(int) % 2, 1.0, 0.0))
    report = calcert.certify(x, y, settings=calcert.Settings(crossings=1))
    assert calcert.bounds.crossings(x, y, crossings=1).lower < report.l1.upper, "its own lower bound does not"
    (warning,) = (said for said in report.warnings if "assumption" in said)
    assert "with confidence 0.9 the assumption is false (the true curve changes sides of the diagonal" in warning
    assert "unless rows are not independent, as copies are not. The statements in_the_large, cutoff" in warning


def test_estimates_are_named_as_such_and_are_what_they_are_called() -> None:
    x = np.array([0.1, 0.4, 0.4, 0.8])
    y = np.array([0, 1, 0, 1])
    found = calcert.certify(x, y).estimates
    assert found["base rate"] == 0.5
    assert found["mean score"] == pytest.approx(0.425)
    assert found["Brier score"] == pytest.approx(((x - y) ** 2).mean())
    assert found["AUROC"] == pytest.approx(3.5 / 4)
    assert found["ECE (15 bins)"] == pytest.approx((0.1 + 0.2 + 0.2) / 4, abs=1e-6)


def mean_over_seeds(bound: Callable[[Summary], float], n: int, eta: Callable[[Floats], Floats]) -> float:
    return float(np.mean([bound(calcert.summarize(*rows(n, eta, seed))) for seed in range(8)]))


def served_error(eta: Callable[[Floats], Floats], h: float = 1 / 64) -> float:
    """The error of the perturbed classifier under uniform scores, by summing over fine grids of both scores."""
    x = t = (np.arange(3000) + 0.5) / 3000
    gap = np.zeros(t.size)
    for part in np.array_split(x, 20):
        k = calcert.perturbation.sech_kernel.density(t[:, None], part, h)
        gap += (k * (t[:, None] - eta(part))).sum(axis=1) / x.size
    return float(np.abs(gap).mean())


@pytest.mark.parametrize(
    ("n", "eta", "gap"),
    [(10_000, lambda x: x, 0.0193), (100_000, lambda x: x, 0.0059), (100_000, lambda x: x**2, 0.0026)],
)
def test_perturbed_upper_bounds_are_as_close_to_the_truth_as_promised(
    n: int, eta: Callable[[Floats], Floats], gap: float
) -> None:
    assert (
        0
        < mean_over_seeds(lambda s: calcert.bounds.perturbed(s, bandwidth=1 / 64).upper, n, eta) - served_error(eta)
        <= gap
    )


@pytest.mark.parametrize(
    ("n", "eta", "truth", "gap"),
    [
        (10_000, lambda x: x, 0.0, 0.0475),
        (100_000, lambda x: x, 0.0, 0.0199),
        (100_000, lambda x: x**2, 1 / 6, 0.0056),
    ],
)
def test_bounded_variation_upper_bounds_are_as_close_to_the_truth_as_promised(
    n: int, eta: Callable[[Floats], Floats], truth: float, gap: float
) -> None:
    assert 0 < mean_over_seeds(lambda s: calcert.bounds.bounded_variation(s).upper, n, eta) - truth <= gap


@pytest.mark.parametrize(("n", "least"), [(10_000, 0.140), (100_000, 0.160)])
def test_lower_bounds_work(n: int, least: float) -> None:
    for bound in (
        lambda summary: calcert.bounds.perturbed(summary).lower,
        lambda summary: calcert.bounds.bounded_variation(summary).lower,
    ):
        assert least <= mean_over_seeds(bound, n, lambda x: x**2) < 1 / 6


def test_twenty_distinct_calibrated_scores_are_certified_tightly_without_assumption() -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(0, 20, 100_000) / 19
    assert calcert.bounds.finite(calcert.summarize(x, rng.random(x.size) < x)).upper <= 0.0072


def test_rare_events_are_certified_tightly_at_a_fitting_bandwidth() -> None:
    rng = np.random.default_rng(0)
    x = rng.beta(0.5, 500, 1_000_000)
    assert calcert.bounds.perturbed(calcert.summarize(x, rng.random(x.size) < x), bandwidth=2.0**-13).upper <= 0.00025


def test_crowded_scores_are_certified_tightly_thanks_to_plain_groups() -> None:
    rng = np.random.default_rng(0)
    x = rng.beta(0.02, 5, 1_000_000)
    assert calcert.bounds.bounded_variation(calcert.summarize(x, rng.random(x.size) < x)).upper <= 0.0012


def test_one_row_says_nothing() -> None:
    report = calcert.certify([0.3], [0])
    for certificate in report.certificates.values():
        assert not certificate.telling
        assert sum(certificate.terms.values()) > 0.95
    rare = "Cannot tell: too few rows; observed / expected 0.00 - infinite (95% confidence)."
    assert report.verdict.sentence == rare
    assert (
        calcert.certify([0.5] * 2, [0, 1], confidence=0.999).verdict.sentence
        == "Cannot tell: 2 rows can hide any error."
    )
    assert report.verdict.next == (
        "label more rows before you rely on these scores; four times as many about halve what they can hide."
    )


@pytest.mark.parametrize("n", [1, 30, 5_000])
def test_bounds_as_they_are_shown_are_numbers_and_certified_too(n: int) -> None:
    c = calcert.certify(*rows(n, lambda x: x**2)).distance
    assert isinstance(c.at_most, float)
    assert c.upper <= c.at_most <= min(c.upper + 1e-4, 1)
    assert max(c.lower - 1e-4, 0) <= c.at_least <= c.lower
    assert (c.at_most < 0.03) == (at_most(c.upper) < "0.03")
    assert at_least(c.at_least) == at_least(c.lower)
    assert at_most(c.at_most) == at_most(c.upper)


def test_a_bound_next_to_one_is_rounded_up_and_any_other_is_left_alone() -> None:
    assert total({"plug-in": 0.9, "sampling": 0.0998}) == (
        1.0,
        {"plug-in": 0.9, "sampling": 0.0998} | {"cap at 1": pytest.approx(2e-4)},
    )
    assert total({"plug-in": 0.9, "sampling": 0.098})[0] == pytest.approx(0.998)


def test_the_report_says_which_variation_was_asked_for_whichever_theorem_won() -> None:
    x = np.tile([0.25, 0.75], 500)
    unmodified = calcert.certify(x, np.arange(1000) % 4 == 0, settings=calcert.Settings(variation=1.5)).l1
    assert unmodified.theorem == "Theorem 4"
    assert unmodified.parameters["variation"] == 1.5


@pytest.mark.parametrize("name", [name for name in CERTIFICATES if name != "in_the_large"])
def test_every_certificate_with_a_bet_has_its_e_value(name: str) -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(1, 20, 3_000) / 20
    wrong, right = (CERTIFICATES[name](calcert.summarize(x, rng.random(3_000) < chance)) for chance in (x**2, x))
    assert wrong.e_value is not None
    assert right.e_value is not None
    # Who owns 1/delta in the end may reject an error of 0, at the least.
    assert wrong.e_value > 1 / wrong.delta > right.e_value
    assert wrong.lower > 0
    assert f"E-value against an error of 0: {e_value(wrong.e_value)}." in str(wrong)


def test_where_nothing_is_bet_there_is_no_e_value() -> None:
    found = calcert.bounds.in_the_large(calcert.summarize([0.25, 0.75] * 50, [0, 1] * 50))
    assert found.e_value is None
    assert "E-value" not in str(found)


def test_an_e_value_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match=r"e-value from 0 on, or none; got -1\.0"):
        Certificate(
            "error", "with its current scores", "none", 0.1, 0.0, 0.05, 100, "Theorem 4", {"plug-in": 0.1}, e_value=-1.0
        )


def test_an_e_value_beside_a_lower_bound_of_zero_says_why_both_are_right(tmp_path: Path) -> None:
    rng = np.random.default_rng(454)
    x = rng.random(1_000)
    rows = calcert.summarize(x, rng.random(1_000) < np.clip(x - 0.025, 0, 1))
    found = calcert.bounds.cutoff(rows)
    assert found.lower == 0
    assert found.e_value is not None
    assert found.e_value >= 20
    why = "The lower bound is 0 beside an e-value of 31 because it shares its 5% with other tests, and so asks for more"
    assert why in str(found)
    report = calcert.certify(rows)
    assert " ".join(report.details().split()).count(why) == 1
    assert why in report.to_html(tmp_path / "report.html").read_text(encoding="utf-8")
    assert "beside an e-value" not in str(calcert.bounds.distance(rows))
