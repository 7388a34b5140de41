"""What would move where, as blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from calcert.foundation.number_text import number, rows_text
from calcert.show.blocks.block import Block, Paragraph, numbers

if TYPE_CHECKING:
    from calcert.reports.transport_plan import TransportPlan


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
