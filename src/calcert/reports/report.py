"""Report: the statements that :func:`calcert.certify` makes of one set of rows."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

from calcert.certificates.certificate import Certificate, unweighted_rows
from calcert.certificates.cutoff import WorstRange, worst_range
from calcert.certificates.in_the_large import Direction
from calcert.certificates.observed_over_expected import Ratio, observed_over_expected
from calcert.foundation.plain_types import UNSAVED, restored
from calcert.foundation.result import Result
from calcert.foundation.validation import check_one_of
from calcert.reports.advice_and_warnings import warnings_of
from calcert.reports.estimates import FEW_SCORES, detectable_error, estimates, sample_words
from calcert.reports.settings import Settings
from calcert.reports.statements import Certified, certificate_rows, certificates_of
from calcert.reports.verdict import Verdict, is_rare, verdict_of
from calcert.summary.summary import Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from calcert.certificates.band import CalibrationBand
    from calcert.certificates.miscalibrated_ranges import MiscalibratedRange
    from calcert.certificates.monotone_band import MonotoneBand
    from calcert.certificates.score_table import ScoreTable
    from calcert.certificates.sides import Sides
    from calcert.reports.transport_plan import TransportPlan

Curve = Literal["current", "perturbed"]

NO_ROWS = (
    "the report must hold the Summary of its rows for its {}; it has none, as after a round trip through JSON. Certify "
    "the rows again."
)


@dataclass(frozen=True)
class Report(Certified, Result):
    """What :func:`calcert.certify` returns: certified statements and, named as such, estimates.

    Each statement is an attribute of its name: ``report.in_the_large``, ``report.l1``, ``report.cutoff``,
    ``report.distance`` and, where noise was asked for, ``report.perturbed``.

    Attributes
    ----------
    certificates
        The statements by name, in the order of the table.
    settings
        What was fixed before the rows were seen.
    estimates
        Point estimates without any guarantee (base rate, Brier score, ECE, AUROC).
    warnings
        What looks wrong, in plain words.
    summary
        The rows' Summary, for pictures; absent after a round trip through JSON.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(10_000)
    >>> report = calcert.certify(x, rng.random(10_000) < x)
    >>> for name, c in report.certificates.items():
    ...     print(f"{name}: at most {c.upper:.3f}, assuming {c.assumption}")
    in_the_large: at most 0.013, assuming none
    l1: at most 0.021, assuming the true curve changes sides of the diagonal at most 3 times
    cutoff: at most 0.015, assuming none
    distance: at most 0.013, assuming none
    """

    kind: ClassVar = "report"
    noun: ClassVar = "the report"
    flat: ClassVar = "certificates"
    derived: ClassVar[tuple[str, ...]] = (
        "verdict",
        "observed_over_expected",
        "worst_range",
        "miscalibrated_ranges",
        "fingerprint",
        "detectable",
        "direction",
    )
    remembered: ClassVar = derived[:-1]
    """What needs the rows, and is kept where they are not."""

    certificates: Mapping[str, Certificate]
    settings: Settings
    estimates: Mapping[str, float]
    warnings: tuple[str, ...] = ()
    summary: Summary | None = field(default=None, compare=False, repr=False, metadata=UNSAVED)

    @property
    def n(self) -> int:
        """The number of rows."""
        return next(iter(self.certificates.values())).n

    @cached_property
    def verdict(self) -> Verdict:
        """What the report comes to, by a rule that was fixed before the rows were seen, and what to do next."""
        rare = self.summary is not None and is_rare(self.summary)
        ratio = self.observed_over_expected if rare else None  # Computed when it is shown, where no verdict needs it.
        return verdict_of(self.certificates, self.settings, self.summary, ratio)

    @cached_property
    def observed_over_expected(self) -> Ratio | None:
        """Observed over expected positives, certified, beside :attr:`in_the_large`.

        None for rows with weights or soft labels, and where nothing is expected.
        """
        if self.summary is None or not unweighted_rows(self.summary) or not self.summary.mean_score > 0:
            return None
        return observed_over_expected(self.summary, delta=self.settings.delta)

    @property
    def direction(self) -> Direction | None:
        """Which way scores err, where that is certain: as the verdict says or, if it does not, by observed / expected.

        "mixed" where an error is certain and its direction is not; None where neither is.
        """
        ratio, direction = self.observed_over_expected, self.verdict.direction
        if direction not in (None, "mixed") or ratio is None:
            return direction
        return "too high" if ratio.upper < 1 else "too low" if ratio.lower > 1 else direction

    @cached_property
    def worst_range(self) -> WorstRange | None:
        """The score range that is furthest off in these rows, an estimate; None in clusters or with weights."""
        if self.summary is None or self.summary.clusters is not None:
            return None
        return worst_range(self.summary)

    @property
    def sample(self) -> str:
        """How many rows there are, in words, and what they count for where they come in clusters or with weights."""
        return f"{self.n:,} row{'s' * (self.n != 1)}" if self.summary is None else sample_words(self.summary)

    @cached_property
    def fingerprint(self) -> str | None:
        """A short name for the rows: the same rows in any order, from any source, have the same one.

        It is the first 16 hexadecimal digits of the SHA-256 of the integers of their Summary, eight bytes each, the
        lowest first: cells, counts and offsets and, for rows in clusters, what is added up over these. A report that
        was read from JSON has it, too.
        """
        if self.summary is None:
            return None
        digest, clusters = hashlib.sha256(), self.summary.clusters
        beside = () if clusters is None else (clusters.pairs,)
        for array in (self.summary.cell, self.summary.count, self.summary.offset, *beside):
            digest.update(array.astype("<i8").tobytes())
        return digest.hexdigest()[:16]

    @cached_property
    def detectable(self) -> float | None:
        """About the error in one direction that a sample of this size detects half of the time. An estimate.

        It is sqrt(2 v log(1 / delta) / n), v the mean of score times 1 - score. None where that does not hold: for
        rows in clusters, with weights or shares, where n v is below 20, as for few rows and rare labels, where v is
        below an eighth of m (1 - m), m the mean score, as scores are nearly all 0 and 1.

        Examples
        --------
        >>> rng = np.random.default_rng(0)
        >>> x = rng.random(2_000)
        >>> round(calcert.certify(x, rng.random(2_000) < x).detectable, 3)
        0.022
        """
        if self.summary is None or self.summary.clusters is not None:
            return None
        return detectable_error(self.summary, self.settings.delta)

    def known_rows(self, purpose: str) -> Summary:
        """The Summary of the rows; an error where there is none for what is asked."""
        if self.summary is None:
            raise ValueError(NO_ROWS.format(purpose))
        return self.summary

    @property
    def has_band(self) -> bool:
        """True where :attr:`band` is shown: with the Summary of plain rows, if ``perturbed`` is certified."""
        return self._has_plain_rows and "perturbed" in self.certificates

    @property
    def _has_plain_rows(self) -> bool:
        return self.summary is not None and self.summary.clusters is None

    @cached_property
    def band(self) -> CalibrationBand:
        """The probability of label 1 given the perturbed score, enclosed simultaneously with probability 1 - delta.

        Computed when first asked for, from the Summary of the rows.
        """
        rows = self.known_rows("band")
        from calcert.certificates.band import perturbed_band

        return perturbed_band(rows, self.settings.noise, self.settings.delta)

    @cached_property
    def miscalibrated_ranges(self) -> tuple[MiscalibratedRange, ...] | None:
        """Ranges of perturbed scores in which the probability is certainly off, the largest first.

        They are read off :attr:`band`, so that all of them hold together with probability at least 1 - delta. None
        where they are not known: without ``perturbed``, and for rows in clusters or with weights, whose band is too
        wide for them.

        Examples
        --------
        >>> rng = np.random.default_rng(0)
        >>> x = rng.random(40_000)
        >>> report = calcert.certify(x, rng.random(40_000) < x**1.5, settings=calcert.Settings(odds=1/16))
        >>> print(report.miscalibrated_ranges[0])
        between 0.2 and 0.64 the probability is below the score by at least 0.05
        """
        return self.band.miscalibrated_ranges if self.has_band else None

    @cached_property
    def curve(self) -> MonotoneBand | ScoreTable:
        """The calibration curve of the current scores.

        Up to 40 distinct scores give a :class:`~calcert.certificates.score_table.ScoreTable`, which assumes nothing;
        others a :class:`~calcert.certificates.monotone_band.MonotoneBand`, which assumes that the probability of label
        1 never falls as the score rises. Which it is depends on the scores alone, and both hold given the scores.

        Examples
        --------
        >>> rng = np.random.default_rng(0)
        >>> x = rng.random(40_000)
        >>> print(calcert.certify(x, rng.random(40_000) < x**1.5).curve.miscalibrated_ranges[0])
        between 0.17 and 0.64 the probability is below the score by at least 0.041
        """
        rows = self.known_rows("curve")
        from calcert.certificates.monotone_band import monotone_band
        from calcert.certificates.score_table import score_table

        return (score_table if self.has_few_scores else monotone_band)(rows, delta=self.settings.delta)

    @property
    def has_few_scores(self) -> bool:
        """True where plain rows have up to 40 distinct scores, which are judged one by one."""
        summary = self.summary
        return self._has_plain_rows and summary is not None and summary.is_finite and summary.values.size <= FEW_SCORES

    @cached_property
    def sides(self) -> Sides | None:
        """Which way it errs: too high or too low, overconfident or underconfident.

        Of the current scores where up to 40 are distinct, else of perturbed scores. The scores choose which,
        so that each bound is computed at delta / 2 and holds with probability 1 - delta. None without the Summary of
        the rows, for rows in clusters or with weights, and for many scores where ``perturbed`` is not certified.
        """
        if self.summary is None or not (self.has_few_scores or self.has_band):
            return None
        from calcert.certificates.sides import sides

        delta, seed = self.settings.delta / 2, self.settings.seed
        noise: dict[str, Any] = {} if self.has_few_scores else self.settings.noise.parameters
        found = sides(self.summary, **noise, delta=delta, seed=seed)
        each = ("too_high", "too_low", "overconfident", "underconfident")
        return replace(
            found, **{name: replace(getattr(found, name), confidence=self.settings.confidence) for name in each}
        )

    @cached_property
    def transport_plan(self) -> TransportPlan:
        """What would move where: the calibrated score that lies nearest to the rows. An estimate, without guarantee."""
        rows = self.known_rows("transport_plan")
        from calcert.reports.transport_plan import distance_plan

        return distance_plan(rows)

    def plot(self, ax: Axes | None = None, *, curve: Curve | None = None, **options: Any) -> Figure:
        """Draw the reliability diagram: dots over a certified band, and a histogram of the scores below.

        Needs matplotlib, and the report as :func:`calcert.certify` returned it. Without `ax` there is a new figure.

        `curve` says of which scores: "current", or "perturbed" for those with noise, whose band assumes nothing. Left
        out, it is "perturbed" only if ``perturbed`` is certified.

        Examples
        --------
        >>> report = calcert.certify([0.25, 0.75] * 500, [0, 1] * 500)
        >>> import tempfile, pathlib
        >>> report.plot().savefig(pathlib.Path(tempfile.mkdtemp()) / "calibration.pdf")
        """
        curve = curve or ("perturbed" if self.has_band else "current")
        check_one_of("curve", curve, get_args(Curve))
        figure: Figure = super().plot(ax, curve=curve, **options)
        return figure

    def _rows(self) -> list[dict[str, Any]]:
        return certificate_rows({}, self.certificates)

    def _remember(self, values: Mapping[str, Any]) -> None:
        from calcert.certificates.miscalibrated_ranges import MiscalibratedRange

        types: tuple[Any, ...] = (Verdict, Ratio, WorstRange, tuple[MiscalibratedRange, ...], str, float)
        for name, type_ in zip(self.remembered, types, strict=True):
            if values.get(name) is not None:
                vars(self)[name] = restored(type_, values[name], f"{self.noun}, {name}")


def certify_summary(summary: Summary, settings: Settings, beside: Sequence[str] = ()) -> Report:
    """The Report of rows that were summarised; `beside` is what looked wrong when they were read."""
    certificates = certificates_of(summary, settings)
    return Report(
        certificates=certificates,
        settings=settings,
        estimates=estimates(summary),
        warnings=(*warnings_of(summary, certificates, settings), *beside),
        summary=summary,
    )
