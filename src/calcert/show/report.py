"""A report: the answer that fits a screen, the figures, and the details behind it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

from calcert.foundation.number_text import given, span
from calcert.show.block import Behind, Block, Column, Paragraph, Table, Verdict, Warned
from calcert.show.certificate_words import in_money
from calcert.show.curves import few_scores_line, score_lines
from calcert.show.report_details import details, report_figures

if TYPE_CHECKING:
    from calcert.certificates.certificate import Certificate
    from calcert.certificates.score_table import ScoreTable
    from calcert.reports.report import Report

DETAILS = "Details: what each number means and assumes, terms, estimates, settings"

BY_VALUE = 20
"""Up to so many scores the answer has a line for each."""

ASSUMING = {"crossings": "assumes at most {} diagonal crossings", "variation": "assumes total variation at most {}"}
"""What the upper bound of the L1 error assumes, by the setting that it depends on."""


def report_blocks(report: Report) -> list[Block]:
    """The answer: verdict, warnings, a line for each statement, the ECE with its noise, and what to do next."""
    said = report.verdict
    lines = Table([Column("", of_words=True), Column(""), Column("", of_words=True)])
    for title, interval, note in statement_lines(report):
        lines.add(title, interval, note)
    return [
        Verdict(said.sentence, report.sample, said.kind),
        *map(Warned, report.warnings),
        *_by_value(report),
        lines,
        *([Paragraph(f"  {words}")] if (words := ece_words(report)) else []),
        *([Paragraph(words)] if (words := in_money(report.certificates, report.settings.costs)) else []),
        Paragraph(f"Next: {said.next}"),
        report_figures(report)[0],
        Behind(DETAILS, lambda: details(report)),
    ]


def _by_value(report: Report) -> list[Block]:
    """What each of a few scores said and what happened: people who have so few ask for that first."""
    if "l1" not in report.certificates or report.l1.assumption != "none" or not report.has_few_scores:
        return []
    found = cast("ScoreTable", report.curve)
    if found.score.size > BY_VALUE:
        return []
    return [score_lines(found), Paragraph(few_scores_line(found))]


def statement_lines(report: Report) -> Iterator[tuple[str, str, str]]:
    """What each line of the answer is called, its bounds, and what they are about."""
    found, ratio, worst = report.certificates, report.observed_over_expected, report.worst_range
    if "perturbed" in found:
        yield "Perturbed scores", _span(found["perturbed"]), f"L1 with noise, {report.settings.noise.shown}"
    if "in_the_large" in found and ratio is not None:
        counts = f"{ratio.observed:,} observed, {ratio.expected:,.0f} expected"
        yield "Observed / expected", span(ratio.lower, ratio.upper, ratio=True), counts
    elif "in_the_large" in found:
        yield "In the large", _span(found["in_the_large"]), "mean score against share of label 1"
    if "l1" in found:
        yield "Calibration error", _span(found["l1"]), f"L1; {_assuming(found['l1'])}"
    if "cutoff" in found:
        where = "cutoff error; no assumption"
        if worst is not None and found["cutoff"].upper < 1:
            counts = f"{worst.observed:,} observed, {worst.expected:,.0f} expected"
            where = f"{_ends(worst.low, worst.high, exact=report.has_few_scores)}: {counts}"
        yield "Worst score range", _span(found["cutoff"]), where
    if "regret" in found:
        threshold = given(found["regret"].parameters["threshold"])
        yield "Loss at threshold", _span(found["regret"]), f"{threshold}; against the best threshold"
    if "distance" in found:
        yield "Distance", _span(found["distance"]), "how far scores must move, on average"


def _ends(low: float, high: float, *, exact: bool) -> str:
    """A range of scores, with as many decimals as its width deserves; ends that are scores are not cut."""
    if exact and high > low:
        return f"{low:.3g}-{high:.3g}"
    decimals = max(1 - math.floor(math.log10(max(high - low, 1e-6))), 2)
    return f"{low:.{decimals}f}-{high:.{decimals}f}" if high > low else given(low)


def _span(c: Certificate) -> str:
    return "too few rows" if not c.telling else span(c.lower, c.upper)


def _assuming(c: Certificate) -> str:
    if c.assumption == "none":
        return "no assumption"
    name = "variation" if "variation" in c.parameters else "crossings"
    return ASSUMING[name].format(given(c.parameters[name]))


def ece_words(report: Report) -> str:
    """The ECE, and how much of it noise alone would make."""
    ece, floor = (report.estimates.get(name, math.nan) for name in ("ECE (15 bins)", "noise floor of ECE"))
    return "" if math.isnan(ece + floor) else f"ECE {ece:.2g} (15 bins; noise alone gives about {floor:.2g})"
