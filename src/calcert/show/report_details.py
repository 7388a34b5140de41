"""What the answer of a report leaves out, as blocks: the same for the text of details and the folded part of a page."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from calcert.foundation.number_text import at_least, at_most, confidence, fraction, number, percent
from calcert.reports.estimates import FEW_SCORES, log_loss, score_quantiles
from calcert.show import certificate_words as words
from calcert.show.block import Block, Bullets, Code, Figure, Paragraph, Section, numbers, words_and_numbers
from calcert.show.canvas import figure_of
from calcert.show.reliability import perturbed_curve, perturbed_description, reliability, reliability_description

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawn

    from calcert.reports.report import Report
    from calcert.reports.settings import Settings

TERM_MEANING = {
    "plug-in": "the error that the rows themselves show, sampling noise included",
    "sampling": "what rows drawn at random may hide",
    "binning bias": "what the assumption lets the curve hide inside groups of neighbouring scores",
    "discretisation": "what grid, cells and rounding may hide",
    "groups without rows": "nothing is known of a listed group that has no rows",
    "cap at 1": "no error exceeds 1, and a bound next to 1 says nothing",
}

NO_FIGURE = "The reliability diagram needs the rows' Summary, which a report read from JSON does not hold."

READING = {
    "current": "Dots are the shares of label 1 among rows with similar scores. Where the diagonal is outside the "
    "band, the scores are off. The band assumes that the true curve never falls; limits at single scores "
    "assume nothing.",
    "perturbed": "The curve is the estimated probability of label 1 at each perturbed score. The band holds the whole "
    "true curve and assumes nothing. Below are the scores of either label, each to its own peak.",
}


def report_picture(report: Report, ax: Axes | None = None, *, curve: str) -> Drawn:
    """The reliability diagram of the current scores, or that of perturbed ones."""
    return figure_of((perturbed_curve if curve == "perturbed" else reliability)(report, ax))


def report_figures(report: Report) -> list[Figure]:
    """The reliability diagrams, that of perturbed scores first where noise is asked for."""

    def current() -> tuple[Any, str]:
        if report.summary is None:
            return None, NO_FIGURE
        return report_picture(report, curve="current"), reliability_description(report)

    def perturbed() -> tuple[Any, str]:
        return report_picture(report, curve="perturbed"), perturbed_description(report)

    of_scores = Figure("reliability", "Reliability diagram", current, READING["current"])
    with_noise = Figure("perturbed", "Reliability of perturbed scores", perturbed, READING["perturbed"])
    return [with_noise, of_scores] if report.has_band else [of_scores]


def details(report: Report, code: str = "") -> list[Block]:
    """Every statement with what it promises and is made of, estimates, and settings; `code` makes the report again."""
    code = code or f'report = {call(report.settings, more=how_rows_are_named(report))}\nreport.to_html("report.html")'
    more = report_figures(report)[1:]
    return [
        Section("What is certified", _certified(report)),
        *_by_score(report),
        *([Section("More figures", more)] if more else []),
        Section("What the upper bounds are made of", _terms(report)),
        Section("The rows", _rows(report)),
        Section("Settings, and how to make this report again", [*_settings(report), Code(code)]),
    ]


def call(settings: Settings, *, name: str = "certify", rows: str = "scores, labels", more: str = "") -> str:
    """The call that makes the same result again from the same rows.

    `rows` are scores and, last, labels; `more` is what is said of them.
    """
    given = {}
    for argument, value in settings.to_dict().items():
        short = fraction(value) if argument in settings.noise.parameters else ""
        given[argument] = short if "/" in short else repr(value)
    fixed = ", ".join(f"{argument}={value}" for argument, value in given.items())
    *scores, labels = rows.split(", ")
    shown = ", ".join(f"calcert.Rows({one}, {labels}, {more})" for one in scores) if more else rows
    return f"calcert.{name}({shown}, settings=calcert.Settings({fixed}))"


def how_rows_are_named(report: Report) -> str:
    """How rows in clusters or with weights were named."""
    clusters = None if report.summary is None else report.summary.clusters
    return "" if clusters is None else clusters.design.arguments


def _certified(report: Report) -> list[Block]:
    shown = words_and_numbers("statement", "at least", "at most", last="assuming")
    for name, c in report.certificates.items():
        shown.add(words.STATEMENTS[name].title, at_least(c.lower), at_most(c.upper), words.assumed(c.assumption))
    each = [
        f"{words.STATEMENTS[name].title}: {words.statement(name, c)} {words.not_promised(name, c)}"
        for name, c in report.certificates.items()
    ]
    sure = f"{words.confidence(report.settings.delta)} {words.evidence(report.certificates)}".rstrip()
    ways, ranges = words.which_way(report), range_lines(report)
    off: list[Block] = [Paragraph(ranges[0]), Bullets(ranges[1:])] if ranges else []
    return [
        shown,
        Bullets(each),
        *(Paragraph(said) for said in (sure, power(report)) if said),
        *off,
        *([Section("Direction", [Bullets(ways)])] if ways else []),
        Section("What none of these promises", [Bullets(words.never_promised(report))]),
    ]


def range_lines(report: Report) -> list[str]:
    """Where the perturbed curve is certainly off the diagonal; nothing where it is not known to be."""
    if not report.miscalibrated_ranges:
        return []
    noise, sure = report.settings.noise.words, confidence(report.settings.delta)
    lead = (
        f"Score ranges with certified miscalibration, with perturbed scores, {noise}; simultaneous confidence {sure}:"
    )
    return [lead, *map(str, report.miscalibrated_ranges)]


def power(report: Report) -> str:
    """What so many rows can show; nothing where that is not known."""
    if report.detectable is None:
        return ""
    return f"A sample of this size detects an error of about {report.detectable:.2g} in one direction half of the time."


def _terms(report: Report) -> list[Block]:
    """A row for each term that any bound has, empty where a bound has it not."""
    certificates = report.certificates
    names = [term for term in TERM_MEANING if any(term in c.terms for c in certificates.values())]
    shown = words_and_numbers("term", *(words.STATEMENTS[name].short for name in certificates))
    for term in names:
        shown.add(term, *(number(c.terms[term]) if term in c.terms else "" for c in certificates.values()))
    shown.add("at most", *(at_most(c.upper) for c in certificates.values()), style="bold")
    return [shown, Bullets([f"{term}: {TERM_MEANING[term]}." for term in names])]


def _rows(report: Report) -> list[Block]:
    known = dict(report.estimates)
    if report.summary is not None:
        known["log loss"] = log_loss(report.summary)
    shown = words_and_numbers("estimate, without guarantee", "of these rows")
    shown.add("rows", f"{report.n:,}")
    for name, value in known.items():
        if not math.isnan(value):
            shown.add(name, number(value))
    if report.summary is not None:
        for level, value in score_quantiles(report.summary).items():
            shown.add(f"{percent(level)} of scores at most", number(value))
    mark = report.fingerprint
    told = f"Fingerprint of the rows: {mark}. The same rows in any order have the same one."
    return [shown, *([Paragraph(told)] if mark else [])]


def _settings(report: Report) -> list[Block]:
    shown = words_and_numbers("statement", last="proof and settings")
    for name, c in report.certificates.items():
        parameters = "".join(f", {key} {_setting(key, value)}" for key, value in c.parameters.items())
        shown.add(words.STATEMENTS[name].title, f"{c.theorem}; confidence {confidence(c.delta)}{parameters}")
    return [shown]


def _setting(name: str, value: float) -> str:
    """A setting, noise as a fraction."""
    return fraction(value) if name in ("bandwidth", "odds") else f"{value:g}"


def _by_score(report: Report) -> list[Block]:
    """Each of a few distinct scores: rows, positives, limits where rows are independent, and tests both ways."""
    lines = score_tests(report)
    if not lines:
        return []
    bounded = lines[0]["lower"] is not None
    shown = numbers(
        "score",
        "rows",
        "positives",
        "share",
        *(("at least", "at most", "the score is") if bounded else ()),
        "p, if too low",
        "p, if too high",
    )
    for line in lines:
        limits = (at_least(line["lower"]), at_most(line["upper"]), line["verdict"]) if bounded else ()
        counts = (number(line["score"]), f"{line['rows']:,}", f"{line['positives']:,}", number(line["estimate"]))
        shown.add(*counts, *limits, number(line["too_low"]), number(line["too_high"]))
    sure = percent(report.settings.confidence)
    limits_said = (
        f"The probability of label 1 at each score lies between the limits, at all scores together with confidence "
        f"{sure}. "
    )
    alone = "" if bounded else " that take rows for independent"
    note = (
        f"{limits_said if bounded else ''}Shares and p-values are estimates{alone}: Jeffreys tests of one score at a "
        "time, in both directions. Hosmer-Lemeshow and binomial tests by grade test "
        "whether the error is exactly 0; the limits say how large it may be."
    )
    return [Section("Score by score", [Paragraph(note), shown])]


def score_tests(report: Report) -> list[dict[str, Any]]:
    """Each of a few distinct scores as a reviewer asks for it; nothing for many scores, or rows with weights."""
    rows = report.summary
    if rows is None or not rows.is_finite or rows.values.size > FEW_SCORES:
        return []
    if rows.clusters is not None and not (rows.clusters.design.clustered and rows.n == rows.clusters.rows):
        return []
    limits: Iterable[tuple[Any, Any]] = [(None, None)] * rows.values.size
    if report.has_few_scores:
        limits = [(line["lower"], line["upper"]) for line in report.curve._rows()]
    lines = []
    for x, count, (lower, upper) in zip(rows.values.tolist(), rows.points.count.tolist(), limits, strict=True):
        size, positives = int(sum(count)), int(count[1])
        below = _beta_below(positives + 0.5, size - positives + 0.5, x)
        verdict = None if lower is None else "too low" if lower > x else "too high" if upper < x else "cannot tell"
        lines.append(
            {"score": x, "rows": size, "positives": positives, "estimate": positives / size, "lower": lower}
            | {"upper": upper, "verdict": verdict, "too_low": below, "too_high": 1 - below}
        )
    return lines


def _beta_below(a: float, b: float, x: float) -> float:
    """The probability that a beta variable is below x, by the series on the side where it falls fast."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - _beta_below(b, a, 1 - x)
    total = term = math.exp(
        math.lgamma(a + b) - math.lgamma(a + 1) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    )
    while term > 1e-16 * total:
        a += 1
        term *= (a + b - 1) / a * x
        total += term
    return min(total, 1.0)
