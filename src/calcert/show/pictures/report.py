"""The picture of a report: the reliability diagram of the current scores, or that of perturbed ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from calcert.foundation.requirements import needed_for_reports
from calcert.show.pictures.canvas import figure_of
from calcert.show.pictures.perturbed_curve import perturbed_curve
from calcert.show.pictures.reliability import reliability

with needed_for_reports():
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

if TYPE_CHECKING:
    from calcert.reports.report import Report


def report_picture(report: Report, ax: Axes | None = None, *, curve: str) -> Figure:
    """The reliability diagram on the caller's axes, in the caller's style, or on a new figure in ours."""
    return figure_of((perturbed_curve if curve == "perturbed" else reliability)(report, ax))
