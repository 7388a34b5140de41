"""The page of two models compared: which is certified to have the smaller error, or that the data cannot tell."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Any

from calcert.foundation.number_text import percent_sure
from calcert.reports.statements import columns
from calcert.show import certificate_words as words
from calcert.show.interval_lines import meanings, model_lines
from calcert.show.pages.layout import card, code, fragment, interval_pictures, render
from calcert.show.pages.report import told
from calcert.show.pictures.intervals import all_four
from calcert.show.text.comparison import remarks, verdict_words

if TYPE_CHECKING:
    from calcert.reports.comparison import Comparison

TITLE = "Two models compared"


def page(
    comparison: Comparison, *, command: str | None = None, title: str | None = None, date: datetime.date | None = None
) -> str:
    """The page as text; arguments as in :func:`calcert.show.pages.report.page`."""
    settings, rows = comparison.a.settings.at(comparison.delta), "scores_a, scores_b, labels"
    call = code(settings, call="compare", rows=rows, more=told(comparison.a))
    cards = []
    for name in columns(comparison.verdicts):
        verdict = comparison.statement(name)
        sentences = [f"{model}: {words.interval(c)}." for model, c in (("a", verdict.a), ("b", verdict.b))]
        assuming = verdict.b if verdict.a.assumption == "none" else verdict.a
        sentences.append(words.assumption(assuming))
        smaller = verdict_words(verdict) if verdict.smaller is None else f"smaller: {verdict_words(verdict)}"
        cards.append(card(name, assuming, smaller, sentences))
    return render(
        "comparison.html.jinja",
        title=title or TITLE,
        date=date,
        statements=cards,
        never_promised=words.NEVER_PROMISED,
        command=command,
        code=f'comparison = {call}\ncomparison.to_html("comparison.html")',
        fingerprints=", ".join(
            f"with the scores of {model} {one.fingerprint}"
            for model, one in (("a", comparison.a), ("b", comparison.b))
            if one.fingerprint
        ),
        report=comparison.to_dict(),
        **_shown(comparison),
    )


def notebook_view(comparison: Comparison) -> str:
    """Both models and the verdicts, for a notebook."""
    shown = _shown(comparison)
    verdicts = [
        f"{words.STATEMENTS[name].short}: {verdict_words(comparison.statement(name))}"
        for name in columns(comparison.verdicts)
    ]
    meaning = meanings(columns(comparison.verdicts), shown["lines"])
    notes = [f"Smaller error, {'; '.join(verdicts)}.", shown.pop("together"), meaning, *shown.pop("remarks")]
    return fragment(
        "notebook_lines.html.jinja", heading=f"{TITLE}: {shown.pop('rows')}", first="model", notes=notes, **shown
    )


def _shown(comparison: Comparison) -> dict[str, Any]:
    names = columns(comparison.verdicts)
    a, b = comparison.a.n, comparison.b.n
    return {
        "rows": f"{a:,} labelled rows" if a == b else f"{a:,} labelled rows of a, {b:,} of b",
        "together": "Of each statement the bounds of both models, and so the verdict, hold together with probability "
        f"at least {percent_sure(comparison.delta)}, if what it assumes is true.",
        "remarks": remarks(comparison),
        "subjects": [words.STATEMENTS[name].short for name in names],
        "lines": model_lines(comparison, names),
        "pictures": interval_pictures(
            "models", {name: model_lines(comparison, [name]) for name in names}, all_four(comparison.delta)
        ),
    }
