"""What would move where, as blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from calcert.foundation.number_text import number, rows_text
from calcert.show.blocks.block import Block, Paragraph, numbers

if TYPE_CHECKING:
    from calcert.reports.transport_plan import Moves


def moves_blocks(moves: Moves) -> list[Block]:
    """Where the rows of ten stretches of scores would go."""
    shown = numbers("score, about", "share of rows", "would go to", "label 0 to", "label 1 to")
    for part in np.array_split(np.arange(moves.score.size), min(10, moves.score.size)):
        share = moves.negative[part] + moves.positive[part]
        score = float(np.average(moves.score[part], weights=share))
        goals = (
            number(float(np.average(goal[part][there], weights=weight[part][there])))
            if (there := weight[part] > 0).any()
            else "none"
            for goal, weight in ((moves.goal_of_negative, moves.negative), (moves.goal_of_positive, moves.positive))
        )
        mean = float(np.average(moves.mean_goal[part], weights=share))
        shown.add(f"{score:.3f}", f"{float(share.sum()):.3f}", f"{mean:.3f}", *goals)
    return [
        Paragraph(f"{rows_text(moves.n)}; the nearest calibrated score, an estimate without guarantee"),
        shown,
        Paragraph(f"Rows move by {number(moves.distance)} on average. report.distance certifies how near one lies."),
    ]
