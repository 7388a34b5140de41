"""The page of two models compared: which is certified to have the smaller error, or that the data cannot tell."""

from __future__ import annotations

import datetime
from typing import Any

from calcert.reports.comparison import Comparison
from calcert.show import words
from calcert.show.lines import SUBJECTS, Line
from calcert.show.pages.layout import fragment, render, statement
from calcert.show.pages.many_intervals import pictures
from calcert.show.text.comparison import verdict_words

TITLE = "Two models compared"


def page(
    comparison: Comparison, *, command: str | None = None, title: str | None = None, date: datetime.date | None = None
) -> str:
    """The page as text; arguments as in :func:`calcert.show.pages.report.page`."""
    call = words.code(comparison.a, rows="scores_a, scores_b, labels", delta=comparison.delta)
    cards = []
    for name in SUBJECTS:
        verdict = comparison.verdicts[name]
        sentences = [f"{model}: {words.interval(c)}." for model, c in (("a", verdict.a), ("b", verdict.b))]
        sentences.append(words.assumption(verdict.a))
        smaller = verdict_words(verdict) if verdict.smaller is None else f"smaller: {verdict_words(verdict)}"
        cards.append(statement(name, verdict.a, smaller, sentences))
    return render(
        "comparison.html.jinja",
        title=title or TITLE,
        date=date,
        statements=cards,
        never_promised=words.NEVER_PROMISED,
        command=command,
        code=f'comparison = {call.replace("certify", "compare")}\ncomparison.to_html("comparison.html")',
        report=comparison.to_dict(),
        **_shown(comparison),
    )


def notebook_view(comparison: Comparison) -> str:
    """Both models and the verdicts, for a notebook."""
    shown = _shown(comparison)
    verdicts = [f"{SUBJECTS[name]}: {verdict_words(comparison.verdicts[name])}" for name in SUBJECTS]
    notes = [f"Smaller error, {'; '.join(verdicts)}.", shown.pop("together")]
    return fragment(
        "notebook_lines.html.jinja", heading=f"{TITLE}: {shown.pop('rows')}", first="model", notes=notes, **shown
    )


def _shown(comparison: Comparison) -> dict[str, Any]:
    def lines(*statements: str) -> list[Line]:
        models = (("a", comparison.a), ("b", comparison.b))
        return [
            Line(model, report.perturbed.n, tuple(report.certificates[name] for name in statements))
            for model, report in models
        ]

    a, b = (line.rows for line in lines("perturbed"))
    note = f"all four bounds together with probability {1 - comparison.delta:.4g}"
    return {
        "rows": f"{a:,} labelled rows" if a == b else f"{a:,} labelled rows of a, {b:,} of b",
        "together": "Of each statement the bounds of both models, and so the verdict, hold together with probability "
        f"at least {words.percent(1 - comparison.delta)}.",
        "subjects": list(SUBJECTS.values()),
        "lines": lines(*SUBJECTS),
        "pictures": pictures("models", {name: lines(name) for name in SUBJECTS}, note),
    }
