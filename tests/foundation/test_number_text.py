"""Numbers for people: no printed bound lies on the wrong side of the certified one."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal

import pytest
from hypothesis import given as given_values
from hypothesis import strategies

from calcert.foundation.number_text import (
    at_least,
    at_most,
    confidence,
    e_value,
    fraction,
    given,
    number,
    percent_sure,
    rounded_up,
    rows_about,
    rows_text,
    short_at_least,
    short_at_most,
    span,
)

BOUNDS = strategies.floats(0, 1, exclude_max=True)


@given_values(BOUNDS)
def test_an_upper_bound_is_printed_no_smaller_and_a_lower_one_no_larger(bound: float) -> None:
    assert float(at_most(bound)) >= bound
    assert float(at_least(bound)) <= bound


@given_values(BOUNDS)
def test_what_is_printed_is_near_all_the_same(bound: float) -> None:
    step = 1e-4 if bound >= 0.01 else max(bound / 100, 1e-320)
    for shown in (at_most(bound), at_least(bound), number(bound)):
        assert abs(float(shown) - bound) <= 1.01 * step
        assert len(shown) <= 9


@given_values(strategies.floats(1e-100, 0.5))
def test_confidence_is_printed_no_larger(delta: float) -> None:
    shown = confidence(delta)
    assert shown not in ("1", "1.0")
    promised = Decimal(shown[4:]) if shown.startswith("1 - ") else 1 - Decimal(shown)
    assert float(promised) >= delta
    percentage = percent_sure(delta)
    assert percentage == shown or Decimal(percentage.rstrip("%")) / 100 == Decimal(shown)


@pytest.mark.parametrize("bound", [0.1, 0.01, 0.0415, 0.25, 0.002])
def test_numbers_that_need_no_rounding_are_not_rounded(bound: float) -> None:
    assert float(at_most(bound)) == float(at_least(bound)) == bound


def test_negative_control_rounding_to_the_nearest_would_be_caught() -> None:
    with pytest.raises(AssertionError):
        assert float(number(0.04151)) >= 0.04151


@pytest.mark.parametrize(
    ("how", "shown"),
    [
        (number, {0.04151: "0.0415", 0.001234: "0.00123"}),
        (at_most, {0.04151: "0.0416", 0.001234: "0.00124", 1.0: "1 (says nothing)"}),
        (at_least, {0.04159: "0.0415", 0.001239: "0.00123"}),
        (short_at_most, {0.04151: "0.042", 0.001234: "0.0013", 1.0: "1"}),
        (short_at_least, {0.04159: "0.041", 0.001239: "0.0012", 0.0: "0"}),
        (e_value, {0.4159: "0.41", 4.159: "4.1", 4159.0: "4.1e3", 0.0: "0"}),
        (rounded_up, {0.00123456: "0.00124", 1.66661: "1.6667", 1.0: "1.0000"}),
        (confidence, {0.05: "0.95", 1e-5: "0.99999", 0.05 / 3: "0.9833", 1e-30: "1 - 1e-30"}),
        (percent_sure, {0.05: "95%", 0.001: "99.9%"}),
        (given, {0.05: "0.05", 0.012345678: "0.012345678"}),
        (fraction, {1 / 64: "1/64", 0.3: "0.3"}),
        (rows_text, {1: "1 row", 1_234: "1,234 rows"}),
        (rows_about, {41_234: "42,000"}),
    ],
)
def test_numbers_as_people_read_them(how: Callable[[float], str], shown: dict[float, str]) -> None:
    assert {value: how(value) for value in shown} == shown


def test_two_bounds_are_rounded_outward_with_as_many_decimals() -> None:
    assert (span(0.0313, 0.0617), span(0.0501, 0.0642)) == ("0.031 - 0.062", "0.050 - 0.065")
    assert (span(0.0, 0.0021), span(2.9e-9, 0.045)) == ("0 - 0.0021", ">0 - 0.045")
    assert span(0.913, 0.938, ratio=True) == "0.913 - 0.938"
    assert span(2.913, 3.38, ratio=True) == "2.91 - 3.38"


@pytest.mark.parametrize(
    ("delta", "shown"), [(0.05, "0.95"), (1e-5, "0.99999"), (0.05 / 3, "0.9833"), (1e-12, "1 - 1e-12"), (2.0, "0")]
)
def test_confidence(delta: float, shown: str) -> None:
    assert confidence(delta) == shown


def test_a_bound_that_says_nothing_says_so() -> None:
    assert at_most(1.0) == "1 (says nothing)"


def test_what_somebody_chose_keeps_its_digits() -> None:
    assert (given(0.05), given(1.0), given(0.012345678)) == ("0.05", "1", "0.012345678")


@pytest.mark.parametrize(("h", "shown"), [(1 / 64, "1/64"), (2.0**-12, "1/4096"), (0.0017, "0.0017"), (2.0, "2")])
def test_bandwidths(h: float, shown: str) -> None:
    assert fraction(h) == shown


def test_numbers_that_are_none() -> None:
    assert (number(float("nan")), number(float("inf"))) == ("none", "infinite")


@pytest.mark.parametrize(("rows", "shown"), [(7, "7"), (99, "99"), (101, "110"), (123_456, "130,000")])
def test_estimates_have_two_digits_rounded_up(rows: int, shown: str) -> None:
    assert rows_about(rows) == shown


def test_no_other_module_formats_a_bound_by_itself() -> None:
    from pathlib import Path

    import calcert

    by_hand = re.compile(r"\{[^{}]*\b(?:upper|lower|delta)(?:\b[^{}]*)?:\.\d+[fge]\}")
    for path in Path(calcert.__file__).parent.rglob("*.py"):
        if "published" not in path.parts:
            code = "\n".join(line for line in path.read_text().splitlines() if not re.match(r"\s*(>>>|\.\.\.)", line))
            assert not by_hand.findall(code), path.name
