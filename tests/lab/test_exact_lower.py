"""Lower bounds over every outcome and every way of throwing rows into batches: chance of data and of the seed alike.

With three batches in place of ten, all tables (batch, score, label) of a few rows are few enough to add up, and so are
those of two throws at once. The second half takes one score in a million rows, where the lower limit is exact
arithmetic in a binomial count.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from unittest import mock

import numpy as np
import pytest
from scipy.stats import binom

from calcert import Summary
from calcert.certificates import distance
from calcert.certificates.certificate import Lower
from calcert.certificates.crossings import crossings_lower
from calcert.certificates.cutoff import cutoff_lower
from calcert.certificates.perturbed import perturbed_lower
from calcert.certificates.witnesses import betting, random_splits
from calcert.certificates.witnesses.betting import SMALL_BET, Game, Round, in_turn, l1_lower, lower_limit
from calcert.perturbation.noise import Noise
from calcert.summary.points import merged
from tests.lab.distributions import Law, by_cells, outcomes, summary_of

BATCHES = 3

LAWS = {
    "one calibrated score": (Law((0.5,), (1.0,), (0.5,)), 7),
    "one score": (Law((0.9,), (1.0,), (0.4,)), 7),
    "rare": (Law((0.1,), (1.0,), (0.1,)), 7),
    "calibrated": (Law((0.25, 0.75), (0.5, 0.5), (0.25, 0.75)), 4),
    "sign flip": (Law((0.3, 0.31), (0.5, 0.5), (0.9, 0.0)), 4),
    "ends": (Law((0.0, 1.0), (0.7, 0.3), (0.2, 0.6)), 4),
}


def lower_of(subject: str, law: Law, delta: float) -> tuple[Callable[[Summary], float], float]:
    """A lower bound and the truth, or what is known to be at least the truth."""
    h = 1.0
    return {
        "as it is": (lambda s: l1_lower(s, delta, 0).limit, law.error),
        "perturbed": (lambda s: perturbed_lower(s, Noise("additive", h), delta, 0).limit, law.served(h)[0]),
        "distance": (lambda s: distance.distance_lower(s, delta, 0).limit, law.distance),
    }[subject]


def judged(
    law: Law, n: int, lower: Callable[[Summary], float], throws: int = 1
) -> list[tuple[float, float, tuple[tuple[Round, ...], ...]]]:
    """For every table of batches in each throw, scores and labels: its probability, the lower bound, and the bets."""
    batches = (BATCHES,) * throws
    table = np.broadcast_to(law.probability / BATCHES**throws, (*batches, *law.probability.shape))
    found = []
    for allocation, chance in outcomes(np.ascontiguousarray(table), n):
        count = allocation.sum(axis=tuple(range(throws)))
        held = count.any(axis=1)
        each = [allocation.sum(axis=tuple({*range(throws)} - {throw}))[:, held] for throw in range(throws)]
        games: list[Game] = []

        def note(played: tuple[tuple[Round, ...], ...], games: list[Game] = games) -> Game:
            games.append(Game(played))
            return games[-1]

        with (
            mock.patch.object(random_splits, "splits", return_value=np.stack(each)),
            mock.patch.object(betting, "Game", note),
        ):
            found.append((chance, lower(summary_of(law.score, count)), games[0].splits))
    return found


def wealth(rounds: Sequence[Round], c: float) -> float:
    """What a gambler owns after all bets against an error of at most c."""
    return math.exp(math.fsum(r.log_wealth(c) for r in rounds))


@pytest.mark.parametrize("subject", ["as it is", "perturbed", "distance"])
@pytest.mark.parametrize("name", LAWS)
def test_lower_stays_below_the_truth_and_wealth_is_a_supermartingale(subject: str, name: str) -> None:
    law, n = LAWS[name]
    # Witnesses for the perturbed classifier and for the distance take longer to find: fewer tables.
    n, deltas = (n, (0.5, 0.3)) if subject == "as it is" else (n - n // 4, (0.5,))
    for delta in deltas:
        lower, truth = lower_of(subject, law, delta)
        found = judged(law, n, lower)
        assert math.fsum(chance for chance, bound, _ in found if bound > truth) <= delta
        # No gain exceeds the truth on average, so that no way of betting against it pays.
        assert math.fsum(chance * wealth(rounds, truth) for chance, _, (rounds,) in found) <= 1 + 1e-9


@pytest.mark.parametrize(("name", "n"), [("one calibrated score", 3), ("one score", 3), ("calibrated", 2)])
def test_the_mean_over_two_throws_is_missed_no_more_often_than_delta_and_fair_in_the_end(name: str, n: int) -> None:
    law, delta = LAWS[name][0], 0.7
    found = judged(law, n, lambda s: l1_lower(s, delta, 0).limit, throws=2)
    assert math.fsum(chance for chance, _, _ in found) == pytest.approx(1)
    assert math.fsum(chance for chance, bound, _ in found if bound > law.error) <= delta
    assert math.fsum(chance * math.exp(Game(played).log_wealth(law.error)) for chance, _, played in found) <= 1 + 1e-9


@pytest.mark.parametrize("name", ["as it is", "distance", "cutoff", "crossings"])
def test_the_e_value_of_a_certificate_has_mean_one_at_most_if_the_error_is_0(name: str) -> None:
    """Over all outcomes of a calibrated law, rows and throws alike."""
    law = Law((0.25, 0.75), (0.5, 0.5), (0.25, 0.75))
    lower: Callable[[Summary], Lower] = {
        "as it is": lambda s: l1_lower(s, 0.5, 0),
        "distance": lambda s: distance.distance_lower(s, 0.5, 0),
        "cutoff": lambda s: cutoff_lower(s, 0.5, 0),
        "crossings": lambda s: crossings_lower(s, 3, 0.5, 0),
    }[name]
    found: list[float] = []

    def noted(summary: Summary) -> float:
        limit, e_value = lower(summary)
        found.append(e_value or 0.0)
        return limit

    chances = [chance for chance, _, _ in judged(law, 4, noted)]
    assert 0.9 < math.fsum(chance * value for chance, value in zip(chances, found, strict=True)) <= 1


@pytest.mark.parametrize("throws", [1, 2])
def test_the_e_value_has_mean_one_at_most_and_the_largest_wealth_so_far_has_more(throws: int) -> None:
    law = LAWS["one calibrated score"][0]
    found = judged(law, 7 - 2 * throws, lambda s: l1_lower(s, 0.5, 0).limit, throws)
    mean = math.fsum(chance * math.exp(Game(played).log_wealth(0.0)) for chance, _, played in found)
    assert 0.9 < mean <= 1
    so_far = [
        (chance, np.mean([max(wealth(rounds[:b], 0.0) for b in range(len(rounds) + 1)) for rounds in played]))
        for chance, _, played in found
    ]
    assert math.fsum(chance * most for chance, most in so_far) > 1.05


@pytest.mark.parametrize("name", ["one calibrated score", "rare", "calibrated"])
def test_betting_against_calibration_is_a_fair_game_where_it_is_true(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    law, n = LAWS[name]
    monkeypatch.setattr(betting, "FOR_L1", None)
    found = judged(law, n, lambda s: l1_lower(s, 0.5, 0).limit)
    mean = math.fsum(chance * wealth(rounds, 0.0) for chance, _, (rounds,) in found)
    # Fair but for what a cell hides of a score: a few parts in ten thousand, always to the gambler's loss.
    assert 1 - 1e-3 < mean <= 1 + 1e-9
    assert math.fsum(chance for chance, bound, _ in found if bound > 0) > 0


def test_betting_against_four_fifths_of_the_error_pays() -> None:
    law, n = LAWS["one score"]
    found = judged(law, n, lambda s: l1_lower(s, 0.5, 0).limit)
    assert math.fsum(chance * wealth(rounds, 0.8 * law.error) for chance, _, (rounds,) in found) > 1.01


def one_score(n: int, delta: float) -> Callable[[int], tuple[float, float]]:
    """From a count of label 1 among n rows of score 0.9: the mean gain of the witness +1, and the lower limit."""
    taught = np.array([[500, 500]])
    gain = np.array([[0.9, -0.1]])

    def bound(positives: int) -> tuple[float, float]:
        table = np.zeros((10, 1, 2), np.int64)
        table[0], table[1] = taught, [[n - positives, positives]]
        summary = summary_of((0.9,), table.sum(axis=0))
        limit = lower_limit(summary, delta, 0, in_turn(lambda *_: gain), splits=table[None]).limit
        return 0.9 - positives / n, limit

    return bound


def one_score_miss(n: int, delta: float, cut: float) -> float:
    """The exact probability that the limit, moved towards the mean gain by the share `cut`, exceeds the truth 0.4."""
    bound = one_score(n, delta)

    def misses(positives: int) -> bool:
        mean, limit = bound(positives)
        return limit + cut * (mean - limit) > 0.4

    low, high = 0, n // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if misses(middle) else (low, middle)
    return float(binom.cdf(low, n, 0.5))


@pytest.mark.parametrize("delta", [0.5, 0.05, 1e-3, 1e-6, 1e-9])
@pytest.mark.parametrize("n", [1000, 10**6])
def test_one_score_in_many_rows_is_missed_no_more_often_than_delta(n: int, delta: float) -> None:
    assert 0 < one_score_miss(n, delta, cut=0.0) <= delta


def test_a_margin_cut_by_a_fifth_is_caught() -> None:
    # Betting is as sharp as Chernoff's bound, so a fifth shows where delta is small.
    assert one_score_miss(10**6, 1e-9, cut=0.2) > 1e-9


@pytest.mark.parametrize("stake", [1e-6, 0.001, 0.01, 0.1, 0.2, 0.201, 0.3, 0.49])
def test_log_wealth_is_never_above_the_sum_of_logarithms(stake: float) -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        gain, rows = rng.uniform(-1, 1, (40, 2)), rng.integers(0, 1000, (40, 2))
        gain[0] = (-1, 1)
        for c in (0.0, 0.3, 1.0):
            exact = math.fsum((rows * np.log1p(stake * (gain - c))).ravel())
            moments = tuple((rows * gain**power).sum() for power in range(5))
            found = Round(stake, gain, rows, moments).log_wealth(c)
            assert found <= exact + 1e-9 * abs(exact)
            # Of the logarithm of 1 + z the series drops z^5/5 and what its last term has too much of.
            z = np.abs(stake * (gain - c))
            lost = 0.0 if stake > SMALL_BET else (rows * (z**5 / 5 + z**4 / 4 * (1 / (1 - 2 * stake) - 1))).sum()
            assert found >= exact - lost - 1e-9 * rows.sum()


@pytest.mark.parametrize("widest", [2.0**-20, 2.0**-14, 3e-4, 0.1, 2.0])
def test_cells_put_together_are_the_same_whichever_of_them_hold_rows(widest: float) -> None:
    """A witness is told joined cells; if others' rows moved their edges, it would know of later batches."""
    rng = np.random.default_rng(0)
    score = np.concatenate([rng.random(40), 2.0**-13 * rng.random(40), 1 - 2.0**-9 * rng.random(40), [0.0, 1.0]])
    alone = {}
    for x in score:
        points, _ = merged(by_cells(np.array([x]), np.array([1])).cell_points, widest)
        alone[float(x)] = (points.low[0], points.high[0])
    points, start = merged(by_cells(score, np.ones(score.size, int)).cell_points, widest)
    assert {(low, high) for low, high in zip(points.low, points.high, strict=True)} == set(alone.values())
    assert all(low <= x <= high for x, (low, high) in alone.items())
    assert points.count.sum() == score.size
    assert start.size == points.low.size


def test_one_row_says_nothing() -> None:
    assert l1_lower(summary_of((0.9,), np.array([[1, 0]])), 0.5, 0).limit == 0


@pytest.mark.parametrize("name", ["one calibrated score", "one score", "rare"])
def test_twelve_rows_in_ten_batches_are_missed_no_more_often_than_delta_over_seeds(name: str) -> None:
    law, delta = LAWS[name][0], 0.5
    missed = [
        chance
        for count, chance in law.outcomes(12)
        for seed in range(20)
        if l1_lower(summary_of(law.score, count), delta, seed).limit > law.error
    ]
    assert math.fsum(missed) / 20 <= delta
