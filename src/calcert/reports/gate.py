"""The gate behind ``calcert check``, ``calcert.check`` and ``assert_calibrated``: one error, certified to be small."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar

from calcert.certificates.certificate import Certificate
from calcert.certificates.observed_over_expected import Ratio, observed_over_expected
from calcert.certificates.regret import Decision
from calcert.foundation.escaped_text import visible
from calcert.foundation.refusal import Argument, WrongType, WrongValue
from calcert.foundation.result import Readable, Result
from calcert.foundation.validation import check_one_of
from calcert.reports.advice_and_warnings import too_good
from calcert.reports.report import certify_summary
from calcert.reports.settings import Settings
from calcert.reports.statements import STATEMENTS, check_statement, judged_by, statements_of
from calcert.reports.verdict import Verdict, judge, judge_prudence, judge_ratio
from calcert.sources.rows import Rows
from calcert.summary.summary import Summary

if TYPE_CHECKING:
    from calcert.reports.groups import GroupRows

PRUDENCE = "observed of expected"

OF = {"prediction": "the prediction among classes", "worst": "every class", "mean": "the mean over classes"}
"""Whose error it may be where there are many classes, and what an outcome calls it."""

RATIO = "in_the_large"
"""The statement that observed over expected is."""

USUAL = "prediction"
"""Whose error it is where nobody says."""


@dataclass(frozen=True)
class Outcome(Readable):
    """What :func:`calcert.check` returns; printed, it says what ``calcert check`` prints.

    Attributes
    ----------
    certificate
        What was judged: of all rows, of the worst group, or of a class; or observed over expected.
    max
        The largest error that passes, or the largest observed over expected, one over it being the smallest.
    statement, settings
        Which error it is, and what was fixed beforehand.
    rows
        How many rows there are.
    summary
        Of the rows whose bound decides; None for a mean over classes.
    group, class_
        The name of the group or class that they are, if any.
    doubt
        Why rows should not pass whatever the bound: they agree with the scores better than fresh rows can.
    fitted_on_other_rows
        True where the caller has overruled that.
    too_few
        That rows are fewer than a policy asks for; empty where they are not.
    about
        What was demanded, in words.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(5_000)
    >>> print(calcert.check(x, rng.random(5_000) < x, max=0.05))
    Within 0.05 (95% confidence): the error is at most 0.0278.
    L1 calibration error of the classifier with its current scores.
    5,000 rows, confidence 0.95, assuming the true curve changes sides of the diagonal at most 3 times.
    """

    kind: ClassVar = "check"

    certificate: Certificate | Ratio
    max: float
    statement: str
    settings: Settings
    rows: int
    summary: Summary | None
    certify: Callable[[], Result]
    group: str | None = None
    class_: str | None = None
    doubt: str = ""
    fitted_on_other_rows: bool = False
    too_few: str = ""
    about: str = ""

    @property
    def demand(self) -> str:
        """Which argument of :func:`calcert.check` the limit `max` came from: max, max_ratio or max_observed."""
        if self.statement == PRUDENCE:
            return "max_observed"
        return "max_ratio" if isinstance(self.certificate, Ratio) else "max"

    @property
    def is_small(self) -> bool:
        """True where the bound is at most `max`; of a ratio, where both are."""
        c = self.certificate
        return c.upper <= self.max and not (self.demand == "max_ratio" and c.lower < 1 / self.max)

    @cached_property
    def verdict(self) -> Verdict:
        """Within, beyond or cannot tell yet, and what to do next, as in :attr:`calcert.Report.verdict`."""
        whose = "" if self.class_ is None else f" for the class {visible(self.class_)} (the largest bound)"
        if self.group is not None:
            whose = f" of the group {visible(self.group)} (the largest bound)"
        if isinstance(self.certificate, Ratio):
            if self.statement != PRUDENCE:
                return judge_ratio(self.certificate, self.max)
            return judge_prudence(self.certificate, self.max, whose.replace(" of ", " in ", 1))
        return judge(self.certificate, self.max, self.statement, self.settings, self.summary, whose=whose)

    @property
    def refused_as(self) -> str:
        """The doubt that counts; empty where there is none, or it was overruled."""
        return "" if self.fitted_on_other_rows else self.doubt

    @property
    def passed(self) -> bool:
        """True where the error is certified to be at most `max`, and nothing speaks against the rows."""
        return self.is_small and not self.refused_as and not self.too_few

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why it did not pass, and what to do about it; empty where it passed."""
        doubt = tuple(filter(None, (self.refused_as, self.too_few)))
        return doubt if self.is_small else (*doubt, self.verdict.sentence, f"Next: {self.verdict.next}")

    @cached_property
    def report(self) -> Result:
        """All statements of the same rows, groups or classes; computed when first asked for."""
        return self.certify()


