"""Published numbers beside certificates, as a table."""

from __future__ import annotations

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from calcert.published.compare import Comparison
from calcert.show.text.report import WIDTH, number, plain


def comparison_view(comparison: Comparison) -> RenderableType:
    """A section a classifier, a line a method; the certified numbers are bold."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("method")
    table.add_column("at least", justify="right", no_wrap=True)
    table.add_column("at most", justify="right", no_wrap=True)
    table.add_column("what it promises")
    subject = None
    for line in comparison.lines:
        if line.subject != subject:
            subject = line.subject
            if table.rows:
                table.add_section()
            table.add_row(Text(f"The classifier {subject}", style="italic"))
        ours = line.lower is not None
        table.add_row(
            line.method,
            "-" if line.lower is None else number(line.lower),
            number(line.value) if line.bounds else f"about {number(line.value)}",
            line.promise,
            style="bold" if ours else "",
        )
    return Group(Text(f"{comparison.report.perturbed.n:,} rows"), Text(""), table)


def comparison_text(comparison: Comparison) -> str:
    """The table as plain text."""
    return plain(comparison_view(comparison), WIDTH)
