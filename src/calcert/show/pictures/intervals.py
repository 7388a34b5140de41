"""Certified intervals side by side, worst first, as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING

from calcert.certificates.certificate import Certificate
from calcert.foundation.escaped_text import visible
from calcert.foundation.number_text import confidence
from calcert.foundation.requirements import needed_for_reports
from calcert.show.pictures.canvas import BLUE, FAINT, INK, STYLE, Picture, figure_of
from calcert.show.pictures.report import report_picture

with needed_for_reports():
    import matplotlib
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

if TYPE_CHECKING:
    from calcert.reports.classes import ClassReport
    from calcert.reports.comparison import Comparison
    from calcert.reports.groups import GroupReport
    from calcert.reports.many import Many

LONGEST_NAME = 24
"""Letters of a name in a picture; tables have all of them."""

LONG = 3.0
"""Bars that reach further than so many times the median may leave the picture."""


def groups_picture(report: GroupReport, ax: Axes | None = None, *, statement: str) -> Figure:
    """A bar from the lower to the upper bound of each group (its rows); a dotted one, from 0 to 1, says nothing."""
    return many_picture(report, statement, ax)


def classes_picture(report: ClassReport, ax: Axes | None = None, *, classes: str | None = None, curve: str) -> Figure:
    """That of the prediction; or, for a statement of the `classes`, bars with the rows that are of each class."""
    return report_picture(report, ax, curve=curve) if classes is None else many_picture(report, classes, ax)


def many_picture(report: Many, statement: str, ax: Axes | None = None, *, most: int | None = None) -> Figure:
    """A bar for each of the first `most` groups or classes, with its rows."""
    names = report.worst_first(statement)[:most]
    together = f"all {report.many} together with probability {confidence(report.worst[statement].delta)}, each side"
    bars = {name: report.members[name].statement(statement) for name in names}
    return _plot_bars([f"{short(name)} ({report.size(name):,})" for name in names], list(bars.values()), together, ax)


def comparison_picture(comparison: Comparison, ax: Axes | None = None, *, statement: str | None = None) -> Figure:
    """A bar from the lower to the upper bound of each model."""
    found = comparison.statement(statement or comparison.leading)
    each = next(iter(comparison.models.values())).settings.delta
    together = f"each bound with confidence {confidence(each)},\nwhat is proven simultaneously with "
    names = [f"{short(name)} ({found.certificates[name].n:,})" for name in found.order]
    certificates = [found.certificates[name] for name in found.order]
    return _plot_bars(names, certificates, together + confidence(comparison.delta), ax)


def _plot_bars(names: list[str], certificates: list[Certificate], together: str, ax: Axes | None) -> Figure:
    """A bar a certificate; `together` says what holds together."""
    if ax is not None:
        return figure_of(_draw_bars(names, certificates, together, ax))
    with matplotlib.rc_context(STYLE):
        figure = Picture(figsize=(4.8, 0.9 + 0.26 * len(names)), layout="constrained")
        return figure_of(_draw_bars(names, certificates, together, figure.subplots()))


def short(name: str) -> str:
    """A name on one line, cut where it is long."""
    seen = visible(name, keep="\t\n\r")
    whole = " ".join("".join(letter if letter.isprintable() else " " for letter in seen).split())
    return whole if len(whole) <= LONGEST_NAME else "".join(islice(whole, LONGEST_NAME - 1)) + "…"


def _draw_bars(names: Sequence[str], certificates: Sequence[Certificate], together: str, axes: Axes) -> Axes:
    right = _right_end(certificates)
    for place, certificate in enumerate(certificates):
        style = {"color": BLUE, "lw": 5.0} if certificate.telling else {"color": FAINT, "ls": ":", "lw": 1.5}
        axes.plot([certificate.lower, certificate.upper], [place, place], solid_capstyle="butt", **style)  # type: ignore[arg-type]
        if certificate.lower > 0:
            axes.plot([certificate.lower], [place], "|", color=INK, ms=9)
        if certificate.upper > right:
            axes.plot([right], [place], ">", color=style["color"], ms=6, clip_on=False)
    # Names are nobody's formulas: matplotlib would read "$1" and "$2" as such.
    axes.set_yticks(range(len(names)), names, parse_math=False)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_xlim(0, right)
    first = certificates[0]
    subject = "perturbed" if "perturbed" in first.subject else first.subject
    axes.set_xlabel(f"{first.quantity} ({subject})\n{together}", loc="right")
    return axes


def _right_end(certificates: Sequence[Certificate]) -> float:
    """Where the picture ends: a few groups with few rows must not squeeze all others into a corner.

    One that is certain to be worse than most is in it, however far out.
    """
    telling = sorted((c for c in certificates if c.telling), key=lambda c: c.upper)
    median = telling[len(telling) // 2].upper if telling else 1.0
    usual = [c.upper for c in telling if c.upper <= LONG * median or c.lower > median]
    return min(1.0, 1.15 * max(usual, default=1.0))
