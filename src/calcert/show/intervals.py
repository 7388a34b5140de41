"""Certified intervals side by side, as bars with their names."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from calcert.foundation.escaped_text import visible
from calcert.show.canvas import BLUE, FAINT, WIDTH, axes_for, draw_bar, draw_mark, figure_of, list_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from calcert.certificates.certificate import Certificate

LONGEST_NAME = 24
"""Letters of a name in a picture; tables have all of them."""

LONG = 3.0
"""Bars that reach further than so many times the median may leave the picture."""


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
