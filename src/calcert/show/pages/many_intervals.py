"""What pages of many intervals share, be they of groups, classes, windows or models: words, and pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from calcert.foundation.numbers import percent_sure
from calcert.show import words
from calcert.show.lines import Line
from calcert.show.pages.layout import Picture, picture
from calcert.show.pictures.intervals import plot_lines

IN_TABLE, IN_PICTURE, IN_SENTENCE = 50, 30, 12
"""Lines that are seen at once; the rest of the table is folded."""


def together(many: str, size: int, delta: float) -> str:
    """What is promised of all groups, or classes, at once."""
    one, both = percent_sure(delta), percent_sure(2 * delta)
    return (
        f"For each statement, the upper bounds of all {size:,} {many} hold together with probability at least {one} "
        f"over the choice of the rows, and so do the lower bounds over that of rows and throws; all of both with "
        f"{both}. For that, each is certified with probability {percent_sure(delta / size)}."
    )


def too_small(many: str, lines: Sequence[Line]) -> str:
    """Which lines say nothing; empty where all say something."""
    small = [f"{line.name} ({line.rows:,})" for line in lines if line.nothing]
    if not small:
        return ""
    more = f" and {len(small) - IN_SENTENCE:,} more" if len(small) > IN_SENTENCE else ""
    return (
        f"Too few rows to say anything of {len(small):,} of {len(lines):,} {many}: "
        f"{', '.join(small[:IN_SENTENCE])}{more}."
    )


def left_out(many: str, size: int) -> str:
    """What the pictures do not show; empty where they show all."""
    return f"The pictures show the worst {IN_PICTURE} of {size:,} {many}." if size > IN_PICTURE else ""


def pictures(many: str, shown: Mapping[str, Sequence[Line]], note: str) -> list[Picture]:
    """A picture a statement, given its lines; `note` says what holds together."""
    drawn: list[Picture] = []
    for name, lines in shown.items():
        first = lines[:IN_PICTURE]
        title = f"Certified intervals of {many}, {words.STATEMENTS[name].short}"
        bars = [f"{line.name}: {words.interval(line.certificates[0])}" for line in first]
        description = f"Bars from lower to upper bounds. {'; '.join(bars)}."
        reading = (
            f"The same for another statement: {words.STATEMENTS[name].title.lower()}." if drawn else _reading(many)
        )
        drawn.append(picture(plot_lines(first, 0, note), f"{many}-{name}", title, description, reading))
    return drawn


def _reading(many: str) -> str:
    return (
        "Each bar reaches from the lower to the upper bound. With the stated probability, for all bars together, and "
        "where what the statement assumes is true, the true errors lie inside, and bars that do not overlap belong to "
        f"{many} that differ. The upright mark is the lower bound; a dotted line says nothing, as "
        "there are too few rows, and an arrow is a bar that goes on."
    )
