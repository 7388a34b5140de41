"""Theorem 12 attacked: over every outcome of small laws, on one score in many rows, and by thousands of data sets.

Truths come from sums of thin slices of the served score, computed without the program's grid.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
import pytest
from scipy.special import expit

from calcert import Summary
from calcert.certificates import perturbed, sides
from calcert.certificates.limits.deviations import iid_limit, share_for_mean
from calcert.certificates.perturbed import perturbed_lower
from calcert.certificates.sides import SIDES, Side
from calcert.perturbation import sech_kernel
from calcert.perturbation.grids import coordinates
from calcert.perturbation.noise import Noise
from tests.lab.distributions import (
    SMALL_LAWS,
    Law,
    asking_only_for,
    miss_probability,
    one_score_miss,
    sech,
    summary_of,
    too_many,
    upper,
)
from tests.lab.test_exact_lower import judged, wealth

H = 0.25
NOISES = {"additive": Noise("additive", H), "odds": Noise("odds", H)}
Terms = Callable[[Summary], dict[str, float]]


def split_up(score: np.ndarray, gap: np.ndarray) -> dict[Side, float]:
    """The sides of gaps at scores, none of which is 1/2 unless it is a score of its own."""
    high, low = np.maximum(gap, 0), np.maximum(-gap, 0)
    return {
        "too high": float(high.sum()),
        "too low": float(low.sum()),
        "overconfident": float(high[score > 0.5].sum() + low[score < 0.5].sum()),
        "underconfident": float(low[score > 0.5].sum() + high[score < 0.5].sum() + (high + low)[score == 0.5].sum()),
    }


@lru_cache
def served_truth(law: Law, noise: Noise) -> dict[Side, float]:
    """By 40,000 slices of the served score; a slice in which the gap changes its sign is wrong by next to nothing.

    For noise on the odds by more slices of its log-odds; scores 0 and 1 are slices of their own.
    """
    slices = 40_000 if noise.kind == "additive" else 400_000
    middle = (np.arange(slices) + 0.5) / slices
    rows = list(zip(law.score, law.weight, law.chance, strict=True))
    if noise.kind == "additive":
        gap = sum(weight * sech_kernel.density(middle, x, noise.size) * (middle - chance) for x, weight, chance in rows)
        return split_up(middle, gap / slices)  # type: ignore[arg-type]
    b, inner = noise.size, [row for row in rows if 0 < row[0] < 1]
    ends = np.array([(x, weight * (x - chance)) for x, weight, chance in rows if x in (0, 1)]).reshape(-1, 2)
    places = [math.log(x / (1 - x)) for x, _, _ in inner] or [0.0]
    low, high = min(places) - 42 * b, max(places) + 42 * b
    z = low + (high - low) * middle
    gap = np.zeros(slices)
    for place, (_, weight, chance) in zip(places, inner, strict=False):
        gap += weight * sech((z - place) / b) / (np.pi * b) * (expit(z) - chance)
    return split_up(np.append(expit(z), ends[:, 0]), np.append(gap * (high - low) / slices, ends[:, 1]))


def finite_truth(law: Law) -> dict[Side, float]:
    score = np.array(law.score)
    return split_up(score, np.array(law.weight) * (score - np.array(law.chance)))


@pytest.mark.parametrize("name", SMALL_LAWS)
def test_the_truths_add_up_to_the_error_both_ways(name: str) -> None:
    law = SMALL_LAWS[name]
    for found, error in (
        (served_truth(law, NOISES["additive"]), law.served(H)[0]),
        (served_truth(law, NOISES["odds"]), law.served_by_odds(H)[0]),
        (finite_truth(law), law.error),
    ):
        assert found["too high"] + found["too low"] == pytest.approx(error, abs=1e-8)
        assert found["overconfident"] + found["underconfident"] == pytest.approx(error, abs=1e-8)


@pytest.fixture
def coarse(monkeypatch: pytest.MonkeyPatch) -> None:
    """A coarse grid, and each outcome placed on it once for the four sides."""
    known: dict[tuple[bytes, Noise], object] = {}
    compute = perturbed.plug_in

    def remembered(summary: Summary, noise: Noise, *rest: object) -> object:
        key = summary.cell.tobytes() + summary.count.tobytes(), noise
        if key not in known:
            known[key] = compute(summary, noise, *rest)
        return known[key]

    monkeypatch.setattr(coordinates, "FINENESS", 64)
    monkeypatch.setattr(perturbed, "plug_in", remembered)


SIZES = {1: (1, 3, 9), 2: (1, 2, 5), 3: (1, 2, 3)}


@pytest.mark.usefixtures("coarse")
@pytest.mark.parametrize("kind", NOISES)
@pytest.mark.parametrize("name", SMALL_LAWS)
def test_served_sides_cover_the_truth_for_every_law_on_up_to_three_scores(name: str, kind: str) -> None:
    law, noise = SMALL_LAWS[name], NOISES[kind]
    for n in SIZES[len(law.score)]:
        for delta in (0.5, 0.05):
            for side, truth in served_truth(law, noise).items():

                def bound(s: Summary, side: Side = side, delta: float = delta) -> float:
                    return upper(sides.perturbed_terms(s, noise, delta)[side])

                with asking_only_for(truth):
                    assert miss_probability(law, n, bound, truth) <= delta


@pytest.mark.parametrize("name", SMALL_LAWS)
def test_finite_sides_cover_the_truth_for_every_law_on_up_to_three_scores(name: str) -> None:
    law = SMALL_LAWS[name]
    for n in SIZES[len(law.score)]:
        for side, truth in finite_truth(law).items():
            with asking_only_for(truth):
                assert miss_probability(law, n, lambda s, k=side: upper(sides.finite_terms(s, 0.5)[k]), truth) <= 0.5  # type: ignore[misc]


ONE = {
    "too high": Law((0.9,), (1.0,), (0.5,)),
    "too low": Law((0.1,), (1.0,), (0.5,)),
    "overconfident": Law((0.9,), (1.0,), (0.5,)),
    "underconfident": Law((0.4,), (1.0,), (0.1,)),
}
SMALL = 2.0**-13


def flipped(
    terms: Callable[[Summary], dict[str, float]], law: Law
) -> tuple[Callable[[Summary], dict[str, float]], Law]:
    """The same with labels exchanged and scores turned round, where the score is below its chance."""
    if law.score[0] > law.chance[0]:
        return terms, law

    def turned(s: Summary) -> dict[str, float]:
        return terms(summary_of(law.score, s.points.count[:, ::-1]))

    return turned, Law((1 - law.score[0],), (1.0,), (1 - law.chance[0],))


@pytest.mark.usefixtures("coarse")
@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("delta", [0.5, 0.05])
@pytest.mark.parametrize("n", [10, 10**5])
def test_one_score_in_many_rows_is_missed_no_more_often_than_delta(side: Side, n: int, delta: float) -> None:
    law = ONE[side]
    for terms, truth in (
        (lambda s: sides.finite_terms(s, delta)[side], finite_truth(law)[side]),
        (lambda s: sides.perturbed_terms(s, Noise("additive", SMALL), delta)[side], law.served(SMALL)[0]),
        (lambda s: sides.perturbed_terms(s, Noise("odds", 1 / 256), delta)[side], law.served_by_odds(1 / 256)[0]),
    ):
        judged_terms, same = flipped(terms, law)
        with asking_only_for(truth):
            assert one_score_miss(judged_terms, same, n, truth, cut=0.0) <= delta


@pytest.mark.usefixtures("coarse")
@pytest.mark.parametrize("side", ["too high", "underconfident"])
def test_a_sampling_term_cut_by_a_fifth_is_caught(side: Side) -> None:
    law = ONE[side]
    for noise, truth in (
        (Noise("additive", SMALL), law.served(SMALL)[0]),
        (Noise("odds", 1 / 256), law.served_by_odds(1 / 256)[0]),
    ):
        terms, same = flipped(lambda s, noise=noise: sides.perturbed_terms(s, noise, 0.05)[side], law)  # type: ignore[misc]
        assert one_score_miss(terms, same, 10**6, truth, cut=0.0) <= 0.05
        assert one_score_miss(terms, same, 10**6, truth, cut=0.2) > 0.05


MIXED = {
    "both ways": Law((0.2, 0.45, 0.55, 0.8), (0.3, 0.2, 0.2, 0.3), (0.35, 0.3, 0.7, 0.6)),
    "a half": Law((0.5, 0.52), (0.7, 0.3), (0.2, 0.9)),
    "calibrated": Law((0.0, 0.25, 0.5, 1.0), (0.25, 0.25, 0.25, 0.25), (0.0, 0.25, 0.5, 1.0)),
    "sign flip": Law((0.3, 0.31), (0.5, 0.5), (0.9, 0.0)),
}


def served_missed(summary: Summary, noise: Noise, truths: dict[Side, float], delta: float) -> list[Side]:
    """Sides whose bound is below the truth; where the truth is a candidate of the inversion, none is needed."""
    found = perturbed.plug_in(summary, noise, sides.side_parts)
    parts, hidden = dict(zip(SIDES, found.parts, strict=True)), found.hidden
    level = share_for_mean(summary.n) * delta
    moment = perturbed.squares_of(summary, noise, found).upper(summary.n, delta)
    doubtful = [
        side
        for side, truth in truths.items()
        if truth**2 > moment or truth - iid_limit(moment - truth**2, 1 + truth, summary.n, level) > parts[side] + hidden
    ]
    terms = sides.perturbed_terms(summary, noise, delta) if doubtful else {}
    return [side for side in doubtful if upper(terms[side]) < truths[side] - 1e-12]


@pytest.mark.usefixtures("coarse")
@pytest.mark.parametrize("kind", NOISES)
@pytest.mark.parametrize("name", MIXED)
def test_served_sides_cover_adversarial_laws_in_thousands_of_data_sets(name: str, kind: str) -> None:
    law, noise, delta = MIXED[name], NOISES[kind], 0.4
    rng = np.random.default_rng(3)
    truths = served_truth(law, noise)
    misses, runs = dict.fromkeys(SIDES, 0), 0
    for n, count in ((3, 120), (40, 120), (1000, 120), (100_000, 140)):
        for _ in range(count):
            for side in served_missed(law.draw(n, rng), noise, truths, delta):
                misses[side] += 1
        runs += count
    assert len(NOISES) * len(MIXED) * runs >= 4000
    assert all(not too_many(missed, runs, delta) for missed in misses.values()), misses


@pytest.mark.parametrize("name", MIXED)
def test_finite_sides_cover_adversarial_laws_in_thousands_of_data_sets(name: str) -> None:
    law, delta, truths = MIXED[name], 0.4, finite_truth(MIXED[name])
    rng, misses, runs = np.random.default_rng(5), dict.fromkeys(SIDES, 0), 0
    for n, count in ((3, 300), (40, 350), (100_000, 350)):
        for _ in range(count):
            summary, side = law.draw(n, rng), SIDES[runs % 4]
            with asking_only_for(truths[side]):
                misses[side] += upper(sides.finite_terms(summary, delta)[side]) < truths[side] - 1e-12
            runs += 1
    assert len(MIXED) * runs >= 4000
    assert all(not too_many(missed, runs // 4, delta) for missed in misses.values()), misses


def test_bounds_of_the_wrong_side_are_caught() -> None:
    law = MIXED["both ways"]
    summary = law.draw(100_000, np.random.default_rng(0))
    for noise in NOISES.values():
        terms, truths = sides.perturbed_terms(summary, noise, 0.05), served_truth(law, noise)
        assert upper(terms["too low"]) < truths["too high"]
        assert (
            upper(terms["underconfident"]) < truths["overconfident"]
            or upper(terms["overconfident"]) < truths["underconfident"]
        )


GAMES = {"a half": (MIXED["a half"], 2), "ends": (Law((0.0, 1.0), (0.7, 0.3), (0.2, 0.6)), 2)}


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("name", GAMES)
def test_lower_sides_stay_below_the_truth_and_wealth_is_a_supermartingale(name: str, side: Side) -> None:
    law, n = GAMES[name]
    for lower, truth in (
        (lambda s: sides.finite_lower(s, side, 0.5, 0).limit, finite_truth(law)[side]),
        *(
            (
                lambda s, noise=noise: perturbed_lower(s, noise, 0.5, 0, sides.allowed(side)).limit,
                served_truth(law, noise)[side],
            )
            for noise in (Noise("additive", 1.0), Noise("odds", 0.5))
        ),
    ):
        found = judged(law, n, lower)
        assert math.fsum(chance for chance, bound, _ in found if bound > truth + 1e-9) <= 0.5
        assert math.fsum(chance * wealth(rounds, truth) for chance, _, (rounds,) in found) <= 1 + 1e-8


@pytest.mark.parametrize("name", MIXED)
def test_lower_sides_stay_below_adversarial_laws(name: str) -> None:
    law, delta = MIXED[name], 0.4
    rng = np.random.default_rng(4)
    for side in SIDES:
        missed = runs = 0
        for n, count in ((40, 60), (2000, 60)):
            for seed in range(count):
                missed += (
                    sides.finite_lower(law.draw(n, rng), side, delta, seed).limit > finite_truth(law)[side] + 1e-12
                )
            runs += count
        assert not too_many(missed, runs, delta), side


def test_a_lower_bound_that_is_not_cut_to_its_side_is_caught() -> None:
    law = MIXED["both ways"]
    summary = law.draw(100_000, np.random.default_rng(0))
    for noise in (Noise("additive", 1 / 64), Noise("odds", 1 / 16)):
        whole = perturbed_lower(summary, noise, 0.05, 0).limit
        assert whole > max(served_truth(law, noise).values())
        for side in SIDES:
            assert perturbed_lower(summary, noise, 0.05, 0, sides.allowed(side)).limit < served_truth(law, noise)[side]
