"""On which side the scores err, in words: over- or underconfident, too high or too low, as far as that is certain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from calcert.foundation.number_text import at_least, at_most, confidence

if TYPE_CHECKING:
    from calcert.certificates.certificate import Certificate
    from calcert.reports.report import Report


def which_way(report: Report) -> list[str]:
    """Overconfident or not, too high or too low, in words: what is certain, or what cannot be told."""
    found = report.sides
    if found is None:
        return []
    return [
        _one_of_two_sides("overconfident", found.overconfident, "underconfident", found.underconfident),
        _one_of_two_sides("too high", found.too_high, "too low", found.too_low),
        f"This is of the classifier {found.too_high.subject}; each bound holds with probability "
        f"{confidence(report.settings.delta)}.",
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
