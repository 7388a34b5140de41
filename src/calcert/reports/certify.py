"""certify: rows in, Report out. The one function that most people need."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, overload

from calcert.certificates import bounded_variation as variation_theorem
from calcert.certificates import finite as finite_theorem
from calcert.certificates.certificate import Certificate
from calcert.certificates.distance import distance
from calcert.certificates.perturbed import perturbed
from calcert.foundation.validation import check_bandwidth, check_delta, check_seed, check_variation
from calcert.reports.estimates import estimates
from calcert.reports.report import Report
from calcert.sources import summarize
from calcert.sources.kinds import Source, refuse_ignored
from calcert.summary.counts import Summary

if TYPE_CHECKING:
    from calcert.reports.groups import GroupReport

RARE = 8
"""A bandwidth is called large when the rarer outcome's mean probability is less than this many bandwidths."""


@overload
def certify(
    scores: Any,
    labels: Any = None,
    *,
    score: str | None = None,
    label: str | None = None,
    groups: None = None,
    delta: float = 0.05,
    bandwidth: float = 1 / 64,
    variation: float = 1.0,
    seed: int = 0,
) -> Report: ...


@overload
def certify(
    scores: Any,
    labels: Any = None,
    *,
    score: str | None = None,
    label: str | None = None,
    groups: Any,
    delta: float = 0.05,
    bandwidth: float = 1 / 64,
    variation: float = 1.0,
    seed: int = 0,
) -> GroupReport: ...


def certify(
    scores: Any,
    labels: Any = None,
    *,
    score: str | None = None,
    label: str | None = None,
    groups: Any = None,
    delta: float = 0.05,
    bandwidth: float = 1 / 64,
    variation: float = 1.0,
    seed: int = 0,
) -> Report | GroupReport:
    """Certify how well calibrated a classifier is, from its scores on labelled rows.

    Guarantee
        Each bound of each statement holds with probability at least 1 - delta over the rows, for every distribution of
        scores and labels that meets the statement's assumption.
    Assumes
        Independent rows from the law of interest that were not used to train or recalibrate the classifier; `delta`
        and `bandwidth` were chosen without looking at these rows, `variation` without looking at their labels.

    Parameters
    ----------
    scores
        Scores in [0, 1] (the classifier's probability of label 1); a whole table of scores and labels, that is a data
        frame, the path of a file, or a table of an engine; or a :class:`calcert.Summary`. All that
        :func:`calcert.summarize` takes. Or probabilities of K > 2 classes, shape (rows, K): then the Report is a
        :class:`calcert.reports.classes.ClassReport`.
    labels
        Labels, 0/1 or bool; left out for a table. For K classes, 0 to K - 1.
    score, label
        Names of the columns of a table; found where left out, if only one pair is plausible.
    groups
        A group for every row, or the column of a table that holds it: every group is certified, all together at
        1 - delta, and the result is a :class:`calcert.reports.groups.GroupReport`.
    delta
        Probability with which each bound may fail.
    bandwidth
        How strongly serving perturbs (:func:`calcert.perturb`); matters for ``report.perturbed`` only.
    variation
        Bound on the total variation of the calibration function; matters for ``report.unmodified`` only.
    seed
        Orders the rows for the lower bounds.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(40_000)
    >>> report = calcert.certify(x, rng.random(40_000) < x)
    >>> round(report.perturbed.upper, 4)
    0.0096
    """
    delta, seed = check_delta(delta), check_seed(seed)
    bandwidth, variation = check_bandwidth(bandwidth), check_variation(variation)
    if groups is not None:
        from calcert.reports.groups import certify_groups

        return certify_groups(scores, labels, groups, score, label, delta, bandwidth, variation, seed)
    if _has_many_classes(scores):
        from calcert.reports.classes import certify_classes

        refuse_ignored(Source("arrays", scores), None, score, label)
        return certify_classes(scores, labels, delta, bandwidth, variation, seed)
    return certify_summary(summarize(scores, labels, score=score, label=label), delta, bandwidth, variation, seed)


