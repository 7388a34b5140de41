"""Two models on the same rows: which has the smaller calibration error, if the data can tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from calcert.certificates.certificate import Certificate
from calcert.foundation.validation import check_bandwidth, check_delta, check_seed, check_variation
from calcert.reports.certify import certify_summary
from calcert.reports.report import Report
from calcert.reports.result import Paged
from calcert.sources import summarize
from calcert.summary.counts import Summary

SCHEMA = 1


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
    def smaller(self) -> Literal["a", "b"] | None:
        """The model with the smaller calibration error, if that is certain enough."""
        if self.a.upper < self.b.lower:
            return "a"
        return "b" if self.b.upper < self.a.lower else None

    @property
    def by(self) -> float:
        """The distance between the two intervals, 0 where they meet."""
        return max(self.b.lower - self.a.upper, self.a.lower - self.b.upper, 0.0)


@dataclass(frozen=True)
class Comparison(Paged):
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
    {'perturbed': 'a', 'unmodified': 'a', 'distance': 'a'}
    """

    _pages: ClassVar[str] = "pages.comparison"

    delta: float
    a: Report
    b: Report

    @property
    def verdicts(self) -> dict[str, Verdict]:
        """The three statements by name, compared."""
        return {name: Verdict(a, self.b.certificates[name]) for name, a in self.a.certificates.items()}

    @property
    def perturbed(self) -> Verdict:
        """Of the classifiers served through :func:`calcert.perturb`."""
        return self.verdicts["perturbed"]

    @property
    def unmodified(self) -> Verdict:
        """Of the classifiers as they are."""
        return self.verdicts["unmodified"]

    @property
    def distance(self) -> Verdict:
        """Distances from calibration."""
        return self.verdicts["distance"]

    def to_dict(self) -> dict[str, Any]:
        """Plain types only, with a schema number; ``json.dumps`` takes it as it is."""
        verdicts = {name: {"smaller": v.smaller, "by": v.by} for name, v in self.verdicts.items()}
        return {"schema": SCHEMA, "delta": self.delta, "verdicts": verdicts} | {
            "a": self.a.to_dict(),
            "b": self.b.to_dict(),
        }

    def __str__(self) -> str:
        from calcert.show.text.comparison import comparison_text

        return comparison_text(self)


def compare(
    scores_a: Any,
    scores_b: Any,
    labels: Any = None,
    *,
    delta: float = 0.05,
    bandwidth: float = 1 / 64,
    variation: float = 1.0,
    seed: int = 0,
) -> Comparison:
    """Certify which of two models has the smaller calibration error, or say that the data cannot tell.

    Guarantee
        For each statement, the bounds of both models hold together with probability at least 1 - delta: four bounds at
        delta / 4 each, so that it does not matter how much the models have in common. If one model's upper bound is
        below the other's lower bound, its error is smaller; a wrong verdict has probability at most delta.
    Assumes
        What :func:`calcert.certify` assumes, for each model.

    Parameters
    ----------
    scores_a, scores_b
        The scores of the two models on the same rows; or their Summaries, and no labels.
    labels
        The labels of the rows.
    delta, bandwidth, variation, seed
        As in :func:`calcert.certify`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> chance = rng.random(20_000)
    >>> labels = rng.random(20_000) < chance
    >>> comparison = calcert.compare(chance, chance**1.5, labels)
    >>> comparison.unmodified.smaller, round(comparison.unmodified.by, 2)
    ('a', 0.06)
    """
    delta, seed = check_delta(delta), check_seed(seed)
    bandwidth, variation = check_bandwidth(bandwidth), check_variation(variation)
    reports = []
    for name, scores in (("scores_a", scores_a), ("scores_b", scores_b)):
        if isinstance(scores, Summary):
            if labels is not None:
                raise TypeError(f"labels must be left out where {name} is a Summary, which has them already.")
            rows = scores
        else:
            try:
                rows = summarize(scores, labels)
            except (TypeError, ValueError) as error:
                raise type(error)(f"{name}: {error}") from error
        reports.append(certify_summary(rows, delta / 4, bandwidth, variation, seed))
    return Comparison(delta, *reports)
