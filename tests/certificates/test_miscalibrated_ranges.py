"""Where a curve leaves the diagonal, in words: every sentence follows from the band, and no more is said than that."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom

import calcert
from calcert.certificates.miscalibrated_ranges import (
    FEW,
    NOTHING,
    MiscalibratedRange,
    miscalibrated_ranges_at,
    miscalibrated_ranges_of,
)
from calcert.reports.report import Report

Floats = NDArray[np.float64]
SENTENCE = re.compile(
    r"(?:between (?P<low>\S+) and (?P<high>\S+)|at (?P<at>\S+)) "
    r"the probability is (?P<side>below|above) the score by at least (?P<by>\S+)"
)


def read(sentence: str) -> MiscalibratedRange:
    """What a reader understands."""
    found = SENTENCE.fullmatch(sentence)
    assert found is not None, sentence
    low, high = (float(found[end] or found["at"]) for end in ("low", "high"))
    return MiscalibratedRange(low, high, "below" if found["side"] == "below" else "above", float(found["by"]))


def random_band(rng: np.random.Generator) -> tuple[Floats, Floats, Floats]:
    size = int(rng.integers(1, 60))
    edges = np.concatenate([[0.0], np.sort(rng.random(size - 1)), [1.0]])
    middle = np.clip(edges[:-1] + np.cumsum(rng.normal(0, 0.1, size)), 0, 1)
    room = rng.random(size) * 0.1
    return edges, np.clip(middle - room, 0, 1), np.clip(middle + room, 0, 1)


def holds(bend: MiscalibratedRange, edges: Floats, lower: Floats, upper: Floats) -> bool:
    """Whether every curve inside the band is off as the bend says, tried at the ends of every stretch that it meets."""
    for low, high, least, most in zip(edges[:-1], edges[1:], lower, upper, strict=True):
        first, last = max(low, bend.low), min(high, bend.high)
        # A score at an edge has the limits of either stretch: those that it lies inside of are enough.
        if first < last or low == high == bend.low:
            off = first - most if bend.side == "below" else least - last
            if off < bend.by:
                return False
    return True


def test_every_sentence_follows_from_the_band_as_it_is_printed() -> None:
    rng, said = np.random.default_rng(0), 0
    for _ in range(400):
        edges, lower, upper = random_band(rng)
        for bend in miscalibrated_ranges_of(edges, lower, upper, np.diff(edges)):
            assert bend.by > 0
            assert holds(bend, edges, lower, upper)
            printed = read(str(bend))
            assert bend.low <= printed.low < printed.high <= bend.high
            assert printed.by <= bend.by < 1.2 * printed.by
            assert printed.high - printed.low > 0.6 * (bend.high - bend.low)
            assert holds(printed, edges, lower, upper)
            said += 1
    assert said > 400


def test_negative_control_a_sentence_rounded_the_other_way_does_not_follow() -> None:
    rng, broken = np.random.default_rng(1), 0
    for _ in range(100):
        edges, lower, upper = random_band(rng)
        for bend in miscalibrated_ranges_of(edges, lower, upper, np.diff(edges)):
            broken += not holds(MiscalibratedRange(bend.low, bend.high, bend.side, 1.01 * bend.by), edges, lower, upper)
    assert broken > 100


def one_by_one(edges: Floats, gap: Floats, weight: Floats) -> float:
    """The largest weight times depth of any range, by trying all of them."""
    size = gap.size
    return max((weight[a:b].sum() * gap[a:b].min() for a in range(size) for b in range(a + 1, size + 1)), default=0.0)


def test_the_first_range_is_the_one_with_the_largest_weight_times_depth() -> None:
    rng = np.random.default_rng(2)
    for _ in range(100):
        edges, lower, upper = random_band(rng)
        weight = rng.random(lower.size)
        weight /= weight.sum()
        best = max(one_by_one(edges, edges[:-1] - upper, weight), one_by_one(edges, lower - edges[1:], weight))
        found = miscalibrated_ranges_of(edges, lower, upper, weight)
        assert len(found) <= FEW
        assert bool(found) == (best >= NOTHING)
        if found:
            inside = (edges[:-1] >= found[0].low) & (edges[1:] <= found[0].high)
            assert weight[inside].sum() * found[0].by == pytest.approx(best, abs=1e-9)


def test_single_scores_are_named_as_they_are() -> None:
    score = np.array([0.1, 1 / 3, 0.9])
    found = miscalibrated_ranges_at(score, np.array([0.2, 0.0, 0.0]), np.array([0.3, 1.0, 0.75]), np.full(3, 1 / 3))
    assert [str(bend) for bend in found] == [
        "at 0.9 the probability is below the score by at least 0.14",
        "at 0.1 the probability is above the score by at least 0.099",
    ]


@pytest.mark.parametrize("power", [0.6, 1.4, 2.0])
def test_what_is_said_of_a_law_that_is_known_is_true(power: float) -> None:
    rng, runs, delta, false = np.random.default_rng(3), 40, 0.2, 0
    for _ in range(runs):
        x = rng.random(20_000)
        band = calcert.curves.monotone_band(calcert.summarize(x, rng.random(20_000) < x**power), confidence=1 - delta)
        assert band.miscalibrated_ranges
        for bend in band.miscalibrated_ranges:
            inside = np.linspace(bend.low, bend.high, 200)
            off = inside - inside**power if bend.side == "below" else inside**power - inside
            if off.min() < bend.by:
                false += 1
                break
    assert false <= binom.isf(1e-6, runs, delta)


def test_a_calibrated_classifier_seldom_bends() -> None:
    rng, runs, delta, bent = np.random.default_rng(4), 40, 0.2, 0
    for _ in range(runs):
        x = rng.random(5_000)
        bent += bool(
            calcert.curves.monotone_band(
                calcert.summarize(x, rng.random(5_000) < x), confidence=1 - delta
            ).miscalibrated_ranges
        )
    assert bent <= binom.isf(1e-6, runs, delta)


def test_a_score_with_many_rows_counts_by_its_rows_however_narrow_its_range_is() -> None:
    rng = np.random.default_rng(8)
    x = np.append(rng.random(10_000) * 0.5, np.ones(100_000))
    band = calcert.curves.monotone_band(calcert.summarize(x, rng.random(x.size) < 0.985 * x))
    first = band.miscalibrated_ranges[0]
    assert (first.high, first.side) == (1.0, "below")
    assert 0.004 < first.by < 0.015


def test_a_curve_that_falls_has_no_bends_that_assume_it_does_not() -> None:
    rng = np.random.default_rng(5)
    x = rng.random(20_000)
    band = calcert.curves.monotone_band(calcert.summarize(x, rng.random(20_000) < 1 - x))
    assert band.refuted_at is not None
    assert band.miscalibrated_ranges == ()


@pytest.fixture(scope="module")
def report() -> Report:
    rng = np.random.default_rng(6)
    x = rng.random(20_000)
    return calcert.certify(x, rng.random(20_000) < x**1.5, settings=calcert.Settings(odds=1 / 16))


def test_a_report_says_where_it_bends_in_text_page_and_json(report: Report, tmp_path: Path) -> None:
    assert report.miscalibrated_ranges
    sentence = str(report.miscalibrated_ranges[0])
    assert sentence in " ".join(report.details().split())
    values = json.loads(json.dumps(report.to_dict()))
    assert values["miscalibrated_ranges"][0] == asdict(report.miscalibrated_ranges[0])
    read_back = Report.from_dict(values)
    assert read_back == report
    assert read_back.miscalibrated_ranges == report.miscalibrated_ranges
    assert sentence in " ".join(read_back.details().split())
    pytest.importorskip("matplotlib")
    assert sentence in report.to_html(tmp_path / "page.html").read_text(encoding="utf-8")


def test_sentences_about_the_served_curve_are_not_shown_beside_other_statements(report: Report) -> None:
    from calcert.show.report_details import range_lines

    assert report.summary is not None
    assert range_lines(calcert.certify(report.summary, settings=calcert.Settings(statements=("distance",)))) == []
    assert len(range_lines(report)) == 1 + len(report.miscalibrated_ranges or ())
