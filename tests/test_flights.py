"""The worked example runs, and certifies what its page says."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

import calcert

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def reports() -> dict[str, calcert.Report]:
    return runpy.run_path(str(ROOT / "examples" / "flights.py"))["main"]()


def test_recalibrated_flights_are_certified_well_calibrated(reports):
    after = reports["after"]
    assert after.perturbed.upper <= 0.015
    assert after.l1.upper <= 0.03
    assert calcert.bounds.bounded_variation(after.summary, variation=1.0).upper <= 0.03


def test_flights_with_weighted_classes_are_certified_badly_calibrated(reports):
    before = reports["before"]
    assert before.perturbed.lower > 0.15
    assert before.l1.lower > 0.15


def test_the_page_shows_these_numbers(reports):
    """To two digits: the trees differ a little with the processor."""
    page = (ROOT / "docs" / "guides" / "flights.md").read_text()
    shown = re.findall(r"at least (\d\.\d+), at most (\d\.\d+)", page)
    found = [
        (certificate.lower, certificate.upper)
        for report in (reports["before"], reports["after"])
        for certificate in (
            report.perturbed,
            calcert.bounds.bounded_variation(report.summary, variation=1.0),
            report.l1,
            report.distance,
        )
    ]
    assert len(shown) == len(found)
    for bounds, computed in zip(shown, found, strict=True):
        assert tuple(map(float, bounds)) == pytest.approx(computed, rel=0.1, abs=0.001)
