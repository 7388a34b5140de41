"""Curves as they are, and what would move where, as text for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from rich.console import Group, RenderableType
from rich.text import Text

from calcert.foundation.numbers import at_least, at_most, confidence, given, number
from calcert.show.text.table_style import columns

if TYPE_CHECKING:
    from calcert.certificates.monotone_band import MonotoneBand
    from calcert.certificates.score_table import ScoreTable
    from calcert.reports.moves import Moves

SHOWN = 24
"""Single scores in a table; all are in the frame and the JSON."""


def monotone_view(band: MonotoneBand) -> RenderableType:
    """The band at eleven scores, what it assumes, and where it bends; or where rows refute what it assumes."""
    lead = Text(f"{band.n:,} rows; chance of label 1 given the score, as it is")
    sure = confidence(band.delta)
    if band.refuted_at is not None:
        where = number(band.refuted_at)
        refuted = f"The rows refute a chance that never falls as the score rises: near {where} it falls."
        return Group(lead, Text(""), Text(refuted), Text(f"That holds with probability {sure}; no band does."))
    shown, places = columns("score", "at least", "at most"), np.linspace(0.0, 1.0, 11)
    for score, lower, upper in zip(places, *band.at(places), strict=True):
        shown.add_row(f"{score:.1f}", at_least(lower), at_most(upper))
    promise = "Assumes that the chance never falls as the score rises. All limits hold together with probability"
    return Group(lead, Text(""), shown, *map(Text, [f"{promise} {sure}.", *_bends(band)]))


def score_table_view(found: ScoreTable) -> RenderableType:
    """The scores with their rows and limits."""
    shown = columns("score", "rows", "share of label 1", "at least", "at most")
    values = (found.score, found.rows, found.estimate, found.lower, found.upper)
    for score, rows, share, lower, upper in list(zip(*values, strict=True))[:SHOWN]:
        shown.add_row(given(float(score)), f"{int(rows):,}", number(float(share)), at_least(lower), at_most(upper))
    left = found.score.size - SHOWN
    more = [f"{left:,} more scores are not shown."] if left > 0 else []
    sure = confidence(found.delta)
    promise = f"Nothing is assumed. All limits hold together with probability {sure}; of other scores nothing is said."
    return Group(
        Text(f"{found.n:,} rows; chance of label 1 at each score, as it is"),
        Text(""),
        shown,
        *map(Text, [*more, promise, *_bends(found)]),
    )


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
        Text(f"{moves.n:,} rows; the nearest calibrated score, an estimate without guarantee"),
        Text(""),
        shown,
        Text(f"Rows move by {number(moves.distance)} on average. report.distance certifies how near one lies."),
    )


def _bends(found: MonotoneBand | ScoreTable) -> list[str]:
    return ["Where it bends:", *(f"  {bend}" for bend in found.bends)] if found.bends else []
