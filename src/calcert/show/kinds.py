"""The one table of kinds of results: the heading of their page, what they say, and how they are drawn."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from calcert.show.block import Block
from calcert.show.comparison import comparison_blocks, comparison_picture
from calcert.show.curves import (
    band_blocks,
    decision_blocks,
    decision_picture,
    monotone_blocks,
    monotone_picture,
    score_table_blocks,
    table_picture,
)
from calcert.show.many import class_blocks, classes_picture, group_blocks, groups_picture
from calcert.show.monitor import status_blocks, status_picture
from calcert.show.noise_costs import noise_costs_blocks, noise_costs_picture
from calcert.show.outcome import outcome_blocks
from calcert.show.plan import plan_blocks, plan_picture
from calcert.show.published import published_blocks, published_bound_blocks, published_picture
from calcert.show.ratio_sides_p_value import (
    p_value_blocks,
    p_value_picture,
    ratio_blocks,
    ratio_picture,
    sides_blocks,
    sides_picture,
)
from calcert.show.recalibration import recalibration_blocks, recalibration_picture
from calcert.show.reliability import band_picture
from calcert.show.report import report_blocks
from calcert.show.report_details import report_picture
from calcert.show.segments import segment_blocks, segments_picture
from calcert.show.transport_plan import transport_plan_blocks, transport_plan_picture

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Kind(NamedTuple):
    """What a page of a kind of results is headed by, its blocks, and its picture; some are neither drawn nor filed."""

    title: str
    blocks: Callable[..., list[Block]]
    picture: Callable[..., Figure] | None = None


KINDS = {
    "report": Kind("Calibration report", report_blocks, report_picture),
    "groups": Kind("Calibration report by group", group_blocks, groups_picture),
    "classes": Kind("Calibration report", class_blocks, classes_picture),
    "comparison": Kind("Models compared", comparison_blocks, comparison_picture),
    "plan": Kind("About how many rows", plan_blocks, plan_picture),
    "noise costs": Kind("What noise costs and buys", noise_costs_blocks, noise_costs_picture),
    "recalibration": Kind("Before and after recalibration", recalibration_blocks, recalibration_picture),
    "band": Kind("A band for the calibration curve", band_blocks, band_picture),
    "monotone band": Kind("The calibration curve", monotone_blocks, monotone_picture),
    "score table": Kind("The probability at each score", score_table_blocks, table_picture),
    "transport plan": Kind("What would move where", transport_plan_blocks, transport_plan_picture),
    "decision curve": Kind("Decision curve", decision_blocks, decision_picture),
    "segments": Kind("Calibration by segment", segment_blocks, segments_picture),
    "ratio": Kind("Observed over expected positives", ratio_blocks, ratio_picture),
    "sides": Kind("To which side scores err", sides_blocks, sides_picture),
    "test": Kind("A test of perfect calibration", p_value_blocks, p_value_picture),
    "status": Kind("Calibration over time", status_blocks, status_picture),
    "published": Kind("Published numbers beside certificates", published_blocks, published_picture),
    "published bound": Kind("A published number", published_bound_blocks),
    "check": Kind("A gate", outcome_blocks),
}
