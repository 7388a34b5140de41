"""Models compared: the answer in a sentence, a table with the models of each statement, and their intervals drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from calcert.foundation.number_text import at_least, at_most, confidence, percent_sure, rows_text
from calcert.show.block import Block, Column, Paragraph, Table, Verdict, Warned
from calcert.show.canvas import interval_bars
from calcert.show.certificate_words import MEASURE, NAMED, STATEMENTS, meaning

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from calcert.reports.comparison import Comparison, Standing


def comparison_blocks(comparison: Comparison) -> list[Block]:
    """Each statement is a section of the table, its models in order of their upper bounds."""
    shown = Table([Column("model", of_words=True), Column("at least"), Column("at most"), PROVEN])
    standings = comparison.standings
    for name, standing in standings.items():
        shown.add(STATEMENTS[name].short, style="italic", begins=True)
        for model in standing.order:
            c, others = standing.certificates[model], standing.no_worse[model]
            shown.add(model, at_least(c.lower), at_most(c.upper), _names(others))
    meanings = " ".join(meaning(name, [*standing.certificates.values()]) for name, standing in standings.items())
    first = next(iter(comparison.models.values()))
    clusters = "" if first.summary is None or first.summary.clusters is None else first.summary.clusters.words
    each = first.settings.delta
    warnings = [f"{name}: {said}" for name, r in comparison.models.items() for said in r.warnings]
    return [
        Verdict(
            verdict(standings[comparison.leading], comparison.leading, comparison.delta),
            f"{rows_text(first.n)}{clusters}, {len(comparison.models)} models",
        ),
        *map(Warned, warnings),
        shown,
        Paragraph(
            f"Within a statement, everything proven holds at once with {percent_sure(comparison.delta)} confidence. A "
            f"single bound holds with {percent_sure(each)} confidence. No entry means that the rows cannot tell, not "
            f"that models are equally good. {meanings}"
        ),
        *([Paragraph(comparison.own_labels)] if comparison.own_labels else []),
    ]


PROVEN = Column("proven no worse than", of_words=True, wraps=True)


def verdict(standing: Standing, statement: str, delta: float) -> str:
    """The answer in a sentence."""
    measure, best, proven = MEASURE[statement], standing.best, standing.no_worse
    sure = f"{percent_sure(delta)} confidence, {measure}"
    if best is not None:
        return f"{best} is proven to be no worse calibrated than {_names(proven[best])} ({sure})."
    pairs = [f"{a} is proven no worse than {_names(others)}" for a, others in proven.items() if others]
    if not pairs:
        return f"The rows do not show which model is better calibrated ({sure})."
    return f"No model is proven to be no worse than all others; {'; '.join(pairs[:NAMED])} ({sure})."


def _names(names: Sequence[str]) -> str:
    """Names as a sentence lists them."""
    if len(names) > NAMED:
        return f"{', '.join(names[:NAMED])} and {len(names) - NAMED} more"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def comparison_picture(comparison: Comparison, ax: Axes | None = None, *, statement: str | None = None) -> Figure:
    """A bar from the lower to the upper bound of each model."""
    found = comparison.statement(statement or comparison.leading)
    each = next(iter(comparison.models.values())).settings.delta
    together = f"each bound with confidence {confidence(each)},\nwhat is proven simultaneously with "
    bars = [(name, found.certificates[name].n, found.certificates[name]) for name in found.order]
    return interval_bars(bars, together + confidence(comparison.delta), ax)
