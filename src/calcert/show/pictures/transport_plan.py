"""What would move where, as a picture: current scores against the nearest calibrated ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from calcert.foundation.requirements import needed_for_reports
from calcert.show.pictures.canvas import BLUE, FAINT, INK, ORANGE, axes_for, figure_of

with needed_for_reports():
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

if TYPE_CHECKING:
    from calcert.reports.transport_plan import TransportPlan

DOT = 25.0
"""Size of a dot that stands for an average strip of rows."""


def transport_plan_picture(plan: TransportPlan, ax: Axes | None = None) -> Figure:
    """Where the nearest calibrated score has the rows of each score.

    How to read it: a row on the dashed diagonal stays where it is. The line is the mean over all rows of a score, the
    dots are those of either label, larger where rows are more. The mean way from the diagonal, rows of both labels
    taken apart, is what the distance from calibration is estimated to be; the title says it.

    Parameters
    ----------
    plan
        ``report.transport_plan``.
    ax
        Axes to draw on; those of a new figure where left out.

    Examples
    --------
    >>> from calcert.reports.transport_plan import distance_plan
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(5000)
    >>> figure = transport_plan_picture(distance_plan(calcert.summarize(x, rng.random(5000) < x**2)))
    >>> print(figure.axes[0].get_title(loc="left"))
    The nearest calibrated score, an estimate:
    rows move by 0.162 on average
    """
    with axes_for(ax, "reliability") as axes:
        axes.plot([0, 1], [0, 1], "--", color=FAINT, lw=1.0)
        for label, share, goal, color, marker in (
            (0, plan.negative, plan.goal_of_negative, BLUE, "v"),
            (1, plan.positive, plan.goal_of_positive, ORANGE, "^"),
        ):
            size = DOT * share * plan.score.size
            axes.scatter(plan.score, goal, s=size, color=color, marker=marker, lw=0, alpha=0.8)
            axes.scatter([], [], s=DOT, color=color, marker=marker, lw=0, label=f"rows of label {label}")
        axes.plot(plan.score, plan.mean_goal, color=INK, lw=1.5, label="all rows")
        axes.set_xlim(0, 1)
        axes.set_ylim(0, 1)
        axes.set_xlabel("current score")
        axes.set_ylabel("nearest calibrated score")
        axes.set_title(
            f"The nearest calibrated score, an estimate:\nrows move by {plan.distance:.3g} on average", loc="left"
        )
        axes.legend(loc="upper left")
        return figure_of(axes)
