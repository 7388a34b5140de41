"""When the rows of a batch are from: times as people give them, and as states keep them."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, date, datetime
from typing import Any

EARLIEST, LATEST = "1900-01-02T00:00:00", "2199-12-31T00:00:00"
"""Most systems write "unknown" as a time outside, such as 9999-12-31, and no axis shows it beside real ones."""


def moment(time: Any) -> datetime:
    """The time of a batch, as it was given: a date, a datetime, an ISO 8601 string, or None for now (UTC)."""
    if time is None:
        return datetime.now(UTC).replace(microsecond=0)
    if isinstance(time, datetime):
        return time
    if isinstance(time, date):
        return datetime(time.year, time.month, time.day)
    if not isinstance(time, str):
        raise TypeError(f"time must be a date, a datetime, an ISO 8601 string or None; got {time!r}.")
    try:
        return datetime.fromisoformat(time)
    except ValueError as error:
        raise ValueError(
            f"time must be an ISO 8601 date or time, such as '2026-03-01' or '2026-03-01T12:00'; got {time!r}."
        ) from error


def written(time: datetime) -> str:
    """A time as states keep it, in UTC and comparable as text; one without a zone is taken to be in UTC.

    Examples
    --------
    >>> written(moment("2026-03-01T01:30:00+02:00"))
    '2026-02-28T23:30:00'
    """
    with suppress(OverflowError):
        plain = time if time.tzinfo is None else time.astimezone(UTC).replace(tzinfo=None)
        text = plain.isoformat(timespec="seconds")
        if EARLIEST <= text <= LATEST:
            return text
    raise ValueError(
        f"time must lie between {EARLIEST[:10]} and {LATEST[:10]}; got {time.isoformat()}. Pass the time that the rows "
        "are from; for now, leave it out."
    )


def is_written(text: object) -> bool:
    """Whether a state can have this time."""
    with suppress(ValueError):
        return isinstance(text, str) and written(moment(text)) == text
    return False
