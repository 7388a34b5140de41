"""Segments, as blocks and as a picture: what is proven, the first ones, and what is certified of all."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from calcert.foundation.number_text import number, percent_sure, rows_text
from calcert.show.block import Block, Paragraph, Verdict, Warned, words_and_numbers
from calcert.show.canvas import (
    BLUE,
    DASHED,
    FAINT,
    INK,
    WIDTH,
    axes_for,
    draw_bar,
    draw_mark,
    figure_of,
    list_names,
    short,
)
from calcert.show.many import counted, ratio_limits

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from calcert.reports.segments import Segment, SegmentReport

SHOWN, DRAWN = 10, 20
"""Segments in a table, and in a picture; all are in the frame and the JSON."""


def segment_blocks(report: SegmentReport) -> list[Block]:
    """Proven and large segments first."""
    shown = words_and_numbers(
        "segment", "rows", "positives", "observed / expected", last="scores are", most=SHOWN, many="segments"
    )
    for segment in report.segments:
        shown.add(*_cells(segment), style="bold" if segment.proven else "")
    sure, worst = percent_sure(report.delta), report.worst_range
    kind = "miscalibrated" if report.proven else ""
    pairs = " and all pairs of them" if len(report.columns) > 1 else ""
    return [
        Verdict(
            verdict(report),
            f"{rows_text(report.n)}{report.clusters} and {counted(len(report.segments), 'segment')}",
            kind,
        ),
        *map(Warned, report.warnings),
        shown,
        Paragraph(f"Segments are all values of {', '.join(report.columns)}{pairs}."),
        Paragraph(
            f"Limits of observed / expected hold for all segments at once with {sure} confidence. Lines that say too "
            "high or too low are proven to be off. Nothing is assumed."
        ),
        Paragraph(
            f"Of every 1,000 rows scores and positives differ by at most {math.ceil(1e4 * report.bound.upper) / 10:g}, "
            f"in any score range of any segment ({sure} confidence, Theorem 18)."
        ),
        Paragraph(
            f"Furthest off in these rows, an estimate: {report.worst}, scores {number(worst.low)} to "
            f"{number(worst.high)}: {worst.observed:,} positives, {worst.expected:,.0f} expected."
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
    counts, side = f"{segment.observed:,} / {segment.expected:,.0f}", segment.scores_are
    limits = ratio_limits(segment.lower, segment.upper)
    return segment.name, f"{segment.rows:,}", counts, limits, side if segment.proven else "not proven"


def segments_picture(report: SegmentReport, ax: Axes | None = None) -> Figure:
    """Observed over expected between limits, a bar a segment; those that are proven to be off in colour."""
    shown = report.segments[:DRAWN]
    with axes_for(ax, (WIDTH, 1.1 + 0.26 * len(shown))) as axes:
        highest = max([s.upper for s in shown if math.isfinite(s.upper)] or [2.0])
        right = min(highest, 3.0) * 1.05
        for place, segment in enumerate(shown):
            colour = BLUE if segment.proven else FAINT
            draw_bar(axes, segment.lower, min(segment.upper, right), place, colour, lw=4.0)
            if segment.ratio <= right:
                draw_mark(axes, segment.ratio, place)
        axes.axvline(1, color=INK, lw=1.0, ls=DASHED)
        list_names(axes, [f"{short(s.name)} ({s.rows:,})" for s in shown])
        axes.set_xlim(0, right)
        together = f"{percent_sure(report.delta)} limits, all segments together"
        axes.set_xlabel(f"observed / expected\n{together}", loc="right")
        return figure_of(axes)
