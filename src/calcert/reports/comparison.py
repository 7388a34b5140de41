"""Several models on the same rows: which of them are proven to be no worse calibrated than which others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from calcert.certificates.certificate import Certificate
from calcert.foundation.number_text import number, rows_text
from calcert.foundation.refusal import Refused
from calcert.foundation.result import Result
from calcert.foundation.validation import check_confidence
from calcert.reports.report import Report, certify_summary
from calcert.reports.settings import Settings
from calcert.reports.statements import LEADING, ByStatement, certificate_rows, check_all_there
from calcert.sources.rows import Rows
from calcert.summary.summary import Summary


@dataclass(frozen=True)
class Standing:
    """One statement of all models.

    Attributes
    ----------
    certificates
        By model.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(10_000)
    >>> standing = calcert.compare({"new": x, "old": x**2}, rng.random(10_000) < x).distance
    >>> standing.order, standing.no_worse["new"], standing.best
    (('new', 'old'), ('old',), 'new')
    """

    certificates: Mapping[str, Certificate]

    @property
    def order(self) -> tuple[str, ...]:
        """The models, the smallest upper bound first."""
        found = self.certificates
        return tuple(sorted(found, key=lambda name: (found[name].upper, found[name].lower)))

    @property
    def no_worse(self) -> dict[str, tuple[str, ...]]:
        """For each model those that it is proven to be no worse than: their lower bounds exceed its upper bound."""
        found, order = self.certificates, self.order
        return {a: tuple(b for b in order if found[a].upper < found[b].lower) for a in order}

    @property
    def best(self) -> str | None:
        """The model that is proven to be no worse than any other, if there is one."""
        first = self.order[0]
        return first if len(self.no_worse[first]) == len(self.certificates) - 1 else None

    @property
    def assumption(self) -> str:
        """What one of the certificates assumes, or "none"."""
        return next((c.assumption for c in self.certificates.values() if c.assumption != "none"), "none")

    def to_dict(self) -> dict[str, Any]:
        """Plain types only; the certificates are in the Reports."""
        return {"best": self.best, "no_worse": {name: list(others) for name, others in self.no_worse.items()}}


@dataclass(frozen=True)
class Comparison(ByStatement[Standing], Result):
    """What :func:`calcert.compare` returns.

    Attributes
    ----------
    confidence
        For each statement all that is proven of pairs of models holds together with this probability.
    models
        The Reports by name, every bound at delta / (2 N - 2), N the number of models.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(10_000)
    >>> comparison = calcert.compare({"new": x, "old": x**2}, rng.random(10_000) < x)
    >>> {standing.best for standing in comparison.standings.values()}
    {'new'}
    """

    kind: ClassVar = "comparison"
    noun: ClassVar = "the comparison"
    derived: ClassVar = ("standings",)

    confidence: float
    models: Mapping[str, Report]

    def __post_init__(self) -> None:
        check_confidence(self.confidence)
        _check_number(self.models)
        first, *others = self.models.values()
        for report in others:
            check_all_there(report.certificates, first.certificates)
        for name, report in self.models.items():
            if "base rate" not in report.estimates:
                raise ValueError(f"models must have their base rates among the estimates; got none for {name!r}.")

    @property
    def leading(self) -> str:
        """The statement that the models are ordered by, fixed before the rows are seen."""
        certified = next(iter(self.models.values())).certificates
        return LEADING if LEADING in certified else next(iter(certified))

    @property
    def own_labels(self) -> str:
        """That models have labels of their own, in words, where their numbers show it; empty else."""
        rates = {name: report.estimates["base rate"] for name, report in self.models.items()}
        if len({*rates.values()}) == 1:
            return ""
        each = ", ".join(f"{number(rate)} for {name}" for name, rate in rates.items())
        return f"Each model is judged by labels of its own. Share of label 1: {each}."

    @property
    def standings(self) -> dict[str, Standing]:
        """The statements by name, the leading one first."""
        certified = next(iter(self.models.values())).certificates
        return {name: self.statement(name) for name in dict.fromkeys([self.leading, *certified])}

    def statement(self, name: str) -> Standing:
        """The statement called `name`, of all models."""
        return Standing({model: report.statement(name) for model, report in self.models.items()})

    def plot(self, ax: Any = None, *, statement: str | None = None, **options: Any) -> Any:
        """The intervals of all models, the smallest upper bound first (matplotlib)."""
        return super().plot(ax, statement=statement or self.leading, **options)

    def _rows(self) -> list[dict[str, Any]]:
        standings = self.standings
        return [
            {**row, "no_worse_than": ", ".join(standings[row["statement"]].no_worse[name])}
            for name, report in self.models.items()
            for row in certificate_rows({"model": name}, report.certificates)
        ]


def compare(
    models: Mapping[str, Any],
    labels: Any = None,
    *,
    confidence: float | None = None,
    settings: Settings | None = None,
) -> Comparison:
    """Certify which of several models are no worse calibrated than which others, or say that the rows cannot tell.

    Guarantee
        For each statement, with probability at least `confidence` everything that is proven holds at once: no model
        that is proven to be no worse than another has a larger error than that one. Bounds are computed at
        delta / (2 N - 2) for N models. It does not matter what the models have in common.
    Assumes
        What :func:`calcert.certify` assumes, for each model. The models were fixed before the rows were seen.

    Parameters
    ----------
    models
        The scores of each model by its name, all of the same rows. In place of scores a whole table, a file, a
        :class:`calcert.Summary` or :class:`calcert.Rows` may stand, and no labels then. Where labels differ, such as
        those that say whether a model's own answer is right, pass Rows for each.
    labels
        The labels of the rows.
    confidence, settings
        As in :func:`calcert.certify`.

    Returns
    -------
    Comparison
        All reports, and for every statement which models are proven to be no worse than which.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p = rng.random(20_000)
    >>> labels = rng.random(20_000) < p
    >>> comparison = calcert.compare({"forest": p, "logistic": p**1.2, "old": p**2}, labels)
    >>> comparison.distance.no_worse
    {'forest': ('logistic', 'old'), 'logistic': ('old',), 'old': ()}
    """
    fixed = Settings.of(settings, confidence)
    if not isinstance(models, Mapping):
        raise TypeError(
            "models must be a mapping from names to scores; got "
            f"{type(models).__name__}. Pass calcert.compare({{'new': scores, 'old': others}}, labels)."
        )
    _check_number(models)
    summaries = {}
    for name, scores in models.items():
        if not isinstance(name, str):
            raise TypeError(f"models must have text for names; got {name!r}.")
        try:
            summaries[name] = Rows.of(scores, labels).summary()
        except Refused as error:
            raise error.of_one(name) from None
        except (TypeError, ValueError) as error:
            raise (TypeError if isinstance(error, TypeError) else ValueError)(f"{name}: {error}") from None
    check_same_rows(summaries, own_labels=all(isinstance(scores, Rows) for scores in models.values()))
    reports = {name: certify_summary(rows, fixed.shared(2 * len(models) - 2)) for name, rows in summaries.items()}
    # What is not proved for the scores of one model, with weights of a population, is not compared.
    first, *others = reports.values()
    names = [name for name in first.certificates if all(name in other.certificates for other in others)]
    return Comparison(
        fixed.confidence,
        {
            model: replace(report, certificates={name: report.certificates[name] for name in names})
            for model, report in reports.items()
        },
    )


def _check_number(models: Mapping[str, Any]) -> None:
    if len(models) < 2:
        raise ValueError(f"models must be two or more, by name; got {len(models)}. calcert.certify takes one.")


def check_same_rows(summaries: Mapping[str, Summary], *, own_labels: bool) -> None:
    """Refuse models on different rows, clusters or weights and, but for labels of their own, with different labels."""
    (first, a), *others = summaries.items()
    for name, b in others:
        if _sampling(a) != _sampling(b):
            words = [f"{rows_text(s.rows)}{'' if s.clusters is None else s.clusters.words}" for s in (a, b)]
            raise ValueError(
                "models must be of the same rows, in the same clusters and with the same weights; got "
                f"{words[0]} for {first!r} and {words[1]} for {name!r}. Score all models on the same rows."
            )
        if a.base_rate != b.base_rate and not own_labels:
            raise ValueError(
                f"models must have the same labels; got a share {a.base_rate:.6g} of label 1 for {first!r} and "
                f"{b.base_rate:.6g} for {name!r}. Score all models on the same rows; where each is judged by labels "
                "of its own, pass calcert.Rows for each."
            )


def _sampling(summary: Summary) -> tuple[Any, ...]:
    """What bounds of two models must share: they apply to a distribution that sizes and weights decide."""
    clusters = summary.clusters
    return (summary.rows,) if clusters is None else (clusters.design, clusters.number, summary.n, clusters.squares)
