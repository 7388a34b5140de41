"""Where pictures are drawn: the caller's axes, or a new figure in our colours and style; and how axes share a place."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from typing import Any

from calcert.foundation.requirements import needed_for_reports

with needed_for_reports():
    import matplotlib
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, PAPER, FAINT = "#1b1b1b", "#fefefe", "#8a8a8a"
BLUE, ORANGE, GREEN, PURPLE, RED = "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00"
"""Told apart by colour-blind people, and in black and white by line and hatch."""


SIZES = {
    "reliability": (4.8, 5.0),
    "terms": (4.8, 2.7),
    "plan": (4.8, 3.2),
    "noise costs": (4.8, 4.2),
    "interval": (4.8, 1.5),
}
"""Inches: text stays readable when the picture is 300 pixels wide."""

STYLE: dict[Any, Any] = {
    "font.family": ["DejaVu Sans"],
    "font.size": 10.0,
    "axes.titlesize": 10.0,
    "axes.titlelocation": "left",
    "axes.labelsize": 10.0,
    "legend.fontsize": 9.0,
    "xtick.labelsize": 9.0,
    "ytick.labelsize": 9.0,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
    "axes.titlecolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.facecolor": "none",
    "figure.facecolor": PAPER,
    "legend.facecolor": PAPER,
    "legend.edgecolor": FAINT,
    "legend.framealpha": 0.85,
    "hatch.linewidth": 0.6,
    "hatch.color": INK,
}
"""Settings of pictures that are drawn without an `ax` of the caller's."""


class Picture(Figure):
    """A figure that a notebook shows by itself."""

    def _repr_svg_(self) -> str:
        target = io.StringIO()
        self.savefig(target, format="svg")
        return target.getvalue()


@contextlib.contextmanager
def axes_for(ax: Axes | None, kind: str) -> Iterator[Axes]:
    """The caller's axes, or those of a new figure in our style."""
    if ax is not None:
        yield ax
        return
    with matplotlib.rc_context(STYLE):
        yield Picture(figsize=SIZES[kind], layout="constrained").subplots()


def axes_below(axes: Axes, share: float) -> Axes:
    """New axes that take the bottom `share` of the place of `axes`, with the same x."""
    figure = figure_of(axes)
    place = axes.get_subplotspec()
    if place is not None:
        halves = place.subgridspec(2, 1, height_ratios=(1 - share, share), hspace=0.06)
        axes.set_subplotspec(halves[0])
        below = figure.add_subplot(halves[1], sharex=axes)
    else:
        x, y, width, height = axes.get_position(original=True).bounds
        axes.set_position((x, y + (share + 0.03) * height, width, (0.97 - share) * height))
        below = figure.add_axes((x, y, width, share * height), sharex=axes)
    axes.tick_params(labelbottom=False)
    return below


def figure_of(axes: Axes) -> Figure:
    """The figure that holds the axes, whatever lies between."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    return figure
