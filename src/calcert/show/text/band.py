"""A band as text for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from calcert.foundation.numbers import at_least, at_most, confidence, number
from calcert.show.text.layout import table

if TYPE_CHECKING:
    from calcert.certificates.band import CalibrationBand

STRETCHES = 10


def band_view(band: CalibrationBand) -> RenderableType:
    """The band over ten stretches of served scores."""
    part, shown = band.thinned(STRETCHES), table()
    for name in ("served score, about", "at least", "at most", "estimate"):
        shown.add_column(name, justify="right", no_wrap=True)
    for place, (lower, upper, estimate) in enumerate(zip(part.lower, part.upper, part.estimate, strict=True)):
        stretch = f"{part.edges[place]:.2f} to {part.edges[place + 1]:.2f}"
        shown.add_row(stretch, at_least(lower), at_most(upper), number(estimate))
    return Group(
        Text(f"{band.n:,} rows; chance of label 1 given the served score, {band.noise.words}"),
        Text(""),
        shown,
        Text(f"All bounds hold together with probability {confidence(band.delta)}; estimates, in the middle, do not."),
    )
