"""Ranges: the plug-in is that of the rows, cells hide no more than is charged, and thresholds gain no more than R."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

import calcert
from calcert import Summary
from calcert.certificates import cutoff
from calcert.certificates.cutoff import Excess, at_edges
from calcert.certificates.witnesses import betting
from tests.certificates.test_l1_lower import bets, by_cells
from tests.lab.distributions import Law
from tests.lab.sums import largest_over, range_truth

Floats = NDArray[np.float64]
SIDES = ("either", "too high", "too low")


def of_rows(x: Floats, y: NDArray[np.bool_], side: str) -> float:
    """The largest miscount over ranges of the rows themselves, rows of one score together."""
    scores, which = np.unique(x, return_inverse=True)
    high, low = largest_over(np.bincount(which, x - y, scores.size).tolist())
    return {"too high": high, "too low": low, "either": max(high, low)}[side] / x.size


def crowded(rng: np.random.Generator, n: int) -> Floats:
    """Many rows to a cell: scores a few cells wide, in the middle and at the ends."""
    middle = 0.3 + 2.0**-12 * rng.random(n)
    ends = np.where(rng.random(n) < 0.5, 2.0**-24 * rng.random(n), 1 - 2.0**-24 * rng.random(n))
    return np.where(rng.random(n) < 0.6, middle, ends)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("seed", range(8))
def test_listed_scores_are_as_good_as_the_rows(seed: int, side: cutoff.Side) -> None:
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 2 + 3 * seed, 300) / (1 + 3 * seed)
    y = rng.random(300) < 0.5
    excess = Excess.of(calcert.summarize(x, y))
    assert cutoff.largest_sum(excess, side) == pytest.approx(of_rows(x, y, side), abs=1e-14)
    assert cutoff.largest_sum(at_edges(excess), side) == cutoff.largest_sum(excess, side)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("draw", [lambda rng, n: rng.random(n), crowded, lambda rng, n: rng.beta(0.05, 0.05, n)])
def test_cells_hide_no_more_than_is_charged(
    draw: Callable[[np.random.Generator, int], Floats], side: cutoff.Side
) -> None:
    for seed in range(10):
        rng = np.random.default_rng(seed)
        x = draw(rng, 3000)
        y = rng.random(3000) < rng.random()
        summary = by_cells(calcert.summarize(x, y))
        excess = Excess.of(summary)
        seen, most = cutoff.largest_sum(at_edges(excess), side), cutoff.largest_sum(excess, side)
        true = of_rows(x, y, side)
        slack = excess.rounding(2)
        assert seen - slack <= true <= most + slack
        terms = cutoff.upper_terms(summary, 0.05, side)
        assert terms["plug-in"] + terms["discretisation"] == pytest.approx(most + slack, abs=1e-15)


@pytest.mark.parametrize("side", SIDES)
def test_the_worst_order_of_the_rows_of_a_cell_is_what_is_charged(side: cutoff.Side) -> None:
    """Three rows in each of two cells, next to each other, in all orders: one of them attains the bound."""
    x = np.concatenate([0.25 + 2.0**-14 * (cell + 0.5) + 2.0**-35 * np.arange(3) for cell in range(2)])
    orders = itertools.product(*(sorted(set(itertools.permutations(labels))) for labels in ((0, 0, 1), (0, 1, 1))))
    labels = [np.concatenate(order).astype(bool) for order in orders]
    bounds = [cutoff.largest_sum(Excess.of(by_cells(calcert.summarize(x, y))), side) for y in labels]
    true = [of_rows(x, y, side) for y in labels]
    assert len(true) == 9
    assert max(bounds) - min(bounds) < 1e-9
    assert max(true) == pytest.approx(max(bounds), abs=1e-9)
    assert min(true) < max(true)


def test_a_cell_that_hides_all_rows_is_charged_honestly() -> None:
    rng = np.random.default_rng(0)
    x = 0.3 + 2.0**-15 * rng.random(5000)
    order = np.argsort(x)
    y = np.zeros(5000, bool)
    y[order[:2500]] = True  # as bad as it can be, and invisible from outside the cell
    summary = calcert.summarize(x, y)
    assert not summary.is_finite
    assert summary.cell.size == 1
    excess = Excess.of(summary)
    assert cutoff.largest_sum(at_edges(excess)) == pytest.approx(0.2, abs=1e-4)
    assert cutoff.largest_sum(excess) == pytest.approx(of_rows(x, y, "either"), abs=1e-4)
    assert calcert.bounds.cutoff(summary).upper >= of_rows(x, y, "either")


def test_worst_range_is_the_range_of_the_rows_that_is_furthest_off() -> None:
    rng = np.random.default_rng(5)
    for side in SIDES:
        x = rng.integers(0, 21, 500) / 20
        y = rng.random(500) < np.where((x > 0.3) & (x < 0.7), 1 - x, x)
        worst = calcert.bounds.worst_range(calcert.summarize(x, y), side=side)
        inside = (x >= worst.low) & (x <= worst.high)
        assert worst.rows == inside.sum()
        assert worst.observed == y[inside].sum()
        assert worst.expected == pytest.approx(x[inside].sum())
        assert abs(worst.expected - worst.observed) / 500 == pytest.approx(of_rows(x, y, side))
    one = calcert.bounds.worst_range(calcert.summarize([0.5], [1]), side="too high")
    assert (one.rows, one.observed, one.expected) == (1, 1, 0.5)


LAWS = [
    Law((0.2, 0.4, 0.6, 0.9), (0.25, 0.25, 0.3, 0.2), (0.6, 0.1, 0.9, 0.5)),
    Law((0.1, 0.5, 0.8), (0.5, 0.2, 0.3), (0.0, 0.9, 0.3)),
    Law((0.25, 0.5), (0.4, 0.6), (0.0, 1.0)),
]


@pytest.mark.parametrize("law", LAWS)
def test_no_other_threshold_and_no_rising_rule_earns_more_than_r_a_row(law: Law) -> None:
    """Theorem 9, what it means: an action on a row of chance c pays c - t on average."""
    weight, chance, score = np.array(law.weight), np.array(law.chance), np.array(law.score)
    r = range_truth(law)
    rng = np.random.default_rng(0)
    attained = 0.0
    for t in np.concatenate([score, score - 1e-9, score + 1e-9, rng.random(50)]):
        pays = weight * (chance - t)
        acting = float(pays[score >= t].sum())
        for cut in range(score.size + 1):
            attained = max(attained, float(pays[cut:].sum()) - acting)
        for _ in range(50):
            assert float((np.sort(rng.random(score.size)) * pays).sum()) - acting <= r + 1e-12
    assert attained <= r + 1e-12
    if law is LAWS[-1]:
        assert attained == pytest.approx(r, abs=1e-8)


def test_a_reversed_rule_may_gain_twice_as_much() -> None:
    law = Law((0.49, 0.5), (0.5, 0.5), (1.0, 0.0))
    reversed_gain = 0.5 * (1 - 0.5) - 0.5 * (0 - 0.5)
    assert range_truth(law) < reversed_gain <= 2 * range_truth(law)


@pytest.mark.parametrize("law", LAWS)
def test_in_a_range_the_mean_score_is_within_r_over_its_share_of_the_chance(law: Law) -> None:
    weight, chance, score = np.array(law.weight), np.array(law.chance), np.array(law.score)
    for a, b in itertools.combinations(range(score.size + 1), 2):
        share = weight[a:b].sum()
        gap = abs((weight[a:b] * (score - chance)[a:b]).sum()) / share
        assert gap <= range_truth(law) / share + 1e-12


def rows_thrown(scores: Floats, batches: NDArray[np.int64]) -> Summary:
    """The rows of batches of counts per score and label, by cells."""
    total = batches.sum(axis=0)
    x = np.repeat(scores, total.sum(axis=1))
    y = np.concatenate([np.repeat([0, 1], pair) for pair in total])
    return by_cells(calcert.summarize(x, y))


def gains_at(
    lower: Callable[[Summary], float], scores: Floats, early: NDArray[np.int64], late: NDArray[np.int64]
) -> list[tuple[float, dict[int, tuple[float, float]]]]:
    """Stake, and gain by cell, of the bets made before any late row was judged."""
    batches = np.concatenate([early, late])
    held = batches.sum(axis=(0, 2)) > 0
    summary = rows_thrown(scores, batches)
    found = bets(summary, batches[:, held], lower)[: len(early)]
    return [(stake, dict(zip(summary.cell.tolist(), map(tuple, gain), strict=True))) for stake, gain, _ in found]


def check_bets_do_not_know_later_rows(lower: Callable[[Summary], float]) -> None:
    """Later rows change neither stakes nor gains, not even by the cells that they fill."""
    rng = np.random.default_rng(0)
    scores = (np.arange(40) + rng.random(40) / 2) / 40  # far enough apart to have a block each
    early = rng.integers(0, 20, (5, 40, 2))
    early[:, ::2] = 0
    seen = []
    for future in range(4):
        late = np.random.default_rng(future).multinomial(2200, np.full(400, 1 / 400)).reshape(5, 40, 2)
        late[:, rng.random(40) < 0.5] = 0
        late[-1, 0, 0] += 2200 - late.sum()  # the number of rows is known to all
        seen.append(gains_at(lower, scores, early, late))
    cells: set[int] = set.intersection(*(set(gain) for one in seen for _, gain in one))
    assert len(cells) >= 20
    for other in seen[1:]:
        for (stake, gain), (other_stake, other_gain) in zip(seen[0], other, strict=True):
            # Cells without early rows add zeros to a sum, which may round it otherwise in the last place.
            assert stake == pytest.approx(other_stake, rel=1e-14)
            assert all(gain[cell] == other_gain[cell] for cell in gain.keys() & other_gain.keys())


@pytest.mark.parametrize("side", SIDES)
def test_bets_on_ranges_do_not_know_later_rows(side: cutoff.Side) -> None:
    check_bets_do_not_know_later_rows(lambda s: cutoff.cutoff_lower(s, 0.05, 0, side).limit)


def test_a_witness_that_looks_at_all_rows_would_be_noticed() -> None:
    def knowing(summary: Summary) -> float:
        net = Excess.of(summary).net
        knowing = betting.in_turn(lambda *_: np.sign(net)[:, None] * np.array([0.5, -0.5]))
        return betting.lower_limit(summary, 0.05, 0, knowing).limit

    with pytest.raises(AssertionError):
        check_bets_do_not_know_later_rows(knowing)


def test_an_unknown_side_is_refused_by_name() -> None:
    summary = calcert.summarize([0.5], [1])
    for function in (calcert.bounds.cutoff, calcert.bounds.worst_range):
        with pytest.raises(ValueError, match="side must be 'either', 'too high' or 'too low'; got 'high'"):
            function(summary, side="high")


def test_lower_bounds_find_a_plain_error_on_its_side_only() -> None:
    rng = np.random.default_rng(4)
    x = rng.random(50_000)
    summary = calcert.summarize(x, rng.random(50_000) < x**2)
    assert 0.155 < calcert.bounds.cutoff(summary).lower < 1 / 6
    assert 0.155 < calcert.bounds.cutoff(summary, side="too high").lower < 1 / 6
    assert calcert.bounds.cutoff(summary, side="too low").lower == 0
    assert calcert.bounds.cutoff(summary, side="too low").upper < 0.01


@pytest.mark.parametrize(("n", "gap"), [(10_000, 0.0155), (100_000, 0.0044)])
def test_upper_bounds_are_as_close_to_the_truth_as_promised(n: int, gap: float) -> None:
    bounds = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        x = rng.random(n)
        bounds.append(sum(cutoff.upper_terms(calcert.summarize(x, rng.random(n) < x), 0.05).values()))
    assert np.mean(bounds) <= gap
