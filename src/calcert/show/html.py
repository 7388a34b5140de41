"""Blocks as a page, one self-contained file with nothing to load, and as part of a notebook (jinja2)."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import calcert
from calcert.foundation.escaped_text import visible
from calcert.foundation.requirements import needed_for_reports
from calcert.show.blocks.block import Behind, Block, Figure, Section, Table, Verdict, Warned

with needed_for_reports():
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    from calcert.show.pictures.inline_svg import inline_svg

if TYPE_CHECKING:
    from calcert.foundation.result import Result

WIDE = 4
"""A table with so many columns has the width of the page; a smaller one stands beside the picture."""

TITLES = {
    "report": "Calibration report",
    "groups": "Calibration report by group",
    "classes": "Calibration report",
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
    "status": "Calibration over time",
    "published": "Published numbers beside certificates",
}


def page(
    result: Result,
    blocks: Sequence[Block],
    *,
    command: str | None = None,
    title: str | None = None,
    date: datetime.date | None = None,
) -> str:
    """The page as text.

    Parameters
    ----------
    result, blocks
        What the page is about, and what it says.
    command
        The exact command that made the result, shown at the end.
    title
        Heading of the page.
    date
        Shown as the day of writing; the time, with its zone, when None.
    """
    now = datetime.datetime.now(datetime.UTC).astimezone().isoformat(timespec="seconds")
    values = result.to_dict()
    facts = {"said": {}, "columns": {}, "files": [], "reading": [], "left_out": "", "time": None} | values.get(
        "facts", {}
    )
    facts["said"] = {name: said for name, said in facts["said"].items() if name != "title"}
    first = [block for block in blocks if isinstance(block, (Verdict, Warned))]
    after = [block for block in blocks if isinstance(block, (Section, Behind))]
    wide = [block for block in blocks if isinstance(block, Table) and len(block.columns) >= WIDE]
    answer = [block for block in blocks if not any(block is other for other in (*first, *after, *wide))]
    return (
        _templates()
        .get_template("page.html.jinja")
        .render(
            title=title or TITLES[result.kind],
            date=date.isoformat() if date else now,
            lead=next((block.aside for block in first if isinstance(block, Verdict)), ""),
            first=[*sorted(first, key=lambda block: isinstance(block, Warned)), *wide],
            answer=[block for block in answer if not isinstance(block, Figure)],
            figures=[block for block in answer if isinstance(block, Figure)],
            after=after,
            facts=facts,
            command=command,
            report=values,
        )
    )


def notebook_view(blocks: Sequence[Block]) -> str:
    """Part of a page that takes on the colours of the notebook around it."""
    return _templates().get_template("notebook.html.jinja").render(blocks=blocks)


@cache
def _templates() -> Environment:
    """The templates, which show whatever they write as people read it."""
    environment = Environment(
        loader=PackageLoader("calcert", "show/templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_visible,
    )
    environment.filters.update(kind=lambda block: type(block).__name__, slug=_slug, drawn=_drawn)
    environment.globals["version"] = calcert.__version__
    return environment


def _visible(value: Any) -> Any:
    """Whatever a template writes, but for what is markup already."""
    return visible(value, keep="\n") if isinstance(value, str) and not isinstance(value, Markup) else value


def _slug(title: str) -> str:
    """A name for a heading: its first words."""
    return "-".join(re.findall(r"[a-z]+", title.lower())[:4])


def _drawn(block: Figure) -> dict[str, str]:
    """The picture as an <svg> element, and the same in words."""
    figure, words = block.draw()
    return {"svg": "" if figure is None else Markup(inline_svg(figure, block.name, block.title, words)), "words": words}
