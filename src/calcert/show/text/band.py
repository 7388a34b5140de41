"""A band as text for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from rich.console import Group, RenderableType
from rich.text import Text

from calcert.foundation.numbers import at_least, at_most, confidence, number
from calcert.show.text.table_style import columns

if TYPE_CHECKING:
    from calcert.certificates.band import CalibrationBand

STRETCHES = 10
RARE = 0.005
"""The share of served scores below the first stretch, and above the last."""


def band_view(band: CalibrationBand) -> RenderableType:
    """The band over ten stretches of served scores, from the lowest to the highest that are common."""
    part = band.thinned(STRETCHES, _common(band))
    shown = columns("served score, about", "at least", "at most", "estimate")
    for place, (lower, upper, estimate) in enumerate(zip(part.lower, part.upper, part.estimate, strict=True)):
        stretch = f"{part.edges[place]:.2g} to {part.edges[place + 1]:.2g}"
        shown.add_row(stretch, at_least(lower), at_most(upper), number(estimate))
    return Group(
        Text(f"{band.n:,} rows; chance of label 1 given the served score, {band.noise.words}"),
        Text(""),
        shown,
        Text("From the lowest to the highest served score, but for half a percent of the rows on either side."),
        Text(f"All bounds hold together with probability {confidence(band.delta)}; estimates, in the middle, do not."),
    )


def _common(band: CalibrationBand) -> tuple[float, float]:
    """The served scores between which all but few rows are."""
    share = np.cumsum((band.negative + band.positive) * np.diff(band.edges))
    if not share[-1] > 0:
        return 0.0, 1.0
    low, high = np.searchsorted(share / share[-1], (RARE, 1 - RARE))
    return float(band.edges[low]), float(band.edges[high + 1])
