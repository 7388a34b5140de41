"""Theorem 11, direction: a wrong sign is said with probability at most delta, and the sign of the rows more often."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from scipy.stats import binom

import calcert
from calcert.certificates.in_the_large import Direction, direction_of
from calcert.summary.summary import Summary

ROWS, DELTA = 12, 0.3
SCORES = (0.25, 0.25, 0.75, 0.75)
LABELS = (0, 1, 0, 1)

LAWS = {
    "calibrated": (0.375, 0.125, 0.125, 0.375),
    "slightly too low": (0.35, 0.15, 0.1, 0.4),
    "slightly overconfident": (0.35, 0.15, 0.15, 0.35),
    "rare": (0.7, 0.25, 0.01, 0.04),
    "all at one score": (0.74, 0.26, 0.0, 0.0),
}


def outcomes() -> Iterator[tuple[int, ...]]:
    for a in range(ROWS + 1):
        for b in range(ROWS + 1 - a):
            for c in range(ROWS + 1 - a - b):
                yield a, b, c, ROWS - a - b - c


SUMMARIES = {counts: calcert.summarize(np.repeat(SCORES, counts), np.repeat(LABELS, counts)) for counts in outcomes()}


def probability(counts: tuple[int, ...], law: tuple[float, ...]) -> float:
    ways = math.factorial(ROWS) / math.prod(map(math.factorial, counts))
    return ways * math.prod(p**k for p, k in zip(law, counts, strict=True))


def wrong(said: Direction, law: tuple[float, ...]) -> bool:
    gaps = [p * (x - y) for p, x, y in zip(law, SCORES, LABELS, strict=True)]
    level, outward = sum(gaps), sum(gap if x >= 0.5 else -gap for gap, x in zip(gaps, SCORES, strict=True))
    right = {"too high": level > 1e-12, "too low": level < -1e-12, "mixed": True}
    return not (right | {"overconfident": outward > 1e-12, "underconfident": outward < -1e-12})[said]


def missed(say: Callable[[Summary], Direction], law: tuple[float, ...]) -> float:
    return sum(probability(counts, law) for counts, rows in SUMMARIES.items() if wrong(say(rows), law))


def sign_of_the_rows(rows: Summary) -> Direction:
    return "too high" if rows.mean_score > rows.base_rate else "too low"


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_a_wrong_direction_is_said_no_more_often_than_delta(law: tuple[float, ...]) -> None:
    assert missed(lambda rows: direction_of(rows, DELTA), law) <= DELTA


def test_the_sign_of_the_rows_alone_is_caught() -> None:
    assert missed(sign_of_the_rows, LAWS["calibrated"]) > DELTA
    said = {direction_of(rows, DELTA) for rows in SUMMARIES.values()}
    assert said >= {"too high", "too low", "overconfident", "mixed"}


@pytest.mark.parametrize("clustered", [False, True])
def test_directions_of_drawn_rows_are_right(clustered: bool) -> None:
    rng, runs, delta = np.random.default_rng(5), 300, 0.2
    errors = 0
    for _ in range(runs):
        x = rng.random(400)
        y = rng.random(400) < x
        rows = calcert.Rows(x, y, clusters=np.arange(400) // 2) if clustered else calcert.Rows(x, y)
        errors += direction_of(rows.summary(), delta) != "mixed"
    assert errors <= binom.isf(1e-6, runs, delta)
    x = rng.random(20_000)
    cases = {
        "too high": x**1.3,
        "too low": x**0.7,
        "overconfident": 0.2 + 0.6 * x,
        "underconfident": x**2 * (3 - 2 * x),
    }
    for said, chance in cases.items():
        assert direction_of(calcert.summarize(x, rng.random(x.size) < chance), 0.05) == said
