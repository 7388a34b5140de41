"""Published numbers beside certificates, as blocks and as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from calcert.foundation.number_text import at_least, at_most, confidence, number, rows_text
from calcert.show.block import Block, Bullets, Column, Paragraph, Table, Verdict
from calcert.show.canvas import BLUE, FAINT, INK, axes_for, figure_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from calcert.published.bound import PublishedBound
    from calcert.published.compare import Comparison

PROMISE = Column("what it promises", of_words=True)


def published_blocks(comparison: Comparison) -> list[Block]:
    """A section a classifier, a line a method, then what is not proved, ours to choose, or wasteful; ours are bold."""
    shown = Table([Column("method", of_words=True), Column("at least"), Column("at most"), PROMISE])
    subject = None
    for line in comparison.lines:
        if line.subject != subject:
            subject = line.subject
            shown.add(f"The classifier {subject}", style="italic", begins=True)
        ours = line.lower is not None
        shown.add(
            line.method,
            "-" if line.lower is None else at_least(line.lower),
            at_most(line.value) if line.bounds else f"about {number(line.value)}",
            line.promise,
            style="bold" if ours else "",
        )
    faults: dict[str, list[str]] = {}
    for name, bound in comparison.published.items():
        for fault in bound.faults:
            faults.setdefault(fault, []).append(name)
    notes = [Paragraph(f"{'; '.join(names)}: {fault}") for fault, names in faults.items()]
    lead = [Paragraph("What is not proved, ours to choose, or wasteful:")] if notes else []
    return [Verdict(_headline(comparison), rows_text(comparison.report.n)), shown, *lead, *notes]


def _headline(comparison: Comparison) -> str:
    """The smallest bound on the L1 error of each classifier: ours, and that of the published ones, proved or not."""
    said = []
    for name, scores in (("perturbed", "perturbed scores"), ("l1", "current scores")):
        ours = comparison.report.certificates[name]
        about = [line for line in comparison.lines if line.subject == ours.subject]
        theirs = min(line.value for line in about if line.lower is None and line.bounds)
        said.append(f"L1 error of {scores}: at most {at_most(ours.upper)} by calcert, {at_most(theirs)} published.")
    return " ".join(said)


def published_bound_blocks(bound: PublishedBound) -> list[Block]:
    """One method's number, what it promises and is made of, and what is to be said against it."""
    called, at = "ECE" if bound.method == "ece" else bound.method.capitalize(), f"about {number(bound.value)}"
    if bound.delta is not None:
        at = f"at most {at_most(bound.value)} at nominal confidence {confidence(bound.delta)}"
    terms = Table([Column("", of_words=True), Column("")])
    for name, value in bound.terms.items():
        terms.add(name, f"{value:.2g}")
    sum_of: list[Block] = [Paragraph("It is the sum of"), terms] if len(bound.terms) > 1 else []
    return [
        Paragraph(f"{called}: {at} ({rows_text(bound.n)})."),
        Paragraph(f"Guarantee: {bound.guarantee[:1].lower()}{bound.guarantee[1:]}"),
        *sum_of,
        Paragraph("What is not proved, ours to choose, or wasteful:"),
        Bullets(bound.faults),
    ]


def published_picture(comparison: Comparison, ax: Axes | None = None) -> Figure:
    """A bar a method, to what it says; ours are dark, with a mark at what is certified at least."""
    with axes_for(ax, (7.2, 3.2)) as axes:
        for place, line in enumerate(comparison.lines):
            axes.barh(place, min(line.value, 1.0), 0.6, color=FAINT if line.lower is None else BLUE)
            if line.lower:
                axes.plot((line.lower, line.lower), (place - 0.36, place + 0.36), color=INK, lw=2.2)
        axes.set_yticks(range(len(comparison.lines)), [line.method for line in comparison.lines])
        axes.invert_yaxis()
        axes.set_xlim(left=0)
        axes.set_xlabel("at most; what each number promises is in the table", loc="right")
        return figure_of(axes)
