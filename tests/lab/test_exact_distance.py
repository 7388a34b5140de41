"""Theorem 6 over every outcome: its upper bound on small laws, at a score where nothing is given away, and broken.

The distance of small laws is a linear program. At score 1 the perturbation can move scores one way only, by as much on
average as it ever does, so that Theorem 1 and the shift add up to the distance itself: there the bound is tight.
"""

from __future__ import annotations

from collections.abc import Callable
from unittest import mock

import numpy as np
import pytest

from calcert import Summary
from calcert.certificates import distance, lower_bounds, perturbed
from calcert.certificates.lower_bounds import distance_lower
from tests.lab.laws import SMALL_LAWS, Law, asking_only_for, miss_probability, one_score_miss, too_many, upper

SIZES = {1: (1, 3, 12), 2: (1, 2, 5), 3: (1, 3)}
"""Numbers of rows by the number of scores."""

AT_ONE = Law((1.0,), (1.0,), (0.5,))


def terms(delta: float, without: str = "") -> Callable[[Summary], dict[str, float]]:
    """The terms of the upper bound at its best bandwidth, but for one of them."""

    def found(summary: Summary) -> dict[str, float]:
        options = [distance.terms_at(summary, h, delta / len(distance.SPREAD)) for h in distance.bandwidths(summary.n)]
        return min(({n: v for n, v in o.items() if n != without} for o in options), key=lambda o: sum(o.values()))

    return found


@pytest.mark.parametrize(("name", "n"), [(name, n) for name, law in SMALL_LAWS.items() for n in SIZES[len(law.score)]])
def test_upper_covers_the_distance_for_every_law_on_up_to_three_scores(
    name: str, n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(perturbed, "FINENESS", 32)
    law = SMALL_LAWS[name]
    with asking_only_for(law.distance):
        assert miss_probability(law, n, lambda s: upper(distance.upper_terms(s, 0.5)[1]), law.distance) <= 0.5


@pytest.mark.parametrize("delta", [0.5, 0.05, 1e-6])
@pytest.mark.parametrize("n", [10, 10**5])
def test_score_one_in_many_rows_is_missed_no_more_often_than_delta(
    n: int, delta: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(perturbed, "FINENESS", 64)
    with asking_only_for(AT_ONE.distance):
        assert one_score_miss(terms(delta), AT_ONE, n, AT_ONE.distance, cut=0.0) <= delta


def test_a_sampling_term_cut_by_a_fifth_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(perturbed, "FINENESS", 128)
    # Bernstein's bound is as good as sharp at so small a delta, even shared among three bandwidths.
    n, delta = 10**7, 1e-9
    assert one_score_miss(terms(delta), AT_ONE, n, AT_ONE.distance, cut=0.0) <= delta
    assert one_score_miss(terms(delta), AT_ONE, n, AT_ONE.distance, cut=0.2) > delta


def test_a_bound_without_the_shift_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(perturbed, "FINENESS", 128)
    # Perturbing has brought the scores nearer to the labels: the calibration error alone is below the distance.
    n, delta = 10**6, 0.05
    assert one_score_miss(terms(delta), AT_ONE, n, AT_ONE.distance, cut=0.0) <= delta
    assert one_score_miss(terms(delta, without="shift"), AT_ONE, n, AT_ONE.distance, cut=0.0) > 0.4


def test_plug_ins_alone_miss_more_often_than_delta(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(perturbed, "FINENESS", 64)
    law = Law((1.0,), (1.0,), (0.1,))
    assert miss_probability(law, 5, lambda s: upper(terms(0.3)(s), cut=1.0), law.distance) > 0.3


def test_a_lower_bound_from_a_witness_that_jumps_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Opposite errors close to each other: a jump sees them all, a Lipschitz function almost nothing."""
    monkeypatch.setattr(lower_bounds, "KNOTS", 32)
    law, delta, runs = Law((0.45, 0.55), (0.5, 0.5), (0.9, 0.1)), 0.1, 30

    def misses() -> int:
        rng = np.random.default_rng(0)
        return sum(distance_lower(law.draw(1000, rng), delta, seed) > law.distance for seed in range(runs))

    assert not too_many(misses(), runs, delta)
    with mock.patch.object(lower_bounds, "_lipschitz_witness", lambda points, known, knots: np.sign(0.5 - knots)):
        assert too_many(misses(), runs, delta)
