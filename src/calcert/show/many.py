"""Groups and classes: the verdict, a line each, proven and large ones first, one bound for the worst, and a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from calcert.certificates.certificate import TELLING, Certificate
from calcert.foundation.number_text import (
    confidence,
    percent_sure,
    rows_text,
    short_at_least,
    short_at_most,
    span,
)
from calcert.reports.statements import columns
from calcert.show.block import (
    Behind,
    Block,
    Bullets,
    Code,
    Column,
    Figure,
    Paragraph,
    Section,
    Table,
    Verdict,
    Warned,
    words_and_numbers,
)
from calcert.show.canvas import interval_bars
from calcert.show.certificate_words import MEASURE, NEVER_PROMISED, STATEMENTS, both, interval, meaning
from calcert.show.report import DETAILS, report_blocks
from calcert.show.report_details import call, details, how_rows_are_named, report_picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawn

    from calcert.reports.classes import ClassReport
    from calcert.reports.groups import GroupReport
    from calcert.reports.many import Many

MOST, WARNED = 10, 3
"""Lines that table and picture show at once, and warnings of single groups that come first."""

PREDICTION = (
    "The following is about the prediction: the score is the largest probability of a row, and label 1 means that the "
    "class that has it is right. Where several classes share it, the first is the prediction."
)

SCORES = {"mixed": "miscalibrated"}
"""What a line says of scores whose direction has another name: their error is certain, its direction is not."""

SMALL, MOST_RATIO = 1e-4, 100.0
"""Lower bounds below the first and ratios above the second are no news for a line."""

READING = (
    "Each bar reaches from the lower to the upper bound. The true errors lie inside, for all bars together with the "
    "stated confidence. The upright mark is the lower bound; a dotted line has too few rows; an arrow goes on."
)


def group_blocks(report: GroupReport) -> list[Block]:
    """The verdict on all groups, their lines, the worst of them, and what to do next."""
    said, first = report.verdict, next(iter(report.groups.values()))
    large = f", smallest_group={report.smallest}" if report.smallest > 1 else ""
    named = ", ".join(filter(None, [f"groups=groups{large}", how_rows_are_named(first)]))
    again = call(first.settings.at(report.delta), more=named)
    promised = (
        "Each bound is an average over the rows of one group. For a part of a group or a single row the error can be "
        "larger; only the cutoff calibration error covers single score ranges.",
        *NEVER_PROMISED[1:],
    )
    code = f'report = {again}\nreport.to_html("groups.html")\nreport.groups[NAME].to_html("group.html")  # one alone'
    return [
        Verdict(said.sentence, f"{rows_text(report.n)} in {counted(len(report.groups), 'group')}", said.kind),
        *map(Warned, report.warnings),
        *_member_warnings(report),
        *many_blocks(report),
        Paragraph(f"Next: {said.next}"),
        many_figure(report),
        Behind(
            "Details: all statements of all groups, what none of them promises, settings",
            lambda: [
                *many_details(report),
                Section("What none of these promises", [Bullets(promised)]),
                Section("How to make this page again", [Code(code)]),
            ],
        ),
    ]


def class_blocks(report: ClassReport) -> list[Block]:
    """The answer of the prediction, then each class against the rest."""
    means = "; ".join(f"{STATEMENTS[name].short} {both(report.mean[name])}" for name in shown_columns(report.mean))
    code = f'report = {call(report.settings, rows="probabilities, labels")}\nreport.to_html("report.html")'
    _, *answer, _ = report_blocks(report)
    aside = f"{report.sample}; the prediction of {counted(len(report.classes), 'class')}"
    return [
        Verdict(report.verdict.sentence, aside, report.verdict.kind),
        *answer,
        Section(
            f"Each of {len(report.classes):,} classes against the rest, {order(report)}",
            [*many_blocks(report), Paragraph(f"Mean over classes: {means}."), many_figure(report)],
        ),
        Behind(DETAILS, lambda: [*many_details(report), Paragraph(PREDICTION), *details(report, code)]),
    ]


def many_blocks(report: Many) -> list[Block]:
    """The lines, what holds for all of them, and the bound of the worst."""
    statement = report.leading()
    ratios = any(member.observed_over_expected is not None for member in report.members.values())
    head = [Column(report.one, of_words=True), Column("rows"), *([Column("observed / expected")] if ratios else [])]
    shown = Table(
        [*head, Column("scores are", of_words=True), Column(_bound_name(statement))], most=MOST, many=report.many
    )
    for name in report.worst_first():
        member, c = report.members[name], report.members[name].statement(statement)
        ratio = member.observed_over_expected
        between = [] if not ratios else ["-" if ratio is None else ratio_limits(ratio.lower, ratio.upper)]
        proven = SCORES.get(member.direction or "", member.direction or "not proven")
        cells = (name, f"{report.size(name):,}", *between, proven, limits(c))
        shown.add(*cells, style="bold" if member.direction is not None else "")
    certificates = [member.statement(statement) for member in report.members.values()]
    sure, distribution = percent_sure(_delta(report)), _population(report)
    together = f"In the table, all bounds of one side hold at once with {sure} confidence."
    return [
        shown,
        Paragraph(worst_words(report)),
        Paragraph(
            f"{together} {meaning(statement, certificates)}{f' All bounds are {distribution}.' if distribution else ''}"
        ),
    ]


def many_figure(report: Many) -> Figure:
    """The intervals of the first lines, drawn."""
    statement, names = report.leading(), report.worst_first()
    shown = f" It shows the first {MOST} of {len(names):,} {report.many}." if len(names) > MOST else ""

    def draw() -> tuple[Any, str]:
        bars = "; ".join(f"{name}: {interval(report.members[name].statement(statement))}" for name in names[:MOST])
        return _many_picture(report, statement, most=MOST), f"Bars from lower to upper bounds. {bars}."

    title = f"Certified intervals of {report.many}, {STATEMENTS[statement].short}"
    return Figure(report.many, title, draw, f"{READING}{shown}")


def many_details(report: Many) -> list[Block]:
    """Every statement of every member, with what it assumes, and the fingerprints of the rows."""
    names = shown_columns(report.worst)
    heads = [STATEMENTS[name].short for name in names]
    shown = words_and_numbers(report.one, "rows", *heads, last="fingerprint of the rows", most=50, many=report.many)
    for name in report.worst_first():
        member = report.members[name]
        cells = [limits(member.statement(statement)) for statement in names]
        shown.add(name, f"{report.size(name):,}", *cells, str(member.fingerprint or "-"))
    everything = [[member.statement(statement) for member in report.members.values()] for statement in names]
    meanings = [meaning(name, found) for name, found in zip(names, everything, strict=True)]
    number = len(report.members) + len(getattr(report, "empty", ()))
    level = percent_sure(_delta(report) / number)
    return [
        Section(
            f"All statements of all {report.many}",
            [shown, Paragraph(f"{' '.join(meanings)} Each bound by itself holds with {level} confidence.")],
        )
    ]


def worst_words(report: Many) -> str:
    """The one bound of the worst, which members it is about, and why nothing is certified where nothing is."""
    empty, smallest = getattr(report, "empty", ()), getattr(report, "smallest", 1)
    if empty:
        return f"Of the worst {report.one} nothing is certified: no row is of {', '.join(empty)}."
    statement, large = report.leading(), f" of at least {rows_text(smallest)}" if smallest > 1 else ""
    c = report.worst[statement]
    if c.upper > TELLING:
        return (
            f"Of the worst {report.one}{large} nothing is certified: one of them has too few rows. A smallest group, "
            "fixed before the rows are seen, leaves such out (smallest_group=, --smallest-group)."
        )
    return (
        f"No {report.one}{large} has a larger {MEASURE[statement]} than {short_at_most(c.upper)} "
        f"({percent_sure(c.delta)} confidence). Bounds in the table can be larger, as they hold for all {report.many} "
        "at once."
    )


def order(report: Many) -> str:
    """How the lines come, in words: where nothing is proven of any, none is known to be worse."""
    first = report.members[report.worst_first()[0]]
    proven = first.direction is not None or first.statement(report.leading()).lower > 0
    return "proven and large errors first" if proven else "most rows first"


def counted(number: int, one: str) -> str:
    """A number of things."""
    return f"{number:,} {one if number == 1 else f'{one}es' if one.endswith(('s', 'ch')) else f'{one}s'}"


def shown_columns(certified: Any) -> list[str]:
    """The statements that a table with many lines shows: those that were asked for, or the usual ones of all."""
    usual = [name for name in columns() if name in certified]
    return columns(usual if len(certified) >= len(columns()) else certified)


def _member_warnings(report: GroupReport) -> list[Block]:
    warned = [(name, said) for name in report.worst_first() for said in report.groups[name].warnings]
    shown: list[Block] = [Warned(f"{name}: {said}") for name, said in warned[:WARNED]]
    left = len(warned) - WARNED
    return [*shown, *([Warned(f"{left:,} more of single groups are in the JSON.")] if left > 0 else [])]


def _population(report: Many) -> str:
    """The rows that bounds are about where they come in clusters or with weights; nothing where they do not."""
    first = next(iter(report.members.values()))
    subject = next(iter(first.certificates.values())).subject
    for classifier in ("with its current scores", f"with perturbed scores, {first.settings.noise.words}"):
        subject = subject.removeprefix(classifier)
    return subject.removeprefix(", ")


def _bound_name(statement: str) -> str:
    return f"{STATEMENTS[statement].short} error" if statement in ("l1", "cutoff") else STATEMENTS[statement].short


def ratio_limits(lower: float, upper: float) -> str:
    """The limits of observed over expected; an upper one beyond all use is left out."""
    return span(lower, upper, ratio=True) if upper < MOST_RATIO else f"at least {short_at_least(lower)}"


def limits(c: Certificate) -> str:
    """The bounds in a line of many; a lower bound that is hardly above 0 is rounded down to it."""
    return span(c.lower if c.lower >= SMALL else 0.0, c.upper) if c.telling else "too few rows"


def _delta(report: Many) -> float:
    delta: float = report.worst[report.leading()].delta
    return delta


def groups_picture(report: GroupReport, ax: Axes | None = None, *, statement: str) -> Drawn:
    """A bar from the lower to the upper bound of each group (its rows); a dotted one, from 0 to 1, says nothing."""
    return _many_picture(report, statement, ax)


def classes_picture(report: ClassReport, ax: Axes | None = None, *, classes: str | None = None, curve: str) -> Drawn:
    """That of the prediction; or, for a statement of the `classes`, bars with the rows that are of each class."""
    return report_picture(report, ax, curve=curve) if classes is None else _many_picture(report, classes, ax)


def _many_picture(report: Many, statement: str, ax: Axes | None = None, *, most: int | None = None) -> Drawn:
    """A bar for each of the first `most` groups or classes."""
    names = report.worst_first(statement)[:most]
    together = f"all {report.many} together with probability {confidence(report.worst[statement].delta)}, each side"
    bars = [(name, report.size(name), report.members[name].statement(statement)) for name in names]
    return interval_bars(bars, together, ax)
