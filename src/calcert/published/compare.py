"""The paper's four numbers beside our certificates, on the same rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from calcert.certificates.certificate import Certificate
from calcert.foundation.validation import check_bandwidth, check_delta, check_rng, check_seed, check_variation
from calcert.published.bound import PublishedBound
from calcert.published.ece import ece
from calcert.published.lipschitz_buckets import lipschitz_buckets
from calcert.published.nadaraya_watson import perturb_and_smooth
from calcert.published.total_variation import total_variation
from calcert.reports.report import Report
from calcert.serving.kernel import perturb
from calcert.sources.arrays import pair


@dataclass(frozen=True)
class Line:
    """One method's answer: about which classifier, by whom, between what bounds, and what that promises.

    `lower` is None where a method gives none; `bounds` is False for a heuristic, which bounds nothing.

    Examples
    --------
    >>> from calcert.published.compare import Line
    >>> Line("as it is", "published: ECE, 15 bins", None, 0.01, "Nothing.", bounds=False).value
    0.01
    """

    subject: str
    method: str
    lower: float | None
    value: float
    promise: str
    bounds: bool = True


@dataclass(frozen=True)
class Comparison:
    """What :func:`compare` returns: published numbers by method, and our report on the same rows.

    Examples
    --------
    >>> from calcert import published
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(5_000)
    >>> for line in published.compare(x, rng.random(5_000) < x).lines[:2]:
    ...     print(f"{line.method}: {line.value:.3f}")
    calcert: L1 calibration error: 0.024
    published: perturb and smooth: 0.230
    """

    published: Mapping[str, PublishedBound]
    report: Report

    @property
    def lines(self) -> list[Line]:
        """One line a method, ours first for each classifier."""
        ours, theirs = self.report, self.published
        served, plain = ours.perturbed.subject, ours.unmodified.subject
        return [
            _certified(ours.perturbed),
            _published(served, theirs["perturb and smooth"]),
            _published(served, theirs["Lipschitz buckets"]),
            _certified(ours.unmodified),
            _published(plain, theirs["total variation"]),
            _published(plain, theirs["ECE, 15 bins"]),
            _certified(ours.distance),
        ]

    def to_dict(self) -> dict[str, Any]:
        """Plain types only, ready for JSON."""
        return {
            "published": {
                name: {
                    "value": bound.value,
                    "terms": dict(bound.terms),
                    "guarantee": bound.guarantee,
                    "faults": list(bound.faults),
                    "parameters": dict(bound.parameters),
                    "delta": bound.delta,
                    "n": bound.n,
                }
                for name, bound in self.published.items()
            },
            "calcert": self.report.to_dict(),
        }

    def __str__(self) -> str:
        from calcert.show.text.published import comparison_text

        return comparison_text(self)


def compare(
    scores: Any,
    labels: Any,
    *,
    delta: float = 0.05,
    bandwidth: float = 1 / 64,
    variation: float = 1.0,
    seed: int = 0,
) -> Comparison:
    """The paper's four numbers beside our certificates on the same rows, with what each promises.

    Both published methods for the perturbed classifier see the same draw of the perturbation.

    Parameters
    ----------
    scores, labels
        Scores in [0, 1] and labels 0/1: arrays, lists, or columns of a frame.
    delta
        Probability with which each bound may fail; nominal for the published ones.
    bandwidth, variation
        As in :func:`calcert.certify`.
    seed
        Of the perturbation and the folds of the published methods, and of the order of rows for our lower bounds.

    Examples
    --------
    >>> from calcert import published
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(20_000)
    >>> comparison = published.compare(x, rng.random(20_000) < x)
    >>> ours, theirs = comparison.report.perturbed, comparison.published["perturb and smooth"]
    >>> theirs.value > 10 * ours.upper
    True
    """
    from calcert.reports.certify import certify

    x, y = pair(scores, labels)
    level, h, v = check_delta(delta), check_bandwidth(bandwidth), check_variation(variation)
    rng = check_rng(check_seed(seed))
    served = perturb(x, h, rng)
    return Comparison(
        published={
            "perturb and smooth": perturb_and_smooth(served, y, bandwidth=h, perturbed=True, delta=level, rng=rng),
            "Lipschitz buckets": lipschitz_buckets(served, y, bandwidth=h, perturbed=True, delta=level, rng=rng),
            "total variation": total_variation(x, y, variation=v, delta=level, rng=rng),
            "ECE, 15 bins": ece(x, y),
        },
        report=certify(x, y, delta=level, bandwidth=h, variation=v, seed=seed),
    )


def _certified(c: Certificate) -> Line:
    condition = "assuming nothing" if c.assumption == "none" else f"assuming a {c.assumption}"
    return Line(
        c.subject,
        f"calcert: {c.quantity}",
        c.lower,
        c.upper,
        f"Proved: each bound holds with probability {1 - c.delta:.4g}, {condition}.",
    )


def _published(subject: str, bound: PublishedBound) -> Line:
    name = "ECE, 15 bins" if bound.delta is None else bound.method
    return Line(subject, f"published: {name}", None, bound.value, bound.guarantee, bound.delta is not None)
