"""Pictures inside a page: SVG whose text is text, whose colours follow the page, and which a screen reader can tell."""

from __future__ import annotations

import io
import re
import warnings
from html import escape

from calcert.foundation.escaped_text import visible
from calcert.foundation.requirements import needed_for_reports
from calcert.show.pictures.canvas import BLUE, FAINT, GREEN, INK, ORANGE, PAPER, PURPLE, RED

with needed_for_reports():
    import matplotlib
    from matplotlib.figure import Figure

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


def inline_svg(figure: Figure, name: str, title: str, description: str) -> str:
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
