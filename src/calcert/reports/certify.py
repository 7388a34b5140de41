"""certify: rows in, Report out. The one function that most people need; and test, for those who want a p-value."""

# ruff: noqa: PT028

from __future__ import annotations

from collections.abc import Mapping, Sequence, Sized
from typing import TYPE_CHECKING, Any, TypeVar, overload

from calcert.certificates.calibration_test import CalibrationTest, perfect_calibration
from calcert.foundation.result import Result
from calcert.reports.report import Report, certify_summary
from calcert.reports.settings import Settings
from calcert.sources import rows_of_classes, summarize
from calcert.summary.summary import Summary

if TYPE_CHECKING:
    from calcert.reports.groups import GroupReport

Filed = TypeVar("Filed", bound=Result)


@overload
def certify(
    scores: Any,
    labels: Any = None,
    *,
    score: str | None = None,
    label: str | None = None,
    groups: None = None,
    smallest_group: int = 1,
    class_columns: str | Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
    workers: int | None = None,
    delta: float = 0.05,
    odds: float | None = None,
    bandwidth: float | None = None,
    crossings: int = 3,
    variation: float = 1.0,
    seed: int = 0,
    clusters: Any = None,
    weights: Any = None,
    counts: Any = None,
    largest_weight: float | None = None,
    largest_gain: float | None = None,
    weight_unit: float | None = None,
    soft_labels: bool = False,
    pair_sums: bool = False,
    facts: Mapping[str, str] | None = None,
) -> Report: ...


@overload
def certify(
    scores: Any,
    labels: Any = None,
    *,
    score: str | None = None,
    label: str | None = None,
    groups: Sized,
    smallest_group: int = 1,
    class_columns: str | Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
    workers: int | None = None,
    delta: float = 0.05,
    odds: float | None = None,
    bandwidth: float | None = None,
    crossings: int = 3,
    variation: float = 1.0,
    seed: int = 0,
    clusters: Any = None,
    weights: Any = None,
    counts: Any = None,
    largest_weight: float | None = None,
    largest_gain: float | None = None,
    weight_unit: float | None = None,
    soft_labels: bool = False,
    pair_sums: bool = False,
    facts: Mapping[str, str] | None = None,
) -> GroupReport: ...


