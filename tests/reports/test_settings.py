"""Settings: checked once, in one order."""

from __future__ import annotations

import inspect

import pytest

import calcert
from calcert.perturbation.noise import Noise
from calcert.reports.settings import Settings


def test_settings_travel_as_their_arguments() -> None:
    settings = Settings(0.9, None, 1 / 32, 1, 2.0, 7)
    assert settings.noise == Noise("additive", 1 / 32)
    assert Settings(**settings.to_dict()) == Settings.from_dict(settings.to_dict()) == settings
    assert settings.at(0.025).to_dict() == settings.to_dict() | {"confidence": 0.975}
    assert settings.shared(3).delta == 0.1 / 3


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"confidence": 1.0}, "confidence must lie strictly between 0.5 and 1"),
        ({"bandwidth": -1.0}, "bandwidth must be positive and finite"),
        ({"crossings": 1.5}, "crossings must be a whole number between 0 and 1,000"),
        ({"variation": 0.0}, "variation must be positive and finite"),
        ({"seed": -1}, "seed must be a non-negative integer"),
        ({"tolerance": 0.0}, "tolerance must be positive and finite"),
        ({"tolerance": 1.0}, "tolerance must be below 1"),
    ],
)
def test_wrong_settings_are_refused(arguments: dict[str, float], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Settings(**arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize("function", [calcert.certify, calcert.compare, calcert.plan])
def test_the_question_is_said_in_the_same_words_everywhere(function: object) -> None:
    parameters = inspect.signature(function).parameters  # type: ignore[arg-type]
    asked = [name for name in parameters if name != "tolerance"]
    assert asked[-2:] == ["confidence", "settings"]
    assert len(asked) <= 10
