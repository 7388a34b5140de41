"""The page of a result that is a table and a picture: plans, bandwidths, bands, published numbers."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Any

from calcert.show.blocks import BLOCKS
from calcert.show.blocks.block import Table
from calcert.show.pages.layout import fragment, picture, render
from calcert.show.pictures import PICTURES
from calcert.show.text.tables import plain, view_of

if TYPE_CHECKING:
    from calcert.foundation.result import Result

TITLES = {
    "comparison": "Models compared",
    "plan": "About how many rows",
    "noise costs": "What noise costs and buys",
    "recalibration": "Before and after recalibration",
    "band": "A band for the calibration curve",
    "monotone band": "The calibration curve",
    "score table": "The probability at each score",
    "transport plan": "What would move where",
    "decision curve": "Decision curve",
    "segments": "Calibration by segment",
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
    blocks, title = BLOCKS[result.kind](result), TITLES[result.kind]
    text = plain(view_of(blocks))
    return {
        "text": text,
        "pieces": [_table(block) if isinstance(block, Table) else block.words for block in blocks],
        "picture": picture(PICTURES[result.kind](result), result.kind, title, text, ""),
    }


def _table(block: Table) -> dict[str, Any]:
    """A table, for the template."""
    return {
        "headings": [column.name for column in block.columns],
        "numbers": [not column.of_words for column in block.columns],
        "rows": [(row.style == "bold", row.cells) for row in block.rows],
    }
