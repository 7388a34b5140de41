"""What noise costs and buys, as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from calcert.foundation.number_text import fraction
from calcert.foundation.requirements import needed_for_reports
from calcert.show.pictures.canvas import BLUE, INK, RED, axes_below, axes_for, figure_of

with needed_for_reports():
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter

if TYPE_CHECKING:
    from calcert.reports.noise_costs import NoiseCosts


def noise_costs_picture(costs: NoiseCosts, ax: Axes | None = None) -> Figure:
    """AUROC of the perturbed scores, and below it the certified upper bound, against the size of the noise.

    How to read it: more noise buys a smaller bound, up to a point, and costs ranking. Choose the most whose loss of
    AUROC you can spare; hollow marks are bandwidths too large for rare events.
    """
    with axes_for(ax, "noise costs") as axes:
        below = axes_below(axes, 0.5)
        axes.axhline(costs.auroc, color=INK, ls=":", lw=1.2, label="current scores")
        for name, colour, line in (("odds", BLUE, "-"), ("bandwidth", RED, "--")):
            rows = [row for row in costs.rows if row.noise.keyword == name]
            size, fill = [row.noise.size for row in rows], [colour if row.fits_rare_events else "none" for row in rows]
            for panel, values, label in (
                (axes, [row.auroc for row in rows], f"perturbed, {name}"),
                (below, [row.upper for row in rows], f"certified, all of {name} together"),
            ):
                panel.plot(size, values, color=colour, ls=line, lw=1.3, zorder=1)
                panel.scatter(size, values, 28, facecolors=fill, edgecolors=colour, zorder=2)
                if rows:
                    panel.plot([], [], color=colour, ls=line, marker="o", ms=5, label=label)
        if not all(row.fits_rare_events for row in costs.rows):
            below.scatter([], [], 28, facecolors="none", edgecolors=RED, label="too large for the rarer label")
        axes.legend(loc="lower left")
        below.legend(loc="best")
        axes.set_xscale("log", base=2)
        axes.set_ylabel("AUROC (estimate)")
        axes.set_title("What noise costs and buys", loc="left")
        below.set_ylim(0, 1.12 * max(row.upper for row in costs.rows))
        below.set_ylabel("error, at most")
        below.set_xlabel("odds or bandwidth")
        below.xaxis.set_major_formatter(FuncFormatter(lambda value, _: fraction(value)))
        return figure_of(axes)
