"""Pages: one self-contained file each, in one layout, for a reader who was not there, with nothing to load."""

from __future__ import annotations

import datetime
from functools import cache
from typing import Any

import calcert
from calcert.certificates.certificate import Certificate
from calcert.foundation.escaped_text import visible
from calcert.foundation.numbers import at_least, at_most, fraction, given, number, percent
from calcert.show import words
from calcert.show.requirements import needed_for_reports

with needed_for_reports():
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup
    from matplotlib.figure import Figure

    from calcert.show.pictures.inline_svg import inline_svg

Picture = dict[str, str]
"""A picture as an <svg> element, and how to read it."""

Statement = dict[str, Any]
"""What a card of the page says."""


def render(template: str, *, title: str, date: datetime.date | None, **values: Any) -> str:
    """A page as text; `date` is shown as the time of writing, now, with its zone, when None."""
    now = datetime.datetime.now(datetime.UTC).astimezone().isoformat(timespec="seconds")
    facts = {"said": {}, "columns": {}, "files": [], "reading": [], "left_out": "", "time": None} | values[
        "report"
    ].get("facts", {})
    facts["said"] = {name: said for name, said in facts["said"].items() if name != "title"}
    page = _environment().get_template(template)
    return page.render(
        title=title, date=date.isoformat() if date else now, version=calcert.__version__, facts=facts, **values
    )


def fragment(template: str, **values: Any) -> str:
    """Part of a page that takes on the colours of the notebook around it."""
    return _environment().get_template(template).render(**values)


def picture(figure: Figure, name: str, title: str, description: str, reading: str) -> Picture:
    """A figure to stand on a page; `name` keeps its ids apart from those of other pictures."""
    return {"svg": inline_svg(figure, name, title, description), "reading": reading}


def statement(name: str, certificate: Certificate, interval: str, sentences: list[str]) -> Statement:
    """A card: what is bounded, how far, in words, and what that does not promise."""
    return {
        "name": name,
        "title": words.STATEMENTS[name].title,
        "short": words.STATEMENTS[name].short,
        "quantity": words.quantity(name, certificate),
        "interval": interval,
        "sentences": sentences,
        "not_promised": words.not_promised(name, certificate),
        "certificate": certificate,
    }


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("calcert", "show/pages/templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_visible,
    )
    environment.filters.update(
        number=number, percent=percent, at_most=at_most, at_least=at_least, exact=repr, setting=_setting
    )
    return environment


def _visible(value: Any) -> Any:
    """Whatever a template writes, but for what is markup already."""
    return visible(value, keep="\n") if isinstance(value, str) and not isinstance(value, Markup) else value


def _setting(value: float, name: str) -> str:
    return fraction(value) if name in ("bandwidth", "odds") else given(value)
