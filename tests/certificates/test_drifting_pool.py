"""Upper bounds for laws that drift: coverage, exactly."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import binom

from calcert.certificates.drifting_pool import drifting_limit, pooled_upper
from calcert.certificates.limits.deviations import iid_limit
from calcert.certificates.perturbed import upper_terms
from calcert.kernels.limits import bernstein, hoeffding
from calcert.kernels.search import SLACK
from calcert.perturbation.noise import Noise
from calcert.perturbation.sech_kernel import density
from tests.monitoring.lives import finite_summary

SCORE, ROWS, BANDWIDTH, DELTA = 0.9, 120, 1 / 4, 0.1
NOISE = Noise("additive", BANDWIDTH)


def test_the_limit_for_drifting_laws_is_no_smaller_than_those_for_one_law() -> None:
    for n in (10, 1000, 100_000):
        limit = drifting_limit(0.1, 1.1, n, DELTA)
        assert limit == min(bernstein(0.1, 2.0, n, DELTA), hoeffding(1.0, n, DELTA))
        assert limit >= iid_limit(0.1, 1.1, n, DELTA) * (1 - SLACK)


@cache
def bound(positives: int) -> tuple[float, float]:
    """Upper bound and its sampling term for rows at one score."""
    rows = finite_summary(np.array([SCORE]), np.array([[ROWS - positives, positives]]))
    certificate = pooled_upper(rows, NOISE, DELTA)
    assert certificate.upper == pytest.approx(sum(certificate.terms.values()))
    return certificate.upper, certificate.terms["sampling"]


def missed(chances: tuple[float, float], shrink: float = 0.0) -> float:
    """The exact probability that the bound is below the pooled error, half the rows having each chance of label 1."""
    pooled = (chances[0] + chances[1]) / 2
    kernel = lambda t: float(density(np.array([t]), np.array([SCORE]), BANDWIDTH)[0])  # noqa: E731
    truth = quad(lambda t: abs(t - pooled) * kernel(t), 0, 1, points=[pooled], epsabs=1e-10)[0]
    half = np.arange(ROWS // 2 + 1)
    law = np.convolve(*(binom.pmf(half, ROWS // 2, chance) for chance in chances))
    below = [bound(k)[0] - shrink * bound(k)[1] < truth - 1e-9 for k in range(ROWS + 1)]
    return float(law[below].sum())


@pytest.mark.parametrize("chances", [(0.2, 0.2), (0.0, 0.4), (0.05, 0.5), (0.3, 0.6), (0.0, 1.0), (0.9, 0.9)])
def test_pooled_bound_covers_laws_that_change_half_way(chances: tuple[float, float]) -> None:
    assert missed(chances) <= DELTA


def test_negative_control_a_bound_with_a_third_of_its_sampling_term_is_caught() -> None:
    assert missed((0.3, 0.3), shrink=2 / 3) > DELTA


def test_theorem_1_is_the_same_as_before_where_no_limit_is_given() -> None:
    rows = finite_summary(np.array([0.2, 0.7]), np.array([[40, 10], [15, 35]]))
    assert upper_terms(rows, NOISE, DELTA) == upper_terms(rows, NOISE, DELTA, iid_limit)