def check(
    scores: Any,
    labels: Any = None,
    *,
    max: float | None = None,
    max_ratio: float | None = None,
    max_observed: float | None = None,
    statement: str | None = None,
    threshold: float | None = None,
    confidence: float | None = None,
    settings: Settings | None = None,
    of: str | None = None,
    fitted_on_other_rows: bool = False,
    workers: int | None = None,
    **rows: Any,
) -> Outcome:
    """Check whether a calibration error is certified to be at most `max`: a gate for tests and pipelines.

    Fix `max` and every other argument before the rows are seen: a check that is repeated with other settings until it
    passes proves nothing. With groups the worst of them must pass.

    Parameters
    ----------
    scores, labels
        As in :func:`calcert.certify`: two arrays, a table, a Summary, :class:`calcert.Rows`, or probabilities of K > 2
        classes, shape (rows, K), and labels from 0 to K - 1.
    max
        The largest error that passes, such as 0.05.
    max_ratio
        In its place, for rare events: the largest observed over expected that passes, such as 1.25, and one over it the
        smallest.
    max_observed
        In their place, for prudence: the most that observed may be of expected, such as 1. It is one-sided, so that
        scores that are too high pass. With groups, such as grades, each must pass.
    statement
        Which error: "in_the_large", "l1", "cutoff", "distance", "perturbed" or, with a threshold, "regret". Left out,
        it is the one that the verdict of a Report rests on: "perturbed" where the settings ask for noise, else "l1".
        With `max_ratio` and `max_observed` it is "in_the_large", with several columns of groups "cutoff".
    threshold
        For "regret", the score from which on people act, as in :func:`calcert.certify`.
    confidence, settings
        As in :func:`calcert.certify`.
    of
        Of many classes, whose error: that of the "prediction", as where it is left out, of the "worst" class against
        the rest, or the "mean" over classes.
    fitted_on_other_rows
        True lets rows pass that agree with the scores better than fresh rows can: no score was fitted on these rows.
    workers
        How many processes certify groups or classes; as many as there are processors where left out.
    rows
        What else :class:`calcert.Rows` takes, such as `score`, `label`, `clusters`, `groups` and `class_columns`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(5_000)
    >>> outcome = calcert.check(x, rng.random(5_000) < x**2, max=0.05)
    >>> outcome.passed
    False
    >>> print(outcome)
    Beyond 0.05 (95% confidence): the error is at least 0.1499.
    L1 calibration error of the classifier with its current scores.
    5,000 rows, confidence 0.95, assuming the true curve changes sides of the diagonal at most 3 times.
    Next: recalibrate on held-out rows (calcert recalibrate); more rows cannot bring the error within 0.05.
    """
    fixed, asked = Settings.of(settings, confidence, threshold=threshold), Rows.of(scores, labels, **rows)
    about = demanded(asked, fixed, max, max_ratio, statement, of, max_observed)
    if max is not None:
        found = _judged(asked, max, statement or _usual_statement(asked, fixed), fixed, of, workers)
    elif max_ratio is not None:
        found = _of_rows(asked, max_ratio, "observed over expected", fixed, observed_over_expected)
    else:
        assert max_observed is not None
        found = _prudent(asked, max_observed, fixed)
    return replace(found, fitted_on_other_rows=fitted_on_other_rows, about=about)


