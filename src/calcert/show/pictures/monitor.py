"""The status of a monitor as a figure: bounds over time."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from calcert.foundation.number_text import given, percent_sure
from calcert.foundation.requirements import needed_for_reports
from calcert.show.certificate_words import MEASURE
from calcert.show.pictures.canvas import BLUE, FAINT, INK, RED, STYLE, Picture, figure_of

with needed_for_reports():
    import matplotlib
    import matplotlib.dates as dates
    from matplotlib.axes import Axes
    from matplotlib.transforms import offset_copy


if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from calcert.monitoring.status import BatchPoint, Look, Status

WIDE, NARROW = (7.2, 4.2), (4.8, 4.6)
"""Inches: for a screen, and for a page whose figures are readable when they are 300 pixels wide."""


def status_picture(status: Status, ax: Axes | None = None, *, size: tuple[float, float] = WIDE) -> Figure:
    """Bounds over time: the upper bound falls as rows come in, and a drift lifts the lower one.

    How to read it: solid steps are the lower bound for the worst batch so far, dotted steps the upper bound for all
    rows pooled. Bars are the intervals of windows. The alarm is raised where the solid steps cross the dashed limit.
    """
    if ax is None:
        with matplotlib.rc_context(STYLE):
            return figure_of(_draw_over_time(status, Picture(figsize=size, layout="constrained").subplots()))
    return figure_of(_draw_over_time(status, ax))


def _draw_over_time(status: Status, axes: Axes) -> Axes:
    history, looks = status.history, status.looks
    lowers = list(accumulate((point.lower for point in history), max))
    uppers = [look.certificate.upper for look in looks]
    perturbed = " (perturbed)" if status.statement == "perturbed" else ""
    axes.step(_times(history), lowers, where="post", color=INK, lw=1.8, label="lower bound, worst batch so far")
    pooled = f"upper bound, all rows pooled{perturbed}"
    axes.step(_times(looks), uppers, where="post", color=FAINT, lw=1.8, ls=":", label=pooled)
    shown = [window.certificates[status.below] for window in status.windows]
    for place, (window, c) in enumerate(zip(status.windows, shown, strict=True)):
        label = "interval of a window" if place == 0 else "_"
        middle = _middle_of_window(window.start, window.end)
        axes.plot([middle, middle], [c.lower, c.upper], color=BLUE, lw=4, alpha=0.6, solid_capstyle="butt", label=label)
    if status.limit is not None:
        axes.axhline(status.limit, color=RED, ls="--", lw=1, label=f"limit {given(status.limit)}")
    if status.alarm is not None:
        since: Any = datetime.fromisoformat(status.alarm.since)
        axes.axvline(since, color=RED, lw=1)
        beside = offset_copy(axes.get_xaxis_transform(), figure_of(axes), x=0.05)
        axes.text(since, 0.98, "alarm", transform=beside, color=INK, va="top")
    tops = [*uppers[-3:], *(c.upper for c in shown)]
    highest = max(*lowers, status.limit or 0.0, *(top for top in tops if top < 1), 0.0)
    axes.set_ylim(0, min(1.0, 1.25 * highest + 1e-3))
    axes.set_ylabel(MEASURE[status.statement])
    concise: Any = dates.ConciseDateFormatter
    axes.xaxis.set_major_formatter(concise(axes.xaxis.get_major_locator()))
    sure = f"Each kind of bound holds at all times\nwith {percent_sure(status.delta)} confidence"
    apart = "\nThe two may cross: worst batch, all rows pooled" if status.lower > status.upper.upper else ""
    axes.set_title(sure + apart)
    # Below the figure, where no bound can be hidden behind it; 0.3 inches are for the dates.
    below = offset_copy(axes.transAxes, figure_of(axes), y=-0.3)
    columns = 2 if figure_of(axes).get_figwidth() > NARROW[0] else 1
    axes.legend(loc="upper left", bbox_to_anchor=(0, 0), bbox_transform=below, ncols=columns, frameon=False)
    return axes


def _times(points: Iterable[BatchPoint | Look]) -> list[Any]:
    """The latest time so far at each point: a batch that was added late takes no step back."""
    return list(accumulate((datetime.fromisoformat(point.time) for point in points), max))


def _middle_of_window(start: str, end: str) -> Any:
    first, last = datetime.fromisoformat(start), datetime.fromisoformat(end)
    return first + (last - first) / 2
