"""certify: rows in, Report out. The one function that most people need."""

from __future__ import annotations

from collections.abc import Sized
from typing import TYPE_CHECKING, Any, overload

from calcert.reports.report import Report, certify_summary
from calcert.reports.settings import Settings
from calcert.sources.rows import Rows

if TYPE_CHECKING:
    from calcert.reports.groups import GroupReport


@overload
def certify(
    scores: Rows,
    *,
    confidence: float | None = None,
    tolerance: float | None = None,
    settings: Settings | None = None,
) -> Any: ...
@overload
def certify(
    scores: Any,
    labels: Any = None,
    *,
    score: str | None = None,
    label: str | None = None,
    clusters: Any = None,
    groups: None = None,
    threshold: float | None = None,
    confidence: float | None = None,
    tolerance: float | None = None,
    settings: Settings | None = None,
) -> Report: ...


@overload
def certify(
    scores: Any,
    labels: Any = None,
    *,
    score: str | None = None,
    label: str | None = None,
    clusters: Any = None,
    groups: Sized,
    threshold: float | None = None,
    confidence: float | None = None,
    tolerance: float | None = None,
    settings: Settings | None = None,
) -> GroupReport: ...


def certify(
    scores: Any,
    labels: Any = None,
    *,
    score: str | None = None,
    label: str | None = None,
    clusters: Any = None,
    groups: Any = None,
    threshold: float | None = None,
    confidence: float | None = None,
    tolerance: float | None = None,
    settings: Settings | None = None,
) -> Report | GroupReport:
    """Certify how well calibrated a classifier is, from its scores on labelled rows.

    Guarantee
        Each bound of each statement holds with probability `confidence` over the rows, a lower one over the rows and
        the random split set by the seed, for every distribution of scores and labels that meets the statement's
        assumption.
    Assumes
        Independent rows, or rows in independent `clusters`, from the target population, which were not used to train,
        select or recalibrate the classifier. Their number and all settings (confidence, noise, seed and the like) were
        fixed before these rows were seen, labels or scores.

    Parameters
    ----------
    scores
        The classifier's probabilities of label 1, such as ``model.predict_proba(X)[:, 1]``; probabilities of K > 2
        classes, shape (rows, K); a whole table of scores and labels, that is a data frame, the path of a file, or a
        table of an engine; a :class:`calcert.Summary`. Or :class:`calcert.Rows`, which say everything that may be said
        of rows: how files are written, weights, soft labels, columns of classes.
    labels
        Labels, 0/1 or bool; left out for a table. For K classes, 0 to K - 1.
    score, label
        Names of the columns of a table; found where left out, if only one pair is plausible.
    clusters
        What each row belongs to, where rows of one user, patient or session come together; an array, or a column.
    groups
        A group for every row, or the column that holds it: every group is certified, all together. A list of columns,
        such as ``["region", "age_band"]``: all their values and all pairs of values are certified.
    threshold
        The score from which on people act: what that loses against the best threshold is certified, too.
    confidence
        Probability with which each bound holds, 0.95 where left out.
    tolerance
        The largest L1 calibration error that is acceptable, such as 0.03; the verdict says whether it is met.
    settings
        Everything that is fixed beforehand (:class:`calcert.Settings`), confidence and threshold among it.

    Returns
    -------
    Report
        For groups a :class:`calcert.reports.groups.GroupReport`, for K > 2 classes a
        :class:`calcert.reports.classes.ClassReport`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(40_000)
    >>> report = calcert.certify(x, rng.random(40_000) < x)
    >>> print(report.verdict.sentence)
    No miscalibration detected; the error is at most 0.011 (95% confidence).
    """
    fixed = Settings.of(settings, confidence, tolerance, threshold)
    report: Report | GroupReport = certify_rows(
        Rows.of(scores, labels, score=score, label=label, clusters=clusters, groups=groups), fixed
    )
    return report


def certify_rows(rows: Rows, settings: Settings, workers: int | None = None) -> Any:
    """The report that the rows ask for: of all of them, of their groups, or of their classes."""
    if rows.has_classes:
        from calcert.reports.classes import certify_classes, read_classes

        return certify_classes(read_classes(rows, settings), settings, workers)
    if rows.has_segments:
        from calcert.reports.segments import certify_segments

        return certify_segments(rows, settings)
    if rows.groups is not None:
        from calcert.reports.groups import certify_groups

        return certify_groups(rows, settings, workers)
    summary = rows.summary()
    report = certify_summary(summary, settings, tuple(dict.fromkeys(rows.account.warnings)))
    _ = report.verdict  # Computed once, here, and not where it is shown.
    return report