def certify(
    scores: Any,
    labels: Any = None,
    *,
    score: str | None = None,
    label: str | None = None,
    groups: Any = None,
    smallest_group: int = 1,
    class_columns: str | Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
    workers: int | None = None,
    delta: float = 0.05,
    odds: float | None = None,
    bandwidth: float | None = None,
    crossings: int = 3,
    variation: float = 1.0,
    seed: int = 0,
    clusters: Any = None,
    weights: Any = None,
    counts: Any = None,
    largest_weight: float | None = None,
    largest_gain: float | None = None,
    weight_unit: float | None = None,
    soft_labels: bool = False,
    pair_sums: bool = False,
    facts: Mapping[str, str] | None = None,
) -> Report | GroupReport:
    """Certify how well calibrated a classifier is, from its scores on labelled rows.

    Guarantee
        Each bound of each statement holds with probability at least 1 - delta over the rows, a lower one over the rows
        and the throws that the seed stands for, for every distribution of scores and labels that meets the statement's
        assumption.
    Assumes
        Independent rows, or rows in independent `clusters`, from the law of interest that were not used to train or
        recalibrate the classifier; their number, `delta`, the noise, `crossings`, `variation` and `seed` were fixed
        before these rows were seen, labels or scores.

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
        1 - delta, and the result is a :class:`calcert.reports.groups.GroupReport`. A group is an attribute of its own
        row: it must depend neither on labels nor on the scores of other rows. Groups that may overlap are a mapping
        from their names to True or False for every row; that list is to be fixed before the rows are seen.
    smallest_group
        Groups with fewer rows do not count for ``report.worst``; to be fixed before the rows are seen.
    class_columns
        Where the probabilities of K > 2 classes are in a table: the names of their columns; a pattern such as
        ``"p_*"``, whose star stands for the name of a class; or the one column that holds a list a row. `label` then
        names the column of classes: their names, or 0 to K - 1 in the order of the columns.
    class_names
        What the classes are called, in the order of the columns; labels may then be names.
    workers
        How many processes certify groups or classes where that takes more than a second; None for as many as there are
        cores that nobody uses. The bounds do not depend on it.
    delta
        Probability with which each bound may fail.
    odds, bandwidth
        What serving does to scores (:func:`calcert.perturb`), at most one of them, `odds` 1/16 if neither; matters for
        ``report.perturbed`` only.
    crossings
        How often the calibration curve may change sides of the diagonal; matters for ``report.crossings`` only.
    variation
        Bound on the total variation of the calibration function; matters for ``report.unmodified`` only.
    seed
        Throws the rows into batches for the lower bounds.
    clusters, weights, counts, largest_weight, largest_gain, weight_unit, soft_labels, pair_sums
        Rows that are not independent, or not equal: as in :func:`calcert.summarize`.
    facts
        What page and JSON are to be filed with, as text by name: title, model, version, period, population, owner,
        note, whatever. ``report.facts`` holds them, with the time.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(40_000)
    >>> report = calcert.certify(x, rng.random(40_000) < x)
    >>> round(report.perturbed.upper, 4)
    0.0111
    """
    settings = Settings.of(
        delta=delta, odds=odds, bandwidth=bandwidth, crossings=crossings, variation=variation, seed=seed
    )
    weighing = {
        "clusters": clusters,
        "weights": weights,
        "counts": counts,
        "largest_weight": largest_weight,
        "largest_gain": largest_gain,
        "weight_unit": weight_unit,
        "soft_labels": soft_labels,
        "pair_sums": pair_sums,
    }
    rows = rows_of_classes(
        scores,
        labels,
        groups=groups,
        smallest_group=smallest_group,
        score=score,
        label=label,
        class_columns=class_columns,
        class_names=class_names,
        weighing=weighing,
    )
    if rows is not None:
        from calcert.reports.classes import certify_classes

        return _filed(certify_classes(rows, settings, workers), facts)
    if groups is not None:
        from calcert.reports.groups import certify_groups
        from calcert.sources.units.weighing_options import Weighing

        how = Weighing(**weighing)
        found = certify_groups(scores, labels, groups, score, label, settings, smallest_group, how, workers)
        return _filed(found, facts)
    if smallest_group != 1:
        raise TypeError(f"smallest_group must come with groups; got {smallest_group!r}, and no groups.")
    return _filed(certify_summary(summarize(scores, labels, score=score, label=label, **weighing), settings), facts)


def _filed(result: Filed, facts: Mapping[str, str] | None) -> Filed:
    return result if facts is None else result.with_facts(facts)


def test(
    scores: Any,
    labels: Any = None,
    *,
    score: str | None = None,
    label: str | None = None,
    draws: int = 999,
    seed: int = 0,
) -> CalibrationTest:
    """Test whether a classifier is perfectly calibrated: whether every score is the chance of label 1.

    No classifier is, so that with rows enough the answer is always no; :func:`calcert.certify` says by how much. A
    large p-value is no certificate of anything.

    Guarantee
        If E[Y|X] = X, the p-value is at most alpha with probability at most alpha over labels and draws, for every
        alpha, every number of rows and whatever the scores (Theorem 15).
    Assumes
        Independent rows from the law of interest, not used to train, select or recalibrate the classifier; their
        number, `draws` and `seed` were fixed before the rows were seen, labels or scores.

    Parameters
    ----------
    scores
        Scores in [0, 1], a whole table, or a :class:`calcert.Summary`: all that :func:`calcert.certify` takes.
    labels
        Labels, 0/1 or bool; left out for a table.
    score, label
        Names of the columns of a table.
    draws
        How often labels are drawn from the scores.
    seed
        Of the draws.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(1_000)
    >>> calcert.test(x, rng.random(1_000) < x).p_value, calcert.test(x, rng.random(1_000) < x**1.5).p_value
    (0.766, 0.001)
    """
    summary = scores if isinstance(scores, Summary) else summarize(scores, labels, score=score, label=label)
    return perfect_calibration(summary, draws=draws, seed=seed)


# Where a test module imports it, it is not one of its tests.
test.__test__ = False  # type: ignore[attr-defined]
