"""Each deviation lemma at its own level: against exact laws of sums, with no random numbers.

A limit that a true mean exceeds with probability more than delta is caught by `excess`, the exact probability of that
event over delta. Every check also runs on a limit cut by a fifth and must then fail somewhere.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, norm

from calcert.certificates.limits.deviations import iid_limit, invert, invert_squared, mean_lower, mean_upper
from calcert.kernels.limits import (
    _largest,
    _largest_grouped,
    _mean_upper,
    bentkus_tail,
    bernstein,
    berry_esseen_constant,
    beyond_iid_limit,
    gaussian_sharp,
    grouped_limit,
    hoeffding,
    relative_entropy,
)
from tests.as_python import as_python

DELTAS = (0.5, 0.3, 0.05, 1e-3, 1e-6, 1e-9, 1e-12)
CUT = 0.8

Limit = Callable[[float, float, float, float], float]


def shrunk(limit: Callable[..., float]) -> Callable[..., float]:
    """The same limit, a fifth smaller."""
    return lambda *arguments: CUT * limit(*arguments)


def two_point_excess(limit: Limit, n: int, p: float, delta: float) -> float:
    """P(mean of n centred two-point variables > limit) / delta; xi is 1 - p with probability p, else -p."""
    bound = max(p, 1 - p)
    allowed = limit(p * (1 - p), bound, n, delta)
    if not math.isfinite(allowed):
        return 0.0
    return float(binom.sf(math.floor(n * (p + allowed) * (1 + 1e-13)), n, p)) / delta


def lattice_excess(limit: Limit, n: int, values: tuple[int, ...], weights: tuple[float, ...], delta: float) -> float:
    """The same for variables on integers, i.i.d., by exact convolution of their law with itself."""
    law = np.zeros(max(values) - min(values) + 1)
    law[np.array(values) - min(values)] = weights
    total = np.ones(1)
    power, left = law, n
    while left:
        total = np.convolve(total, power) if left & 1 else total
        power, left = np.convolve(power, power), left >> 1
    mean = float(np.dot(values, weights))
    variance = float(np.dot(np.square(values), weights)) - mean**2
    bound = max(max(values) - mean, mean - min(values))
    reached = (np.arange(total.size) + n * min(values)) / n - mean
    return float(total[reached > limit(variance, bound, n, delta) * (1 + 1e-12)].sum()) / delta


def poisson_binomial(p: np.ndarray) -> np.ndarray:
    """The law of the sum of independent Bernoulli variables, by exact convolution."""
    law = np.ones(1)
    for chance in p:
        law = np.convolve(law, [1 - chance, chance])
    return law


TWO_POINT = list(
    itertools.product((1, 2, 3, 7, 20, 100, 10**3, 10**4, 10**6), (1e-4, 0.01, 0.2, 0.5, 0.8, 0.99), DELTAS)
)

THREE_POINT = list(
    itertools.product(
        (1, 2, 5, 20, 100, 300),
        (
            ((-1, 0, 1), (0.5, 0.0, 0.5)),
            ((-1, 0, 1), (0.05, 0.9, 0.05)),
            ((-1, 0, 5), (0.6, 0.3, 0.1)),
            ((-6, 0, 1), (0.01, 0.3, 0.69)),
        ),
        (0.5, 0.3, 0.05, 1e-3, 1e-6),
    )
)

BERNOULLI_FAMILIES = {
    "all different": np.linspace(0.01, 0.99, 60),
    "two kinds": np.repeat([0.02, 0.9], 50),
    "rare": np.full(200, 0.004),
    "some certain": np.concatenate([np.zeros(20), np.ones(20), np.full(40, 0.3)]),
    "one": np.array([0.37]),
}


def worst_mean_upper_excess(limit: Callable[[float, float, float], float], n: int, delta: float) -> float:
    """The largest P(p > limit(K/n)) / delta over every p: attained where p has just passed one of the limits."""
    count = np.arange(n + 1)
    limits = np.array([limit(k / n, n, delta) for k in count])
    inside = limits < 1
    return float((binom.cdf(count[inside], n, limits[inside]) / delta).max(initial=0.0))


@pytest.mark.parametrize("n", [1, 2, 3, 5, 10, 30, 100, 300])
def test_mean_upper_misses_no_binomial_law_more_often_than_delta(n: int) -> None:
    assert max(worst_mean_upper_excess(mean_upper, n, delta) for delta in DELTAS) <= 1


def test_mean_upper_cut_by_a_fifth_of_its_margin_is_caught() -> None:
    def cut(mean: float, n: float, delta: float) -> float:
        return mean + CUT * (mean_upper(mean, n, delta) - mean)

    assert worst_mean_upper_excess(cut, 300, 1e-6) > 1


@pytest.mark.parametrize("family", BERNOULLI_FAMILIES)
@pytest.mark.parametrize("delta", DELTAS)
def test_mean_upper_and_lower_hold_for_variables_that_differ(family: str, delta: float) -> None:
    p = BERNOULLI_FAMILIES[family]
    law = poisson_binomial(p)
    mean = np.arange(law.size) / p.size
    upper = np.array([mean_upper(m, p.size, delta) for m in mean])
    lower = np.array([mean_lower(m, p.size, delta) for m in mean])
    assert law[upper < p.mean()].sum() <= delta
    assert law[lower > p.mean()].sum() <= delta


@pytest.mark.parametrize("mean", [0.0, 1e-300, 1e-9, 0.01, 0.3, 0.5, 0.97, 1 - 1e-9, 1.0])
@pytest.mark.parametrize("n", [1, 50, 10**6, 10**12])
@pytest.mark.parametrize("delta", [0.5, 0.05, 1e-12])
def test_mean_upper_solves_its_equation_to_the_last_digits(mean: float, n: int, delta: float) -> None:
    with mpmath.workdps(60):
        q, budget = mpmath.mpf(mean), mpmath.log(1 / mpmath.mpf(delta)) / n

        def excess(c: mpmath.mpf) -> mpmath.mpf:
            left = q * mpmath.log(q / c) if q > 0 else mpmath.mpf(0)
            right = (1 - q) * mpmath.log((1 - q) / (1 - c)) if q < 1 else mpmath.mpf(0)
            return left + right - budget

        low, high, exact = q, 1 - mpmath.mpf(10) ** -50, mpmath.mpf(1)
        if q < 1 and excess(high) > 0:
            for _ in range(180):
                middle = (low + high) / 2
                low, high = (middle, high) if excess(middle) <= 0 else (low, middle)
            exact = low
    found = mean_upper(mean, n, delta)
    assert found >= exact
    assert found - exact <= 4e-12 * exact


@pytest.mark.parametrize(
    ("q", "c"), [(0.3, 0.3), (0.3, 0.3 + 1e-9), (0.0, 0.4), (1.0, 0.4), (0.2, 0.9), (1e-12, 2e-12)]
)
def test_relative_entropy_agrees_with_sixty_digits(q: float, c: float) -> None:
    with mpmath.workdps(60):
        a, b = mpmath.mpf(q), mpmath.mpf(c)
        left = a * mpmath.log(a / b) if a > 0 else mpmath.mpf(0)
        right = (1 - a) * mpmath.log((1 - a) / (1 - b)) if a < 1 else mpmath.mpf(0)
    assert relative_entropy(q, c) == pytest.approx(float(left + right), rel=1e-6, abs=1e-24)


def test_relative_entropy_to_an_impossible_law_is_infinite() -> None:
    assert relative_entropy(0.5, 1.0) == math.inf
    assert relative_entropy(0.5, 0.0) == math.inf


@pytest.mark.parametrize("limit", [bernstein, gaussian_sharp], ids=["D2", "D3"])
def test_limits_miss_no_two_point_law_more_often_than_delta(limit: Limit) -> None:
    assert max(two_point_excess(limit, n, p, delta) for n, p, delta in TWO_POINT) <= 1


@pytest.mark.parametrize("limit", [bernstein, gaussian_sharp], ids=["D2", "D3"])
def test_limits_miss_no_three_point_law_more_often_than_delta(limit: Limit) -> None:
    assert max(lattice_excess(limit, n, *law, delta) for n, law, delta in THREE_POINT) <= 1


@pytest.mark.parametrize("looser", [(1.1, 1.0), (3.0, 1.0), (30.0, 1.5), (1000.0, 2.0)])
def test_limits_hold_for_variances_and_bounds_that_are_too_large(looser: tuple[float, float]) -> None:
    """The variance is known only from above; a law of smaller variance must not slip through the limit for a larger."""

    def limit(variance: float, bound: float, n: float, delta: float) -> float:
        return gaussian_sharp(min(variance * looser[0], bound**2), bound * looser[1], n, delta)

    assert max(two_point_excess(limit, n, p, delta) for n, p, delta in TWO_POINT) <= 1


def test_the_limit_for_gains_holds_for_gains_of_minus_one_and_one() -> None:
    # A gain is twice a Bernoulli variable less one: its variance is four times, its bound twice as large.
    def limit(variance: float, bound: float, n: float, delta: float) -> float:
        return iid_limit(4 * variance, 2 * bound, n, delta) / 2

    assert max(two_point_excess(limit, n, p, delta) for n, p, delta in TWO_POINT) <= 1
    assert two_point_excess(shrunk(limit), 10**6, 0.5, 0.05) > 1


@pytest.mark.parametrize("share", [0.05, 0.3, 0.5, 0.8])
@pytest.mark.parametrize("delta", [0.5, 0.05, 1e-3, 1e-9])
@pytest.mark.parametrize("n", [1, 7, 60, 300])
def test_the_limit_for_groups_holds_where_scores_and_labels_both_vary(n: int, share: float, delta: float) -> None:
    # In halves: an error of 1 and a certain label for some scores, no error and a label tossed like a coin for others.
    def limit(variance: float, bound: float, n: float, delta: float) -> float:
        return 2 * grouped_limit(variance / 4, bound / 2, n, delta)

    assert lattice_excess(limit, n, (-2, -1, 0, 1), (share, (1 - share) / 2, 0.0, (1 - share) / 2), delta) <= 1


def hoeffding_for_range_one(variance: float, bound: float, n: float, delta: float) -> float:
    """A two-point variable of range 1 is sub-Gaussian with variance proxy 1/4."""
    return hoeffding(0.25, n, delta)


def test_hoeffding_misses_no_two_point_law_more_often_than_delta() -> None:
    assert max(two_point_excess(hoeffding_for_range_one, n, p, delta) for n, p, delta in TWO_POINT) <= 1


@pytest.mark.parametrize(
    ("limit", "n", "delta"),
    # D2 and Hoeffding pay sqrt(2 ln(1/delta)) where a normal variable needs its quantile: a fifth is visible only at
    # small delta, where the two are close. D3 is sharp at any delta, given rows enough.
    [(bernstein, 10**8, 1e-9), (hoeffding_for_range_one, 10**8, 1e-9), (gaussian_sharp, 10**6, 0.05)],
    ids=["D2", "Hoeffding", "D3"],
)
def test_a_limit_cut_by_a_fifth_is_caught_by_a_fair_coin(limit: Limit, n: int, delta: float) -> None:
    assert two_point_excess(limit, n, 0.5, delta) <= 1
    assert two_point_excess(shrunk(limit), n, 0.5, delta) > 1


@pytest.mark.parametrize("family", BERNOULLI_FAMILIES)
@pytest.mark.parametrize("delta", DELTAS)
def test_bernstein_holds_for_variables_that_differ(family: str, delta: float) -> None:
    p = BERNOULLI_FAMILIES[family]
    law = poisson_binomial(p)
    allowed = bernstein(float((p * (1 - p)).mean()), float(1 - p.min()), p.size, delta)
    assert law[np.arange(law.size) / p.size - p.mean() > allowed].sum() <= delta


@pytest.mark.parametrize("ratio", [1.0, 1.5, 3.0, 20.0])
def test_berry_esseen_constant_is_the_least_of_three_published_ones(ratio: float) -> None:
    published = (0.4690 * ratio, 0.3322 * (ratio + 0.429), 0.3031 * (ratio + 0.646))
    assert berry_esseen_constant(ratio) == min(published)


@pytest.mark.parametrize("p", [0.5, 0.2, 0.03])
@pytest.mark.parametrize("n", [1, 2, 5, 30, 200, 5000])
def test_berry_esseen_constant_bounds_the_distance_of_binomial_laws_to_the_normal(p: float, n: int) -> None:
    deviation = math.sqrt(p * (1 - p))
    third = p * (1 - p) * (p**2 + (1 - p) ** 2)
    count = np.arange(n + 1)
    normal = np.array([0.5 * math.erfc(-(k - n * p) / (deviation * math.sqrt(2 * n))) for k in count])
    distance = np.maximum(np.abs(binom.cdf(count, n, p) - normal), np.abs(binom.cdf(count - 1, n, p) - normal)).max()
    assert distance <= berry_esseen_constant(third / deviation**3) / math.sqrt(n)


def test_gaussian_sharp_is_within_one_percent_of_the_normal_quantile_at_a_million_rows() -> None:
    normal = 1.6448536269514722 * math.sqrt(0.25 / 1e6)
    found = gaussian_sharp(0.25, 0.5, 1e6, 0.05)
    assert normal < found < 1.01 * normal
    assert found < 0.7 * bernstein(0.25, 0.5, 1e6, 0.05)


@pytest.mark.parametrize("delta", [0.4, 0.05, 1e-3])
@pytest.mark.parametrize(("variance", "bound", "n"), [(0.14, 1.17, 1e4), (0.25, 1.5, 1e3), (1e-3, 1.0, 1e6)])
def test_gaussian_sharp_passes_only_what_is_a_limit_at_every_variance(
    variance: float, bound: float, n: float, delta: float
) -> None:
    def tail(e: float) -> float:
        """The larger of all tails, on a fine grid of the standard deviations that there may be."""
        deviation = math.sqrt(variance) * np.linspace(0.1, 1, 400)
        far = np.array([bentkus_tail(e, d * d, bound, n) for d in deviation])
        errors = np.array([berry_esseen_constant(bound / d) for d in deviation]) / math.sqrt(n)
        return float(np.minimum(far, norm.sf(e * math.sqrt(n) / deviation) + errors).max())

    e = gaussian_sharp(variance, bound, n, delta)
    assert tail(e) <= delta
    # And next to nothing is given away by cutting the variances into stretches.
    assert tail(0.995 * e) > delta


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("n", [1.0, 30.0, 1e3, 1e6, 1e12])
@pytest.mark.parametrize("variance", [1e-9, 1e-3, 0.2, 1.0])
def test_gaussian_sharp_is_never_above_bernstein(variance: float, n: float, delta: float) -> None:
    assert 0 < gaussian_sharp(variance, 1.5, n, delta) <= bernstein(variance, 1.5, n, delta) * (1 + 1e-9)
    assert gaussian_sharp(0.0, 1.5, n, delta) == 0


@given(
    st.floats(1e-9, 1.0),
    st.floats(1.0, 2.0),
    st.floats(0.0, 12.0),
    st.floats(-12.0, math.log10(0.5)),
    st.floats(1.0, 2.0),
)
def test_limits_grow_with_variance_and_bound_and_fall_with_rows_and_delta(
    variance: float, bound: float, log_n: float, log_delta: float, factor: float
) -> None:
    n, delta = math.floor(10**log_n), 10**log_delta
    # Stretches of variances, and very many rows that are joined, raise the first by up to half a per cent.
    for limit, close in ((iid_limit, 1.005), (grouped_limit, 1 + 1e-9)):
        value = limit(variance, bound, n, delta)
        assert 0 < value < math.inf
        assert limit(variance * factor, bound, n, delta) * close >= value
        assert limit(variance, bound * factor, n, delta) * close >= value
        assert limit(variance, bound, math.floor(n * factor), delta) <= value * close
        assert limit(variance, bound, n, delta / factor) * close >= value


@given(st.floats(0.0, 1.0), st.floats(0.0, 1.0), st.floats(0.0, 12.0), st.floats(-12.0, math.log10(0.5)))
def test_every_limit_is_finite_for_one_to_a_trillion_rows(
    plug_in: float, moment: float, log_n: float, log_delta: float
) -> None:
    n, delta = round(10**log_n), 10**log_delta
    for limit in (iid_limit, grouped_limit):
        found = invert(plug_in, moment, n, delta, limit)
        assert 0 <= found <= 1
        assert found >= min(plug_in, math.sqrt(moment))
    assert plug_in <= invert_squared(plug_in, n, delta) <= 1
    assert 0 <= mean_lower(plug_in, n, delta) <= plug_in <= mean_upper(plug_in, n, delta) <= 1


@given(st.floats(0.0, 0.5), st.floats(0.001, 1.0), st.integers(1, 10**6), st.sampled_from(DELTAS))
def test_invert_is_the_greatest_candidate_on_a_fine_grid(plug_in: float, moment: float, n: int, delta: float) -> None:
    for limit, points in ((grouped_limit, 4001), (iid_limit, 201)):
        found = invert(plug_in, moment, n, delta, limit)

        def fits(c: float, slack: float = 0.0, limit: Limit = limit) -> bool:
            return c - limit(max(moment - c * c, 0.0), 1 + c, n, delta) <= plug_in + slack

        top = min(1.0, math.sqrt(moment))
        above = [c for c in np.linspace(found, top, points)[1:].tolist() if c > found and fits(c)]
        assert not above
        assert any(fits(max(found - back, 0.0), 1e-9) for back in (0.0, 1e-12, 1e-11, 1e-10, 1e-9))


@given(
    st.floats(1e-9, 1.0),
    st.floats(1.0, 2.0),
    st.floats(0.0, 12.0),
    st.sampled_from(DELTAS),
    st.sampled_from([1e-9, 1e-6, 0.01, 0.3]),
)
def test_one_tail_tells_on_which_side_of_the_limit_a_number_lies(
    variance: float, bound: float, log_n: float, delta: float, apart: float
) -> None:
    limit = iid_limit(variance, bound, 10**log_n, delta)
    assert beyond_iid_limit(limit * (1 + apart), variance, bound, 10**log_n, delta) > 0
    assert beyond_iid_limit(limit * (1 - apart), variance, bound, 10**log_n, delta) < 0


@given(st.floats(0.0, 0.5), st.floats(0.001, 1.0), st.floats(0.0, 9.0), st.sampled_from(DELTAS))
def test_asking_for_sides_finds_what_asking_for_limits_finds(
    plug_in: float, moment: float, log_n: float, delta: float
) -> None:
    by_limits = invert(plug_in, moment, 10**log_n, delta, lambda *arguments: iid_limit(*arguments))
    assert invert(plug_in, moment, 10**log_n, delta, iid_limit) == pytest.approx(by_limits, rel=1e-9, abs=1e-12)


@given(st.floats(0.0, 0.5), st.integers(1, 10**6), st.sampled_from(DELTAS))
def test_invert_squared_is_the_greatest_candidate_on_a_fine_grid(plug_in: float, n: int, delta: float) -> None:
    found = invert_squared(plug_in, n, delta)

    def fits(c: float, slack: float = 0.0) -> bool:
        return c - bernstein(4 * c / 3 - c * c, 1 + c, n, delta) <= plug_in + slack

    above = [c for c in np.linspace(found, 1.0, 4001)[1:].tolist() if c > found and fits(c)]
    assert not above
    assert any(fits(max(found - back, 0.0), 1e-9) for back in (0.0, 1e-12, 1e-11, 1e-10, 1e-9))


def test_invert_finds_the_greatest_of_separate_stretches_of_candidates() -> None:
    def limit(variance: float, bound: float, n: float, delta: float) -> float:
        # Grows with the bound 1 + c, as limits do, and steeply around c = 0.7.
        return 0.05 + (0.4 if bound > 1.69 else 0.0)

    # Candidates are c <= 0.15 and 0.69 < c <= 0.5: none beyond; with plug-in 0.35, c <= 0.4 and 0.69 < c <= 0.8.
    assert invert(0.1, 1.0, 10, 0.5, limit) == pytest.approx(0.15, abs=1e-9)
    assert invert(0.35, 1.0, 10, 0.5, limit) == pytest.approx(0.8, abs=1e-9)


@pytest.mark.parametrize("n", [1.0, 40.0, 1e4, 1e9])
@pytest.mark.parametrize("kernel", [_largest, _largest_grouped], ids=["all", "by group"])
def test_a_compiled_search_finds_what_python_finds(kernel: Any, n: float) -> None:
    for plug_in, moment, delta in itertools.product((0.0, 0.01, 0.3), (0.02, 0.2, 0.9), (1e-9, 0.05, 0.5)):
        top = math.sqrt(moment)
        known = (min(plug_in, top), top, plug_in, moment, n, delta)
        assert kernel(*known) == pytest.approx(as_python(kernel)(*known), rel=1e-12)


@given(st.floats(0.0, 1.0), st.floats(1e-12, 30.0))
def test_a_compiled_limit_of_a_mean_is_the_one_of_python(mean: float, budget: float) -> None:
    kernel: Any = _mean_upper
    assert kernel(mean, budget) == pytest.approx(as_python(kernel)(mean, budget), rel=1e-13)


@pytest.mark.parametrize("n", [10, 1_000, 10**6, 10**9])
@pytest.mark.parametrize("plug_in", [0.0, 0.003, 0.2])
def test_a_search_asks_for_few_limits(n: int, plug_in: float) -> None:
    asked = []

    def counted(*arguments: float) -> float:
        asked.append(arguments)
        return iid_limit(*arguments)

    invert(plug_in, 0.17, n, 0.049, counted)
    assert len(asked) <= 60