def certify_summary(summary: Summary, delta: float, bandwidth: float, variation: float, seed: int) -> Report:
    """The Report of rows that were summarised; arguments were checked by :func:`certify`."""
    served = perturbed(summary, bandwidth=bandwidth, delta=delta, seed=seed)
    unmodified = as_it_is(summary, variation, delta, seed)
    return Report(
        perturbed=served,
        unmodified=unmodified,
        distance=distance(summary, delta=delta, seed=seed),
        estimates=estimates(summary),
        advice=advise(served, unmodified),
        warnings=(*_rare_events(summary, bandwidth), *_contradiction(unmodified)),
        summary=summary,
    )


def _has_many_classes(scores: Any) -> bool:
    """True for arrays and tensors of shape (rows, K), K > 2; a table is none of them."""
    shape: tuple[int, ...] = getattr(scores, "shape", (0,))
    return len(shape) == 2 and shape[-1] > 2 and not hasattr(scores, "columns")


def as_it_is(summary: Summary, variation: float, delta: float, seed: int) -> Certificate:
    """The better of theorems 2 and 4 for the unmodified classifier, at delta/2 each so that both may be looked at.

    Theorem 4 with its sharper deviation bound (D3) is not conditional on the scores, so a choice made after looking at
    them is not free; sharing delta covers every choice.
    """
    by_variation = variation_theorem.upper_terms(summary, variation, delta / 2)
    if summary.is_finite:
        by_score = finite_theorem.upper_terms(summary, delta / 2)
        if math.fsum(by_score.values()) <= math.fsum(by_variation.values()):
            found = finite_theorem.statement(summary, by_score, delta, seed)
            # Theorem 2 was looked at as well, so what it was asked belongs to how the statement was made.
            return replace(found, parameters={"variation": variation, **found.parameters})
    return variation_theorem.statement(summary, variation, by_variation, delta, seed)


def advise(served: Certificate, unmodified: Certificate) -> str:
    """What would tighten the bounds most, in plain words."""
    gap = served.upper - served.lower
    if not served.telling:
        first = "Too few rows to say anything yet: collect more labelled rows."
    elif served.terms["discretisation"] > gap / 2:
        first = "Perturbed: a larger bandwidth would tighten the bound most; this one is finer than the cells."
    elif gap <= 0.2 * served.upper:
        # The truth is above the lower bound, so that is all that rows can gain.
        first = (
            f"Perturbed: the bounds nearly meet; more rows can lower the upper one by at most {gap:.2g}, recalibrating "
            "the classifier by more."
        )
    else:
        first = f"Perturbed: more rows; four times as many would about halve the gap of {gap:.2g}."
    if unmodified.terms.get("group bias", 0.0) > unmodified.terms["sampling"]:
        return f"{first} As it is: a smaller variation, if you can argue for one, or serving perturbed scores."
    return first


def _contradiction(unmodified: Certificate) -> list[str]:
    """A warning where the lower bound, which assumes nothing, has reached an upper bound that assumes something."""
    if unmodified.lower < unmodified.upper or unmodified.assumption == "none":
        return []
    return [
        "the lower bound for the classifier as it is has reached the upper one: with confidence "
        f"{1 - 2 * unmodified.delta:g} the assumption is false ({unmodified.assumption}). "
        "Use report.perturbed or report.distance, which assume nothing."
    ]


def _rare_events(summary: Summary, bandwidth: float) -> list[str]:
    """A warning where the perturbation is large next to the mean score of the rarer outcome."""
    rarer = min(summary.mean_score, 1 - summary.mean_score)
    if rarer <= 0 or bandwidth * RARE <= rarer:
        return []
    better = 2.0 ** math.floor(math.log2(rarer / RARE))
    return [
        f"bandwidth {bandwidth:g} is large next to the mean score of the rarer outcome, {rarer:.2g}: perturbing moves "
        f"such scores by about {min(1.17 * bandwidth, 0.5):.2g}. Use bandwidth 2**{round(math.log2(better))} = "
        f"{better:.2g} or less, in certify and in perturb."
    ]
