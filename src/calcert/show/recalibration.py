"""A recalibration, as blocks and as a picture: before and after, and what the map is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from calcert.certificates.certificate import TELLING
from calcert.foundation.number_text import at_most, number, percent_sure, rows_text
from calcert.reports.estimates import means_in_groups
from calcert.show.block import Block, Column, Paragraph, Table, Verdict, Warned
from calcert.show.canvas import BLUE, FAINT, ORANGE, axes_for, figure_of
from calcert.show.certificate_words import STATEMENTS, both

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from calcert.reports.recalibrate import Recalibration

CURVES = {
    "logistic": "logistic regression on the log-odds",
    "beta": "logistic regression on ln x and ln(1 - x)",
    "isotonic": "isotonic regression",
}


GROUPS = 20
"""Of rows, each with a dot for its share of label 1."""


def recalibration_blocks(found: Recalibration) -> list[Block]:
    """Bounds before and after, from the same held-out rows."""
    delta = found.report.settings.delta
    shown = Table([Column("error", of_words=True), Column("before"), Column("after")])
    after = {**found.report.certificates, **({} if found.l1 is None else {"l1": found.l1})}
    for name, certificate in after.items():
        before = found.before.certificates.get(name)
        known = "" if before is None else both(before)
        shown.add(STATEMENTS[name].short, known, both(certificate), style="bold" if name == "l1" else "")
    shown.add("log loss (estimate)", number(found.log_loss["before"]), number(found.log_loss["after"]))
    levels = f", pooled to {len(found.map.values)} levels" if found.map.values else ", smooth"
    return [
        Verdict(_answer(found)),
        *(Warned(f"before the map, {said}") for said in found.before.warnings),
        *(Warned(f"after the map, {said}") for said in found.report.warnings),
        shown,
        Paragraph(
            f"Map: {CURVES[found.curve]}{levels}; fitted on {rows_text(found.fitted_rows)}, certified on "
            f"{found.report.sample} that it has not seen. Each bound holds with {percent_sure(delta)} confidence. It "
            "applies to this map, not to one that is fitted again on all rows."
        ),
    ]


def _answer(found: Recalibration) -> str:
    """What is certified of the recalibrated scores, in a sentence."""
    if found.l1 is None:
        return "A smooth map: its L1 error is certified only under the assumption below, if at all."
    if found.l1.upper > TELLING:
        return "Too few rows to certify the recalibrated scores yet."
    return (
        f"After the map, a score is on average at most {at_most(found.l1.upper)} away from the true probability of "
        "label 1 given that score. Nothing is assumed."
    )


def recalibration_picture(found: Recalibration, ax: Axes | None = None) -> Figure:
    """Shares of label 1 in groups of held-out rows, before and after the map, and the map itself as a line.

    How to read it: dots on the diagonal are calibrated. Shares are estimates; the bounds are in the text. Without the
    rows, as after a round trip through JSON, the map alone is drawn.
    """
    with axes_for(ax) as axes:
        axes.plot([0, 1], [0, 1], color=FAINT, lw=1)
        score = np.linspace(0.0, 1.0, 1_001)
        axes.plot(score, found.map.mapped(score), color=ORANGE, lw=1.2, ls="--", label="the map")
        for report, colour, mark, words in (
            (found.before, ORANGE, "s", "before: shares of label 1"),
            (found.report, BLUE, "o", "after: shares of label 1"),
        ):
            if report.summary is not None:
                axes.plot(*means_in_groups(report.summary, GROUPS), mark, color=colour, ms=4, label=words)
        title = "Before and after recalibration, on held-out rows\n(estimates)"
        axes.set(title=title, xlabel="score", ylabel="share of label 1")
        axes.legend(loc="upper left")
        return figure_of(axes)
