"""The published statements as printed are wrong, or wasteful, in the ways that their docstrings say."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest
from scipy.stats import binom

from calcert import published
from calcert.perturbation.noise import perturb
from calcert.perturbation.sech_kernel import mean
from calcert.published.bound import OVERSHOOT, POOLED, REALISED, REALISED_BUCKETS, UNNEEDED
from calcert.published.buckets import bucketed, cuts_of
from calcert.published.folded_rows import fold_rows, single_split
from calcert.published.perturb_and_smooth import derivative_bounds, smoothed
from calcert.published.total_variation import denoised


def split(score, training_labels, validation_rows):
    """All scores equal; validation labels do not enter a bound."""
    labels = np.concatenate([training_labels, np.zeros(validation_rows)]).astype(np.int8)
    held_out = np.arange(labels.size) >= len(training_labels)
    return single_split(np.full(labels.size, score), labels, held_out)


def test_two_training_rows_make_the_printed_bound_fail_with_probability_one_quarter():
    # Score 1, true frequency 1/2, constant calibration function: the calibration error is 1/2.
    failures = 0
    for labels in itertools.product((0, 1), repeat=2):
        bound = smoothed(split(1.0, labels, 150), slopes=(0.0, 0.0), delta=0.05, per_fold=False)
        failures += bound.value < 0.5
    assert failures == 1


def failure_probability(value_of, n):
    """Exactly: the bound at true frequency 1/2 fails for training sums above some number, found by bisection."""
    truth = 0.4
    low, high = n // 2, n // 2 + 10 * int(np.sqrt(n))
    assert value_of(low) >= truth
    assert value_of(high) < truth
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if value_of(middle) < truth else (middle, high)
    # For sums so large that the curve passes the score 0.9, the bound grows again: out of reach of the binomial law.
    return binom.sf(low, n, 0.5)


def test_a_hundred_thousand_rows_make_the_printed_bound_fail_with_probability_0_128():
    n = 100_000

    def value(positives):
        labels = np.arange(n) < positives
        return smoothed(split(0.9, labels, n), slopes=(0.0, 0.0), delta=0.05, per_fold=False).value

    assert failure_probability(value, n) == pytest.approx(0.128, abs=5e-4)


def test_the_same_law_breaks_the_bound_at_the_slopes_of_a_perturbed_classifier():
    n = 100_000

    def value(positives):
        labels = np.arange(n) < positives
        return smoothed(split(0.9, labels, n), slopes=derivative_bounds(1 / 64), delta=0.05, per_fold=False).value

    assert failure_probability(value, n) > 0.12


def test_a_training_set_of_one_label_breaks_the_printed_bound_on_perturbed_scores_too():
    # Original scores 1, true frequency 1/2. The paper states the bound given the training set, whatever it is.
    h, training, total = 1 / 64, 64, 20_064
    scores = perturb(np.ones(total), bandwidth=h, rng=0)
    held_out = np.arange(total) >= training
    truth = float(mean(1.0, h)) - 0.5
    assert truth == pytest.approx(0.4818, abs=1e-4)
    bound = published.perturb_and_smooth(
        scores, np.ones(total), bandwidth=h, perturbed=True, validation=held_out, delta=0.05
    )
    assert bound.value < 0.36 < truth
    drawn = np.where(np.arange(total) < training, np.arange(total) % 2, 1)  # As many labels 0 as 1, as is usual.
    usual = published.perturb_and_smooth(scores, drawn, bandwidth=h, perturbed=True, validation=held_out, delta=0.05)
    assert usual.value > truth


def test_buckets_share_the_fault():
    # The law of the first test, one partition, and a calibration function as flat as may be.
    failures = 0
    for labels in itertools.product((0, 1), repeat=2):
        rows = split(1.0, labels, 400)
        failures += bucketed(rows, constant=1e-9, cuts=cuts_of((2,), 1), delta=0.05, per_fold=False).value < 0.5
    assert failures == 1


def test_half_of_the_scores_on_one_number_are_warned_of_and_served_ones_are_not():
    rng = np.random.default_rng(0)
    scores, labels = np.append(np.full(100, 0.9), rng.random(100)), rng.integers(0, 2, 200)
    with pytest.warns(UserWarning, match="scores are") as caught:
        published.perturb_and_smooth(scores, labels, perturbed=True, rng=0)
    assert [str(warning.message) for warning in caught] == [f"100 of 200 scores are 0.9. {REALISED}"]
    assert caught[0].filename == __file__
    with warnings.catch_warnings(action="error"):
        published.perturb_and_smooth(scores, labels, rng=0)
        published.perturb_and_smooth(scores[1:], labels[1:], perturbed=True, rng=0)


def test_nearest_neighbour_error_exceeds_its_scale_as_published_and_is_capped_per_fold():
    scores = np.array([0.1, 0.1, 0.1, 0.9])
    rows = single_split(scores, np.zeros(4, np.int8), np.array([False, False, False, True]))
    slopes = derivative_bounds(1 / 64)
    as_published = smoothed(rows, slopes=slopes, delta=0.05, per_fold=False).terms["error of the curve"]
    assert as_published == pytest.approx(32 * 0.8 + 3072 * 0.64 + 0.5 / np.sqrt(3))
    assert smoothed(rows, slopes=slopes, delta=0.05, per_fold=True).terms["error of the curve"] == 1


def test_the_reading_per_fold_covers_a_hard_law_of_bounded_variation():
    # Score 0.9, frequency 1/2, as above: what breaks the smoothed bound leaves this one true in every outcome.
    n = 1000
    for positives in range(0, n + 1, 25):
        rows = split(0.9, np.arange(n) < positives, n)
        assert denoised(rows, variation=1.0, delta=0.05, per_fold=True).value >= 0.4 or abs(positives / n - 0.5) > 0.1


def test_every_answer_names_its_faults():
    rng = np.random.default_rng(0)
    scores = rng.random(100)
    rows = fold_rows(scores, (rng.random(100) < scores).astype(np.int8), rng=rng)
    slopes, cuts = derivative_bounds(1 / 64), cuts_of()
    named = {
        per_fold: (
            denoised(rows, variation=1.0, delta=0.05, per_fold=per_fold).faults,
            smoothed(rows, slopes=slopes, delta=0.05, per_fold=per_fold).faults,
            bucketed(rows, constant=32.0, cuts=cuts, delta=0.05, per_fold=per_fold).faults,
        )
        for per_fold in (False, True)
    }
    assert named[False] == ((POOLED, UNNEEDED), (REALISED, POOLED, OVERSHOOT), (REALISED_BUCKETS, POOLED))
    assert named[True] == ((UNNEEDED,), (REALISED,), (REALISED_BUCKETS,))
