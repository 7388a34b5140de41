"""What reviewers ask a page for by name: which way scores err, each score by itself, net benefit at thresholds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scipy.stats import beta

from calcert.foundation.numbers import at_least, at_most, confidence
from calcert.reports.estimates import net_benefit

if TYPE_CHECKING:
    from calcert.certificates.certificate import Certificate
    from calcert.reports.report import Report

THRESHOLDS = (0.05, 0.1, 0.2, 0.3, 0.5)


def reviewed(report: Report) -> dict[str, Any]:
    """What the template of a report shows of it; nothing without the Summary of the rows."""
    return {"which_way": _which_way(report), "by_score": _by_score(report), "benefits": _benefits(report)}


def _which_way(report: Report) -> list[str]:
    """Overconfident or not, too high or too low, in words: what is certain, or what cannot be told."""
    found = report.sides
    if found is None:
        return []
    return [
        _one_of("overconfident: scores are too extreme", found.too_extreme, "too timid", found.too_timid),
        _one_of("too high", found.too_high, "too low", found.too_low),
        f"This is of the classifier {found.too_high.subject}; each bound holds with probability "
        f"{confidence(report.settings.delta)}.",
    ]


def _one_of(this: str, one: Certificate, that: str, other: Certificate) -> str:
    name = this.rpartition("are ")[2]
    if one.lower > 0 and other.lower > 0:
        return (
            f"Both, for certain: {name} at some scores, by at least {at_least(one.lower)} on average over all rows, "
            f"and {that} at others, by at least {at_least(other.lower)}."
        )
    if one.lower > 0:
        return f"{_capital(this)}, for certain: by at least {at_least(one.lower)} on average; {_most(that, other)}."
    if other.lower > 0:
        head = "underconfident: scores are too timid" if that == "too timid" else that
        return f"{_capital(head)}, for certain: by at least {at_least(other.lower)} on average; {_most(name, one)}."
    return f"Whether scores are {name} or {that} cannot be told: {_most(name, one)}, {_most(that, other)}."


def _most(name: str, c: Certificate) -> str:
    return f"{name} by at most {at_most(c.upper)}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _by_score(report: Report) -> list[dict[str, Any]]:
    """Each of a few distinct scores: said, seen, between, and what follows."""
    if not (report.has_band and report.has_few_scores):
        return []
    lines = []
    for line in report.curve._rows():
        x, lower, upper = line["score"], line["lower"], line["upper"]
        verdict = "too low" if lower > x else "too high" if upper < x else "cannot tell"
        rows, positives = line["rows"], line["positives"]
        lines.append(
            line | {"verdict": verdict, "jeffreys": float(beta.cdf(x, positives + 0.5, rows - positives + 0.5))}
        )
    return lines


def _benefits(report: Report) -> list[dict[str, float]]:
    if report.summary is None:
        return []
    rate = report.summary.base_rate
    return [
        {
            "threshold": t,
            "model": net_benefit(report.summary, t),
            "all": rate - (1 - rate) * t / (1 - t),
        }
        for t in THRESHOLDS
    ]
