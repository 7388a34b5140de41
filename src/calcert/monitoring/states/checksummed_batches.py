"""Batches as a state writes them down, each with its time and a checksum, chained to the one before and the settings.

The digest of a line covers the line, the digests of what is kept of the batch, and the digest before it. So the digest
of a batch stands for all that was known when it was added.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from datetime import UTC, date, datetime
from typing import Any, NamedTuple

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
    """A time as states keep it, in UTC and comparable as text; one without a zone is taken to be in UTC."""
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


class Batch(NamedTuple):
    """What a state says of one batch, with checksums of what is kept of it and of the chain up to here.

    `positives` are rows of label 1, `window` the key of its window, `lower` the lower bound certified after it.
    """

    number: int
    id: str
    rows: int
    positives: int
    time: str
    window: str | None
    lower: float
    gains_digest: bytes
    summary_digest: bytes
    ids_digest: bytes
    digest: bytes

    @property
    def possible(self) -> bool:
        """Whether a monitor can have written this line: SQLite takes any value in any column."""
        kinds = (int, str, int, int, str, str if self.window is not None else type(None), float)
        return (
            tuple(map(type, self[: len(kinds)])) == kinds
            and 0 <= self.positives <= self.rows > 0
            and 0 <= self.lower < 1
            and is_written(self.time)
        )

    def chained(self, before: bytes) -> bytes:
        """What `digest` must be after a batch whose digest is `before`."""
        line = (self.number, self.id, self.rows, self.positives, self.time, self.window, self.lower)
        return digest(before, line, self.gains_digest, self.summary_digest, self.ids_digest)


def digest(*parts: object) -> bytes:
    """A checksum of several parts, in which no part can borrow from the next; what is not bytes is taken as written."""
    total = bytearray()
    for part in parts:
        content = part if isinstance(part, bytes) else repr(part).encode()
        total += len(content).to_bytes(8, "little")
        total += content
    return hashlib.blake2b(total, digest_size=16).digest()
