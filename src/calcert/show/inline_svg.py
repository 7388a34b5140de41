"""Pictures inside a page: SVG whose text is text, whose colours follow the page, and which a screen reader can tell."""

from __future__ import annotations

import io
import re
from html import escape

from calcert.show.palette import INK, PAPER, ROLES
from calcert.show.requirements import needed_for_reports

with needed_for_reports():
    import matplotlib
    from matplotlib.figure import Figure

SETTINGS: dict[object, object] = {"svg.fonttype": "none", "svg.hashsalt": "calcert"}


def inline_svg(figure: Figure, name: str, title: str, description: str) -> str:
    """The figure as an <svg> element to stand in HTML; `name` keeps its ids apart from those of other pictures.

    Every colour of the palette becomes a CSS variable with the colour itself as the fallback, so that a page can turn
    dark; ink falls back to the colour of the text around it, and paper to what is behind.
    """
    target = io.StringIO()
    with matplotlib.rc_context(SETTINGS):  # type: ignore[arg-type]
        figure.savefig(target, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    svg = target.getvalue()
    svg = svg[svg.index("<svg") :]
    # A style sheet inside would reach the whole page; what it says is inherited from the root instead.
    svg = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\b(id="|url\(#|href="#)', rf"\g<1>{name}-", svg)
    # Hundredths of a point are enough for places, but the words of the picture are not to be touched.
    svg = re.sub(r"<[^>]*>", lambda tag: re.sub(r"(\.\d\d)\d+", r"\1", tag.group()), svg)
    svg = re.sub(r"\s+", " ", svg).replace("'DejaVu Sans'", "'DejaVu Sans', Verdana, sans-serif")
    for colour, role in ROLES.items():
        fallback = {INK: "currentColor", PAPER: "transparent"}.get(colour, colour)
        svg = svg.replace(colour, f"var(--{role}, {fallback})")
    head, body = re.match(r"<svg[^>]*>", svg), svg.partition(">")[2]
    assert head is not None
    box = re.search(r'viewBox="[^"]*"', head.group())
    assert box is not None
    return (
        f'<svg {box.group()} xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" role="img" '
        'style="stroke-linejoin: round; stroke-linecap: butt" '
        f'aria-labelledby="{name}-title {name}-desc"><title id="{name}-title">{escape(title)}</title>'
        f'<desc id="{name}-desc">{escape(description)}</desc>{body}'
    )
