"""What certificates say, in plain words: each by itself, all of many together, and the worst of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from calcert.certificates.certificate import Certificate, why_no_bound
from calcert.foundation import number_text
from calcert.foundation.number_text import at_least, at_most, e_value, given, percent_sure, rows_text

if TYPE_CHECKING:
    from calcert.certificates.observed_over_expected import Ratio
    from calcert.reports.report import Report


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
    "perturbed": Words(
        title="Calibration error of perturbed scores",
        short="perturbed",
        line="L1 calibration error of perturbed scores (calcert perturb), where noise is asked for; assumes nothing",
        note="L1 error of scores perturbed by calcert.perturb, ",
        sentence="On average a perturbed score is {limits} away from the probability of label 1 given that score.",
        not_promised="It says nothing of scores that are used without the perturbation, or with other noise.",
    ),
    "in_the_large": Words(
        title="Calibration in the large",
        short="in the large",
        line="difference of mean score and base rate; assumes nothing",
        note="difference of mean score and base rate, ",
        sentence="The mean score is {limits} away from the base rate.",
        not_promised="Scores that are too high here and too low there can cancel out.",
    ),
    "l1": Words(
        title="Calibration error",
        short="L1",
        line="L1 calibration error; assumes nothing where scores repeat, else that the calibration curve crosses the "
        "diagonal at most --crossings times, or a --variation",
        note="calibration error, ",
        sentence="On average a score is {limits} away from the probability of label 1 given that score.",
        not_promised="The upper bound is only as good as the assumption; the lower bound needs none.",
        not_promised_if={
            "none": "It is an average, and says nothing of scores that are rounded or changed after certifying."
        },
    ),
    "cutoff": Words(
        title="Cutoff calibration error: worst score range",
        short="cutoff",
        line="cutoff calibration error: in the worst score range, sum of scores against positives, per row; assumes "
        "nothing",
        note="calibration error of the worst score range, ",
        sentence="In the worst score range the scores add up to {limits} more or less than the positives, per row.",
        not_promised="In a range with few rows the error of a score can be larger: divide by the share of rows there. "
        "It bounds one range at a time, not the sum over many.",
    ),
    "distance": Words(
        title="Distance from calibration",
        short="distance",
        line="distance from calibration: how far scores would have to move; assumes nothing",
        note="from calibration, ",
        sentence="On average a score is {limits} away from the nearest perfectly calibrated score.",
        not_promised="A small distance does not make the L1 calibration error small: it forgives errors that a small "
        "shift of the scores would mend.",
    ),
    "regret": Words(
        title="Loss at the threshold",
        short="regret",
        line="what acting from --threshold on loses per row against the best threshold on the score; assumes nothing",
        note="at the threshold, in units of the cost of a false positive and a false negative, ",
        sentence="Acting on scores from the threshold on loses {limits} per row against the best threshold on the same "
        "score, in units of what a false positive and a false negative cost together.",
        not_promised="It is about these costs, this threshold and other thresholds on the same score; another score "
        "may do better. A threshold that was chosen on these rows is not covered.",
    ),
}
"""The words of every statement of the table in ``reports/statements.py``."""

MEASURE = {
    "perturbed": "L1 calibration error",
    "in_the_large": "calibration error in the large",
    "l1": "L1 calibration error",
    "cutoff": "cutoff calibration error",
    "distance": "distance from calibration",
    "regret": "loss at the threshold",
}
"""What the number of a statement is called in a sentence or beside an axis."""

NEVER_PROMISED = (
    "It is an average over all rows. For a group of people or a single row the error can be larger; only the "
    "cutoff calibration error covers single score ranges.",
    "It applies to rows like these. If the population, the labels or the classifier change, it no longer applies.",
    "It needs independent rows that were not used to train, select or recalibrate the classifier, and a "
    "number of rows and settings (below) that were fixed before the rows were seen.",
    "It is not accuracy: a calibrated classifier can still rank badly.",
)


NAMED = 12
"""Names of lines that a sentence has."""


def never_promised(report: Report) -> tuple[str, ...]:
    """What none of the statements of a report promises; rows in clusters or with weights need not be independent."""
    if not any(c.theorem.endswith("for clusters") for c in report.certificates.values()):
        return NEVER_PROMISED
    alike = "independent rows that were"
    of_clusters = "rows of independent clusters (or weighted rows by themselves) that were"
    return tuple(said.replace(alike, of_clusters) for said in NEVER_PROMISED)


def interval(certificate: Certificate) -> str:
    """The certified interval in a few words."""
    return "nothing yet: too few rows" if not certificate.telling else between(certificate.lower, certificate.upper)


def between(lower: float, upper: float) -> str:
    """Two bounds, of which one says something, in a few words."""
    if upper >= 1:
        return f"at least {at_least(lower)}"
    if lower <= 0:
        return f"at most {at_most(upper)}"
    return f"between {at_least(lower)} and {at_most(upper)}"


def both(certificate: Certificate) -> str:
    """The two bounds, whatever they say."""
    return f"{at_least(certificate.lower)} to {at_most(certificate.upper)}"


def judged(certificate: Certificate | Ratio) -> str:
    """What a gate judged, from how many rows, how sure and what is assumed."""
    c, sure = certificate, number_text.confidence(certificate.delta)
    if not isinstance(c, Certificate):
        return f"Observed / expected: {c.observed:,} positives, {c.expected:,.0f} expected.\n{rows_text(c.n)}."
    return (
        f"{c.about[:1].upper()}{c.about[1:]}.\n{rows_text(c.n)}, confidence {sure}, assuming {assumed(c.assumption)}."
    )


def confidence(delta: float) -> str:
    """How sure: of one bound, and of both."""
    one, both = percent_sure(delta), percent_sure(2 * delta)
    return (
        f"Each bound holds with {one} confidence over the rows, the lower one over the rows and the random split set "
        f"by the seed; both together with {both}."
    )


def statement(name: str, certificate: Certificate) -> str:
    """The certified statement in one sentence."""
    c = certificate
    if not c.telling:
        return f"There are too few rows ({c.n:,}) to certify anything yet."
    limits = [f"at least {at_least(c.lower)}"] if c.lower > 0 else []
    limits += [f"at most {at_most(c.upper)}"] if c.upper < 1 else []
    return STATEMENTS[name].sentence.format(limits=" and ".join(limits))


def in_money(found: Mapping[str, Certificate], costs: Sequence[float | str] | None) -> str:
    """What acting at the threshold loses in a million rows, at costs that were given; empty where none were."""
    if costs is None or "regret" not in found:
        return ""
    false_positive, false_negative, currency = costs
    c, both = found["regret"], float(false_positive) + float(false_negative)
    least, most = _whole(1e6 * both * c.lower, math.floor), _whole(1e6 * both * c.upper, math.ceil)
    lost = f"at most {most:,}" if least <= 0 else f"between {least:,} and {most:,}"
    return (
        f"Acting on scores from {c.parameters['threshold']:g} on loses {lost} {currency or 'units of cost'} in a "
        f"million rows against the best threshold on the same score, at costs {given(float(false_positive))} / "
        f"{given(float(false_negative))} for a false positive / negative."
    )


def _whole(amount: float, outward: Callable[[float], int]) -> int:
    """A sum of money to three digits, rounded outward."""
    step = 10 ** max(math.floor(math.log10(amount)) - 2, 0) if amount >= 1 else 1
    return outward(amount / step) * step


def evidence(found: Mapping[str, Certificate]) -> str:
    """The e-values of some statements in a line; empty where nothing was bet."""
    known = [(name, c.e_value) for name, c in found.items() if c.e_value is not None]
    values = ", ".join(f"{STATEMENTS[name].short} {e_value(value)}" for name, value in known)
    return f"E-values against an error of 0: {values}.{why_no_bound(found.values())}" if values else ""


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


def not_promised(name: str, certificate: Certificate) -> str:
    """What this statement in particular does not promise."""
    said = STATEMENTS[name]
    return said.not_promised_if.get(certificate.assumption, said.not_promised)


def which_way(report: Report) -> list[str]:
    """Overconfident or not, too high or too low, in words: what is certain, or what cannot be told."""
    found = report.sides
    if found is None:
        return []
    return [
        _one_of_two_sides("overconfident", found.overconfident, "underconfident", found.underconfident),
        _one_of_two_sides("too high", found.too_high, "too low", found.too_low),
        f"This is of the classifier {found.too_high.subject}; each bound holds with probability "
        f"{number_text.confidence(report.settings.delta)}.",
    ]


def _one_of_two_sides(this: str, one: Certificate, that: str, other: Certificate) -> str:
    name = this.rpartition("are ")[2]
    if one.lower > 0 and other.lower > 0:
        return (
            f"Both, for certain: {name} at some scores, by at least {at_least(one.lower)} on average over all rows, "
            f"and {that} at others, by at least {at_least(other.lower)}."
        )
    if one.lower > 0:
        return f"{_capital(this)}, for certain: by at least {at_least(one.lower)} on average; {_most(that, other)}."
    if other.lower > 0:
        return f"{_capital(that)}, for certain: by at least {at_least(other.lower)} on average; {_most(name, one)}."
    return f"Whether scores are {name} or {that} cannot be told: {_most(name, one)}, {_most(that, other)}."


def _most(name: str, c: Certificate) -> str:
    return f"{name} by at most {at_most(c.upper)}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
