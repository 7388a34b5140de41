"""What upper bounds are made of, as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from calcert.foundation.number_text import at_least, at_most, number
from calcert.foundation.requirements import needed_for_reports
from calcert.show import certificate_words as words
from calcert.show.pictures.canvas import BLUE, FAINT, GREEN, INK, ORANGE, axes_for, figure_of

with needed_for_reports():
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch
    from matplotlib.transforms import offset_copy

if TYPE_CHECKING:
    from calcert.reports.report import Report

TERMS = {
    "plug-in": (BLUE, ""),
    "sampling": (ORANGE, "///"),
    "group bias": (GREEN, "|||"),
    "discretisation": (FAINT, "xxx"),
}
"""Fill and hatch of each term of a bound."""

VISIBLE = 0.005
"""A term that is a smaller share of its bar is no wider than its edge."""


def terms(report: Report, ax: Axes | None = None) -> Axes:
    """What each upper bound is made of, as stacked bars, with the lower bound as a mark.

    How to read it: the whole bar is what is certified. The plug-in is what the rows show; everything after it is the
    price of certainty. More rows shrink plug-in noise, sampling and group bias; recalibrating shrinks the rest.

    Parameters
    ----------
    report
        What :func:`calcert.certify` returned.
    ax
        Axes to draw on; those of a new figure where left out.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(5000)
    >>> ax = terms(calcert.certify(x, rng.random(5000) < x))
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['distance', 'cutoff', 'crossings', 'as it is', 'perturbed']
    """
    with axes_for(ax, "terms") as axes:
        certificates, names = list(report.certificates.values()), list(report.certificates)
        for row, c in enumerate(certificates):
            reached = 0.0
            for name, (colour, hatch) in TERMS.items():
                width = c.terms.get(name, 0.0)
                if width > 0:
                    axes.barh(row, width, 0.55, left=reached, color=colour, hatch=hatch, edgecolor=INK, lw=0.5)
                    reached += width
            end = (min(reached, c.upper), row)
            axes.annotate(at_most(c.upper), end, (4, 0), textcoords="offset points", va="center")
            if c.lower > 0:
                axes.plot((c.lower, c.lower), (row - 0.36, row + 0.36), color=INK, lw=2.2, solid_capstyle="butt")
        axes.set_yticks(range(len(certificates)), [words.STATEMENTS[name].short for name in names])
        axes.invert_yaxis()
        axes.set_xlim(0, 1.18 * max(c.upper for c in certificates))
        axes.set_xlabel("certified at most")
        axes.set_title("What the upper bounds are made of", loc="left")
        _term_legend(axes, {name for c in certificates for name, value in c.terms.items() if value > VISIBLE * c.upper})
        return axes


def terms_description(report: Report) -> str:
    """The picture of terms for somebody who cannot see it."""
    bars = []
    for name, c in report.certificates.items():
        made_of = ", ".join(f"{term} {number(value)}" for term, value in c.terms.items())
        bars.append(
            f"{words.STATEMENTS[name].short}: at most {at_most(c.upper)} = {made_of}; at least {at_least(c.lower)}"
        )
    return "Stacked bars. " + ". ".join(bars) + "."


def _term_legend(axes: Axes, present: set[str]) -> None:
    """A legend below the axes; terms too thin to be seen are left out."""
    handles: list[Artist] = [
        Patch(facecolor=colour, hatch=hatch, edgecolor=INK, lw=0.5, label=name)
        for name, (colour, hatch) in TERMS.items()
        if name in present
    ]
    handles.append(Line2D([], [], color=INK, lw=2.2, label="certified at least"))
    under_label = offset_copy(axes.transAxes, figure_of(axes), y=-34, units="points")
    axes.legend(
        handles=handles, loc="upper center", bbox_to_anchor=(0.5, 0), bbox_transform=under_label, ncols=3, frameon=False
    )
