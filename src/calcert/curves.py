"""Calibration curves with certified limits: bands, and the table of a few scores.

Each takes the rows as :func:`calcert.certify` does, and a confidence.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

from calcert.bounds import of_rows

if TYPE_CHECKING:
    from calcert.certificates.band import CalibrationBand
    from calcert.certificates.decision_curve import DecisionCurve
    from calcert.certificates.monotone_band import MonotoneBand
    from calcert.certificates.score_table import ScoreTable

    calibration_band: Callable[..., CalibrationBand]
    decision_curve: Callable[..., DecisionCurve]
    monotone_band: Callable[..., MonotoneBand]
    score_table: Callable[..., ScoreTable]

__all__ = ["calibration_band", "decision_curve", "monotone_band", "score_table"]

_LATER = {
    "calibration_band": "calcert.certificates.band",
    "decision_curve": "calcert.certificates.decision_curve",
    "monotone_band": "calcert.certificates.monotone_band",
    "score_table": "calcert.certificates.score_table",
}


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> object:
    if name in _LATER:
        return globals().setdefault(name, of_rows(getattr(import_module(_LATER[name]), name)))
    raise AttributeError(f"module 'calcert.curves' has no attribute {name!r}")
