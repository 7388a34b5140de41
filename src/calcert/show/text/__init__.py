"""Results as text: a view for a rich console, by kind."""

from collections.abc import Callable

from rich.console import RenderableType

from calcert.show.text.bands_and_score_table import band_view, monotone_view, score_table_view
from calcert.show.text.bandwidths import bandwidths_view
from calcert.show.text.classes import classes_view
from calcert.show.text.comparison import comparison_view
from calcert.show.text.groups import groups_view
from calcert.show.text.monitor import status_view
from calcert.show.text.moves import moves_view
from calcert.show.text.plan import plan_view
from calcert.show.text.published import published_view
from calcert.show.text.ratio_sides_p_value import p_value_view, ratio_view, sides_view
from calcert.show.text.report import report_view

VIEWS: dict[str, Callable[..., RenderableType]] = {
    "report": report_view,
    "groups": groups_view,
    "classes": classes_view,
    "comparison": comparison_view,
    "plan": plan_view,
    "bandwidths": bandwidths_view,
    "band": band_view,
    "monotone band": monotone_view,
    "score table": score_table_view,
    "moves": moves_view,
    "ratio": ratio_view,
    "sides": sides_view,
    "test": p_value_view,
    "status": status_view,
    "published": published_view,
}
