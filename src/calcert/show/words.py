"""What certificates say, in plain words: for pictures and pages."""

from __future__ import annotations

import math

from calcert.certificates.certificate import Certificate
from calcert.reports.report import Report

TITLES = {
    "perturbed": "Served with perturbed scores",
    "unmodified": "As it is",
    "distance": "Distance from calibration",
}

AWAY_FROM = {
    "perturbed": ("a served score", "the true chance of label 1 given that score"),
    "unmodified": ("a score", "the true chance of label 1 given that score"),
    "distance": ("a score", "the nearest perfectly calibrated score"),
}

TERM_MEANING = {
    "plug-in": "the error that the rows themselves show, sampling noise included",
    "sampling": "what rows drawn by chance may hide",
    "group bias": "what the assumption lets the curve hide inside groups of neighbouring scores",
    "discretisation": "what grid, cells and rounding may hide",
    "cap at 1": "no error exceeds 1, and a bound next to 1 says nothing",
}

SHORT = {"perturbed": "perturbed", "unmodified": "as it is", "distance": "distance"}

READING = {
    "reliability": "The thick curve is the estimated chance of label 1 at each served score; a calibrated classifier "
    "lies on the dashed diagonal. The band holds the true curve everywhere at once, with the stated probability: where "
    "it leaves the diagonal outside, the classifier is off there; where it is wide, there are few rows. "
    "Below are the densities of the served scores of either label, each drawn to its own peak.",
    "terms": "The whole bar is what is certified. The plug-in is the error that the rows show, sampling noise "
    "included; everything after it is the price of certainty, and shrinks with more rows. The upright mark is the "
    "lower bound: the true value lies between it and the end of the bar.",
}

NEVER_PROMISED = (
    "It is an average over all rows. For a group of people, a range of scores or a single row the error can be larger.",
    "It speaks of rows like these. If the population, the labels or the classifier change, it no longer applies.",
    "It needs independent rows that were not used to train, select or recalibrate the classifier, and settings "
    "(below) that were fixed before the rows were seen.",
    "It is not accuracy: a calibrated classifier can still rank badly.",
)

NOT_PROMISED = {
    "perturbed": "It says nothing of scores that are served without the perturbation, or with another bandwidth.",
    "unmodified": "The upper bound is only as good as the assumption; the lower bound needs none.",
    "unmodified, none": "It covers the scores seen in these rows; if serving gives other scores too, certify again.",
    "distance": "A small distance does not make the L1 calibration error small: it forgives errors that a small shift "
    "of the scores would mend.",
}


def number(value: float) -> str:
    """Four decimals, or three significant digits below 0.01."""
    if math.isnan(value):
        return "none"
    if math.isinf(value):
        return "infinite"
    return f"{value:.4f}" if abs(value) >= 0.01 or value == 0 else f"{value:.3g}"


def percent(share: float) -> str:
    """A probability as a percentage, with as many digits as it has."""
    return f"{100 * share:.6g}%"


def fraction(bandwidth: float) -> str:
    """A bandwidth as people write it: 1/64 where it is one over a whole number."""
    inverse = round(1 / bandwidth) if bandwidth < 1 else 0
    return f"1/{inverse}" if inverse and 1 / inverse == bandwidth else f"{bandwidth:.4g}"


def interval(certificate: Certificate) -> str:
    """The certified interval in a few words."""
    c = certificate
    if c.vacuous:
        return "nothing yet: too few rows"
    if c.upper >= 1:
        return f"at least {number(c.lower)}"
    if c.lower <= 0:
        return f"at most {number(c.upper)}"
    return f"between {number(c.lower)} and {number(c.upper)}"


def confidence(certificate: Certificate) -> str:
    """How sure: of one bound, and of both."""
    one, both = percent(1 - certificate.delta), percent(max(1 - 2 * certificate.delta, 0))
    return f"Each bound holds with probability at least {one} over the choice of the rows, both together with {both}."


def statement(name: str, certificate: Certificate) -> str:
    """The certified statement in one sentence."""
    c = certificate
    if c.vacuous:
        return f"There are too few rows ({c.n:,}) to certify anything yet."
    what, reference = AWAY_FROM[name]
    limits = [f"at least {number(c.lower)}"] if c.lower > 0 else []
    limits += [f"at most {number(c.upper)}"] if c.upper < 1 else []
    return f"On average {what} is {' and '.join(limits)} away from {reference}."


def assumption(certificate: Certificate) -> str:
    """What is assumed beyond independent rows."""
    if certificate.assumption == "none":
        return "Nothing is assumed of the scores or of how labels depend on them."
    return f"Assumes: {certificate.assumption}."


def not_promised(name: str, certificate: Certificate) -> str:
    """What this statement in particular does not promise."""
    key = f"{name}, {certificate.assumption}"
    return NOT_PROMISED.get(key, NOT_PROMISED[name])


def reliability_description(report: Report) -> str:
    """The reliability picture for somebody who cannot see it."""
    c = report.perturbed
    return (
        f"Estimated chance of label 1 against the served score, with a {percent(1 - c.delta)} simultaneous band and "
        f"the diagonal of perfect calibration; {c.n:,} rows. The calibration error is certified {interval(c)}."
    )


def terms_description(report: Report) -> str:
    """The picture of terms for somebody who cannot see it."""
    bars = []
    for name, c in report.certificates.items():
        made_of = ", ".join(f"{term} {number(value)}" for term, value in c.terms.items())
        bars.append(f"{SHORT[name]}: at most {number(c.upper)} = {made_of}; at least {number(c.lower)}")
    return "Stacked bars. " + ". ".join(bars) + "."


def code(report: Report, *, rows: str = "scores, labels", more: str = "", delta: float | None = None) -> str:
    """The call that makes the same report again from the same rows.

    `rows` and `more` are the arguments before the settings; `delta` is the one asked for where it was shared out.
    """
    settings = {"delta": repr(report.perturbed.delta if delta is None else delta)}
    for certificate in (report.perturbed, report.unmodified):
        for name in ("bandwidth", "variation", "seed"):
            if name in certificate.parameters:
                value = certificate.parameters[name]
                short = fraction(value) if name == "bandwidth" else ""
                settings[name] = short if "/" in short else repr(value)
    order = ("delta", "bandwidth", "variation", "seed")
    shown = [rows, *([more] if more else []), *(f"{name}={settings[name]}" for name in order if name in settings)]
    return f"calcert.certify({', '.join(shown)})"
