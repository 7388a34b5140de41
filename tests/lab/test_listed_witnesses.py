"""Near calibration: what the simple witnesses refute is false no more often than delta, and much of it is found.

One score in n rows is exact arithmetic in a binomial count; rows whose scores know their labels are too. Everything
else is judged by many data sets with fixed seeds.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import binom

import calcert
from calcert import Summary
from calcert.certificates.crossings import crossings_lower
from calcert.certificates.distance import distance_lower
from calcert.certificates.witnesses import listed_witnesses
from calcert.certificates.witnesses.betting import l1_lower
from calcert.certificates.witnesses.listed_witnesses import (
    EVERYWHERE,
    FOR_CROSSINGS,
    FOR_DISTANCE,
    FOR_L1,
    FOR_ONE_CROSSING,
    FOR_RANGES,
    HALVES,
    ONE_CHANGE,
    QUARTERS,
    SimpleWitnesses,
    least_mean,
    least_total,
)
from tests.lab.distributions import Law, by_cells, summary_of, too_many
from tests.lab.sums import range_truth, visible_truth

DELTA = 0.4
ALONE = SimpleWitnesses({EVERYWHERE: 1.0})
"""With all of delta for one witness: no slack from those that have nothing to say."""


def one_score(score: float, n: int) -> Callable[[int], Summary]:
    return lambda positives: summary_of((score,), np.array([[n - positives, positives]]))


def miss(
    rows: Callable[[int], Summary], n: int, chance: float, truth: float, limit: Callable[[Summary], float]
) -> float:
    """The exact probability that a lower bound exceeds the truth, where the rows follow from a binomial count."""
    likely = [k for k in range(n + 1) if binom.pmf(k, n, chance) > 1e-9]
    return math.fsum(binom.pmf(k, n, chance) for k in likely if limit(rows(k)) > truth) + 1e-6


@pytest.mark.parametrize("delta", [0.4, 0.05, 1e-3])
@pytest.mark.parametrize(
    ("score", "chance", "n"), [(0.5, 0.5, 60), (0.2, 0.2, 300), (0.5, 0.49, 400), (0.1, 0.13, 200), (0.9, 0.5, 100)]
)
def test_one_score_is_refuted_no_more_often_than_delta(score: float, chance: float, n: int, delta: float) -> None:
    def limit(rows: Summary) -> float:
        return ALONE.limit(rows, delta)

    assert miss(one_score(score, n), n, chance, abs(score - chance), limit) <= delta


def test_calibration_is_refuted_nearly_as_often_as_it_may_be_and_half_as_much_again_is_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuted() -> float:
        return miss(one_score(0.5, 1000), 1000, 0.5, 0.0, lambda rows: ALONE.limit(rows, 0.05))

    # Nearly all of delta goes to the two tails, and counts are whole numbers.
    assert 0.7 * 0.05 < refuted() <= 0.05
    monkeypatch.setattr(listed_witnesses, "TAILS", 1.5 * listed_witnesses.TAILS)
    monkeypatch.setattr(listed_witnesses, "least_mean", lambda total, n, delta: total / n)
    assert refuted() > 0.05


def test_scores_that_know_their_labels_do_not_mislead_about_the_distance() -> None:
    # Calling all rows 1/2 is calibrated, and a hundredth away. What is moved toward the labels makes a witness that
    # changes its sign at 1/2 see an error of one half.
    n, away, jump = 200, 0.01, SimpleWitnesses({ONE_CHANGE: 1.0})
    for scores in ((0.5 - away, 0.5 + away), (0.5 + away, 0.5 - away)):

        def rows(positives: int, scores: tuple[float, float] = scores) -> Summary:
            count = np.array([[n - positives, 0], [0, positives]])
            order = np.argsort(scores)
            return summary_of(tuple(np.sort(scores)), count[order])

        assert miss(rows, n, 0.5, away, lambda s: FOR_DISTANCE.limit(s, DELTA)) <= DELTA
        assert miss(rows, n, 0.5, away, lambda s: jump.limit(s, DELTA)) > 0.9


def draws(law: str, n: int, rng: np.random.Generator) -> tuple[Summary, float, float, float]:
    """Rows of a law near calibration, with its L1 error, its distance from calibration and its worst range, or more."""
    x = rng.random(n)
    u = rng.random(n)
    if law == "calibrated":
        return by_cells(x, (u < x).astype(np.int64)), 0.0, 0.0, 0.0
    if law == "too high":
        return by_cells(x, (u < 0.95 * x).astype(np.int64)), 0.025, 0.025, 0.025
    if law == "a few are sure and wrong":
        share = 0.02
        wrong = rng.random(n) < share
        return by_cells(np.where(wrong, 1.0, x), np.where(wrong, 0, u < x)), share, share, share
    if law == "zigzag":
        # Chances are off by up to 0.3 and never on a stretch longer than 1/100: any range sees half of that at most.
        tooth = np.where((200 * x).astype(int) % 2, 1, -1) * 0.3 * np.minimum(x, 1 - x)
        return by_cells(x, (u < x + tooth).astype(np.int64)), 0.075, 0.0016, 0.0008
    assert law == "some labels moved the score"
    label = u < x
    moved = np.where(rng.random(n) < 0.1, np.where(label, x - 0.2, x + 0.2), x)
    return by_cells(np.clip(moved, 0, 1), label.astype(np.int64)), 1.0, 0.02, 1.0


NEAR = ("calibrated", "too high", "a few are sure and wrong", "zigzag", "some labels moved the score")


@pytest.mark.parametrize("law", NEAR)
def test_laws_near_calibration_are_refuted_no_more_often_than_delta(law: str) -> None:
    """4,000 data sets in all. Whether more than the truth is refuted is asked, not how much more."""
    rng, runs = np.random.default_rng(0), 800
    assert len(NEAR) * runs >= 4000
    # With all of delta for one witness the distance is refuted whenever it is with a part of it.
    witnesses = (FOR_L1, ALONE, FOR_RANGES, FOR_CROSSINGS)
    misses = np.zeros(len(witnesses))
    for _ in range(runs):
        rows, error, distance, worst = draws(law, int(rng.choice([60, 300, 1000])), rng)
        # Signs that change thrice show what four ranges do, at most.
        truths = error, distance, worst, min(error, 4 * worst)
        found = [s.limit(rows, DELTA, truth + 1e-9) for s, truth in zip(witnesses, truths, strict=True)]
        misses += np.array(found) > np.array(truths)
    for number in misses:
        assert not too_many(int(number), runs, DELTA), misses


def test_one_change_refutes_half_of_what_two_do_and_a_search_that_stops_refutes_no_less() -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        rows = draws("a few are sure and wrong", 1000, rng)[0]
        refuted = FOR_CROSSINGS.limit(rows, DELTA)
        assert FOR_ONE_CROSSING.limit(rows, DELTA) == pytest.approx(refuted / 2)
        assert FOR_CROSSINGS.limit(rows, DELTA, 0.9 * refuted) == 0.9 * refuted
        assert FOR_CROSSINGS.limit(rows, DELTA, 1.1 * refuted + 1e-9) == pytest.approx(refuted, rel=1e-2)


def sure_and_wrong_miss(n: int, share: float, delta: float) -> float:
    """The exact probability that a limit exceeds the truth, where a share of the rows says 1 and is wrong.

    The others say 0.02 and are calibrated. The limit falls as their positives become more, up to what is promised;
    more than that have no probability to apply to.
    """
    missed = 0.0
    for wrong in range(int(binom.ppf(1e-6, n, share)), int(binom.isf(1e-6, n, share)) + 1):
        others = n - wrong
        few, many = -1, round(0.02 * others + wrong)
        while many - few > 1:
            middle = (few + many) // 2
            rows = summary_of((0.02, 1.0), np.array([[others - middle, middle], [wrong, 0]]))
            few, many = (middle, many) if ALONE.limit(rows, delta) > share else (few, middle)
        missed += binom.pmf(wrong, n, share) * binom.cdf(few, others, 0.02)
    return missed


def test_taking_what_moved_for_its_mean_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    # How many rows are wrong is chance as well, and has to be paid for.
    assert sure_and_wrong_miss(1000, 0.02, 0.05) <= 0.05
    monkeypatch.setattr(listed_witnesses, "least_mean", lambda total, n, delta: total / n)
    assert sure_and_wrong_miss(1000, 0.02, 0.05) > 1.2 * 0.05


@pytest.mark.parametrize("n", [10, 1000])
@pytest.mark.parametrize("total", [0.01, 0.7, 5.0])
def test_variables_of_the_least_mean_exceed_the_total_no_more_often_than_delta(total: float, n: int) -> None:
    for delta in (0.4, 0.05, 1e-3):
        mean = least_mean(total, n, delta)
        assert mean > 0
        # All or nothing, at one or at a height that just exceeds the total once or twice.
        for height in {1.0, min(1.0, total * 1.000001), min(1.0, total / 2 * 1.000001)}:
            needed = math.floor(total / height) + 1
            assert binom.sf(needed - 1, n, min(mean / height, 1.0)) <= delta * (1 + 1e-9)
        # The total that variables of this mean seldom reach is that total again, and no less.
        assert total <= least_total(mean, n, delta) * (1 + 1e-9) <= total * (1 + 1e-6)


def test_the_shares_leave_something_for_the_bet() -> None:
    for witnesses in (FOR_L1, FOR_DISTANCE, FOR_RANGES, FOR_CROSSINGS, FOR_ONE_CROSSING):
        assert 0.5 < witnesses.share < 0.95
    assert set(FOR_DISTANCE.shares) == {EVERYWHERE}
    # A range is a stretch of scores without a gap.
    assert set(FOR_RANGES.shares) == {EVERYWHERE, *HALVES, *QUARTERS}


def given(law: Law, kept: list[int]) -> tuple[Law, float]:
    """The law given that the score is one of those kept, and the chance of that."""
    share = sum(law.weight[i] for i in kept)
    parts = zip(*((law.score[i], law.weight[i] / share, law.chance[i]) for i in kept), strict=True)
    return Law(*parts), share


def test_on_each_range_the_distance_is_at_most_twice_what_ranges_show_and_four_times_what_one_change_shows() -> None:
    rng = np.random.default_rng(0)
    for _ in range(25):
        size = int(rng.integers(2, 6))
        score = tuple(np.sort(rng.random(size)).tolist())
        law = Law(score, tuple(rng.dirichlet(np.full(size, 0.5)).tolist()), tuple(rng.random(size).round().tolist()))
        shown, once = range_truth(law), visible_truth(law, 1)
        first = int(rng.integers(0, size))
        part, share = given(law, list(range(first, size)))
        assert law.distance <= 2 * shown + 2e-5
        assert share * part.distance <= min(2 * shown, 4 * once) + 2e-5
        assert visible_truth(law, 2) >= shown - 1e-12
    # A constant below 1 would not do.
    alone = Law((0.5,), (1.0,), (0.6,))
    assert alone.distance > 0.999 * range_truth(alone)


def test_a_change_of_sign_pays_for_both_its_stretches() -> None:
    half = SimpleWitnesses({ONE_CHANGE: 1.0}, 2.0), SimpleWitnesses({ONE_CHANGE: 1.0}, 2.0, by_stretch=True)
    rows = by_cells(np.repeat([0.25, 0.75], 500), np.repeat([1, 0, 1, 0], [200, 300, 300, 200]))
    one, both = (witnesses.limit(rows, 0.05) for witnesses in half)
    assert both > 0
    assert one == pytest.approx(2 * both)


@pytest.mark.parametrize(("changes", "least"), [(1, 0.8), (3, 0.8)])
def test_crossings_find_what_a_change_of_sign_shows_in_a_few_rows(changes: int, least: float) -> None:
    rng = np.random.default_rng(0)
    data = [rows_with(lambda x: x**0.7 / (x**0.7 + (1 - x) ** 0.7), 1000, rng) for _ in range(60)]
    assert sum(crossings_lower(rows, changes, 0.05, 0).limit > 0 for rows in data) >= least * 60
    straight = [rows_with(lambda x: x, 1000, rng) for _ in range(60)]
    assert not too_many(sum(crossings_lower(rows, changes, 0.05, 0).limit > 0 for rows in straight), 60, 0.05)


def rows_with(chance: Callable[[np.ndarray], np.ndarray], n: int, rng: np.random.Generator) -> Summary:
    x = rng.random(n)
    return calcert.summarize(x, rng.random(n) < chance(x))


def test_a_thousand_rows_show_a_slight_bend_four_times_in_ten() -> None:
    rng, runs = np.random.default_rng(0), 400
    bent = [rows_with(lambda x: x**1.1, 1000, rng) for _ in range(runs)]
    assert sum(distance_lower(rows, 0.05, 0).limit > 0 for rows in bent) >= 0.4 * runs
    straight = [rows_with(lambda x: x, 1000, rng) for _ in range(runs // 2)]
    assert not too_many(sum(distance_lower(rows, 0.05, 0).limit > 0 for rows in straight), runs // 2, 0.05)


def test_overconfidence_shows_in_the_change_of_sign() -> None:
    rng = np.random.default_rng(0)
    data = [rows_with(lambda x: x**0.7 / (x**0.7 + (1 - x) ** 0.7), 1000, rng) for _ in range(30)]
    assert sum(l1_lower(rows, 0.05, 0).limit > 0 for rows in data) >= 20
