"""Which way scores err is said in words that the bounds bear."""

from __future__ import annotations

import numpy as np
import pytest

import calcert
from calcert.show.certificate_words import which_way

RNG = np.random.default_rng(4)
GRADES = RNG.integers(1, 10, 20_000) / 10


@pytest.mark.parametrize(
    ("chance", "said"),
    [
        (0.25 + GRADES / 2, "Overconfident, for certain: by at least 0."),
        (np.clip(1.5 * GRADES - 0.25, 0, 1), "Underconfident, for certain: by at least 0."),
        (GRADES, "Whether scores are overconfident or underconfident cannot be told: overconfident by at most 0."),
        (np.where(GRADES < 0.5, 0.5, GRADES**0.5), "Both, for certain: overconfident at some scores, by at least 0."),
    ],
)
def test_which_way_it_errs_is_said_as_far_as_it_is_certain(chance: np.ndarray, said: str) -> None:
    report = calcert.certify(GRADES, RNG.random(GRADES.size) < chance)
    assert which_way(report)[0].startswith(said)
    assert report.sides is not None
    assert report.sides.too_high.delta == report.settings.delta
