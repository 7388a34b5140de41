"""Errors at the border: each names the argument, what it must be, what it was, where, and the way out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch

import calcert
from calcert.foundation import validation
from calcert.sources.arrays import summarize_arrays

GOOD = [0.2, 0.7, 0.9]
LABELS = [0, 1, 1]
NAN, INF = float("nan"), float("inf")

BAD_SCORES: dict[str, tuple[Any, type[Exception], str]] = {
    "logits": ([0.2, -3.1, 2.0], ValueError, r"scores must lie in \[0, 1\]; got -3.1 at row 1\. .*scipy.special.expit"),
    "logs": ([-0.2, -3.1, -1.0], ValueError, r"got -0.2 at row 0\. For log-probabilities pass numpy.exp\("),
    "above one": ([0.2, 0.5, 1.73], ValueError, r"scores must lie in \[0, 1\]; got 1.73 at row 2\. .*expit"),
    "percentages": ([20.0, 70.0, 90.0], ValueError, r"got 20 at row 0\. For percentages pass scores / 100"),
    "rounding noise": ([0.2, 1 + 1e-9, 0.3], ValueError, r"got 1\.000000001 at row 1\. .*numpy.clip\(scores, 0, 1\)"),
    "rounding noise below": ([0.2, -1e-12, 0.3], ValueError, r"got -1e-12 at row 1\. .*numpy.clip"),
    "NaN": ([0.2, NAN, 0.3], ValueError, r"scores must be .*got a missing value \(NaN\) at row 1\. .*on purpose"),
    "plus infinity": ([0.2, INF, 0.3], ValueError, r"got inf at row 1\. .*expit"),
    "minus infinity": ([-INF, 0.2, 0.3], ValueError, r"got -inf at row 0\. .*expit"),
    "None": ([0.2, None, 0.3], ValueError, r"scores must have no missing values; got one at row 1\. .*on purpose"),
    "pandas NA": (pd.Series([0.2, pd.NA, 0.3], dtype="Float64"), ValueError, "scores must have no .*got one at row 1"),
    "polars null": (pl.Series([0.2, 0.3, None]), ValueError, "scores must have no missing values; got one at row 2"),
    "pyarrow null": (pa.array([None, 0.3, 0.1]), ValueError, "scores must have no missing values; got one at row 0"),
    "masked": (np.ma.array(GOOD, mask=[0, 0, 1]), ValueError, "scores must have no missing values; got one at row 2"),  # type: ignore[arg-type]
    "strings": (
        ["a", "b", "c"],
        TypeError,
        r"scores must be a one-dimensional array of numbers in \[0, 1\]; got .*'a'",
    ),
    "complex": (np.array(GOOD) + 0j, TypeError, "scores must be a one-dimensional.*got complex numbers.*real parts"),
    "objects": ([0.2, object(), 0.3], TypeError, r"scores must be .*of type object at row 1\. .*astype\(float\)"),
    "object array": (
        np.array(GOOD, object),
        TypeError,
        r"scores must be .*got an object array\. Pass .*astype\(float\)",
    ),
    "dates": (np.array(["2020-01-01"] * 3, "M8[D]"), TypeError, "scores must be .*got dtype datetime64"),
    "two columns": (
        np.ones((3, 2)),
        ValueError,
        r"two columns must be the probabilities of label 0 and label 1, which add up to 1; got 1.0 and 1.0 at row 0"
        r"|got shape \(3, 2\)\. For predict_proba output in a list",
    ),
    "one column": (np.ones((3, 1)), ValueError, r"got shape \(3, 1\)\. Pass scores.ravel\(\)"),
    "ragged": ([[0.1], [0.2, 0.3]], ValueError, "scores must be .*got nested values of unequal lengths"),
    "empty": ([], ValueError, "scores must hold at least one row; got none"),
    "a number": (0.5, TypeError, "scores must be a one-dimensional array.*got 0.5"),
    "nothing": (None, TypeError, "scores must be a one-dimensional array.*got None"),
    "a dict": ({"a": 1}, TypeError, "scores must be a one-dimensional array.*got dict"),
    "too long": ([0.1] * 4, ValueError, "scores and labels must have the same length; got 4 scores and 3 labels"),
    "swapped": ([0, 1, 1], ValueError, r"labels must be 0 or 1 .*got 0.2 at row 0\. .*swapped\? Call certify\(scores"),
    "meta tensor": (
        torch.empty(3, device="meta"),
        ValueError,
        r"scores must be on the CPU; got .*meta.*scores.cpu\(\)",
    ),
}

BAD_LABELS: dict[str, tuple[Any, type[Exception], str]] = {
    "minus one and one": ([-1, 1, 1], ValueError, r"labels must be 0 or 1 \(or bool\); got -1 at row 0\. .*labels > 0"),
    "one and two": ([1, 2, 2], ValueError, r"got 2 at row 1\. For classes 1 and 2 pass labels == 2"),
    "three classes": ([0, 1, 2], ValueError, r"got 2 at row 2\. For one class against the rest pass labels =="),
    "fractions": ([0, 0.5, 1], ValueError, r"labels must be 0 or 1 \(or bool\); got 0.5 at row 1"),
    "NaN": ([0, NAN, 1], ValueError, r"labels must be .*got a missing value \(NaN\) at row 1\. Drop unlabelled rows"),
    "None": ([0, None, 1], ValueError, "labels must have no missing values; got one at row 1"),
    "pandas NA": (
        pd.Series([0, pd.NA, 1], dtype="Int64"),
        ValueError,
        "labels must have no missing .*got one at row 1",
    ),
    "polars null": (pl.Series([True, None, False]), ValueError, "labels must have no missing values; got one at row 1"),
    "pyarrow null": (pa.array([0, 1, None]), ValueError, "labels must have no missing values; got one at row 2"),
    "masked": (np.ma.array(LABELS, mask=[1, 0, 0]), ValueError, "labels must have no missing values; got one at row 0"),  # type: ignore[arg-type]
    "strings": (["no", "yes", "yes"], TypeError, "labels must be a one-dimensional array of 0/1; got .*'no'"),
    "a string": ("yes", TypeError, "labels must be a one-dimensional array of 0/1; got the string 'yes'"),
    "complex": ([0j, 1, 1], TypeError, "labels must be .*got complex numbers"),
    "nothing": (None, TypeError, "labels must be a one-dimensional array of 0/1; got None"),
    "two columns": (np.ones((3, 2), int), ValueError, r"labels must be .*got shape \(3, 2\)"),
    "one column": (np.ones((3, 1), int), ValueError, r"got shape \(3, 1\)\. Pass labels.ravel\(\)"),
    "too short": ([0], ValueError, "scores and labels must have the same length; got 3 scores and 1 labels"),
    "empty": ([], ValueError, "labels must hold at least one row; got none"),
    "a frame": (pd.DataFrame({"y": LABELS}), TypeError, r"labels must be one column; got a whole data frame\. Name"),
    "negative bytes": (np.array([-1, 0, 1], np.int8), ValueError, "labels must be .*got -1 at row 0"),
    "huge": (np.array([0, 1, 2**63], np.uint64), ValueError, "labels must be .*got 9223372036854775808 at row 2"),
}


@pytest.mark.parametrize("case", BAD_SCORES)
def test_bad_scores_are_refused_in_words(case: str) -> None:
    scores, error, words = BAD_SCORES[case]
    labels = GOOD if case == "swapped" else LABELS
    with pytest.raises(error, match=words):
        summarize_arrays(scores, labels)


@pytest.mark.parametrize("case", BAD_LABELS)
def test_bad_labels_are_refused_in_words(case: str) -> None:
    labels, error, words = BAD_LABELS[case]
    with pytest.raises(error, match=words):
        calcert.certify(GOOD, labels)


@pytest.mark.parametrize("case", ["logits", "NaN", "None", "two columns", "too long", "complex"])
def test_certify_refuses_what_summarize_refuses(case: str) -> None:
    scores, error, words = BAD_SCORES[case]
    for call in (calcert.certify, calcert.summarize):
        with pytest.raises(error, match=words):
            call(scores, LABELS)


def test_a_string_where_scores_belong_is_not_taken_for_numbers() -> None:
    with pytest.raises(TypeError, match=r"scores must be .*numbers.*got the string '0.5'"):
        calcert.sources.arrays.summarize_arrays("0.5", [1])


def test_the_row_of_an_error_is_counted_over_all_chunks() -> None:
    x, y = np.full(1_100_000, 0.5), np.zeros(1_100_000)
    x[1_060_000] = 3.0
    with pytest.raises(ValueError, match="got 3 at row 1060000"):
        calcert.summarize(x, y)
    x[1_060_000], y[1_090_000] = 0.5, 7
    with pytest.raises(ValueError, match=r"got 7.0 at row 1090000"):
        calcert.summarize(x, y)


@pytest.mark.parametrize("value", [0, 0.5, 0.25, 1, -0.1, 1.5, NAN, INF])
def test_the_confidence_must_lie_strictly_between_one_half_and_one(value: float) -> None:
    with pytest.raises(ValueError, match=r"confidence must lie strictly between 0\.5 and 1; got"):
        calcert.certify(GOOD, LABELS, confidence=value)
    assert validation.check_confidence(0.51) == 0.51


@pytest.mark.parametrize(("given", "meant"), [(0.05, "0.95"), (0.1, "0.9"), (0.001, "0.999")])
def test_the_probability_of_failure_given_as_confidence_is_recognised(given: float, meant: str) -> None:
    with pytest.raises(ValueError, match=rf"may fail with probability {given} pass {meant}\.$"):
        calcert.certify(GOOD, LABELS, confidence=given)


def test_a_confidence_in_percent_is_recognised() -> None:
    with pytest.raises(ValueError, match=r"got 95\. For a confidence of 95% pass 0\.95\.$"):
        calcert.certify(GOOD, LABELS, confidence=95)


@pytest.mark.parametrize("delta", [0.05, 0.1, 0.01, 0.001, 0.025, 0.2])
def test_the_complement_of_a_decimal_is_the_decimal_that_people_mean(delta: float) -> None:
    assert calcert.Settings(confidence=round(1 - delta, 6)).delta == delta


def test_what_belongs_to_the_rows_is_said_once() -> None:
    rows = calcert.Rows(GOOD, LABELS)
    with pytest.raises(TypeError, match=r"groups must be said where the Rows are made: calcert\.Rows\("):
        calcert.certify(rows, groups=["a"] * len(GOOD))
    with pytest.raises(TypeError, match=r"confidence must be said once; got it beside settings"):
        calcert.certify(rows, confidence=0.9, settings=calcert.Settings())
    with pytest.raises(TypeError, match=r"reading must come with files; got list"):
        calcert.Rows(GOOD, LABELS, reading=calcert.Reading(percent=True))


def test_the_two_columns_of_predict_proba_are_taken() -> None:
    p = np.asarray(GOOD, float)
    both = calcert.summarize(np.column_stack([1 - p, p]), LABELS)
    assert both == calcert.summarize(p, LABELS)
    with pytest.raises(ValueError, match=r"two columns must be the probabilities of label 0 and label 1"):
        calcert.summarize(np.column_stack([p, p]), LABELS)


def test_probabilities_of_many_classes_are_not_taken_for_scores() -> None:
    for refused in (calcert.summarize, calcert.certify):
        with pytest.raises(ValueError, match=r"got shape \(2, 3\)\. For the most probable of several classes pass"):
            refused([[0.2, 0.3, 0.5], [0.1, 0.1, 0.8]], [2, 2])


@pytest.mark.parametrize("name", ["bandwidth", "variation"])
@pytest.mark.parametrize("value", [0, -1.0, NAN, INF])
def test_bandwidth_and_variation_must_be_positive_and_finite(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"{name} must be positive and finite, such as .*; got"):
        calcert.certify(GOOD, LABELS, settings=calcert.Settings(**{name: value}))  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [0, -1.0, NAN, INF])
def test_the_lipschitz_constant_must_be_positive_and_finite(value: float) -> None:
    with pytest.raises(ValueError, match=r"constant must be positive and finite, such as 2\.0; got"):
        calcert.bounds.lipschitz(calcert.summarize(GOOD, LABELS), constant=value)


@pytest.mark.parametrize("name", ["confidence", "bandwidth", "variation"])
@pytest.mark.parametrize("value", ["0.05", None, True, [0.05], 0.05 + 0j])
def test_a_number_must_be_a_number(name: str, value: object) -> None:
    if name != "confidence" and value is None:
        return  # left out
    with pytest.raises(TypeError, match=rf"{name} must be a .*such as .*; got .* of type {type(value).__name__}"):
        calcert.certify(GOOD, LABELS, settings=calcert.Settings(**{name: value}))  # type: ignore[arg-type]


def test_numbers_of_any_real_type_will_do() -> None:
    first = calcert.certify(GOOD, LABELS, settings=calcert.Settings(0.75, bandwidth=0.5))
    numbers = calcert.Settings(np.float32(0.75), bandwidth=np.float64(0.5))  # type: ignore[arg-type]
    second = calcert.certify(GOOD, LABELS, settings=numbers)
    assert first == second


@pytest.mark.parametrize("value", [-1, 1.5, "0", None, True])
def test_the_seed_must_be_a_whole_number_from_zero(value: object) -> None:
    with pytest.raises(ValueError, match="seed must be a non-negative integer, such as 0; got"):
        calcert.certify(GOOD, LABELS, settings=calcert.Settings(seed=value))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["perturbed", "bounded_variation", "finite", "distance", "squared"])
def test_bounds_take_rows_in_every_form_that_certify_takes(name: str) -> None:
    bound = getattr(calcert.bounds, name)
    found = bound(calcert.summarize(GOOD, LABELS), confidence=0.9)
    assert found == bound(GOOD, LABELS, confidence=0.9) == bound(calcert.Rows(GOOD, LABELS), confidence=0.9)
    assert found.confidence == 0.9
    with pytest.raises(TypeError, match="labels must be a one-dimensional array of 0/1; got None"):
        bound(GOOD)
    with pytest.raises(TypeError, match=f"{name}\\(\\): got an unexpected keyword argument 'delta'"):
        bound(GOOD, LABELS, delta=0.1)
    with pytest.raises(ValueError, match="summary must hold at least one row; got none"):
        bound(calcert.Summary.empty())


def test_rng_takes_a_seed_a_generator_or_nothing() -> None:
    generator = np.random.default_rng(3)
    assert validation.check_rng(generator) is generator
    assert validation.check_rng(3).random() == np.random.default_rng(3).random()
    assert validation.check_rng(None).random() != validation.check_rng(None).random()
    for wrong in (-1, "x", 1.5, True):
        with pytest.raises(TypeError, match=r"rng must be a non-negative integer, bytes, a numpy.random.Gen"):
            validation.check_rng(wrong)
