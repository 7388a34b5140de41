"""The page of a result that is a table and a picture: plans, bandwidths, bands, published numbers."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from calcert.show.pages.layout import fragment, picture, render
from calcert.show.pictures import PICTURES
from calcert.show.text import VIEWS
from calcert.show.text.tables import plain

if TYPE_CHECKING:
    from calcert.foundation.result import Result

TITLES = {
    "plan": "About how many rows",
    "bandwidths": "What noise costs and buys",
    "band": "A band for the calibration curve",
    "monotone band": "The calibration curve as it is",
    "score table": "The chance at each score",
    "moves": "What would move where",
    "ratio": "Observed over expected positives",
    "sides": "To which side scores err",
    "test": "A test of perfect calibration",
    "published": "Published numbers beside certificates",
}


def page(
    result: Result, *, command: str | None = None, title: str | None = None, date: datetime.date | None = None
) -> str:
    """The page as text; arguments as in :func:`calcert.show.pages.report.page`."""
    return render(
        "plain.html.jinja",
        title=title or TITLES[result.kind],
        date=date,
        command=command,
        report=result.to_dict(),
        **_shown(result),
    )


def notebook_view(result: Result) -> str:
    """Table and picture, for a notebook."""
    return fragment("notebook_plain.html.jinja", **_shown(result))


def _shown(result: Result) -> dict[str, Any]:
    view, title = VIEWS[result.kind](result), TITLES[result.kind]
    text, pieces = plain(view), view.renderables if isinstance(view, Group) else [view]
    return {
        "text": text,
        "pieces": [_table(piece) if isinstance(piece, Table) else str(piece) for piece in pieces if str(piece)],
        "picture": picture(PICTURES[result.kind](result), result.kind, title, text, ""),
    }


def _table(shown: Table) -> dict[str, Any]:
    """A table of a text, to be one of the page."""
    rows = zip(*([_cell(cell) for cell in column.cells] for column in shown.columns), strict=True)
    return {
        "headings": [_cell(column.header) for column in shown.columns],
        "numbers": [column.justify == "right" for column in shown.columns],
        "rows": [(row.style == "bold", cells) for row, cells in zip(shown.rows, rows, strict=True)],
    }


def _cell(cell: Any) -> str:
    return Text.from_markup(cell).plain if isinstance(cell, str) else str(cell)
