"""Reports as text for people."""

from __future__ import annotations

import io
import math
from collections.abc import Collection

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from calcert.certificates.certificate import Certificate
from calcert.reports.report import Report

WIDTH = 100


def report_text(report: Report, width: int = WIDTH) -> str:
    """The report as plain text."""
    return plain(report_view(report), width)


def certificate_text(certificate: Certificate) -> str:
    """One statement in one sentence, and what its upper bound is made of."""
    c = certificate
    terms = " + ".join(f"{name} {value:.2g}" for name, value in c.terms.items())
    return (
        f"{c.quantity[:1].upper()}{c.quantity[1:]} of the classifier {c.subject}; assumption: {c.assumption}. "
        f"At least {number(c.lower)}, at most {number(c.upper)}, "
        f"each with probability {1 - c.delta:.4g} ({c.n:,} rows, {c.theorem}).\nAt most = {terms}."
    )


def report_view(report: Report, statements: Collection[str] = ()) -> RenderableType:
    """The report for a rich console; only some of its `statements` where any are named."""
    first = report.perturbed
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("certified")
    table.add_column("of the classifier")
    table.add_column("assuming")
    table.add_column("at least", justify="right", no_wrap=True)
    table.add_column("at most", justify="right", no_wrap=True, style="bold")
    for name, c in report.certificates.items():
        if statements and name not in statements:
            continue
        assumption = "nothing" if c.assumption == "none" else c.assumption
        table.add_row(c.quantity, c.subject, assumption, number(c.lower), number(c.upper))
    one, both = 1 - first.delta, max(1 - 2 * first.delta, 0)
    confidence = f"Each bound holds with probability {one:.4g}, both sides of a line together with {both:.4g}."
    shown = ", ".join(f"{name} {value:.4g}" for name, value in report.estimates.items() if not math.isnan(value))
    lines: list[RenderableType] = [
        Text(f"{first.n:,} row{'s' * (first.n != 1)}"),
        Text(""),
        table,
        Text(confidence),
        Text(f"Estimates, without guarantee: {shown}.", style="dim"),
    ]
    if not statements:  # The advice speaks of all of them.
        lines.append(Text(f"To tighten. {report.advice}"))
    lines += [Text(f"Warning: {warning}", style="yellow") for warning in report.warnings]
    return Group(*lines)


def number(value: float) -> str:
    """Four decimals, or three significant digits below 0.01; a bound that says nothing says so."""
    if value >= 1.0:
        return "1 (says nothing)"
    return f"{value:.4f}" if value >= 0.01 or value == 0 else f"{value:.3g}"


def plain(view: RenderableType, width: int = WIDTH) -> str:
    """A view without colour, lines ending where their text ends."""
    console = Console(file=io.StringIO(), width=width, color_system=None, legacy_windows=False)
    console.print(view)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    return "\n".join(line.rstrip() for line in text.splitlines())
