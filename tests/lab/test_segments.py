"""Theorem 18: no segment and score range is further off than is certified, and what is proven of a segment is true."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import multinomial

import calcert
from calcert.certificates import cutoff
from calcert.certificates.segments import segment_cutoff, upper_terms
from calcert.reports.segments import SegmentReport
from tests.lab.distributions import too_many

SCORES, CHANCES = (0.4, 0.6), (0.75, 0.35)
"""Two segments of equal size: all scores of each, and the probability of label 1."""


def missed(n: int, delta: float, cut: float = 0.0) -> float:
    """The probability of all outcomes in which the bound, its sampling term cut, is below the truth."""
    chance = [0.5 * p for q in CHANCES for p in (1 - q, q)]
    true = max(0.5 * abs(x - q) for x, q in zip(SCORES, CHANCES, strict=True))
    total, grid = 0.0, range(n + 1)
    counts = np.array([(a, b, c, n - a - b - c) for a in grid for b in range(n + 1 - a) for c in range(n + 1 - a - b)])
    for count, probability in zip(counts, multinomial.pmf(counts, n, chance), strict=True):
        if probability > 1e-7:
            parts = {
                str(s): calcert.summarize([SCORES[s]] * int(pair.sum()), np.repeat([0, 1], pair))
                for s, pair in enumerate(count.reshape(2, 2))
                if pair.sum()
            }
            terms, _ = upper_terms(sum(parts.values(), calcert.Summary.empty()), parts, delta)
            total += probability * (math.fsum(terms.values()) - cut * terms["sampling"] < true)
    return total


def test_the_bound_covers_over_all_outcomes() -> None:
    assert missed(20, 0.2) <= 0.2


def test_negative_control_without_its_sampling_term_the_bound_is_caught() -> None:
    assert missed(20, 0.2, cut=1.0) > 0.2


def table(rng: np.random.Generator, n: int, off: float = 0.0, regions: int = 20) -> pd.DataFrame:
    """Values of one column and 5 of another; in one region the chance is off."""
    x = rng.uniform(0.1, 0.9, n)
    region, age = rng.integers(0, regions, n), rng.integers(0, 5, n)
    y = rng.random(n) < x + np.where(region == 3, off, 0.0)
    return pd.DataFrame({"p": x, "y": y.astype(int), "region": region, "age": age})


def certified(rows: pd.DataFrame, confidence: float = 0.95) -> SegmentReport:
    return calcert.certify(rows, score="p", label="y", groups=["region", "age"], confidence=confidence)  # type: ignore[return-value]


def test_nothing_is_proven_of_calibrated_segments_and_the_bound_covers_in_400_data_sets() -> None:
    rng, false, too_small, control = np.random.default_rng(0), 0, 0, 0
    for _ in range(400):
        rows = table(rng, 400, off=0.1, regions=8)
        found = certified(rows, 0.8)
        said = {segment.name: segment for segment in found.segments}
        # Calibrated but for one region: ages mix it with others.
        false += any(s.proven for s in said.values() if "region=" in s.name and "region=3" not in s.name)
        mean = rows[rows["region"] == 3]["p"].mean()
        wrong = said["region=3"].upper < 1 + 0.1 / mean or said["region=3"].lower > 1 + 0.1 / mean
        false += wrong and not any(s.proven for s in said.values() if "region=" in s.name and "region=3" not in s.name)
        too_small += found.bound.upper < 0.1 / 8
        control += any(abs(s.observed - s.expected) > 2 * math.sqrt(s.rows / 6) for s in said.values() if s.rows > 20)
    assert not too_many(false, 400, 0.2)
    assert not too_many(too_small, 400, 0.2)
    assert too_many(control, 400, 0.2), "two standard errors for each of 53 segments are no proof"


def test_segments_cost_next_to_nothing_and_one_that_is_off_is_proven() -> None:
    rng, ratios, proven = np.random.default_rng(1), [], 0
    for run in range(30):
        calibrated = table(rng, 10_000)
        if run < 10:
            alone = calcert.certify(calibrated["p"], calibrated["y"], settings=calcert.Settings(statements="cutoff"))
            found = certified(calibrated)
            assert len(found.segments) == 125
            ratios.append(found.bound.upper / alone.cutoff.upper)
        first = certified(table(rng, 10_000, off=0.1)).segments[0]
        proven += first.name == "region=3" and first.proven and first.scores_are == "too low"
    assert max(ratios) <= 1.15
    assert proven >= 27


def test_one_segment_is_all_rows() -> None:
    rng = np.random.default_rng(2)
    x = rng.random(2_000)
    rows = calcert.summarize(x, rng.random(2_000) < x**1.2)
    found, worst = segment_cutoff(rows, {"one": rows})
    alone = cutoff.cutoff(rows)
    assert worst == "one"
    assert abs(found.upper - alone.upper) < 1e-9
    assert found.lower == alone.lower


def test_nothing_is_proven_of_clusters_that_err_together_and_taken_for_plain_rows_they_are_caught() -> None:
    rng, wrong, control = np.random.default_rng(4), 0, 0
    for _ in range(120):
        user = np.repeat(np.arange(60), 20)
        rows = pd.DataFrame({"p": 0.5, "y": (rng.random(60) < 0.5)[user].astype(int), "user": user})
        rows = rows.assign(region=rng.integers(0, 3, 1_200), age=rng.integers(0, 2, 1_200))
        named: dict[str, Any] = {"score": "p", "label": "y", "groups": ["region", "age"]}
        wrong += bool(calcert.certify(calcert.Rows(rows, **named, clusters="user"), confidence=0.8).proven)
        control += bool(calcert.certify(rows.drop(columns="user"), **named, confidence=0.8).proven)
    assert not too_many(wrong, 120, 0.2)
    assert too_many(control, 120, 0.2)


def test_limits_of_clusters_cover_over_all_outcomes() -> None:
    """Twelve clusters of one to three rows, all of whose labels are the same."""
    from scipy.stats import binom

    from calcert.reports.segments import _share_upper

    sizes, chance, level, missed, cut = np.array([1, 2, 3] * 4), 0.7, 0.1, 0.0, 0.0
    cluster = np.repeat(np.arange(12), sizes)
    for ones in np.ndindex(5, 5, 5):
        labels = np.zeros(12, int)
        for size in range(3):
            labels[np.flatnonzero(sizes == size + 1)[: ones[size]]] = 1
        rows = calcert.summarize(np.full(24, 0.5), labels[cluster], clusters=cluster)
        probability = float(np.prod(binom.pmf(ones, 4, chance)))
        limit, share = _share_upper(rows, rows.positives, level), rows.positives / 24
        missed += probability * (limit < chance)
        cut += probability * (share + 0.5 * (limit - share) < chance)
    assert missed <= level < cut
