"""The paper's four methods beside our certificates, on the same rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from calcert.certificates.certificate import Certificate
from calcert.certificates.lipschitz import lipschitz
from calcert.foundation.number_text import confidence as sure
from calcert.foundation.result import Result
from calcert.foundation.validation import check_rng, check_variation
from calcert.perturbation.noise import perturb
from calcert.published.bound import PublishedBound
from calcert.published.buckets import ece, lipschitz_buckets
from calcert.published.perturb_and_smooth import derivative_bounds, perturb_and_smooth
from calcert.published.total_variation import total_variation
from calcert.reports.report import Report, certify_summary
from calcert.reports.settings import Settings
from calcert.sources.arrays import checked_pair
from calcert.sources.rows import Rows

POOLED, PER_FOLD = "total variation, pooled folds", "total variation, per fold"
BUCKETS = "Lipschitz buckets"
BESIDE = {"perturbed": ("perturb and smooth", BUCKETS), "l1": (POOLED, PER_FOLD, "ECE, 15 bins")}
"""Which published numbers are about the same classifier as a statement."""


@dataclass(frozen=True)
class Line:
    """One method's answer: about which classifier, by whom, between what bounds, and what that promises.

    `lower` is None where a method gives none; `bounds` is False for a heuristic, which bounds nothing.

    Examples
    --------
    >>> from calcert.published.compare import Line
    >>> Line("with its current scores", "published: ECE, 15 bins", None, 0.01, "Nothing.", bounds=False).value
    0.01
    """

    subject: str
    method: str
    lower: float | None
    value: float
    promise: str
    bounds: bool = True


@dataclass(frozen=True)
class Comparison(Result):
    """What :func:`compare` returns: published numbers by method, and our report on the same rows.

    The report is computed from the original scores and the known kernel. `like_for_like` has the information that the
    published methods for the perturbed classifier have: perturbed scores, and the slope that the bandwidth guarantees.

    Examples
    --------
    >>> from calcert import published
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(5_000)
    >>> for line in published.compare(x, rng.random(5_000) < x).lines[:2]:
    ...     print(f"{line.method}: {line.value:.3f}")
    calcert: L1 calibration error: 0.024
    calcert: L1 calibration error, from perturbed scores alone: 0.128
    """

    kind: ClassVar = "published"
    noun: ClassVar = "the comparison"

    published: Mapping[str, PublishedBound]
    report: Report
    like_for_like: Certificate

    def __post_init__(self) -> None:
        missing = [method for beside in BESIDE.values() for method in beside if method not in self.published]
        if missing:
            raise ValueError(f"the published numbers must be all there; {', '.join(missing)} is not.")

    @property
    def lines(self) -> list[Line]:
        """One line a method, ours first for each classifier."""
        found = []
        for name, ours in self.report.certificates.items():
            found.append(_certified(ours))
            if name == "perturbed":
                found.append(_certified(self.like_for_like, ", from perturbed scores alone"))
            found += [_published(ours.subject, method, self.published[method]) for method in BESIDE.get(name, ())]
        return found

    def _rows(self) -> list[dict[str, Any]]:
        return [dict(vars(line)) for line in self.lines]


def compare(
    scores: Any,
    labels: Any,
    *,
    confidence: float = 0.95,
    bandwidth: float = 1 / 64,
    crossings: int = 3,
    variation: float = 1.0,
    per_fold: bool = False,
    seed: int = 0,
) -> Comparison:
    """The paper's four methods beside our certificates on the same rows, with what each promises.

    Both published methods for the perturbed classifier see the same draw of the perturbation, and so does the one of
    our certificates that is like for like; the others see the original scores.

    Parameters
    ----------
    scores, labels
        Scores in [0, 1] and labels 0/1: arrays, lists, or columns of a frame.
    confidence
        Probability with which each bound holds; nominal for the published ones.
    bandwidth
        Of the perturbation, additive as in the paper.
    crossings, variation
        As in :func:`calcert.certify`.
    per_fold
        One bound per fold for perturb and smooth and for Lipschitz buckets, the smallest of five at delta/5 each, in
        place of pooled folds. Total variation is given both ways: its proof covers the one per fold.
    seed
        Of the perturbation and the folds of the published methods, and of the random splits of our lower bounds.

    Examples
    --------
    >>> from calcert import published
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(20_000)
    >>> comparison = published.compare(x, rng.random(20_000) < x)
    >>> theirs = comparison.published["perturb and smooth"].value
    >>> round(theirs, 3), round(comparison.like_for_like.upper, 3), round(comparison.report.perturbed.upper, 3)
    (0.14, 0.08, 0.013)
    """
    x, y = checked_pair(scores, labels)
    settings = Settings(confidence, bandwidth=bandwidth, crossings=crossings, variation=variation, seed=seed)
    level, h, v, rng = settings.delta, settings.noise.size, check_variation(variation), check_rng(settings.seed)
    slope, perturbed = derivative_bounds(h)[0], perturb(x, bandwidth=h, rng=rng)
    folded: Any = {"bandwidth": h, "perturbed": True, "delta": level, "per_fold": per_fold, "rng": rng}
    varied: Any = {"variation": v, "delta": level, "rng": rng}
    report = certify_summary(Rows(x, y).summary(), settings)
    alone = lipschitz(Rows(perturbed, y).summary(), constant=slope, delta=level, seed=settings.seed)
    return Comparison(
        published={
            "perturb and smooth": perturb_and_smooth(perturbed, y, **folded),
            BUCKETS: lipschitz_buckets(perturbed, y, **folded),
            POOLED: total_variation(x, y, **varied),
            PER_FOLD: total_variation(x, y, per_fold=True, **varied),
            "ECE, 15 bins": ece(x, y),
        },
        report=report,
        # The scores are the perturbed ones, and their bandwidth guarantees the slope: nothing is assumed (Theorem 3).
        like_for_like=replace(alone, subject=report.certificates["perturbed"].subject, assumption="none"),
    )


def _certified(c: Certificate, source: str = "") -> Line:
    condition = "assuming nothing" if c.assumption == "none" else f"assuming {c.assumption}"
    return Line(
        c.subject,
        f"calcert: {c.quantity}{source}",
        c.lower,
        c.upper,
        f"Proved: each bound holds with probability {sure(c.delta)}, {condition}.",
    )


def _published(subject: str, method: str, bound: PublishedBound) -> Line:
    source = "described, bound ours" if method == BUCKETS else "published"
    return Line(subject, f"{source}: {method}", None, bound.value, bound.guarantee, bound.delta is not None)