def demanded(
    rows: Rows,
    settings: Settings,
    max: float | None,
    max_ratio: float | None,
    statement: str | None,
    of: str | None,
    max_observed: float | None = None,
) -> str:
    """What is demanded, in words; a demand that cannot be made is refused before any row is read."""
    given = sum(limit is not None for limit in (max, max_ratio, max_observed))
    if given != 1:
        one = ("one of ", Argument("max"), ", ", Argument("max_ratio"), " and ", Argument("max_observed"))
        raise WrongType(one, "must be given", "none" if not given else "both" if given == 2 else "all")
    if of is not None and not rows.has_classes:
        raise WrongType(Argument("of"), "must come with probabilities of many classes", f"{of!r}, and none")
    if max_observed is not None:
        return _prudence_demanded(rows, max_observed, statement)
    if max_ratio is None:
        if isinstance(max, bool) or not isinstance(max, (int, float)) or not 0 < max < 1:
            raise WrongValue(Argument("max"), "must lie strictly between 0 and 1, such as 0.05", repr(max))
        statement = check_statement(statement or _usual_statement(rows, settings))
        if statement == "regret":
            Decision.of(settings.threshold, settings.costs)
        if rows.has_classes:
            check_one_of("of", of or USUAL, tuple(OF))
            return f"{statement} of {OF[of or USUAL]}"
        return statement if rows.groups is None else f"{statement} of every group by {rows.groups}"
    _check_in_the_large(statement, "max_ratio")
    if isinstance(max_ratio, bool) or not isinstance(max_ratio, (int, float)) or not 1 < max_ratio < math.inf:
        raise WrongValue(Argument("max_ratio"), "must be above 1, such as 1.25", repr(max_ratio))
    if rows.groups is not None or rows.has_classes:
        many = "groups" if rows.groups is not None else "classes"
        way = f"Check each of the {many} apart."
        raise WrongType(Argument("max_ratio"), f"must come without {many}", "both", "", way)
    return "observed / expected"


def _usual_statement(rows: Rows, settings: Settings) -> str:
    """What is judged where nobody says."""
    return "cutoff" if rows.has_segments else judged_by(statements_of(settings))


def _check_in_the_large(statement: str | None, limit: str) -> None:
    """Refuse a statement that has no observed over expected, which is what `limit` is about."""
    if statement not in (None, RATIO):
        way = ("Leave it out, or demand ", Argument("max"), ".")
        raise WrongValue(Argument("statement"), (f"must be {RATIO} with ", Argument(limit)), repr(statement), "", way)


def _prudence_demanded(rows: Rows, limit: float, statement: str | None) -> str:
    if isinstance(limit, bool) or not isinstance(limit, (int, float)) or not 0 < limit < math.inf:
        raise WrongValue(Argument("max_observed"), "must be a positive number, such as 1", repr(limit))
    _check_in_the_large(statement, "max_observed")
    if rows.has_classes or rows.has_segments:
        many = "classes" if rows.has_classes else "several columns of groups"
        raise WrongType(Argument("max_observed"), f"must come without {many}", "both", "", "Name one column.")
    if rows.groups is None:
        return PRUDENCE
    counted = f" of at least {rows.smallest_group:,} rows" if rows.smallest_group > 1 else ""
    return f"{PRUDENCE} in every group by {rows.groups}{counted}"


