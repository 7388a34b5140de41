"""What would move where, as blocks and as a picture: current scores against the nearest calibrated ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from calcert.foundation.number_text import number, rows_text
from calcert.show.block import Block, Paragraph, numbers
from calcert.show.canvas import BLUE, FAINT, INK, ORANGE, axes_for, figure_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from calcert.reports.transport_plan import TransportPlan

DOT = 25.0
"""Size of a dot that stands for an average strip of rows."""


def transport_plan_blocks(plan: TransportPlan) -> list[Block]:
    """Where the rows of ten stretches of scores would go."""
    shown = numbers("score, about", "share of rows", "would go to", "label 0 to", "label 1 to")
    for part in np.array_split(np.arange(plan.score.size), min(10, plan.score.size)):
        share = plan.negative[part] + plan.positive[part]
        score = float(np.average(plan.score[part], weights=share))
        goals = (
            number(float(np.average(goal[part][there], weights=weight[part][there])))
            if (there := weight[part] > 0).any()
            else "none"
            for goal, weight in ((plan.goal_of_negative, plan.negative), (plan.goal_of_positive, plan.positive))
        )
        mean = float(np.average(plan.mean_goal[part], weights=share))
        shown.add(f"{score:.3f}", f"{float(share.sum()):.3f}", f"{mean:.3f}", *goals)
    return [
        Paragraph(f"{rows_text(plan.n)}; the nearest calibrated score, an estimate without guarantee"),
        shown,
        Paragraph(f"Rows move by {number(plan.distance)} on average. report.distance certifies how near one lies."),
    ]


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
    with axes_for(ax) as axes:
        axes.plot([0, 1], [0, 1], "--", color=FAINT, lw=1.0)
        for label, share, goal, color, marker in (
            (0, plan.negative, plan.goal_of_negative, BLUE, "v"),
            (1, plan.positive, plan.goal_of_positive, ORANGE, "^"),
        ):
            size = DOT * share * plan.score.size
            axes.scatter(plan.score, goal, s=size, color=color, marker=marker, lw=0, alpha=0.8)
            axes.scatter([], [], s=DOT, color=color, marker=marker, lw=0, label=f"rows of label {label}")
        axes.plot(plan.score, plan.mean_goal, color=INK, lw=1.5, label="all rows")
        axes.set(xlim=(0, 1), ylim=(0, 1), xlabel="current score", ylabel="nearest calibrated score")
        axes.set_title(
            f"The nearest calibrated score, an estimate:\nrows move by {plan.distance:.3g} on average", loc="left"
        )
        axes.legend(loc="upper left")
        return figure_of(axes)
