"""Segments as blocks: what is proven, the first ten, and what is certified of all."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from calcert.foundation.escaped_text import visible
from calcert.foundation.number_text import at_least, number, percent_sure, rounded_up, rows_text
from calcert.show.blocks.block import Block, Column, Paragraph, Table, Verdict

if TYPE_CHECKING:
    from calcert.reports.segments import Segment, SegmentReport

SHOWN = 10
"""Segments in a table; all are in the frame and the JSON."""


def segment_blocks(report: SegmentReport) -> list[Block]:
    """Proven and large segments first."""
    names = ("rows", "observed / expected", "at least", "at most")
    shown = Table(
        [Column("segment", of_words=True), *(Column(name) for name in names), Column("proven", of_words=True)]
    )
    for segment in report.segments[:SHOWN]:
        shown.add(*_cells(segment), style="bold" if segment.proven else "")
    sure, left, worst = percent_sure(report.delta), len(report.segments) - SHOWN, report.worst_range
    more = [Paragraph(f"{left:,} more segments are in the frame and the JSON.")] if left > 0 else []
    return [
        *(Paragraph(f"Warning: {said}") for said in report.warnings),
        Paragraph(
            f"{rows_text(report.n)}; {len(report.segments):,} segments: all values of "
            f"{visible(', '.join(report.columns))}{' and all pairs of them' if len(report.columns) > 1 else ''}"
        ),
        Verdict(visible(verdict(report))),
        shown,
        *more,
        Paragraph(
            f"Limits of observed / expected hold for all segments at once with {sure} confidence; bold ones are proven "
            "to be off. Nothing is assumed."
        ),
        Paragraph(
            f"Of every 1,000 rows scores and positives differ by at most {math.ceil(1e4 * report.bound.upper) / 10:g}, "
            f"in any score range of any segment ({sure} confidence, Theorem 18)."
        ),
        Paragraph(
            visible(
                f"Furthest off in these rows, an estimate: {report.worst}, scores {number(worst.low)} to "
                f"{number(worst.high)}: {worst.observed:,} positives, {worst.expected:,.0f} expected."
            )
        ),
    ]


def verdict(report: SegmentReport) -> str:
    """What is proven, in a sentence."""
    proven = report.proven
    if not proven:
        return f"No segment is proven to be off ({percent_sure(report.delta)} confidence)."
    first = proven[0]
    others = (
        f"; {len(proven) - 1} more {'are' if len(proven) > 2 else 'is'} proven to be off" if len(proven) > 1 else ""
    )
    sure = percent_sure(report.delta)
    return f"Scores are proven to be {first.scores_are} on average for {first.name}{others} ({sure} confidence)."


def _cells(segment: Segment) -> tuple[str, ...]:
    upper = "-" if math.isinf(segment.upper) else rounded_up(segment.upper)
    return (
        visible(segment.name),
        f"{segment.rows:,}",
        f"{segment.observed:,} / {segment.expected:,.0f}",
        at_least(segment.lower),
        upper,
        segment.scores_are if segment.proven else "-",
    )
