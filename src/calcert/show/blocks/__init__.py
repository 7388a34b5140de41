"""Every kind of result as blocks: text, page and notebook say the same."""

from collections.abc import Callable

from calcert.show.blocks.bands_and_score_table import band_blocks, monotone_blocks, score_table_blocks
from calcert.show.blocks.block import Block
from calcert.show.blocks.comparison import comparison_blocks
from calcert.show.blocks.decision_curve import decision_blocks
from calcert.show.blocks.many import class_blocks, group_blocks
from calcert.show.blocks.monitor import status_blocks
from calcert.show.blocks.noise_costs import noise_costs_blocks
from calcert.show.blocks.plan import plan_blocks
from calcert.show.blocks.published import published_blocks
from calcert.show.blocks.ratio_sides_p_value import p_value_blocks, ratio_blocks, sides_blocks
from calcert.show.blocks.recalibration import recalibration_blocks
from calcert.show.blocks.report import report_blocks
from calcert.show.blocks.segments import segment_blocks
from calcert.show.blocks.transport_plan import transport_plan_blocks

BLOCKS: dict[str, Callable[..., list[Block]]] = {
    "comparison": comparison_blocks,
    "report": report_blocks,
    "groups": group_blocks,
    "classes": class_blocks,
    "status": status_blocks,
    "plan": plan_blocks,
    "noise costs": noise_costs_blocks,
    "recalibration": recalibration_blocks,
    "band": band_blocks,
    "monotone band": monotone_blocks,
    "score table": score_table_blocks,
    "transport plan": transport_plan_blocks,
    "decision curve": decision_blocks,
    "segments": segment_blocks,
    "ratio": ratio_blocks,
    "sides": sides_blocks,
    "test": p_value_blocks,
    "published": published_blocks,
}
