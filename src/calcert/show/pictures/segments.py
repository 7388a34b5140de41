"""Segments as a figure: observed over expected between limits, the first ones of the table."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from calcert.foundation.number_text import percent_sure
from calcert.foundation.requirements import needed_for_reports
from calcert.show.pictures.canvas import BLUE, FAINT, INK, STYLE, Picture, figure_of
from calcert.show.pictures.intervals import short

with needed_for_reports():
    import matplotlib
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

if TYPE_CHECKING:
    from calcert.reports.segments import SegmentReport

SHOWN = 20


def segments_picture(report: SegmentReport, ax: Axes | None = None) -> Figure:
    """A bar a segment; those that are proven to be off in colour."""
    shown = report.segments[:SHOWN]
    if ax is None:
        with matplotlib.rc_context(STYLE):
            figure = Picture(figsize=(4.8, 1.1 + 0.26 * len(shown)), layout="constrained")
            return segments_picture(report, figure.subplots())
    highest = max([s.upper for s in shown if math.isfinite(s.upper)] or [2.0])
    right = min(highest, 3.0) * 1.05
    for place, segment in enumerate(shown):
        colour = BLUE if segment.proven else FAINT
        ax.plot([segment.lower, min(segment.upper, right)], [place, place], color=colour, lw=4.0, solid_capstyle="butt")
        if segment.ratio <= right:
            ax.plot([segment.ratio], [place], "|", color=INK, ms=9)
    ax.axvline(1, color=INK, lw=1.0, ls=(0, (5, 3)))
    ax.set_yticks(range(len(shown)), [f"{short(s.name)} ({s.rows:,})" for s in shown], parse_math=False)
    ax.set_ylim(len(shown) - 0.5, -0.5)
    ax.set_xlim(0, right)
    ax.set_xlabel(f"observed / expected\n{percent_sure(report.delta)} limits, all segments together", loc="right")
    return figure_of(ax)
