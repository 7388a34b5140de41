"""When the rows of a batch are from: times as people give them, and as states keep them."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any


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
    plain = time if time.tzinfo is None else time.astimezone(UTC).replace(tzinfo=None)
    return plain.isoformat(timespec="seconds")
