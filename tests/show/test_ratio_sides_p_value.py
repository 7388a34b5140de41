"""Results of one or a few numbers: they are drawn and printed, and nonsense is refused."""

from __future__ import annotations

import json
import math

import pytest

import calcert
from calcert.certificates.calibration_test import CalibrationTest
from calcert.certificates.observed_over_expected import Ratio
from calcert.foundation.result import Result

pytest.importorskip("matplotlib")

ROWS = calcert.summarize([0.25, 0.75] * 500, [0, 1] * 500)


def test_a_test_draws_the_labels_that_were_seen_among_those_that_were_drawn() -> None:
    found = calcert.bounds.calibration_test([0.5] * 20, [1] * 20)
    drawn, seen = found.plot().axes[0].lines
    # All of twenty coins that should be fair are heads.
    assert seen.get_xdata()[0] == 0.5 > max(drawn.get_xdata())
    assert "0.001" in str(found)
    assert "a large p-value certifies nothing" in str(found)


def test_a_ratio_without_an_upper_end_says_so_and_is_drawn_to_the_edge() -> None:
    found = calcert.bounds.observed_over_expected(calcert.summarize([0.001] * 20, [0] * 20))
    assert found.upper == math.inf
    assert "unbounded" in str(found)
    assert Ratio.from_dict(json.loads(json.dumps(found.to_dict(), allow_nan=False))) == found
    assert found.plot().axes[0].get_xlim()[1] < 2


@pytest.mark.parametrize(
    ("result", "reader", "change", "words"),
    [
        (
            calcert.bounds.calibration_test([0.5] * 9, [1] * 9),
            CalibrationTest,
            {"p_value": 0.0},
            "a test must have a p-value from above",
        ),
        (
            calcert.bounds.observed_over_expected(ROWS),
            Ratio,
            {"lower": 3.0},
            "a ratio must have 0 <= lower <= upper",
        ),
    ],
)
def test_what_no_test_and_no_ratio_can_say_is_refused(
    result: Result, reader: type[Result], change: dict[str, float], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        reader.from_dict(result.to_dict() | change)
