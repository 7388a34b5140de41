"""D5, D1c and D1b against exact laws of sums for 1 to 300 rows, with no random numbers; limits cut short are caught."""

from __future__ import annotations

import itertools
import math

import mpmath
import numpy as np
import pytest
from benchmarks import few_rows
from scipy.stats import binom, multinomial

from calcert.certificates.limits.deviations import (
    NODES,
    Squares,
    betting_upper,
    convex_upper,
    iid_limit,
    mean_upper,
    refutes,
    share_for_mean,
)
from calcert.kernels.limits import LARGEST_COUNT, bentkus_tail, gaussian_sharp, tail_ratio
from tests.certificates.test_deviations import (
    BERNOULLI_FAMILIES,
    lattice_excess,
    poisson_binomial,
    two_point_excess,
    worst_mean_upper_excess,
)

LEVELS = (0.3, 0.05, 0.049, 1e-3)
ROWS = (*range(1, 41), 60, 83, 100, 150, 200, 251, 300)


def cut(limit: float, mean: float = 0.0) -> float:
    """A limit whose distance from the mean is a tenth smaller."""
    return mean + 0.9 * (limit - mean)


def least_ratio(reached: float, n: int, odds: float, power: int) -> mpmath.mpf:
    """The infimum over t of E(K - t)_+^power / (reached - t)^power to forty digits, stretch by stretch."""
    p = mpmath.mpf(odds) / (1 + mpmath.mpf(odds))
    mass = [mpmath.binomial(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]
    least = mpmath.mpf(1)
    for first in range(n + 1):
        above = range(first, n + 1)
        zeroth, linear, square = (mpmath.fsum(mass[k] * (k - reached) ** j for k in above) for j in range(3))
        nearest, furthest = reached - first, reached - first + 1 if first else mpmath.inf
        best = -square / linear if power == 2 and linear < 0 else nearest
        for back in (max(min(best, furthest), nearest), nearest):
            if back > 0:
                moment = linear + back * zeroth if power == 1 else square + 2 * back * linear + back**2 * zeroth
                least = min(least, moment / back**power)
    return least


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("odds", [1e-4, 0.03, 0.4, 1.0, 6.0])
@pytest.mark.parametrize("n", [1, 2, 3, 8, 31])
def test_a_tail_is_above_the_least_ratio_of_moments_and_next_to_it(n: int, odds: float, power: int) -> None:
    mean = n * odds / (1 + odds)
    with mpmath.workdps(40):
        for share in (1e-3, 0.03, 0.2, 0.5, 0.77, 0.99, 1.0):
            reached = mean + share * (n - mean)
            exact, found = least_ratio(reached, n, odds, power), tail_ratio(reached, n, odds, power)
            assert exact <= found <= float(exact) * (1 + 1e-5)
    assert tail_ratio(n * 1.001, n, odds, power) == 0


@pytest.mark.parametrize("n", [10**3, 10**5, 10**7, 10**10])
@pytest.mark.parametrize("p", [0.5, 0.2, 1e-3])
def test_a_tail_of_very_many_rows_is_above_the_one_of_a_binomial_law(n: int, p: float) -> None:
    deviation = math.sqrt(p * (1 - p) / n)
    for times in (0.5, 1.7, 3.0, 6.0):
        exact = float(binom.sf(math.ceil(n * (p + times * deviation)) - 1, n, p))
        found = bentkus_tail(times * deviation, p * (1 - p), 1 - p, n)
        # A normal tail is a third of it where it is far out, and joining neighbours adds next to nothing.
        assert exact <= found <= 6 * exact + 1e-300
    assert n * p * (1 - p) < LARGEST_COUNT * (1 - p) ** 2 or n > 10**5


@pytest.mark.parametrize("delta", LEVELS)
@pytest.mark.parametrize("p", [1e-3, 0.02, 0.2, 0.5, 0.9])
def test_no_binomial_law_exceeds_the_limit_more_often_than_delta(p: float, delta: float) -> None:
    assert max(two_point_excess(gaussian_sharp, n, p, delta) for n in ROWS) <= 1


def test_the_limit_cut_by_a_tenth_is_caught_at_few_rows() -> None:
    def shorter(variance: float, bound: float, n: float, delta: float) -> float:
        return cut(gaussian_sharp(variance, bound, n, delta))

    assert max(two_point_excess(shorter, n, p, 0.05) for n in ROWS for p in (0.02, 0.2, 0.5)) > 1


THREE_POINTS = (
    ((-1, 0, 1), (0.3, 0.4, 0.3)),
    ((-1, 0, 2), (0.5, 0.3, 0.2)),
    ((-1, 0, 9), (0.85, 0.06, 0.09)),
    ((-5, 0, 1), (0.1, 0.4, 0.5)),
)


@pytest.mark.parametrize("law", THREE_POINTS)
@pytest.mark.parametrize("delta", LEVELS)
def test_no_three_point_law_exceeds_the_limit_more_often_than_delta(
    law: tuple[tuple[int, ...], tuple[float, ...]], delta: float
) -> None:
    assert max(lattice_excess(gaussian_sharp, n, *law, delta) for n in ROWS) <= 1


@pytest.mark.parametrize("n", [1, 2, 3, 10, 40, 120, 300])
def test_the_convex_limit_misses_no_binomial_law_more_often_than_delta_and_cut_by_a_tenth_is_caught(n: int) -> None:
    for delta in LEVELS:
        assert worst_mean_upper_excess(convex_upper, n, delta) <= 1
    caught = worst_mean_upper_excess(lambda mean, n, delta: cut(convex_upper(mean, n, delta), mean), n, 0.001)
    assert caught > 1


@pytest.mark.parametrize("family", BERNOULLI_FAMILIES)
@pytest.mark.parametrize("delta", LEVELS)
def test_the_convex_limit_holds_for_variables_that_differ_and_is_never_above_chernoff(
    family: str, delta: float
) -> None:
    p = BERNOULLI_FAMILIES[family]
    law, mean = poisson_binomial(p), np.arange(p.size + 1) / p.size
    upper = np.array([convex_upper(m, p.size, delta) for m in mean])
    assert law[upper < p.mean()].sum() <= delta
    assert (upper <= [mean_upper(m, p.size, delta) * (1 + 1e-12) for m in mean]).all()
    assert p.size == 1 or (upper[:-1] < [mean_upper(m, p.size, delta) for m in mean[:-1]]).any()


VALUES = {
    "two": ((0.0, 1.0), (0.85, 0.15)),
    "two close": ((0.3, 0.45), (0.5, 0.5)),
    "three": ((0.01, 0.3, 1.0), (0.8, 0.15, 0.05)),
    "both signs": ((-1.0, 0.1, 1.0), (0.2, 0.5, 0.3)),
    "four": ((0.0, 0.04, 0.5, 0.9), (0.4, 0.3, 0.2, 0.1)),
}


def outcomes(n: int, weights: tuple[float, ...]) -> list[tuple[np.ndarray, float]]:
    """All counts of n rows and their probabilities."""
    counts = [c for c in itertools.product(range(n + 1), repeat=len(weights) - 1) if sum(c) <= n]
    whole = np.array([(*c, n - sum(c)) for c in counts])
    return list(zip(whole, multinomial.pmf(whole, n, weights), strict=True))


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("n", [1, 3, 12])
def test_bets_are_lost_no_more_often_than_delta(name: str, n: int) -> None:
    values, weights = (np.array(part) for part in VALUES[name])
    mean, all_counts = float(values @ weights), outcomes(n, VALUES[name][1])
    for delta in (0.5, *LEVELS):
        missed = math.fsum(p for count, p in all_counts if betting_upper(values, count / n, n, delta) < mean - 1e-12)
        assert missed <= delta
        # The mean wealth is at most 1, which is more than the limit needs.
        wealth = math.fsum(p * math.exp(refutes(mean, values, count / n, n, delta)) / delta for count, p in all_counts)
        assert wealth <= 1


def test_limits_of_bets_cut_by_three_tenths_are_caught() -> None:
    values = np.array(VALUES["two"][0])
    for n in (10, 40, 200):
        hits = np.arange(n + 1)
        limits = [betting_upper(values, np.array([n - k, k]) / n, n, 1e-3) for k in hits]
        shorter = np.array([k / n + 0.7 * (limit - k / n) for k, limit in zip(hits, limits, strict=True)])
        probabilities = np.linspace(0.01, 0.9, 90)
        missed = [binom.pmf(hits, n, p)[shorter < p].sum() for p in probabilities]
        kept = [binom.pmf(hits, n, p)[np.array(limits) < p].sum() for p in probabilities]
        assert max(kept) <= 1e-3 < max(missed)


def test_squares_are_split_between_nodes_with_their_mean_and_never_in_their_favour() -> None:
    rng = np.random.default_rng(0)
    values = rng.random(300) ** 3
    squares = Squares.of(values)
    assert squares.shares @ NODES == pytest.approx(values.mean(), rel=1e-12)
    assert values.mean() <= squares.mean <= values.mean() + 1e-11
    exact = betting_upper(values, np.full(300, 1 / 300), 300, 0.01)
    assert exact <= betting_upper(NODES, squares.shares, 300, 0.01) <= exact * 1.002


@pytest.mark.parametrize("name", ["two", "two close", "three", "four"])
@pytest.mark.parametrize("n", [2, 15])
def test_the_second_moment_is_missed_no_more_often_than_delta(name: str, n: int) -> None:
    values, weights = (np.array(part) for part in VALUES[name])
    mean, all_counts = float(values @ weights), outcomes(n, VALUES[name][1])
    for delta in (0.5, *LEVELS):
        missed = math.fsum(p for count, p in all_counts if Squares.of(values, count).upper(n, delta) < mean - 1e-12)
        assert missed <= (1 - share_for_mean(n)) * delta


def test_a_larger_square_of_any_row_does_not_lower_the_limit() -> None:
    values = np.array([0.01, 0.2, 0.2, 0.64, 0.9, 0.04])
    limit = Squares.of(values).upper(6, 0.01)
    for row in range(6):
        larger = values.copy()
        larger[row] = min(larger[row] + 0.1, 1.0)
        assert Squares.of(larger).upper(6, 0.01) >= limit


def test_most_of_delta_is_spent_on_the_mean_and_the_more_the_more_rows_there_are() -> None:
    shares = [share_for_mean(n) for n in (1, 49, 100, 1_000, 10**6)]
    assert shares == sorted(shares)
    assert shares[0] == pytest.approx(0.94)
    assert shares[-1] == pytest.approx(0.98 - 0.5e-3)


@pytest.mark.parametrize(("variance", "n", "gain"), [(0.2, 100, 0.86), (0.2, 300, 0.88), (0.01, 100, 0.77)])
def test_the_limit_is_a_seventh_below_bernstein_and_more_for_rare_events(variance: float, n: int, gain: float) -> None:
    bernstein = (math.log(20) / (3 * n)) + math.sqrt((math.log(20) / (3 * n)) ** 2 + 2 * variance * math.log(20) / n)
    assert iid_limit(variance, 1.0, n, 0.05) < gain * bernstein


@pytest.mark.parametrize("name", few_rows.LAWS)
def test_bounds_from_few_rows_are_as_close_to_a_normal_approximation_as_is_said(name: str) -> None:
    draw, limits = few_rows.LAWS[name]
    for n, limit in zip(few_rows.ROWS, limits, strict=True):
        assert 1 < few_rows.ratios(draw, n, 25)[0] <= 1.04 * limit  # 25 samples of 200
