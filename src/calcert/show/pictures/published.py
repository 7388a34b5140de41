"""Published numbers beside certificates, as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from calcert.foundation.requirements import needed_for_reports
from calcert.show.pictures.canvas import BLUE, FAINT, INK, STYLE, Picture, figure_of

with needed_for_reports():
    import matplotlib
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

if TYPE_CHECKING:
    from calcert.published.compare import Comparison


def published_picture(comparison: Comparison, ax: Axes | None = None) -> Figure:
    """A bar a method, to what it says; ours are dark, with a mark at what is certified at least."""
    if ax is None:
        with matplotlib.rc_context(STYLE):
            return _draw(comparison, Picture(figsize=(7.2, 3.2), layout="constrained").subplots())
    return _draw(comparison, ax)


def _draw(comparison: Comparison, axes: Axes) -> Figure:
    lines = comparison.lines
    for place, line in enumerate(lines):
        axes.barh(place, min(line.value, 1.0), 0.6, color=FAINT if line.lower is None else BLUE)
        if line.lower:
            axes.plot((line.lower, line.lower), (place - 0.36, place + 0.36), color=INK, lw=2.2)
    axes.set_yticks(range(len(lines)), [line.method for line in lines])
    axes.invert_yaxis()
    axes.set_xlim(left=0)
    axes.set_xlabel("at most; what each number promises is in the table", loc="right")
    return figure_of(axes)
