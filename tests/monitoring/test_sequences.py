"""Forecasts in sequence: outcomes that depend on the past raise no more false alarms than promised."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import calcert
from tests.lab.distributions import too_many


def weather(rng: np.random.Generator, days: int) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities of rain given the days before, and whether it rained."""
    chance, rain, dry = np.zeros(days), np.zeros(days, int), 0
    for day in range(days):
        chance[day] = rng.uniform(0.8, 1.2) * (0.7 if dry == 0 else 0.5 / (1 + min(dry, 4)))
        rain[day] = rng.random() < chance[day]
        dry = 0 if rain[day] else dry + 1
    return chance, rain


def test_lives_of_dependent_forecasts_raise_no_more_false_alarms_than_promised(tmp_path: Path) -> None:
    rng, lives, false, control = np.random.default_rng(0), 30, 0, 0
    for life in range(lives):
        chance, rain = weather(rng, 1_200)
        # Each forecast is off by 0.02 to the side that the last outcome suggests; the control by 0.25.
        side = np.where(np.append(0, rain[:-1]) == 1, 1, -1)
        for off in (0.02, 0.25):
            monitor = calcert.Monitor(tmp_path / f"{life}-{off}.state", statement="cutoff", confidence=0.8)
            forecast = np.clip(chance + off * side, 0, 1)
            for start in range(0, 1_200, 200):
                monitor.add(forecast[start : start + 200], rain[start : start + 200], batch_id=str(start))
            raised = monitor.status(alarm=0.02).alarm is not None
            false += raised and off == 0.02
            control += raised and off == 0.25
    assert not too_many(false, lives, 0.2)
    assert too_many(control, lives, 0.2), "forecasts that are further off must be found"