def _judged(
    rows: Rows, largest: float, statement: str, settings: Settings, of: str | None, workers: int | None
) -> Outcome:
    """The certificate that must pass; with groups that of the worst, with classes that of the one that `of` names."""
    if check_statement(statement) == "perturbed" and not settings.asks_for_noise:
        noise: Any = settings.noise.parameters
        settings = replace(settings, **noise).at(settings.delta)
    if rows.has_classes:
        return _of_classes(rows, largest, USUAL if of is None else of, statement, settings, workers)
    if rows.has_segments:
        return _of_segments(rows, largest, statement, settings)
    if rows.groups is not None:
        return _of_groups(
            rows, largest, statement, settings, lambda among: among.certify_worst(statement, settings, workers), workers
        )
    certify = STATEMENTS[statement].certify
    return _of_rows(rows, largest, statement, settings, lambda summary, delta: certify(summary, settings))


def _of_rows(
    rows: Rows, limit: float, statement: str, settings: Settings, certify: Callable[..., Certificate | Ratio]
) -> Outcome:
    """What a certificate of all rows says, which is told the delta."""
    summary = rows.summary()
    found, report = certify(summary, delta=settings.delta), partial(certify_summary, summary, settings)
    doubt = " ".join(too_good(summary))
    return Outcome(found, limit, statement, settings, summary.rows, summary, report, doubt=doubt)


def _of_groups(
    rows: Rows,
    limit: float,
    statement: str,
    settings: Settings,
    worst: Callable[[GroupRows], tuple[Certificate | Ratio, str]],
    workers: int | None = None,
) -> Outcome:
    """What is certified of the worst group, and which of them has the largest bound."""
    from calcert.reports.groups import GroupRows

    among = GroupRows.read(rows)
    found, highest = worst(among)
    report, doubt = partial(among.certify, settings, workers), " ".join(among.warnings)
    summary = among.summaries[highest]
    return Outcome(found, limit, statement, settings, among.n, summary, report, group=highest, doubt=doubt)


def _prudent(rows: Rows, limit: float, settings: Settings) -> Outcome:
    """Observed over expected from above, of the group with the largest limit where there are groups.

    Each limit has all of delta: one group is the worst of the distribution, and only its limit has to hold (Theorem W).
    """
    upper = partial(observed_over_expected, side="at most")
    if rows.groups is None:
        return _of_rows(rows, limit, PRUDENCE, settings, upper)

    def worst(among: GroupRows) -> tuple[Ratio, str]:
        uppers = {name: upper(among.summaries[name], delta=settings.delta) for name in among.counted}
        highest = max(uppers, key=lambda name: uppers[name].upper)
        return replace(uppers[highest], upper=math.inf) if among.empty else uppers[highest], highest

    return _of_groups(rows, limit, PRUDENCE, settings, worst)


def _of_segments(rows: Rows, largest: float, statement: str, settings: Settings) -> Outcome:
    from calcert.reports.segments import certify_segments

    if statement != "cutoff":
        wanted = "must be 'cutoff' where several columns of groups are named"
        raise WrongValue(Argument("statement"), wanted, repr(statement), "", "Say 'cutoff', or name one column.")
    found = certify_segments(rows, settings)
    doubt = " ".join(found.warnings)
    group = found.worst
    return Outcome(found.bound, largest, statement, settings, found.n, None, lambda: found, group=group, doubt=doubt)


def _of_classes(
    rows: Rows, largest: float, of: str, statement: str, settings: Settings, workers: int | None
) -> Outcome:
    from calcert.reports.classes import certify_classes, certify_of, names_of, read_classes

    read = read_classes(rows, settings, statement)
    found, highest = certify_of(read, of, statement, settings, workers)
    called = None if highest is None else names_of(read)[highest]
    summary = None if of == "mean" else read.prediction if highest is None else read.of_class(highest)
    report = partial(certify_classes, read, settings, workers)
    doubt, n = " ".join(too_good(read.prediction if summary is None else summary)), read.prediction.n
    return Outcome(found, largest, statement, settings, n, summary, report, class_=called, doubt=doubt)
