"""What would move where, as text for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from rich.console import Group, RenderableType
from rich.text import Text

from calcert.foundation.number_text import number, rows_text
from calcert.show.text.tables import columns

if TYPE_CHECKING:
    from calcert.reports.moves import Moves


def moves_view(moves: Moves) -> RenderableType:
    """Where the rows of ten stretches of scores would go."""
    shown = columns("score, about", "share of rows", "would go to", "label 0 to", "label 1 to")
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
        shown.add_row(f"{score:.3f}", f"{float(share.sum()):.3f}", f"{mean:.3f}", *goals)
    return Group(
        Text(f"{rows_text(moves.n)}; the nearest calibrated score, an estimate without guarantee"),
        Text(""),
        shown,
        Text(f"Rows move by {number(moves.distance)} on average. report.distance certifies how near one lies."),
    )
