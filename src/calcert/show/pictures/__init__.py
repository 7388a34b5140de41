"""Results as pictures (matplotlib), by kind."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from calcert.show.pictures.decision_curve import decision_picture
from calcert.show.pictures.intervals import classes_picture, comparison_picture, groups_picture
from calcert.show.pictures.monitor import status_picture
from calcert.show.pictures.monotone_band_and_score_table import monotone_picture, table_picture
from calcert.show.pictures.noise_costs import noise_costs_picture
from calcert.show.pictures.perturbed_curve import band_picture
from calcert.show.pictures.plan import plan_picture
from calcert.show.pictures.published import published_picture
from calcert.show.pictures.ratio_sides_p_value import p_value_picture, ratio_picture, sides_picture
from calcert.show.pictures.recalibration import recalibration_picture
from calcert.show.pictures.report import report_picture
from calcert.show.pictures.segments import segments_picture
from calcert.show.pictures.transport_plan import transport_plan_picture

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PICTURES: dict[str, Callable[..., "Figure"]] = {
    "report": report_picture,
    "groups": groups_picture,
    "classes": classes_picture,
    "comparison": comparison_picture,
    "plan": plan_picture,
    "noise costs": noise_costs_picture,
    "recalibration": recalibration_picture,
    "band": band_picture,
    "monotone band": monotone_picture,
    "score table": table_picture,
    "transport plan": transport_plan_picture,
    "decision curve": decision_picture,
    "segments": segments_picture,
    "ratio": ratio_picture,
    "sides": sides_picture,
    "test": p_value_picture,
    "status": status_picture,
    "published": published_picture,
}
