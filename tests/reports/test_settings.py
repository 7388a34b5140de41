"""Settings: checked once, in one order."""

from __future__ import annotations

import inspect

import pytest

import calcert
from calcert import published
from calcert.reports.settings import Settings
from calcert.serving.noise import DEFAULT, Noise, choose_noise

ARGUMENTS = ("delta", "odds", "bandwidth", "crossings", "variation", "seed")


def test_settings_travel_as_the_arguments_of_certify() -> None:
    settings = Settings(0.1, Noise("additive", 1 / 32), 1, 2.0, 7)
    assert Settings.of(**settings.to_dict()) == Settings.from_dict(settings.to_dict()) == settings
    assert settings.at(0.025).to_dict() == settings.to_dict() | {"delta": 0.025}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"delta": 0.0}, "delta must lie strictly between 0 and 0.5"),
        ({"bandwidth": -1.0}, "bandwidth must be positive and finite"),
        ({"crossings": 1.5}, "crossings must be a whole number between 0 and 1,000"),
        ({"variation": 0.0}, "variation must be positive and finite"),
        ({"seed": -1}, "seed must be a non-negative integer"),
    ],
)
def test_wrong_settings_are_refused(arguments: dict[str, float], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Settings.of(**arguments)


@pytest.mark.parametrize("function", [calcert.certify, calcert.compare, calcert.plan, published.compare])
def test_one_order_and_the_same_defaults_everywhere(function: object) -> None:
    parameters = inspect.signature(function).parameters  # type: ignore[arg-type]
    given = {name: p.default for name, p in parameters.items() if name in ARGUMENTS}
    # The paper has additive noise only, and no statement on crossings.
    assert list(given) == [name for name in ARGUMENTS if name in parameters]
    assert given.keys() >= {"delta", "bandwidth", "variation", "seed"}
    assert "odds" in given or function is published.compare
    noise = choose_noise(given.pop("odds", None), given.pop("bandwidth"))
    assert Settings(noise=noise, **given) == Settings(noise=noise if function is published.compare else DEFAULT)
