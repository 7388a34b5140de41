"""Facts of the rows, against NumPy on the rows themselves."""

from __future__ import annotations

import math

import numpy as np
import pytest

import calcert
from calcert.reports.estimates import LEVELS, log_loss, score_quantiles


def test_quantiles_of_many_scores_to_the_width_of_a_cell() -> None:
    x = np.random.default_rng(0).beta(0.5, 3, 50_000)
    found = score_quantiles(calcert.summarize(x, x > 0.5))
    expected = np.quantile(x, LEVELS, method="inverted_cdf")
    assert list(found) == list(LEVELS)
    np.testing.assert_allclose(list(found.values()), expected, atol=2.0**-14)


def test_quantiles_of_listed_scores_are_scores() -> None:
    x = np.array([0.1] * 99 + [0.9])
    assert score_quantiles(calcert.summarize(x, x > 0.5), (0.5, 0.99, 0.999)) == {0.5: 0.1, 0.99: 0.1, 0.999: 0.9}


def test_log_loss_is_infinite_where_certainty_was_wrong_and_finite_where_it_was_right() -> None:
    assert log_loss(calcert.summarize([0.0, 0.5], [1, 1])) == math.inf
    assert log_loss(calcert.summarize([0.0, 1.0], [0, 1])) == 0
    assert log_loss(calcert.summarize([0.25], [1])) == pytest.approx(math.log(4))
