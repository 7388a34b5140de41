"""Lemma Q and the limits for clusters, over all outcomes of clusters of two kinds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

import calcert
from calcert.certificates.limits.cluster_deviations import FixedWeights
from calcert.certificates.limits.cluster_moments import gains_of, large_gains, perturbed_squares
from calcert.perturbation import odds_kernel, sech_kernel
from calcert.perturbation.noise import Noise
from calcert.summary.design import Design
from tests.lab.clusters import Kind, units_at

KINDS = ((40, 1), (10, 4))
"""How many clusters of which weight."""


def fixed(squares: float, delta: float) -> FixedWeights:
    kinds = [Kind(number, weight, 0) for number, weight in KINDS]
    rows = units_at(0.5, kinds, Design(clustered=True))
    assert rows.clusters is not None
    return FixedWeights.of(rows, rows.clusters, squares, delta)


@pytest.mark.parametrize("chances", [(0.1, 0.1), (0.5, 0.05), (0.02, 0.3), (0.9, 0.9)])
@pytest.mark.parametrize("delta", [0.4, 0.1, 0.01])
def test_lemma_q_misses_the_second_moment_no_more_often_than_delta(chances: tuple[float, float], delta: float) -> None:
    scale = sum(number * weight for number, weight in KINDS) ** 2 / sum(number for number, _ in KINDS)
    truth = sum(number * weight**2 * p for (number, weight), p in zip(KINDS, chances, strict=True)) / scale
    missed = without = 0.0
    for a in range(KINDS[0][0] + 1):
        for b in range(KINDS[1][0] + 1):
            seen = a * KINDS[0][1] ** 2 + b * KINDS[1][1] ** 2
            chance = float(binom.pmf(a, KINDS[0][0], chances[0]) * binom.pmf(b, KINDS[1][0], chances[1]))
            found = fixed(seen, delta).second
            missed += chance * (found < truth * (1 - 1e-9))
            without += chance * (seen / scale < truth * (1 - 1e-9))
    assert missed <= delta
    assert without > 0.3


@pytest.mark.parametrize("number", [20, 2000])
@pytest.mark.parametrize("delta", [0.4, 0.05, 1e-4])
@pytest.mark.parametrize("chances", [(0.5, 0.5), (0.2, 0.9), (0.05, 0.05)])
def test_limits_hold_for_units_of_two_laws(number: int, delta: float, chances: tuple[float, float]) -> None:
    # Gains are plus or minus the weight, 1 or 3.
    weights, sizes = (1, 3), (number, number // 4)
    rows = units_at(0.5, [Kind(sizes[0], 1, 0), Kind(sizes[1], 3, 0)], Design(clustered=True))
    assert rows.clusters is not None
    whole = FixedWeights.of(rows, rows.clusters, float(rows.clusters.squares), 1e-3)
    mean = rows.n / sum(sizes)
    variance = sum(n * w**2 * 4 * p * (1 - p) for n, w, p in zip(sizes, weights, chances, strict=True))
    limit = whole.limit(variance / mean**2 / sum(sizes), delta) * rows.n
    first, second = (binom.pmf(np.arange(n + 1), n, p) for n, p in zip(sizes, chances, strict=True))
    beyond = {}
    for part in (1.0, 0.7):
        shift = sum(2 * n * w * p for n, w, p in zip(sizes, weights, chances, strict=True)) + part * limit
        # 2 a + 6 b exceeds its mean by so much.
        needed = np.floor((shift - 2 * np.arange(sizes[0] + 1)) / 6)
        beyond[part] = float((first * binom.sf(needed, sizes[1], chances[1])).sum())
    assert second.sum() == pytest.approx(1)
    assert beyond[1.0] <= delta
    if number == 2000 and delta == 0.05 and chances[0] == 0.5:
        assert beyond[0.7] > delta


@pytest.mark.parametrize("noise", [Noise("additive", 1 / 64), Noise("additive", 1 / 4), Noise("odds", 1 / 16)])
def test_what_a_summary_knows_of_served_gains_is_never_too_little(noise: Noise) -> None:
    rng = np.random.default_rng(0)
    for alpha, beta in ((1, 1), (0.2, 0.2), (0.5, 50)):
        x = rng.beta(alpha, beta, 4000)
        y, cluster, weight = rng.random(4000) < x, rng.integers(0, 500, 4000), rng.integers(1, 4, 4000)
        rows = calcert.summarize(x, y, clusters=cluster, weights=weight, largest_weight=100, largest_gain=60)
        served = sech_kernel.mean(x, noise.size) if noise.kind == "additive" else odds_kernel.mean(x, noise.size)
        gain = np.bincount(cluster, weight * np.abs(y - served), 500)
        size = np.bincount(cluster, weight, 500)
        assert rows.clusters is not None
        found = gains_of(rows, rows.clusters, noise)
        assert (gain**2).sum() <= found.squares <= 1.3 * (gain**2).sum()
        assert (gain * size).sum() <= found.mixed
        assert gain.max() <= found.cap <= 100.001
        as_it_is = np.bincount(cluster, weight * (y - x) ** 2, 500) * size
        assert as_it_is.sum() <= perturbed_squares(rows, rows.clusters) <= 1.01 * as_it_is.sum()


# Third moments, which pair sums come with.


def test_third_moments_grow_by_at_most_a_third_when_centred() -> None:
    # The line that lies above: with E x = 1 it has mean 0 (Lemma D3T).
    x = np.concatenate([np.linspace(-40, 40, 800_001), np.linspace(-1e6, 1e6, 20_001)])
    excess = np.abs(x - 1) ** 3 - 4 / 3 * np.abs(x) ** 3 + 17 / 2 * (x - 1)
    assert excess.max() <= 0
    # A smaller number would not do: some law of two values has more than 1.3 times as much.
    chance, low, high = np.meshgrid(np.linspace(0.001, 0.999, 400), [-1.0], np.linspace(0.05, 20, 800))
    mean = chance * high + (1 - chance) * low
    centred = chance * np.abs(high - mean) ** 3 + (1 - chance) * np.abs(low - mean) ** 3
    ratio = centred / (chance * high**3 + (1 - chance))
    assert 1.3 < ratio.max() <= 4 / 3


@pytest.mark.parametrize("number", [200, 20_000])
@pytest.mark.parametrize("delta", [0.4, 0.05])
@pytest.mark.parametrize("chance", [0.5, 0.1])
def test_limits_from_third_moments_hold_for_units_that_gain_a_part_of_their_weight(
    number: int, delta: float, chance: float
) -> None:
    # Gains are plus or minus one and weights are 5.
    rows = units_at(0.5, [Kind(number, 5, 0)], Design(clustered=True))
    assert rows.clusters is not None
    variance = 4 * chance * (1 - chance) / 25
    loose = FixedWeights.knowing(rows, rows.clusters, number * 1.0)
    sharp = replace(loose, third=1 / 125)
    limit = sharp.limit(variance, delta) * 5 * number
    assert limit <= loose.limit(variance, delta) * 5 * number * (1 + 1e-12)
    # 2 a - number exceeds its mean by so much.
    beyond = [float(binom.sf(np.floor(number * chance + part * limit / 2), number, chance)) for part in (1.0, 0.7)]
    assert beyond[0] <= delta
    if number == 20_000 and delta == 0.05:
        assert limit < 0.95 * loose.limit(variance, delta) * 5 * number
        assert beyond[1] > delta


@pytest.mark.parametrize("delta", [0.4, 0.05])
def test_what_units_gain_beyond_a_share_is_missed_no_more_often_than_delta(delta: float) -> None:
    number, size, score = 40, 4, 0.75
    for chance in (0.05, 0.3, 0.8):
        missed = without = 0.0
        for zeros in range(number + 1):
            # All labels of a cluster are equal: it gains 3 with label 0 and 1 with label 1.
            kinds = [Kind(zeros, size, 0), Kind(number - zeros, 0, size)]
            rows = units_at(score, kinds, Design(clustered=True, paired=True))
            assert rows.clusters is not None
            assert rows.clusters.pair_sums is not None
            probability = float(binom.pmf(zeros, number, chance))
            found = large_gains(rows.clusters, delta)
            truth = [
                number * chance * max(3 - s * size, 0) * 9 + number * (1 - chance) * max(1 - s * size, 0)
                for s in (1 / 8, 1 / 4, 3 / 8, 1 / 2, 5 / 8)
            ]
            missed += probability * any(large.beyond < t * (1 - 1e-9) for large, t in zip(found, truth, strict=True))
            seen = rows.clusters.pair_sums.beyond
            without += probability * bool((seen < np.array(truth) * (1 - 1e-9)).any())
        assert missed <= delta
        assert without > 0.3
