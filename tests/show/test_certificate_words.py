"""The words of pictures and pages, pinned: people act on them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from calcert.certificates.certificate import Certificate
from calcert.foundation.number_text import number
from calcert.reports.report import Report
from calcert.reports.settings import Settings
from calcert.show import certificate_words as words
from calcert.show.reliability import perturbed_description
from calcert.show.report_details import call

SERVED = Certificate(
    quantity="L1 calibration error",
    subject="with perturbed scores, bandwidth 1/64",
    assumption="none",
    upper=0.0415,
    lower=0.0351,
    confidence=0.95,
    n=100_000,
    theorem="Theorem 1",
    terms={"plug-in": 0.0392, "sampling": 0.0023},
    parameters={"bandwidth": 1 / 64, "seed": 3},
)
AS_IT_IS = replace(
    SERVED,
    subject="with its current scores",
    assumption="calibration function of total variation at most 1 (as any monotone one)",
    parameters={"variation": 1.0, "seed": 3},
)
DISTANCE = replace(SERVED, quantity="distance from calibration", lower=0.0, parameters={"bandwidth": 0.0017, "seed": 3})
CERTIFICATES = {"perturbed": SERVED, "l1": AS_IT_IS, "distance": DISTANCE}
REPORT = Report(CERTIFICATES, Settings(odds=1 / 16, seed=3), {"AUROC": 0.8}, ())


def test_statements() -> None:
    assert words.statement("perturbed", SERVED) == (
        "On average a perturbed score is at least 0.0351 and at most 0.0415 away from the probability of label 1 "
        "given that score."
    )
    assert words.statement("l1", AS_IT_IS) == (
        "On average a score is at least 0.0351 and at most 0.0415 away from the probability of label 1 given that "
        "score."
    )
    assert words.statement("distance", DISTANCE) == (
        "On average a score is at most 0.0415 away from the nearest perfectly calibrated score."
    )
    nothing = replace(SERVED, upper=1.0, lower=0.0, n=3)
    assert words.statement("perturbed", nothing) == "There are too few rows (3) to certify anything yet."


def test_intervals() -> None:
    assert words.interval(SERVED) == "between 0.0351 and 0.0415"
    assert words.interval(DISTANCE) == "at most 0.0415"
    assert words.interval(replace(SERVED, upper=1.0)) == "at least 0.0351"
    assert words.interval(replace(SERVED, upper=1.0, lower=0.0)) == "nothing yet: too few rows"


def test_confidence_names_one_bound_and_both() -> None:
    assert words.confidence(0.05) == (
        "Each bound holds with 95% confidence over the rows, the lower one over the rows and the random split set by "
        "the seed; both together with 90%."
    )
    assert "99.9%" in words.confidence(0.001)


def test_assumptions_and_what_is_not_promised() -> None:
    assert words.assumed(SERVED.assumption) == "nothing"
    assert words.assumed(AS_IT_IS.assumption) == (
        "a calibration function of total variation at most 1 (as any monotone one)"
    )
    assert words.not_promised("l1", AS_IT_IS).startswith("The upper bound is only as good as the assumption")
    assert "without the perturbation" in words.not_promised("perturbed", SERVED)
    assert "as good as the assumption" not in words.not_promised("l1", replace(AS_IT_IS, assumption="none"))


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.04152, "0.0415"), (0.0051379, "0.00514"), (0.0, "0.0000"), (2.8e-12, "2.8e-12"), (1.0, "1.0000")],
)
def test_numbers(value: float, shown: str) -> None:
    assert number(value) == shown


def test_code_makes_the_same_report_again() -> None:
    assert call(REPORT.settings) == (
        "calcert.certify(scores, labels, settings=calcert.Settings(confidence=0.95, odds=1/16, crossings=3, seed=3))"
    )
    assert "bandwidth=0.012345678" in call(Settings(bandwidth=0.012345678))


def test_pictures_are_told_to_those_who_cannot_see_them() -> None:
    assert perturbed_description(REPORT) == (
        "Estimate of label 1 against the perturbed score, with a 95% simultaneous band and the diagonal of perfect "
        "calibration; 100,000 rows. The calibration error is certified between 0.0351 and 0.0415."
    )
