"""Certified intervals side by side, worst first, as a picture."""

from __future__ import annotations

from collections.abc import Sequence

from calcert.certificate import Certificate
from calcert.classes import ClassReport
from calcert.groups import GroupReport
from calcert.show.canvas import Picture, figure_of
from calcert.show.groups import says_nothing
from calcert.show.palette import BLUE, FAINT, INK, STYLE
from calcert.show.requirements import needed_for_reports

with needed_for_reports():
    import matplotlib
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def plot_groups(report: GroupReport, statement: str, ax: Axes | None = None) -> Figure:
    """A bar from the lower to the upper bound of each group (its rows); a dotted one, from 0 to 1, says nothing."""
    names = report.worst_first(statement)
    chosen = [report.groups[name].certificates[statement] for name in names]
    return _picture([f"{name} ({c.n:,})" for name, c in zip(names, chosen, strict=True)], chosen, report.delta, ax)


def plot_classes(report: ClassReport, statement: str, ax: Axes | None = None) -> Figure:
    """The same for the classes of a classifier, with the rows that are of each class."""
    ordered = report.worst_first(statement)
    chosen = [entry.certificates[statement] for entry in ordered]
    return _picture([f"{entry.number} ({entry.positives:,})" for entry in ordered], chosen, report.unmodified.delta, ax)


def _picture(names: Sequence[str], certificates: Sequence[Certificate], delta: float, ax: Axes | None) -> Figure:
    if ax is None:
        with matplotlib.rc_context(STYLE):
            figure = Picture(figsize=(4.8, 0.9 + 0.26 * len(names)), layout="constrained")
            return figure_of(_draw(names, certificates, delta, figure.subplots()))
    return figure_of(_draw(names, certificates, delta, ax))


def _draw(names: Sequence[str], certificates: Sequence[Certificate], delta: float, axes: Axes) -> Axes:
    says = [certificate for certificate in certificates if not says_nothing(certificate)]
    right = min(1.0, 1.15 * max((certificate.upper for certificate in says), default=1.0))
    for place, certificate in enumerate(certificates):
        style = {"color": FAINT, "ls": ":", "lw": 1.5} if says_nothing(certificate) else {"color": BLUE, "lw": 5.0}
        axes.plot([certificate.lower, certificate.upper], [place, place], solid_capstyle="butt", **style)  # type: ignore[arg-type]
        if certificate.lower > 0:
            axes.plot([certificate.lower], [place], "|", color=INK, ms=9)
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_xlim(0, right)
    first = certificates[0]
    subject = "perturbed" if "perturbed" in first.subject else first.subject
    axes.set_xlabel(
        f"{first.quantity} ({subject})\nall lines together with probability {1 - delta:.4g}, each side", loc="right"
    )
    return axes
