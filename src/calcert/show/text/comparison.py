"""Two models compared, as text for people."""

from __future__ import annotations

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from calcert.reports.comparison import Comparison, Verdict
from calcert.show.text.report import WIDTH, number, plain


def comparison_text(comparison: Comparison, width: int = WIDTH) -> str:
    """The comparison as plain text."""
    return plain(comparison_view(comparison), width)


def comparison_view(comparison: Comparison) -> RenderableType:
    """A line a statement: both intervals, and the verdict."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for title in ("certified", "of the classifiers", "a", "b", "smaller"):
        table.add_column(title, no_wrap=title in ("a", "b", "smaller"))
    for verdict in comparison.verdicts.values():
        intervals = (f"{number(c.lower)} to {number(c.upper)}" for c in (verdict.a, verdict.b))
        table.add_row(verdict.a.quantity, verdict.a.subject, *intervals, verdict_words(verdict))
    together = f"The bounds of a line, and its verdict, hold together with probability {1 - comparison.delta:.4g}."
    return Group(Text(f"{comparison.a.perturbed.n:,} rows"), Text(""), table, Text(together))


def verdict_words(verdict: Verdict) -> str:
    """Which model has the smaller error, and by how much."""
    if verdict.smaller is None:
        return "the data cannot tell"
    return f"{verdict.smaller}, by at least {number(verdict.by)}"
