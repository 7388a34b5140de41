"""One layout of all pages, self-contained files with nothing to load, and what they share: cards, code, pictures."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import calcert
from calcert.certificates.certificate import Certificate
from calcert.foundation.escaped_text import visible
from calcert.foundation.number_text import at_least, at_most, fraction, given, number, percent
from calcert.foundation.requirements import needed_for_reports
from calcert.reports.settings import Settings
from calcert.show import certificate_words as words
from calcert.show.interval_lines import Line

with needed_for_reports():
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup
    from matplotlib.figure import Figure

    from calcert.show.pictures.inline_svg import inline_svg
    from calcert.show.pictures.intervals import bars_description, plot_lines

Picture = dict[str, str]
"""A picture as an <svg> element, and how to read it."""

Card = dict[str, Any]
"""What a card of the page says."""

IN_TABLE, IN_PICTURE = 50, 30
"""Lines that are seen at once; the rest of the table is folded."""


def render(template: str, *, title: str, date: datetime.date | None, **values: Any) -> str:
    """A page as text; `date` is shown as the time of writing, now, with its zone, when None."""
    now = datetime.datetime.now(datetime.UTC).astimezone().isoformat(timespec="seconds")
    facts = {"said": {}, "columns": {}, "files": [], "reading": [], "left_out": "", "time": None} | values[
        "report"
    ].get("facts", {})
    facts["said"] = {name: said for name, said in facts["said"].items() if name != "title"}
    page = _templates().get_template(template)
    return page.render(
        title=title, date=date.isoformat() if date else now, version=calcert.__version__, facts=facts, **values
    )


def fragment(template: str, **values: Any) -> str:
    """Part of a page that takes on the colours of the notebook around it."""
    return _templates().get_template(template).render(**values)


def picture(figure: Figure, name: str, title: str, description: str, reading: str) -> Picture:
    """A figure to stand on a page; `name` keeps its ids apart from those of other pictures."""
    return {"svg": inline_svg(figure, name, title, description), "reading": reading}


def card(name: str, certificate: Certificate, interval: str, sentences: list[str]) -> Card:
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


def code(settings: Settings, *, call: str = "certify", rows: str = "scores, labels", more: str = "") -> str:
    """The call that makes the same result again from the same rows.

    `rows` are scores and, last, labels; `more` is what is said of them.
    """
    given = {}
    for name, value in settings.to_dict().items():
        short = fraction(value) if name in settings.noise.parameters else ""
        given[name] = short if "/" in short else repr(value)
    fixed = ", ".join(f"{name}={value}" for name, value in given.items())
    *scores, labels = rows.split(", ")
    shown = ", ".join(f"calcert.Rows({one}, {labels}, {more})" for one in scores) if more else rows
    return f"calcert.{call}({shown}, settings=calcert.Settings({fixed}))"


def left_out(many: str, size: int) -> str:
    """What the pictures do not show; empty where they show all."""
    return f"The pictures show the worst {IN_PICTURE} of {size:,} {many}." if size > IN_PICTURE else ""


def interval_pictures(many: str, shown: Mapping[str, Sequence[Line]], note: str) -> list[Picture]:
    """A picture a statement, given its lines; `note` says what holds together."""
    drawn: list[Picture] = []
    for name, lines in shown.items():
        first = lines[:IN_PICTURE]
        title = f"Certified intervals of {many}, {words.STATEMENTS[name].short}"
        same = f"The same for another statement: {words.STATEMENTS[name].title.lower()}."
        reading = same if drawn else _how_to_read_bars(many)
        drawn.append(picture(plot_lines(first, 0, note), f"{many}-{name}", title, bars_description(first, 0), reading))
    return drawn


def _how_to_read_bars(many: str) -> str:
    return (
        "Each bar reaches from the lower to the upper bound. With the stated probability, for all bars together, and "
        "where what the statement assumes is true, the true errors lie inside, and bars that do not overlap belong to "
        f"{many} that differ. The upright mark is the lower bound; a dotted line says nothing, as "
        "there are too few rows, and an arrow is a bar that goes on."
    )


@cache
def _templates() -> Environment:
    """The templates of all pages, with numbers as people read them."""
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
    """A setting as a page shows it: noise as a fraction, 1/16."""
    return fraction(value) if name in ("bandwidth", "odds") else given(value)
