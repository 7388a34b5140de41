"""The lower bound of a monitor: exact at its own level, over whole lives, and quick to notice a change."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np
import pytest
from scipy.stats import binom

from calcert.certificates.limits.deviations import iid_limit
from calcert.monitoring import betting_strategies
from calcert.monitoring.betting_strategies import BETS, LIMITS, Wealth, latest_start, start_weight
from calcert.monitoring.watched_statements import BLOCKS, NODES, L1Memory, block_of, gains
from calcert.summary.summary import Summary
from tests.monitoring.lives import Law, finite_summary, life, overconfident, too_high

DELTA = 0.2
LIVES = 600


def test_start_weights_and_the_reserve_add_up_to_one() -> None:
    assert sum(start_weight(s) for s in range(1, 1000)) + 1 / 1000 == pytest.approx(1.0, abs=1e-12)
    assert Wealth.blank().evidence() == pytest.approx(0.0, abs=1e-12)


def test_histogram_never_overstates_the_growth_of_wealth() -> None:
    rng = np.random.default_rng(0)
    scores = rng.random(500)
    labels = rng.random(500) < 0.4
    count = np.stack([~labels, labels], axis=1).astype(np.int64)
    order = np.argsort(scores)
    batch = finite_summary(scores[order], count[order])
    witness = rng.uniform(-1, 1, BLOCKS)
    histogram = gains(batch, witness[None])[0]
    gain = witness[block_of(batch)] * (scores[order] - labels[order])
    assert histogram.sum() == pytest.approx(500)
    assert histogram @ NODES == pytest.approx(gain.sum())
    for stake in BETS:
        for limit in (0.0, 0.05, 0.5, 0.9):
            exact = np.log1p(stake * (gain - limit)).sum()
            kept = histogram @ np.log1p(stake * (NODES - limit))
            # A chord over a step of 1/32 lies below the logarithm by at most its curvature / 8 / 32^2.
            curvature = (stake / (1 + stake * (gain.min() - 1 / 32 - limit))) ** 2
            assert exact - 500 * curvature / 8 / 32**2 <= kept <= exact + 1e-9


def test_cells_are_charged_for_what_they_hide() -> None:
    low, high = 0.5, 0.5 + 2**-14
    exact = [finite_summary(np.array([x]), np.array([[1, 1]])) for x in (low, high - 2**-40)]
    hidden = Summary(exact[0].cell, exact[0].count, exact[0].offset, None, None)
    for sign in (-1.0, 1.0):
        witness = np.full((1, BLOCKS), sign)
        smallest = min(float(gains(batch, witness)[0] @ NODES) for batch in exact)
        assert smallest - 2 * 2**-40 <= float(gains(hidden, witness)[0] @ NODES) <= smallest


def outcomes(law: Law, rows: int) -> list[tuple[float, Summary]]:
    """All batches of so many rows of a law on two scores, with their probabilities."""
    cells = [(s, y) for s in range(2) for y in range(2)]
    weight = [law.probability[s] * (law.chance[s] if y else 1 - law.chance[s]) for s, y in cells]
    found = []
    for drawn in itertools.combinations_with_replacement(range(4), rows):
        count = np.zeros((2, 2), np.int64)
        for place in drawn:
            count[cells[place]] += 1
        ways = math.factorial(rows) / math.prod(math.factorial(int(c)) for c in count.ravel())
        found.append((ways * math.prod(weight[place] for place in drawn), finite_summary(law.scores, count)))
    return found


def expected_wealth(laws: list[Law], rows: int) -> list[np.ndarray]:
    """The exact expectation of M_k(c) for every c, after each batch, over all outcomes."""
    expected = [np.zeros(LIMITS.size) for _ in laws]

    def walk(depth: int, probability: float, memory: L1Memory, wealth: Wealth) -> None:
        for chance, batch in outcomes(laws[depth], rows):
            after = wealth.after(gains(batch, memory.witnesses()))
            expected[depth] += probability * chance * np.exp(after.evidence())
            if depth + 1 < len(laws):
                walk(depth + 1, probability * chance, memory.after(batch), after)

    walk(0, 1.0, L1Memory.blank(), Wealth.blank())
    return expected


@pytest.mark.parametrize("drifting", [False, True])
def test_wealth_is_a_supermartingale_over_all_outcomes_of_small_laws(drifting: bool) -> None:
    first = Law(np.array([0.3, 0.8]), np.array([0.5, 0.5]), np.array([0.1, 0.9]))
    second = Law(np.array([0.3, 0.8]), np.array([0.9, 0.1]), np.array([0.25, 0.0]))
    laws = [first, second if drifting else first, first]
    largest = max(law.error for law in laws)
    for expected in expected_wealth(laws, rows=2):
        assert (expected[largest <= LIMITS] <= 1 + 1e-9).all()


def test_negative_control_wealth_grows_where_the_limit_is_below_the_error() -> None:
    expected = expected_wealth([too_high_pair()] * 3, rows=2)
    assert expected[-1][0] > 1.02


def too_high_pair() -> Law:
    return Law(np.array([0.5, 0.9]), np.array([0.5, 0.5]), np.array([0.0, 0.1]))


@pytest.fixture
def only_limit(monkeypatch: pytest.MonkeyPatch) -> Iterator[float]:
    """One limit instead of hundreds, which makes lives cheap; wealth at one limit knows nothing of others."""
    monkeypatch.setattr(betting_strategies, "LIMITS", np.array([0.05]))
    betting_strategies._growth.cache_clear()
    yield 0.05
    betting_strategies._growth.cache_clear()


def rejections(laws: list[Law], lives: int) -> int:
    """In how many lives the limit was rejected at any time, when looked at after every batch."""
    found = 0
    for number in range(lives):
        rng = np.random.default_rng((1, number))
        found += any(
            wealth.evidence()[0] >= math.log(1 / DELTA) for wealth in life(law.batch(rng, 250) for law in laws)
        )
    return found


def within_the_null(limit: float) -> list[Law]:
    """The law changes, so that witnesses and starts are kept busy, and its error is never above the limit."""
    worst, calm = too_high(limit), too_high(0.0)
    return [worst] * 4 + [calm] * 2 + [worst] * 6


def test_false_alarms_over_600_lives_looked_at_after_every_batch(only_limit: float) -> None:
    assert rejections(within_the_null(only_limit), LIVES) <= binom.isf(1e-6, LIVES, DELTA)


def test_negative_control_starts_that_all_weigh_one_fail(only_limit: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(betting_strategies, "start_weight", lambda start: 1.0)
    # Nine lives in ten, so that far fewer than LIVES would notice.
    assert rejections(within_the_null(only_limit), 100) > 90


def test_negative_control_lives_with_a_larger_error_are_rejected(only_limit: float) -> None:
    assert rejections([too_high(2 * only_limit)] * 12, 100) > binom.isf(1e-6, 100, DELTA)


def test_negative_control_fixed_size_bounds_looked_at_after_every_batch_fail() -> None:
    law, rng = too_high(0.05), np.random.default_rng(2)
    looks = np.arange(500, 20_001, 250)
    lives = 500
    scores = rng.choice(law.scores, (lives, 20_000))
    gain = scores - (rng.random(scores.shape) < scores - 0.05)
    means = np.cumsum(gain, axis=1)[:, looks - 1] / looks
    variance = float(gain[:50].var())
    allowed = np.array([iid_limit(variance, 1.05, n, DELTA) for n in looks.tolist()])
    once = (means[:, -1] - allowed[-1] > 0.05).sum()
    ever = (means - allowed > 0.05).any(axis=1).sum()
    assert once <= binom.isf(1e-6, lives, DELTA)
    assert ever > binom.isf(1e-6, lives, DELTA)


@pytest.mark.parametrize(("rows", "lives"), [(1_000, 100), (5_000, 40)])
def test_a_change_from_0_to_5_per_cent_is_flagged_within_15000_rows(rows: int, lives: int) -> None:
    before, after = overconfident(0.0), overconfident(0.05)
    assert before.error < 1e-12
    assert after.error == pytest.approx(0.05)
    laws = [before] * (20_000 // rows) + [after] * (15_000 // rows)
    flagged = 0
    for number in range(lives):
        rng = np.random.default_rng((4, number))
        for place, wealth in enumerate(life(law.batch(rng, rows) for law in laws)):
            if wealth.lower(0.05) > 0.01:
                assert place * rows >= 20_000, "a false alarm, before the change"
                flagged += 1
                break
    assert flagged >= 0.95 * lives


def test_a_small_lasting_error_is_found_by_the_memory_that_forgets_nothing() -> None:
    law, rng = overconfident(0.01), np.random.default_rng(5)
    wealth = list(life(law.batch(rng, 20_000) for _ in range(20)))[-1]
    assert 0.004 < wealth.lower(0.05) < 0.01


def test_the_proven_stretch_begins_after_the_change_and_not_before() -> None:
    before, after = overconfident(0.0), overconfident(0.08)
    rng, memory, histograms = np.random.default_rng(6), L1Memory.blank(), []
    for law in [before] * 10 + [after] * 6:
        batch = law.batch(rng, 2_000)
        histograms.append(gains(batch, memory.witnesses()))
        memory = memory.after(batch)
    assert latest_start(len(histograms), [np.array(histograms[::-1])], 0.02, 0.05) > 10
    assert latest_start(10, [np.array(histograms[9::-1])], 0.02, 0.05) == 1


def test_a_lower_bound_is_a_limit_that_was_rejected_and_all_below_it_were() -> None:
    law, rng = overconfident(0.1), np.random.default_rng(7)
    wealth = list(life(law.batch(rng, 2_000) for _ in range(6)))[-1]
    lower = wealth.lower(0.05)
    evidence = wealth.evidence()
    assert 0.05 < lower < 0.1
    assert (evidence[lower >= LIMITS] >= math.log(20)).all()
    assert (np.diff(evidence) <= 1e-9).all()
