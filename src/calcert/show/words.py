"""What certificates say, in plain words: for pictures and pages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from calcert.certificates.certificate import Certificate
from calcert.foundation import numbers
from calcert.foundation.numbers import at_least, at_most, e_value, fraction, given, number, percent_sure
from calcert.reports.settings import Settings
from calcert.serving.noise import Noise

if TYPE_CHECKING:
    from calcert.reports.report import Report
    from calcert.show.lines import Line


@dataclass(frozen=True)
class Words:
    """What is said of a statement.

    Attributes
    ----------
    title, short
        Its heading, and its name in columns and pictures.
    line, note
        What it bounds and assumes, in a line, and what its column needs to say beside what it assumes.
    sentence
        What it says in a sentence, {limits} standing for how much.
    not_promised
        What it does not promise.
    not_promised_if
        The same for those of its certificates that assume what is named.
    """

    title: str
    short: str
    line: str
    note: str
    sentence: str
    not_promised: str
    not_promised_if: Mapping[str, str] = field(default_factory=dict)


STATEMENTS = {
    "distance": Words(
        title="Distance from calibration",
        short="distance",
        line="distance from calibration of the classifier as it is; assumes nothing",
        note="from calibration, as it is, ",
        sentence="On average a score is {limits} away from the nearest perfectly calibrated score.",
        not_promised="A small distance does not make the L1 calibration error small: it forgives errors that a small "
        "shift of the scores would mend.",
    ),
    "ranges": Words(
        title="Counts in ranges of scores",
        short="ranges",
        line="largest gap between the sum of scores and the positives in a range of scores, a row; assumes nothing",
        note="counts in any range of scores, as it is, ",
        sentence="In the worst range of scores the scores add up to {limits} more or less than the positives, a row of "
        "all rows.",
        not_promised="In a range with few rows the error of a score can be larger: divide by the share of rows there. "
        "It bounds one range at a time, not the sum over many.",
    ),
    "crossings": Words(
        title="As it is, by crossings",
        short="crossings",
        line="L1 calibration error of the classifier as it is; assumes that its curve seldom crosses the diagonal",
        note="as it is, ",
        sentence="On average a score is {limits} away from the true chance of label 1 given that score.",
        not_promised="If the true curve crosses the diagonal more often, the upper bound is one for the error that so "
        "few crossings can show, and no more; the lower bound needs no assumption.",
    ),
    "unmodified": Words(
        title="As it is, by variation",
        short="as it is",
        line="L1 calibration error of the classifier as it is; assumes nothing if scores repeat, else a variation",
        note="",
        sentence="On average a score is {limits} away from the true chance of label 1 given that score.",
        not_promised="The upper bound is only as good as the assumption; the lower bound needs none.",
        not_promised_if={
            "none": "It is an average, and says nothing of scores that are rounded or changed after certifying."
        },
    ),
    "perturbed": Words(
        title="Served with perturbed scores",
        short="perturbed",
        line="L1 calibration error of the classifier that serves perturbed scores (calcert perturb); assumes nothing",
        note="served through calcert.perturb, ",
        sentence="On average a served score is {limits} away from the true chance of label 1 given that score.",
        not_promised="It says nothing of scores that are served without the perturbation, or with other noise.",
    ),
}
"""The words of every statement of the table in ``reports/statements.py``."""

MEASURE = {
    "distance": "distance from calibration",
    "ranges": "largest miscount in a range of scores",
    "crossings": "L1 calibration error",
    "unmodified": "L1 calibration error",
    "perturbed": "L1 calibration error",
}
"""What the number of a statement is called in a sentence or beside an axis."""

TERM_MEANING = {
    "plug-in": "the error that the rows themselves show, sampling noise included",
    "sampling": "what rows drawn by chance may hide",
    "group bias": "what the assumption lets the curve hide inside groups of neighbouring scores",
    "discretisation": "what grid, cells and rounding may hide",
    "groups without rows": "nothing is known of a listed group that has no rows",
    "cap at 1": "no error exceeds 1, and a bound next to 1 says nothing",
}

READING = {
    "reliability": "The thick curve is the estimated chance of label 1 at each served score; a calibrated classifier "
    "lies on the dashed diagonal. The band holds the true curve everywhere at once, with the stated probability: where "
    "it leaves the diagonal outside, the served classifier is off there; where it is wide, there are few rows. "
    "Below are the densities of the served scores of either label, each drawn to its own peak.",
    "as it is": "Of the scores as they are, without noise. Few distinct scores are points, each with limits that hold "
    "together and assume nothing; nothing is said between them. More of them have a band that holds the curve "
    "everywhere at once if the chance of label 1 never falls as the score rises, and dots that are estimates. Where "
    "the dashed diagonal is outside, the classifier is off. Below: where the scores of either label are.",
    "terms": "The whole bar is what is certified. The plug-in is the error that the rows show, sampling noise "
    "included; everything after it is the price of certainty, of which sampling and group bias shrink with more rows. "
    "The upright mark is the lower bound: the true value lies between it and the end of the bar, with the stated "
    "probability and if what the line assumes is true.",
}

NEVER_PROMISED = (
    "It is an average over all rows. For a group of people or a single row the error can be larger; of ranges of "
    "scores only the statement on ranges speaks.",
    "It speaks of rows like these. If the population, the labels or the classifier change, it no longer applies.",
    "It needs independent rows that were not used to train, select or recalibrate the classifier, and a "
    "number of rows and settings (below) that were fixed before the rows were seen.",
    "It is not accuracy: a calibrated classifier can still rank badly.",
)


def never_promised(report: Report) -> tuple[str, ...]:
    """What none of the statements of a report promises; rows in clusters or with weights need not be independent."""
    if not any(c.theorem.endswith("for units") for c in report.certificates.values()):
        return NEVER_PROMISED
    alike = "independent rows that were"
    of_units = "rows of independent units (clusters, or weighted rows by themselves) that were"
    return tuple(said.replace(alike, of_units) for said in NEVER_PROMISED)


def interval(certificate: Certificate) -> str:
    """The certified interval in a few words."""
    return "nothing yet: too few rows" if certificate.vacuous else between(certificate.lower, certificate.upper)


def between(lower: float, upper: float) -> str:
    """Two bounds, of which one says something, in a few words."""
    if upper >= 1:
        return f"at least {at_least(lower)}"
    if lower <= 0:
        return f"at most {at_most(upper)}"
    return f"between {at_least(lower)} and {at_most(upper)}"


def verdict(certificate: Certificate, largest: float, few: str = "") -> str:
    """Whether an upper bound is small enough, of what and how sure; `few` says that rows are too few, if they are."""
    c = certificate
    about_what = (
        f"{c.quantity[:1].upper()}{c.quantity[1:]} of the classifier {c.subject}.\n"
        f"{c.n:,} rows, probability {numbers.confidence(c.delta)}, assuming {assumed(c.assumption)}."
    )
    if c.upper <= largest and few:
        return f"Not certified: {few}.\n{about_what}"
    if c.upper <= largest:
        return f"Certified: at most {at_most(c.upper)}, within {given(largest)}.\n{about_what}"
    above = f"which is {number(c.upper - largest)} above {given(largest)}"
    return f"Not certified: at most {at_most(c.upper)}, {above}.\n{about_what}"


def confidence(delta: float) -> str:
    """How sure: of one bound, and of both."""
    one, both = percent_sure(delta), percent_sure(2 * delta)
    return (
        f"Each bound holds with probability at least {one} over the choice of the rows, the lower one over that of "
        f"rows and throws; both together with {both}."
    )


def statement(name: str, certificate: Certificate) -> str:
    """The certified statement in one sentence."""
    c = certificate
    if c.vacuous:
        return f"There are too few rows ({c.n:,}) to certify anything yet."
    limits = [f"at least {at_least(c.lower)}"] if c.lower > 0 else []
    limits += [f"at most {at_most(c.upper)}"] if c.upper < 1 else []
    return STATEMENTS[name].sentence.format(limits=" and ".join(limits))


def power(report: Report) -> str:
    """What so many rows can show, before what they did show; nothing where that is not known."""
    floor = report.estimates.get("noise floor of ECE")
    if report.detectable is None or floor is None:
        return ""
    return (
        f"So many rows show an error of about {report.detectable:.2g} to one side in every other sample; noise alone "
        f"makes an ECE of about {floor:.2g} (estimates)."
    )


def evidence(found: Mapping[str, Certificate]) -> str:
    """The e-values of some statements in a line; empty where nothing was bet."""
    known = [(name, c.e_value) for name, c in found.items() if c.e_value is not None]
    values = ", ".join(f"{STATEMENTS[name].short} {e_value(value)}" for name, value in known)
    return f"E-values against an error of 0: {values}." if values else ""


def assumed(assumption: str) -> str:
    """What is assumed, to stand after "assuming"."""
    if assumption == "none":
        return "nothing"
    return assumption if assumption.startswith("the ") else f"a {assumption}"


def meaning(name: str, certificates: Iterable[Certificate]) -> str:
    """What a column of intervals is about, and what is assumed in any of its lines."""
    assumptions = {c.assumption for c in certificates} - {"none"}
    said, assuming = STATEMENTS[name], " and ".join(map(assumed, sorted(assumptions))) or "nothing"
    return f"{said.short.capitalize()}: {said.note}assumes {assuming}."


def meanings(names: Sequence[str], lines: Sequence[Line]) -> str:
    """The same of all columns of some lines."""
    return " ".join(meaning(name, [line.certificates[at] for line in lines]) for at, name in enumerate(names))


def assumption(certificate: Certificate) -> str:
    """What is assumed beyond independent rows."""
    if certificate.assumption == "none":
        return "Nothing is assumed of the scores or of how labels depend on them."
    return f"Assumes: {certificate.assumption}."


def not_promised(name: str, certificate: Certificate) -> str:
    """What this statement in particular does not promise."""
    said = STATEMENTS[name]
    return said.not_promised_if.get(certificate.assumption, said.not_promised)


def reliability_description(report: Report) -> str:
    """The reliability picture for somebody who cannot see it."""
    c = report.perturbed
    return (
        f"Estimated chance of label 1 against the served score, with a {percent_sure(c.delta)} simultaneous band and "
        f"the diagonal of perfect calibration; {c.n:,} rows. The calibration error is certified {interval(c)}."
    )


def terms_description(report: Report) -> str:
    """The picture of terms for somebody who cannot see it."""
    bars = []
    for name, c in report.certificates.items():
        made_of = ", ".join(f"{term} {number(value)}" for term, value in c.terms.items())
        bars.append(f"{STATEMENTS[name].short}: at most {at_most(c.upper)} = {made_of}; at least {at_least(c.lower)}")
    return "Stacked bars. " + ". ".join(bars) + "."


def bends_lead(report: Report) -> str:
    """What comes before the ranges in which the served curve leaves the diagonal."""
    served, sure = report.settings.noise.words, numbers.confidence(report.settings.delta)
    return f"Where it bends, served with perturbed scores, {served}; all of it with probability {sure}:"


def quantity(name: str, certificate: Certificate) -> str:
    """What stands under the title of a statement."""
    c = certificate
    if c.quantity == STATEMENTS[name].title.lower():
        return f"of the classifier {c.subject}"
    if c.subject.startswith("as it is"):
        return c.quantity
    return f"{c.quantity}, {Noise.named_in(c.parameters).words}"


def code(settings: Settings, *, call: str = "certify", rows: str = "scores, labels", more: str = "") -> str:
    """The call that makes the same result again from the same rows.

    `rows` and `more` are the arguments before the settings.
    """
    given = {}
    for name, value in settings.to_dict().items():
        short = fraction(value) if name in settings.noise.parameters else ""
        given[name] = short if "/" in short else repr(value)
    shown = [rows, *([more] if more else []), *(f"{name}={value}" for name, value in given.items())]
    return f"calcert.{call}({', '.join(shown)})"
