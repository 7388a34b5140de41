"""The picture of a report: a calibration curve, served or as it is, and what the bounds are made of.

It shows numbers computed elsewhere and computes no bound. It draws on the caller's `ax` in the caller's style, or on a
new figure in ours. No global state of pyplot is touched, so it works on servers and in threads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from calcert.foundation.requirements import needed_for_reports
from calcert.show.pictures.canvas import STYLE, Picture, figure_of
from calcert.show.pictures.curve_as_it_is import curve_as_it_is
from calcert.show.pictures.served_curve import reliability
from calcert.show.pictures.terms import terms

with needed_for_reports():
    import matplotlib
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

if TYPE_CHECKING:
    from calcert.reports.report import Report


def report_picture(report: Report, ax: Axes | tuple[Axes, Axes] | None = None, *, curve: str) -> Figure:
    """The reliability picture with the terms of the bounds beside it, or each on axes of the caller's.

    One `ax` takes the reliability picture alone; a pair takes both.
    """
    if report.summary is not None and report.summary.units is not None:
        # The band of units is too wide to be drawn unasked: there is only what the bounds are made of.
        return figure_of(terms(report, ax[1] if isinstance(ax, tuple) else ax))
    draw = curve_as_it_is if curve == "as it is" else reliability
    if ax is None:
        with matplotlib.rc_context(STYLE):
            figure = Picture(figsize=(9.6, 5.0), layout="constrained")
            left, right = figure.subplots(1, 2, width_ratios=(1, 0.9))
            draw(report, left)
            terms(report, right)
            return figure
    if isinstance(ax, Axes):
        return figure_of(draw(report, ax))
    first, second = ax
    terms(report, second)
    return figure_of(draw(report, first))
