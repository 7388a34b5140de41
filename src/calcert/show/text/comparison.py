"""Two models compared, as text for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from calcert.foundation.number_text import at_least, at_most, confidence, rows_text
from calcert.show.certificate_words import assumed
from calcert.show.text.tables import table

if TYPE_CHECKING:
    from calcert.reports.comparison import Comparison, Verdict


def comparison_view(comparison: Comparison) -> RenderableType:
    """A line a statement: both intervals, and the verdict."""
    shown = table()
    for title in ("certified", "of the classifiers", "a", "b", "smaller"):
        shown.add_column(title, min_width=len("calibration"))
    for verdict in comparison.verdicts.values():
        intervals = (f"{at_least(c.lower)} to {at_most(c.upper)}" for c in (verdict.a, verdict.b))
        assuming = "" if verdict.assumption == "none" else f", assuming {assumed(verdict.assumption)}"
        shown.add_row(verdict.a.quantity, verdict.a.subject + assuming, *intervals, verdict_words(verdict))
    together = (
        f"The bounds of a line, and its verdict, hold together with probability {confidence(comparison.delta)}, if "
        "what the line assumes is true."
    )
    summary = comparison.a.summary
    units = "" if summary is None or summary.units is None else summary.units.words
    return Group(
        Text(f"{rows_text(comparison.a.n)}{units}"), Text(""), shown, Text(together), *map(Text, remarks(comparison))
    )


def remarks(comparison: Comparison) -> list[str]:
    """That labels differ, and what looks wrong of either model."""
    warnings = [f"Warning, {name}: {said}" for name in ("a", "b") for said in getattr(comparison, name).warnings]
    return [*filter(None, [comparison.own_labels]), *warnings]


def verdict_words(verdict: Verdict) -> str:
    """Which model has the smaller error, and by how much."""
    if verdict.smaller is None:
        return "the data cannot tell"
    return f"{verdict.smaller}, by at least {at_least(verdict.by)}"
