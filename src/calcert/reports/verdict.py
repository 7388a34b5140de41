"""The verdict of a report: one sentence by one rule, which was fixed before the rows were seen, and what to do next.

The rule reads the bounds of one statement: the L1 calibration error, of perturbed scores where noise is asked for; the
first statement of a report that has neither.
Without a tolerance, a lower bound above 0 is miscalibration, and rows that show none but leave room for much cannot
tell. With one, an upper bound up to it is within, a lower bound
above it is beyond, and anything else cannot be told yet. The direction has a bound of its own, at the same confidence.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from calcert.certificates.certificate import Certificate
from calcert.certificates.in_the_large import Direction, direction_of
from calcert.foundation.number_text import (
    at_least,
    at_most,
    given,
    percent_sure,
    rounded_up,
    rows_about,
    rows_text,
    short_at_most,
    span,
)
from calcert.reports.advice_and_warnings import decisions, ranks_backwards, too_good, what_now
from calcert.reports.settings import Settings
from calcert.reports.statements import judged_by
from calcert.summary.summary import Summary

if TYPE_CHECKING:
    from calcert.certificates.observed_over_expected import Ratio
    from calcert.reports.plan import Plan

Kind = Literal["miscalibrated", "not detected", "within", "beyond", "cannot tell"]

RARE = 0.05
"""Where mean score or base rate is this near 0 or 1, observed over expected says more than a difference does."""

SLIGHT = 0.001
"""A proven error below this is no reason to recalibrate in itself."""

LARGE = 0.1
"""Rows that leave room for an error above this are too few for most uses."""

TWICE = 2.0
"""So are rows of a rare outcome that leave room for observed over expected above this, or below one over it."""

SCORES_ARE: Mapping[Direction, str] = {
    "too high": "scores are too high",
    "too low": "scores are too low",
    "overconfident": "scores are overconfident (too close to 0 and 1)",
    "underconfident": "scores are underconfident (too close to the middle)",
    "mixed": "not in one direction alone",
}

FITTED = (
    "Cannot tell: the scores look fitted on these rows, and then the bounds are false.",
    "certify rows on which no score was fitted; on these the bounds are false.",
)
UNCHANGED = "nothing; certify again when the model or the population changes."
RECALIBRATE = "recalibrate on held-out rows (calcert recalibrate)"


@dataclass(frozen=True)
class Verdict:
    """What a report comes to.

    Attributes
    ----------
    kind
        "miscalibrated" or "not detected"; with a tolerance "within", "beyond" or "cannot tell". The last also without
        one, where rows are too few or the scores look fitted on them.
    sentence
        The verdict in words, with its confidence.
    direction
        Which way scores err, where an error is certain: "too high", "too low", "overconfident", "underconfident", or
        "mixed" where none of these is. None where no error is certain.
    next
        What to do about it.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(10_000)
    >>> calcert.certify(x, rng.random(10_000) < x**1.5).verdict.sentence
    'Miscalibrated (95% confidence): scores are too high.'
    """

    kind: Kind
    sentence: str
    direction: Direction | None
    next: str


def verdict_of(
    certificates: Mapping[str, Certificate], settings: Settings, summary: Summary | None, rare: Ratio | None
) -> Verdict:
    """The verdict on rows, by the rule; observed over expected is given where an outcome is rare."""
    statement = judged_by(certificates)
    c = certificates[statement]
    direction = direction_of(summary, settings.delta) if summary is not None and c.lower > 0 else None
    times = "" if rare is None else f"observed / expected {span(rare.lower, rare.upper, ratio=True)}"
    if c.lower <= (settings.tolerance or 0.0) and summary is not None and too_good(summary):
        return Verdict("cannot tell", FITTED[0], direction, FITTED[1])
    if settings.tolerance is None:
        return _detected(c, direction, rare, times, summary)
    found = judge(c, settings.tolerance, statement, settings, summary, direction)
    return replace(found, sentence=f"{found.sentence[:-1]}; {times}.") if times else found


def judge(
    c: Certificate,
    tolerance: float,
    statement: str,
    settings: Settings,
    summary: Summary | None,
    direction: Direction | None = None,
    whose: str = "",
) -> Verdict:
    """Whether an error is within a tolerance, which every gate asks; `whose` says of which rows it is."""
    limit, sure = given(tolerance), percent_sure(c.delta)
    what, per_row = ("loss", " per row") if statement == "regret" else ("error", "")
    if c.upper <= tolerance:
        words = f"Within {limit} ({sure} confidence): the {what} is at most {at_most(c.upper)}{per_row}."
        return Verdict("within", words, direction, _other_scores(summary) or UNCHANGED)
    if c.lower > tolerance:
        which = f"; {SCORES_ARE[direction]}" if direction not in (None, "mixed") else ""
        words = f"Beyond {limit} ({sure} confidence): the {what} is at least {at_least(c.lower)}{per_row}{which}."
        cannot = f"{RECALIBRATE}; more rows cannot bring the {what} within {limit}."
        return Verdict("beyond", words, direction, _other_scores(summary) or cannot)
    unsure = f"Cannot tell yet whether the {what} is within {limit}"
    found = _plan(c, tolerance, statement, settings, summary)
    if found is None:
        advice = _other_scores(summary) or what_now(c, tolerance, summary) or "label more rows, fresh ones."
        return Verdict("cannot tell", f"{unsure}.", direction, advice)
    # Fresh ones: more of the same rows would be a second look at these.
    more = f"; about {rows_about(found.rows)} fresh rows should be enough" if found.rows is not None else ""
    start = RECALIBRATE if found.fewest is None and found.limit >= tolerance else "label fresh rows"
    advice = _other_scores(summary) or f"{start}. {found.answer(whose)}"
    return Verdict("cannot tell", f"{unsure}{more}.", direction, advice)


def judge_ratio(ratio: Ratio, limit: float) -> Verdict:
    """Whether observed over expected is between 1 / limit and limit."""
    sure, here = percent_sure(ratio.delta), span(ratio.lower, ratio.upper, ratio=True)
    allowed = f"1/{given(limit)} to {given(limit)}"
    if 1 / limit <= ratio.lower and ratio.upper <= limit:
        words = f"Within {allowed} ({sure} confidence): observed / expected is {here}."
        return Verdict("within", words, None, UNCHANGED)
    high, low = ratio.upper < 1 / limit, ratio.lower > limit
    if high or low:
        direction: Direction = "too high" if high else "too low"
        words = f"Beyond {allowed} ({sure} confidence): observed / expected is {here}; {SCORES_ARE[direction]}."
        return Verdict("beyond", words, direction, f"{RECALIBRATE}; more rows will not bring it within {allowed}.")
    words = f"Cannot tell yet whether observed / expected is within {allowed} ({sure} confidence): it is {here}."
    return Verdict("cannot tell", words, None, "label fresh rows: four times as many about halve the interval.")


def judge_prudence(ratio: Ratio, limit: float, whose: str = "") -> Verdict:
    """Whether observed is at most `limit` of expected."""
    sure, most = f"{percent_sure(ratio.delta)} confidence", rounded_up(ratio.upper)
    if ratio.upper <= limit:
        words = f"Prudent ({sure}): observed is at most {most} of expected{whose}; the limit is {given(limit)}."
        return Verdict("within", words, None, UNCHANGED)
    found = "not bounded by these rows" if math.isinf(ratio.upper) else f"at most {most} of expected"
    words = f"Not proven prudent ({sure}): observed is {found}{whose}; the limit is {given(limit)}."
    return Verdict("cannot tell", words, None, "raise the scores and certify them on fresh rows, or label more rows.")


def is_rare(summary: Summary) -> bool:
    """True where one outcome is rare, as seen or as predicted."""
    return any(min(share, 1 - share) < RARE for share in (summary.mean_score, summary.base_rate))


def _detected(
    c: Certificate, direction: Direction | None, rare: Ratio | None, times: str, summary: Summary | None
) -> Verdict:
    sure = f"{percent_sure(c.delta)} confidence"
    if c.lower > 0:
        which = f": {SCORES_ARE[direction]}" if direction is not None else ""
        words = f"Miscalibrated ({sure}){which}{'; ' * bool(times)}{times}."
        advice = f"{RECALIBRATE}; more rows will not make the error go away."
        if c.lower < SLIGHT:
            most = f"if {short_at_most(c.upper)} is too much, recalibrate or label fresh rows"
            advice = f"the proven error is slight; decide which error you can accept (tolerance=, --max); {most}."
        advice = _other_scores(summary) or advice
        return Verdict("miscalibrated", words, direction, advice)
    most = short_at_most(c.upper)
    if too_wide(c, rare):
        hidden = f"an error of up to {most} ({sure})" if c.telling else "any error"
        clusters = summary.clusters if summary is not None else None
        more = "more rows" if clusters is None or not clusters.design.clustered else "rows of more clusters"
        why = f"{rows_text(c.n)} can hide {hidden}" if rare is None else f"too few rows; {times} ({sure})"
        advice = _other_scores(summary) or (
            f"label {more} before you rely on these scores; four times as many about halve what they can hide."
        )
        return Verdict("cannot tell", f"Cannot tell: {why}.", None, advice)
    decide = f"decide which error you can accept (tolerance=, --max); if {most} is too much, label more rows."
    bound = times or f"the error is at most {most}"
    words = f"No miscalibration detected; {bound} ({sure})."
    return Verdict("not detected", words, None, _other_scores(summary) or decide)


def too_wide(c: Certificate, rare: Ratio | None) -> bool:
    """True where rows that show no error rule out too little to count as a pass; where one is rare, its ratio tells."""
    return c.upper > LARGE if rare is None else rare.upper > TWICE or rare.lower < 1 / TWICE


def _other_scores(summary: Summary | None) -> str:
    """What to do where rows or scores are not what they should be; nothing where they may be."""
    if summary is not None and too_good(summary):
        return FITTED[1]
    if summary is not None and decisions(summary):
        return "certify probabilities, such as predict_proba returns, instead of decisions."
    if summary is not None and ranks_backwards(summary):
        return "check which class the scores are for, and which label is 1."
    return ""


def _plan(c: Certificate, target: float, statement: str, settings: Settings, summary: Summary | None) -> Plan | None:
    """How many rows would do; None where that is not asked (one of many groups) or not known (shares as labels)."""
    soft = summary is not None and summary.clusters is not None and summary.clusters.design.soft
    if summary is None or soft or settings.together > 1 or what_now(c, target, summary):
        return None
    from calcert.reports.plan import plan

    return plan(summary, target, statement=statement, settings=settings)
