"""A decision curve as a figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from calcert.foundation.number_text import percent_sure
from calcert.foundation.requirements import needed_for_reports
from calcert.show.pictures.canvas import BLUE, FAINT, INK, ORANGE, axes_for, figure_of

with needed_for_reports():
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

if TYPE_CHECKING:
    from calcert.certificates.decision_curve import DecisionCurve


def decision_picture(curve: DecisionCurve, ax: Axes | None = None) -> Figure:
    """Net benefit between its limits at each threshold, beside acting on all rows and on none."""
    with axes_for(ax, "plan") as axes:
        t = curve.threshold
        label = f"{percent_sure(curve.delta)} limits, simultaneous"
        axes.vlines(t, curve.lower, curve.upper, color=BLUE, lw=2.0, alpha=0.6, label=label)
        axes.plot(t, curve.net_benefit, "o-", color=BLUE, ms=4, lw=0.8, label="scores from the threshold on, estimate")
        axes.plot(t, curve.act_on_all, "s--", color=ORANGE, ms=3, lw=1.0, label="all rows, estimate")
        axes.axhline(0, color=INK, lw=1.0, ls=":", label="no rows")
        lowest = min(min(curve.lower), 0.0)
        top = max(*curve.upper, *curve.act_on_all)
        # Acting on all soon costs far more than anything else in the figure.
        axes.set_ylim(lowest - 0.15 * (top - lowest), top + 0.05 * (top - lowest))
        axes.set_xlabel("threshold")
        axes.set_ylabel("net benefit per row")
        axes.legend(loc="best", edgecolor=FAINT)
        return figure_of(axes)
