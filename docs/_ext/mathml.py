"""Formulas as MathML, made when the site is built: pages need no script and no network to show them.

Browsers draw MathML well only with a font made for it, which phones and many Linux machines lack. So the site brings
one: the part of STIX Two Math (SIL Open Font License) that formulas here can need, cut out of the copy in ziamath.
"""

from __future__ import annotations

import html
import re
from importlib.resources import files
from typing import Any

import math_core
from docutils import nodes
from fontTools import subset
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number
from sphinx.writers.html5 import HTML5Translator

CONVERTER = math_core.LatexToMathML(fancy_error=False)
TAG = re.compile(r"\\tag\{([^}]*)\}")
LETTERS = ((0x20, 0x7E), (0xA0, 0xFF), (0x300, 0x3FF), (0x2000, 0x206F), (0x20D0, 0x20FF), (0x2100, 0x23FF))
SHAPES = ((0x25A0, 0x25FF), (0x27C0, 0x27EF), (0x1D400, 0x1D4CF), (0x1D538, 0x1D56B), (0x1D6A8, 0x1D71B))
logger = logging.getLogger(__name__)


def converted(node: nodes.Element, latex: str, *, display: bool) -> str:
    """The formula as MathML; what cannot be converted is a warning, and so fails the build."""
    try:
        return str(CONVERTER.convert_with_local_state(latex, displaystyle=display))
    except math_core.LatexError as error:
        logger.warning("formula %r: %s", latex, error, location=node)
        return f"<code>{html.escape(latex)}</code>"


def inline(translator: HTML5Translator, node: nodes.Element) -> None:
    translator.body.append(converted(node, node.astext(), display=False))
    raise nodes.SkipNode


def block(translator: HTML5Translator, node: nodes.Element) -> None:
    latex = node.astext().strip()
    tag = TAG.search(latex)
    number = f"({tag[1]})" if tag else f"({get_node_equation_number(translator, node)})" if node["number"] else ""
    formula = converted(node, TAG.sub("", latex), display=True)
    translator.body.append(translator.starttag(node, "div", CLASS="math"))
    translator.body.append(formula)
    if number:
        translator.body.append(f'<span class="eqno">{number}</span>')
    translator.body.append("</div>\n")
    raise nodes.SkipNode


def bring_the_font(app: Sphinx, exception: Exception | None) -> None:
    if exception or app.builder.format != "html":
        return
    options = subset.Options(flavor="woff", hinting=False, layout_features=["ssty"])
    font = subset.load_font(str(files("ziamath.fonts") / "STIXTwoMath-Regular.ttf"), options)
    cutter = subset.Subsetter(options)
    cutter.populate(unicodes=[code for first, last in LETTERS + SHAPES for code in range(first, last + 1)])
    cutter.subset(font)
    subset.save_font(font, str(app.outdir / "_static" / "math.woff"), options)


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_html_math_renderer("mathml", inline_renderers=(inline, None), block_renderers=(block, None))
    app.connect("build-finished", bring_the_font)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
