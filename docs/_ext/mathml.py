"""Formulas as MathML, made when the site is built: pages need no script and no network to show them."""

from __future__ import annotations

import re
from typing import Any

import math_core
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number
from sphinx.writers.html5 import HTML5Translator

CONVERTER = math_core.LatexToMathML(fancy_error=False)
TAG = re.compile(r"\\tag\{([^}]*)\}")
logger = logging.getLogger(__name__)


def converted(node: nodes.Element, latex: str, *, display: bool) -> str:
    """The formula as MathML; what cannot be converted is a warning, and so fails the build."""
    try:
        return str(CONVERTER.convert_with_local_state(latex, displaystyle=display))
    except math_core.LatexError as error:
        logger.warning("formula %r: %s", latex, error, location=node)
        return str(nodes.fully_normalize_name(latex))


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


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_html_math_renderer("mathml", inline_renderers=(inline, None), block_renderers=(block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
