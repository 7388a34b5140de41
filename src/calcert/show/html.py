"""Blocks as a page, one self-contained file with nothing to load, and as part of a notebook (jinja2)."""

from __future__ import annotations

import datetime
import io
import re
import warnings
from collections.abc import Sequence
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any

import calcert
from calcert.foundation.escaped_text import visible
from calcert.foundation.refusal import needed_for_reports
from calcert.show.block import Behind, Block, Figure, Section, Table, Verdict, Warned
from calcert.show.canvas import BLUE, FAINT, GREEN, INK, ORANGE, PAPER, PURPLE, RED

with needed_for_reports():
    import matplotlib
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawn

    from calcert.foundation.result import Result

WIDE = 4
"""A table with so many columns has the width of the page; a smaller one stands beside the picture."""


SETTINGS: dict[object, object] = {"svg.fonttype": "none", "svg.hashsalt": "calcert"}

ROLES = {
    INK: "ink",
    PAPER: "paper",
    FAINT: "faint",
    BLUE: "blue",
    ORANGE: "orange",
    GREEN: "green",
    PURPLE: "purple",
    RED: "red",
}
"""Names under which a page may give the colours other values, as it does in the dark."""


def page(
    result: Result,
    blocks: Sequence[Block],
    *,
    title: str,
    command: str | None = None,
    date: datetime.date | None = None,
) -> str:
    """The page as text, with the exact command that made the result; it shows the `date`, or the time without one."""
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
            title=title,
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
    parts: Any = _templates().get_template("blocks.html.jinja").module
    return f'<div style="max-width: 60rem; line-height: 1.45">\n{parts.all(blocks, 2, True)}</div>'


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


def inline_svg(figure: Drawn, name: str, title: str, description: str) -> str:
    """The figure as an <svg> element to stand in HTML; `name` keeps its ids apart from those of other pictures.

    Every colour of the palette becomes a CSS variable with the colour itself as the fallback, so that a page can turn
    dark; ink falls back to the colour of the text around it, and paper to what is behind.
    """
    target = io.StringIO()
    with matplotlib.rc_context(SETTINGS), warnings.catch_warnings():  # type: ignore[arg-type]
        # A letter that the font here lacks is drawn by the browser, which has others.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure.savefig(target, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    svg = target.getvalue()
    svg = svg[svg.index("<svg") :]
    # A style sheet inside would reach the whole page; what it says is inherited from the root instead.
    svg = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>", "", svg, flags=re.DOTALL)
    # The words of the picture, names of groups among them, are not to be touched: tags only.
    svg = re.sub(r"<[^>]*>", lambda tag: _tag(tag.group(), name), re.sub(r"\s+", " ", svg))
    head, body = re.match(r"<svg[^>]*>", svg), svg.partition(">")[2]
    assert head is not None
    box = re.search(r'viewBox="[^"]*"', head.group())
    assert box is not None
    return (
        f'<svg {box.group()} xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" role="img" '
        'style="stroke-linejoin: round; stroke-linecap: butt" '
        f'aria-labelledby="{name}-title {name}-desc"><title id="{name}-title">{escape(visible(title))}</title>'
        f'<desc id="{name}-desc">{escape(visible(description))}</desc>{body}'
    )


def _tag(tag: str, name: str) -> str:
    """A tag with the ids of one picture, the colours of the page, and hundredths of a point, which are enough."""
    tag = re.sub(r'\b(id="|url\(#|href="#)', rf"\g<1>{name}-", tag)
    tag = re.sub(r"(\.\d\d)\d+", r"\1", tag).replace("'DejaVu Sans'", "'DejaVu Sans', Verdana, sans-serif")
    for colour, role in ROLES.items():
        fallback = {INK: "currentColor", PAPER: "transparent"}.get(colour, colour)
        tag = tag.replace(colour, f"var(--{role}, {fallback})")
    return tag
