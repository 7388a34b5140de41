"""The one table of statements: what each is called, which theorem proves it, and how it is certified.

``certify``, ``check``, ``plan``, groups, classes, comparisons, the monitor, text, page and JSON read this table. A new
statement is a line here and a property below, a file in ``certificates``, and words in ``show/certificate_words.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from calcert.certificates import cutoff, distance, in_the_large, l1, perturbed, regret
from calcert.certificates.certificate import Certificate
from calcert.certificates.several import OneOfMany, mean_as_it_is, mean_of, mean_perturbed
from calcert.foundation.array_types import Floats
from calcert.reports.settings import Settings
from calcert.summary.summary import Summary

Value = TypeVar("Value")
Certify = Callable[[Summary, Settings], Certificate]
UpperTerms = Callable[[Summary, Settings, Certificate], dict[str, float]]
OverClasses = Callable[[Mapping[str, Floats], list[Certificate], Settings], Certificate]


@dataclass(frozen=True)
class Statement:
    """One statement that a Report makes.

    Attributes
    ----------
    theorem
        Where it is proved.
    certify
        The certificate of rows, with settings.
    upper_terms
        The terms of the upper bound alone, for what a certificate of the same rows at another delta assumes.
    over_classes
        The mean over classes, from the squares of the rows and the certificates of the classes.
    in_lines
        True where tables with a line for each group, or class, show it; all statements of each are in the report.
    """

    theorem: str
    certify: Certify
    upper_terms: UpperTerms
    over_classes: OverClasses
    in_lines: bool = False


STATEMENTS: Mapping[str, Statement] = {
    "perturbed": Statement(
        "Theorem 1, Theorem 1L",
        lambda rows, s: perturbed.perturbed(rows, **s.noise.parameters, delta=s.delta, seed=s.seed),
        lambda rows, s, found: perturbed.upper_terms(rows, s.noise, s.delta),
        over_classes=lambda squares, each, s: mean_perturbed(squares["perturbed"], each, s.delta),
        in_lines=True,
    ),
    "in_the_large": Statement(
        "Theorem 11",
        lambda rows, s: in_the_large.in_the_large(rows, delta=s.delta),
        lambda rows, s, found: in_the_large.upper_terms(rows, s.delta),
        over_classes=lambda squares, each, s: mean_as_it_is(squares["current"], each, s.delta),
    ),
    "l1": Statement(
        "Theorem 2, Theorem 4, Theorem 10",
        lambda rows, s: l1.l1(rows, crossings=s.crossings, variation=s.variation, delta=s.delta, seed=s.seed),
        lambda rows, s, found: l1.upper_terms(rows, s.crossings, s.variation, s.delta, found.assumption),
        over_classes=lambda squares, each, s: (
            mean_as_it_is(squares["current"], each, s.delta) if s.variation is None else mean_of(each, s.delta)
        ),
        in_lines=True,
    ),
    "cutoff": Statement(
        "Theorem 9",
        lambda rows, s: cutoff.cutoff(rows, delta=s.delta, seed=s.seed),
        lambda rows, s, found: cutoff.upper_terms(rows, s.delta),
        over_classes=lambda squares, each, s: mean_as_it_is(squares["current"], each, s.delta),
        in_lines=True,
    ),
    "distance": Statement(
        "Theorem 6",
        lambda rows, s: distance.distance(rows, delta=s.delta, seed=s.seed),
        lambda rows, s, found: distance.upper_terms(rows, s.delta),
        over_classes=lambda squares, each, s: mean_as_it_is(squares["current"], each, s.delta),
        in_lines=True,
    ),
    "regret": Statement(
        "Theorem 16",
        lambda rows, s: regret.regret(rows, threshold=s.threshold, costs=s.costs, delta=s.delta, seed=s.seed),
        lambda rows, s, found: regret.upper_terms(rows, regret.Decision.of(s.threshold, s.costs), s.delta),
        over_classes=lambda squares, each, s: mean_of(each, s.delta),
    ),
}
"""By name, in the order of the table of a report."""

LEADING = "distance"
"""What comparisons order models by: it assumes nothing."""

OF_LINES = tuple(name for name, statement in STATEMENTS.items() if statement.in_lines)


def columns(names: Collection[str] = OF_LINES) -> list[str]:
    """The statements of a table with many lines, from left to right."""
    return [name for name in STATEMENTS if name in names]


def check_statement(name: str, known: Collection[str] = STATEMENTS.keys()) -> str:
    """The name of a statement."""
    if name not in known:
        raise ValueError(f"statement must be one of {', '.join(map(repr, known))}; got {name!r}.")
    return name


def check_all_there(found: Collection[str], least: Collection[str]) -> None:
    """Refuse certificates that lack a statement."""
    for name in least:
        if name not in found:
            raise ValueError(f"the statement {name!r} must be certified; got {', '.join(found) or 'none'}.")


def statements_of(settings: Settings) -> list[str]:
    """The statements that the settings name, in the order of the table; where they name none, those they ask for.

    That is all of them, but ``perturbed`` only where the settings ask for noise and ``regret`` only where they have a
    threshold.
    """
    named = [check_statement(name) for name in settings.statements]
    asked = {"perturbed": settings.asks_for_noise, "regret": settings.asks_for_regret}
    return columns(named or [name for name in STATEMENTS if asked.get(name, True)])


def judged_by(names: Collection[str]) -> str:
    """The statement on which verdicts, gates and plans rest: ``perturbed`` where it is among the names, else ``l1``.

    The first of the names where neither is.
    """
    return next((name for name in ("perturbed", "l1") if name in names), next(iter(names)))


def certificates_of(
    summary: Summary, settings: Settings, names: Collection[str] | None = None
) -> dict[str, Certificate]:
    """Some statements of the rows, each bound at the delta of the settings; without those that are not proved."""
    missing = not_proved(summary, settings)
    wanted = statements_of(settings) if names is None else names
    if missing.keys() >= set(wanted):
        raise ValueError("; ".join(f"{name} is not certified: {missing[name]}" for name in wanted))
    return {name: STATEMENTS[name].certify(summary, settings) for name in wanted if name not in missing}


def not_proved(summary: Summary, settings: Settings) -> dict[str, str]:
    """Statements that are not proved for such rows, and why."""
    clusters = summary.clusters
    missing = {} if clusters is None else {"regret": f"not proved for rows{clusters.words}."}
    if settings.variation is None or clusters is None or not clusters.design.population or summary.is_finite:
        return missing
    return {"l1": l1.WITHOUT_VARIATION} | missing


def entries_of(summary: Summary, found: Mapping[str, Certificate], settings: Settings) -> dict[str, OneOfMany]:
    """What rows certified among many others say of the worst, for each of the statements `found`.

    The settings have the full delta, the certificates their share of it.
    """
    return {
        name: OneOfMany(certificate, STATEMENTS[name].upper_terms(summary, settings, certificate))
        for name, certificate in found.items()
    }


def certificate_rows(about: Mapping[str, Any], certificates: Mapping[str, Certificate]) -> list[dict[str, Any]]:
    """Lines of a frame, one a certificate, that begin with what they are `about`."""
    shown = ("quantity", "subject", "assumption", "lower", "upper", "confidence", "n", "theorem", "e_value")
    return [
        {**about, "statement": name} | {column: getattr(c, column) for column in shown}
        for name, c in certificates.items()
    ]


class ByStatement(Generic[Value]):
    """Something of every statement, as an attribute of that name."""

    def statement(self, name: str) -> Value:
        """That of the statement called `name`."""
        raise NotImplementedError

    @property
    def in_the_large(self) -> Value:
        """How far the mean score is from the base rate: no assumption."""
        return self.statement("in_the_large")

    @property
    def l1(self) -> Value:
        """L1 calibration error of the current scores; its upper bound may assume something, its lower one does not."""
        return self.statement("l1")

    @property
    def cutoff(self) -> Value:
        """Cutoff calibration error of the current scores, that of the worst score range: no assumption."""
        return self.statement("cutoff")

    @property
    def distance(self) -> Value:
        """Distance from calibration of the current scores: no assumption."""
        return self.statement("distance")

    @property
    def regret(self) -> Value:
        """What acting on scores from the threshold on loses against the best threshold: no assumption."""
        return self.statement("regret")

    @property
    def perturbed(self) -> Value:
        """L1 calibration error of scores perturbed by :func:`calcert.perturb`: no assumption."""
        return self.statement("perturbed")


class Certified(ByStatement[Certificate]):
    """Certificates by statement, in the order of the table."""

    certificates: Mapping[str, Certificate]

    def __post_init__(self) -> None:
        for name in self.certificates or ("",):
            check_statement(name)
        ordered = {name: self.certificates[name] for name in STATEMENTS if name in self.certificates}
        object.__setattr__(self, "certificates", ordered)

    def statement(self, name: str) -> Certificate:
        """The certificate of the statement called `name`."""
        return self.certificates[check_statement(name, self.certificates)]
