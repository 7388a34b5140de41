"""The page of a monitor: alarm, bounds over time, windows and changes."""

from __future__ import annotations

import datetime
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from calcert.foundation.number_text import at_least, confidence, given, rows_text
from calcert.reports.statements import columns
from calcert.show import certificate_words as words
from calcert.show.interval_lines import Line, window_lines
from calcert.show.pages.layout import IN_PICTURE, IN_TABLE, Card, Picture, fragment, interval_pictures, picture, render
from calcert.show.pictures.monitor import NARROW, status_picture
from calcert.show.text.monitor import (
    alarm_sentence,
    always,
    change_lines,
    crossed,
    day,
    lower_sentence,
    reach,
    upper_sentence,
)

if TYPE_CHECKING:
    from calcert.monitoring.status import Status

TITLE = "Calibration over time"

NEVER_PROMISED = (
    "Bounds are averages over rows. For a group of people, a range of scores or a single row the error can be larger.",
    "No alarm is no proof of calibration: a limit that is not proven to be exceeded may be exceeded.",
    "Bounds apply to one classifier. After retraining or recalibrating, start another state.",
    "Rows must not have been used to train the classifier, and must be independent given what came before. Whether and "
    "when a label arrives must not depend on it, nor sizes and windows of batches on rows.",
)

READING = (
    "Black steps are the lower bound for the worst batch so far; they never fall. Dotted steps are the upper bound for "
    "all rows pooled, and may lie below them. Bars are the intervals of windows: where two do not overlap, calibration "
    "has changed. The alarm is raised where the black steps cross the dashed limit."
)


def page(
    status: Status, *, command: str | None = None, title: str | None = None, date: datetime.date | None = None
) -> str:
    """The page as text; arguments as in :func:`calcert.show.pages.report.page`."""
    alarm = "" if status.limit is None else f"alarm={given(status.limit)}"
    return render(
        "monitor.html.jinja",
        title=title or TITLE,
        date=date,
        reach=reach(status),
        alarm=alarm_sentence(status),
        raised=status.alarm is not None,
        changes=change_lines(status),
        crossed=crossed(status),
        statements=_cards(status),
        always=always(status),
        never_promised=NEVER_PROMISED,
        pictures=_pictures(status),
        left_out=f"The bars show the last {IN_PICTURE} windows." if len(status.windows) > IN_PICTURE else "",
        lines=_latest_first(status, columns(status.of_windows)),
        subjects=[words.STATEMENTS[name].short for name in columns(status.of_windows)],
        most=IN_TABLE,
        history=_history(status),
        fingerprint=status.state_fingerprint,
        command=command,
        code=f'status = calcert.Monitor(STATE).status({alarm})\nstatus.to_html("monitor.html")',
        report=status.to_dict(),
    )


def notebook_view(status: Status) -> str:
    """Alarm, bounds, windows and pictures, for a notebook."""
    return fragment(
        "notebook_lines.html.jinja",
        heading=f"{TITLE}: {reach(status)}",
        first="window",
        subjects=[words.STATEMENTS[name].short for name in columns(status.of_windows)],
        lines=_latest_first(status, columns(status.of_windows))[:IN_TABLE],
        notes=[
            alarm_sentence(status),
            *change_lines(status),
            lower_sentence(status),
            upper_sentence(status),
            crossed(status),
            always(status),
        ],
        pictures=_pictures(status),
    )


def _cards(status: Status) -> list[Card]:
    perturbed = " of perturbed scores" if status.statement == "perturbed" else ""
    cards: list[dict[str, Any]] = [
        {
            "name": "lower",
            "title": "Worst batch so far",
            "quantity": words.MEASURE[status.below],
            "interval": f"at least {at_least(status.lower)}" if status.lower > 0 else "nothing proven",
            "sentences": [
                "Some batch so far had at least this error, whatever the drift."
                if status.lower > 0
                else "No batch so far is proven to have had an error.",
            ],
            "not_promised": "It does not say which batch that was; windows apply to a time of their own.",
        },
        {
            "name": "upper",
            "title": "All rows pooled",
            "quantity": f"{words.MEASURE[status.statement]}{perturbed}",
            "interval": words.interval(status.upper),
            "sentences": [
                f"Over the first {rows_text(status.upper.n)} together. Distributions and batch sizes may drift, but "
                "not in response to rows seen."
            ],
            "not_promised": "Opposite errors of different times may cancel in the pool.",
        },
    ]
    if status.windows:
        last, (shown, *others) = status.windows[-1], columns(status.of_windows)
        c = last.certificates[shown]
        cards.append(
            {
                "name": "window",
                "title": f"The last window, {last.key}",
                "quantity": words.MEASURE[shown],
                "interval": words.interval(c),
                "sentences": [
                    f"Of its first {rows_text(c.n)}.",
                    *(f"Of perturbed scores: {words.interval(last.certificates[name])}." for name in others),
                    words.assumption(c),
                ],
                "not_promised": "It applies to rows that are drawn from one distribution within the window.",
            }
        )
    return cards


def _history(status: Status) -> list[dict[str, Any]]:
    """The batches, latest first, each with what was certain after it: what was proven before stays proven."""
    lowers = accumulate((point.lower for point in status.history), max)
    points = zip(status.history, lowers, strict=True)
    return [vars(point) | {"time": day(point.time), "lower": lower} for point, lower in points][::-1]


def _latest_first(status: Status, statements: list[str]) -> list[Line]:
    return window_lines(status, statements)[::-1]


def _pictures(status: Status) -> list[Picture]:
    figure = status_picture(status, size=NARROW)
    over_time = f"{lower_sentence(status)} {upper_sentence(status)} {alarm_sentence(status)}"
    drawn = [picture(figure, "over-time", "Bounds over time", over_time, READING)]
    if status.windows:
        shown = {name: _latest_first(status, [name]) for name in columns(status.of_windows)}
        drawn += interval_pictures(
            "windows", shown, f"all windows, both sides, with probability {confidence(status.delta)}"
        )
    return drawn
