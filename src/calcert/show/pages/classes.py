"""The page of a classifier with many classes: that of its prediction, and each class against the rest."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Any

from calcert.show import certificate_words as words
from calcert.show.interval_lines import class_columns, class_lines, meanings, order
from calcert.show.pages import report as of_prediction
from calcert.show.pages.layout import IN_TABLE, code, fragment, interval_pictures, left_out, render
from calcert.show.pictures.intervals import all_lines
from calcert.show.text.classes import means

if TYPE_CHECKING:
    from calcert.reports.classes import ClassReport


def page(
    report: ClassReport, *, command: str | None = None, title: str | None = None, date: datetime.date | None = None
) -> str:
    """The page as text; arguments as in :func:`calcert.show.pages.report.page`."""
    call = code(report.settings, rows="probabilities, labels")
    content = of_prediction.content(report, command) | {"code": f'report = {call}\nreport.to_html("report.html")'}
    return render("classes.html.jinja", title=title or of_prediction.TITLE, date=date, **content | _classes(report))


def notebook_view(report: ClassReport) -> str:
    """The prediction, and the worst classes, for a notebook."""
    classes = _classes(report)
    return of_prediction.notebook_view(report) + fragment(
        "notebook_lines.html.jinja",
        heading=f"Each of {len(report.classes):,} classes against the rest, {classes['order']}",
        first="class",
        subjects=classes["subjects"],
        lines=classes["lines"][:IN_TABLE],
        notes=[
            classes["worst"],
            classes["together"],
            f"Mean over classes: {classes['means']}.",
            meanings(class_columns(report), classes["lines"]),
            classes["too_small"],
        ],
        pictures=classes["class_pictures"],
    )


def _classes(report: ClassReport) -> dict[str, Any]:
    names, delta = class_columns(report), report.settings.delta
    lines, shown = class_lines(report, names), {name: class_lines(report, [name]) for name in names}
    return {
        "together": words.together("classes", len(lines), delta),
        "means": means(report, names),
        "worst": words.worst("class", "classes", report.worst, names),
        "too_small": words.too_small("classes", lines),
        "subjects": [words.STATEMENTS[name].short for name in names],
        "lines": lines,
        "order": order(lines),
        "most": IN_TABLE,
        "class_pictures": interval_pictures("classes", shown, all_lines(delta)),
        "left_out": left_out("classes", len(lines)),
    }
