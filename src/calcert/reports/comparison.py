"""Two models on the same rows: which has the smaller calibration error, if the data can tell."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

from calcert.certificates.certificate import Certificate
from calcert.foundation.number_text import number, rows_text
from calcert.foundation.result import Result
from calcert.foundation.validation import check_delta
from calcert.reports.report import Report, certificate_rows, certify_summary
from calcert.reports.settings import Settings
from calcert.reports.statements import ByStatement, check_all_there
from calcert.sources.rows import Rows
from calcert.summary.summary import Summary


@dataclass(frozen=True)
class Verdict:
    """One statement compared.

    Attributes
    ----------
    a, b
        The certificates of the two models; their four bounds hold together.
    smaller
        "a" or "b" if that model's calibration error is certified to be the smaller one; None if the data cannot tell.
    by
        By at least how much; 0 where the data cannot tell.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(10_000)
    >>> verdict = calcert.compare(x, x**2, rng.random(10_000) < x).perturbed
    >>> verdict.smaller, round(verdict.by, 2)
    ('a', 0.12)
    """

    a: Certificate
    b: Certificate

    @property
    def assumption(self) -> str:
        """What either certificate assumes, or "none"."""
        return self.a.assumption if self.a.assumption != "none" else self.b.assumption

    @property
    def smaller(self) -> Literal["a", "b"] | None:
        """The model with the smaller calibration error, if that is certain enough."""
        if self.a.upper < self.b.lower:
            return "a"
        return "b" if self.b.upper < self.a.lower else None

    @property
    def by(self) -> float:
        """The distance between the two intervals, 0 where they meet."""
        return max(self.b.lower - self.a.upper, self.a.lower - self.b.upper, 0.0)

    def to_dict(self) -> dict[str, Any]:
        """Plain types only; the certificates are in the Reports."""
        return {"smaller": self.smaller, "by": self.by}


@dataclass(frozen=True)
class Comparison(ByStatement[Verdict], Result):
    """What :func:`calcert.compare` returns.

    Attributes
    ----------
    delta
        For each statement all four bounds, and so the verdict, hold together with probability at least 1 - delta.
    a, b
        The Reports of the two models, every bound at delta / 4.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(10_000)
    >>> comparison = calcert.compare(x, x**2, rng.random(10_000) < x)
    >>> {name: verdict.smaller for name, verdict in comparison.verdicts.items()}
    {'distance': 'a', 'ranges': 'a', 'crossings': 'a', 'unmodified': 'a', 'perturbed': 'a'}
    """

    kind: ClassVar = "comparison"
    noun: ClassVar = "the comparison"
    derived: ClassVar = ("verdicts",)

    delta: float
    a: Report
    b: Report

    def __post_init__(self) -> None:
        check_delta(self.delta)
        check_all_there(self.b.certificates, self.a.certificates)

    @property
    def own_labels(self) -> str:
        """That each model has labels of its own, in words, where their numbers show it; empty else."""
        rates = self.a.estimates["base rate"], self.b.estimates["base rate"]
        if self.a.n == self.b.n and rates[0] == rates[1]:
            return ""
        return (
            f"Each model is judged by labels of its own: {number(rates[0])} of {self.a.n:,} rows have label 1 for a, "
            f"{number(rates[1])} of {self.b.n:,} for b."
        )

    @property
    def verdicts(self) -> dict[str, Verdict]:
        """The statements by name, compared."""
        return {name: self.statement(name) for name in self.a.certificates}

    def statement(self, name: str) -> Verdict:
        """The statement called `name`, compared."""
        return Verdict(self.a.statement(name), self.b.statement(name))

    def _rows(self) -> list[dict[str, Any]]:
        both = (("a", self.a), ("b", self.b))
        return [row for name, report in both for row in certificate_rows({"model": name}, report.certificates)]


def compare(
    scores_a: Any,
    scores_b: Any,
    labels: Any = None,
    *,
    labels_b: Any = None,
    confidence: float | None = None,
    settings: Settings | None = None,
) -> Comparison:
    """Certify which of two models has the smaller calibration error, or say that the data cannot tell.

    Guarantee
        For each statement, the bounds of both models hold together with probability at least 1 - delta: four bounds at
        delta / 4 each, so that it does not matter how much the models have in common. If one model's upper bound is
        below the other's lower bound, its error is smaller; where what is assumed of both models is true, a wrong
        verdict has probability at most delta.
    Assumes
        What :func:`calcert.certify` assumes, for each model.

    Parameters
    ----------
    scores_a, scores_b
        The scores of the two models on the same rows; or their Summaries or :class:`calcert.Rows`, and no labels.
    labels
        The labels of the rows.
    labels_b
        The labels for the second model where they are others, as those that say whether a model's own answer is right.
    confidence, settings
        As in :func:`calcert.certify`.

    Returns
    -------
    Comparison
        Both reports, and for every statement which error is smaller.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> chance = rng.random(20_000)
    >>> labels = rng.random(20_000) < chance
    >>> comparison = calcert.compare(chance, chance**1.5, labels)
    >>> comparison.unmodified.smaller, round(comparison.unmodified.by, 2)
    ('a', 0.06)
    """
    fixed = Settings.of(settings, confidence)
    summaries = []
    if labels_b is not None and labels is None:
        raise TypeError("labels_b must come with labels, those of the first model; got labels_b alone.")
    of_b = labels if labels_b is None else labels_b
    for name, scores, outcome in (("scores_a", scores_a, labels), ("scores_b", scores_b, of_b)):
        try:
            summaries.append(Rows.of(scores, outcome).summary())
        except (TypeError, ValueError) as error:
            raise type(error)(f"{name}: {error}") from error
    _refuse_other_units(*summaries)
    reports = [certify_summary(rows, fixed.shared(4)) for rows in summaries]
    # What is not proved for the scores of one model, with weights of a population, is not compared.
    both = [name for name in reports[0].certificates if name in reports[1].certificates]
    return Comparison(
        fixed.delta,
        *(replace(report, certificates={name: report.certificates[name] for name in both}) for report in reports),
    )


def _refuse_other_units(a: Summary, b: Summary) -> None:
    """Units of two models must be the same: bounds speak of a law that their sizes and weights decide."""
    known = [None if s.units is None else (s.units.design, s.units.number, s.n, s.units.squares) for s in (a, b)]
    if known[0] != known[1]:
        words = [f"{rows_text(s.rows)}{'' if s.units is None else s.units.words}" for s in (a, b)]
        raise ValueError(
            "scores_a and scores_b must be of the same rows, in the same clusters and with the same weights; got "
            f"{words[0]} and {words[1]}, told different things of them."
        )
