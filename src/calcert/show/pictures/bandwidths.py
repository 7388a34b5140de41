"""What bandwidths cost and buy, as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from calcert.foundation.numbers import fraction
from calcert.show.pictures.canvas import axes_below, axes_for, figure_of
from calcert.show.pictures.palette import BLUE, INK
from calcert.show.requirements import needed_for_reports

with needed_for_reports():
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter

if TYPE_CHECKING:
    from calcert.reports.bandwidths import BandwidthCosts


def bandwidths_picture(costs: BandwidthCosts, ax: Axes | None = None) -> Figure:
    """AUROC of the perturbed scores, and below it the certified upper bound, against the bandwidth.

    How to read it: a larger bandwidth buys a smaller bound and costs ranking. Choose the largest whose loss of AUROC
    you can spare; hollow marks are too large for rare events.
    """
    with axes_for(ax, "bandwidths") as axes:
        below = axes_below(axes, 0.5)
        h = [row.bandwidth for row in costs.rows]
        fill = [BLUE if row.fits_rare_events else "none" for row in costs.rows]
        axes.axhline(costs.auroc, color=INK, ls=":", lw=1.2, label="as they are")
        for panel, values, label in (
            (axes, [row.auroc for row in costs.rows], "perturbed"),
            (below, [row.upper for row in costs.rows], "certified, all together"),
        ):
            panel.plot(h, values, color=BLUE, lw=1.3, zorder=1)
            panel.scatter(h, values, 28, facecolors=fill, edgecolors=BLUE, zorder=2)
            panel.plot([], [], color=BLUE, marker="o", ms=5, label=label)
        if not all(row.fits_rare_events for row in costs.rows):
            below.scatter([], [], 28, facecolors="none", edgecolors=BLUE, label="too large for the rarer label")
        axes.legend(loc="lower left")
        below.legend(loc="lower left")
        axes.set_xscale("log", base=2)
        axes.set_ylabel("AUROC (estimate)")
        axes.set_title("What a bandwidth costs and buys", loc="left")
        below.set_ylim(0, 1.12 * max(row.upper for row in costs.rows))
        below.set_ylabel("error, at most")
        below.set_xlabel("bandwidth")
        below.xaxis.set_major_formatter(FuncFormatter(lambda value, _: fraction(value)))
        return figure_of(axes)
