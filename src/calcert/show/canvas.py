"""Where pictures are drawn: the caller's axes, or a new figure in our colours and style; and what pictures share."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from calcert.foundation.escaped_text import visible
from calcert.foundation.refusal import needed_for_reports

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from calcert.certificates.certificate import Certificate
    from calcert.foundation.array_types import Floats

INK, PAPER, FAINT = "#1b1b1b", "#fefefe", "#8a8a8a"
BLUE, ORANGE, GREEN, PURPLE, RED = "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00"
"""Told apart by colour-blind people, and in black and white by line and hatch."""

WIDTH = 4.8
SQUARE, FLAT = (WIDTH, 5.0), (WIDTH, 3.2)
"""Inches: text stays readable when the picture is 300 pixels wide."""

DASHED: Any = (0, (5, 3))

LONGEST_NAME = 24
"""Letters of a name in a picture; tables have all of them."""

LONG = 3.0
"""Bars that reach further than so many times the median may leave the picture."""

STYLE: dict[Any, Any] = {
    "font.family": ["DejaVu Sans"],
    "font.size": 10.0,
    "axes.titlesize": 10.0,
    "axes.titlelocation": "left",
    "axes.labelsize": 10.0,
    "legend.fontsize": 9.0,
    "xtick.labelsize": 9.0,
    "ytick.labelsize": 9.0,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
    "axes.titlecolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.facecolor": "none",
    "figure.facecolor": PAPER,
    "legend.facecolor": PAPER,
    "legend.edgecolor": FAINT,
    "legend.framealpha": 0.85,
    "hatch.linewidth": 0.6,
    "hatch.color": INK,
}
"""Settings of pictures that are drawn without an `ax` of the caller's."""


@contextlib.contextmanager
def axes_for(ax: Axes | None, size: tuple[float, float] = SQUARE) -> Iterator[Axes]:
    """The caller's axes, or those of a new figure of some size in our style."""
    if ax is not None:
        yield ax
        return
    with needed_for_reports():
        import matplotlib

        from calcert.show.picture import Picture
    with matplotlib.rc_context(STYLE):
        yield Picture(figsize=size, layout="constrained").subplots()


def axes_below(axes: Axes, share: float) -> Axes:
    """New axes that take the bottom `share` of the place of `axes`, with the same x."""
    figure = figure_of(axes)
    place = axes.get_subplotspec()
    if place is not None:
        halves = place.subgridspec(2, 1, height_ratios=(1 - share, share), hspace=0.06)
        axes.set_subplotspec(halves[0])
        below = figure.add_subplot(halves[1], sharex=axes)
    else:
        x, y, width, height = axes.get_position(original=True).bounds
        axes.set_position((x, y + (share + 0.03) * height, width, (0.97 - share) * height))
        below = figure.add_axes((x, y, width, share * height), sharex=axes)
    axes.tick_params(labelbottom=False)
    return below


def figure_of(axes: Axes) -> Figure:
    """The figure that holds the axes, whatever lies between."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    return figure


def draw_diagonal(axes: Axes, shown: tuple[float, float], label: str) -> None:
    """Where a classifier without error is."""
    axes.plot(shown, shown, color=INK, lw=1.0, ls=DASHED, label=label)


def draw_band(axes: Axes, edges: Floats, lower: Floats, upper: Floats, label: str) -> None:
    """The place between two steps, and the steps themselves."""
    axes.stairs(upper, edges, baseline=lower, fill=True, color=BLUE, alpha=0.22, lw=0, label=label)
    for side in (lower, upper):
        axes.stairs(side, edges, baseline=None, color=BLUE, lw=0.6)


def draw_bar(axes: Axes, lower: float, upper: float, place: float, color: str = BLUE, **style: Any) -> None:
    """An interval that lies at some height."""
    drawn: dict[str, Any] = {"color": color, "lw": 5.0, "solid_capstyle": "butt"} | style
    axes.plot([lower, upper], [place, place], **drawn)


def draw_mark(axes: Axes, value: float, place: float) -> None:
    """An upright mark on an interval."""
    axes.plot([value], [place], "|", color=INK, ms=9)


def list_names(axes: Axes, names: list[str]) -> None:
    """Names beside bars, from top to bottom."""
    # They are nobody's formulas: matplotlib would read "$1" and "$2" as such.
    axes.set_yticks(range(len(names)), names, parse_math=False)
    axes.set_ylim(len(names) - 0.5, -0.5)


def interval_bars(named: Sequence[tuple[str, int, Certificate]], together: str, ax: Axes | None) -> Figure:
    """A bar for each name, with its rows, from the lower to the upper bound; a dotted one, from 0 to 1, says nothing.

    `together` says what holds together.
    """
    with axes_for(ax, (WIDTH, 0.9 + 0.26 * len(named))) as axes:
        certificates = [certificate for _, _, certificate in named]
        right = _right_end(certificates)
        for place, c in enumerate(certificates):
            style: dict[str, Any] = {} if c.telling else {"color": FAINT, "ls": ":", "lw": 1.5}
            draw_bar(axes, c.lower, c.upper, place, **style)
            if c.lower > 0:
                draw_mark(axes, c.lower, place)
            if c.upper > right:
                axes.plot([right], [place], ">", color=style.get("color", BLUE), ms=6, clip_on=False)
        list_names(axes, [f"{short(name)} ({rows:,})" for name, rows, _ in named])
        axes.set_xlim(0, right)
        first = certificates[0]
        subject = "perturbed" if "perturbed" in first.subject else first.subject
        axes.set_xlabel(f"{first.quantity} ({subject})\n{together}", loc="right")
        return figure_of(axes)


def short(name: str) -> str:
    """A name on one line, cut where it is long."""
    seen = visible(name, keep="\t\n\r")
    whole = " ".join("".join(letter if letter.isprintable() else " " for letter in seen).split())
    return whole if len(whole) <= LONGEST_NAME else "".join(islice(whole, LONGEST_NAME - 1)) + "…"


def _right_end(certificates: Sequence[Certificate]) -> float:
    """Where the picture ends: a few groups with few rows must not squeeze all others into a corner.

    One that is certain to be worse than most is in it, however far out.
    """
    telling = sorted((c for c in certificates if c.telling), key=lambda c: c.upper)
    median = telling[len(telling) // 2].upper if telling else 1.0
    usual = [c.upper for c in telling if c.upper <= LONG * median or c.lower > median]
    return min(1.0, 1.15 * max(usual, default=1.0))
