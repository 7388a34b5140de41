"""What a monitor says when it is asked: frozen results, ready to be shown. Nothing here computes a bound."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from calcert.certificates.certificate import Certificate
from calcert.foundation.number_text import rows_text
from calcert.foundation.result import Result
from calcert.monitoring.watched_statements import WATCHED
from calcert.reports.statements import Certified, check_all_there, check_statement


@dataclass(frozen=True)
class Added:
    """What became of a batch.

    Attributes
    ----------
    batch_id, number, rows
        Its id, its place among the batches (from 1), and its rows; None and 0 where it had no new rows.
    duplicate
        True if the same batch was there already: nothing was changed.
    lower
        The lower bound certified after this batch.
    known
        Rows that were left out, because their ids were added before.
    """

    batch_id: str
    number: int | None
    rows: int
    duplicate: bool
    lower: float | None
    known: int = 0

    def __str__(self) -> str:
        if self.number is None:
            all_known = f": all of its {rows_text(self.known)} were added before" if self.known else ""
            return f"Batch {self.batch_id!r} has no new rows{all_known}. Nothing was changed."
        if self.duplicate:
            return f"Batch {self.batch_id!r} is there already, as batch {self.number:,}: nothing was changed."
        known = f" Left out: {rows_text(self.known)} that were added before." if self.known else ""
        return f"Added batch {self.batch_id!r}: {rows_text(self.rows)}, batch {self.number:,} of this state.{known}"


@dataclass(frozen=True)
class BatchPoint:
    """One batch on the time axis: `lower` was certified after it."""

    number: int
    batch_id: str
    time: str
    rows: int
    lower: float


@dataclass(frozen=True)
class Alarm:
    """The error of unmodified scores has exceeded the limit: certified, not suspected.

    Attributes
    ----------
    limit
        The limit.
    since, batch_id, number
        The time, id and number of the batch that proved it.
    between, between_number
        The time and number of the first batch of the shortest proven stretch: some batch from that one to `number` had
        an error above the limit.
    statement
        The statement whose error it is: "distance", "cutoff", or "l1" for the L1 calibration error.
    """

    limit: float
    since: str
    batch_id: str
    number: int
    between: str
    between_number: int
    statement: str


@dataclass(frozen=True)
class Look:
    """One interim analysis, or look, of all rows up to a batch."""

    derived: ClassVar = ("rows", "upper")

    number: int
    time: str
    certificate: Certificate

    @property
    def rows(self) -> int:
        """The rows up to this look."""
        return self.certificate.n

    @property
    def upper(self) -> float:
        """The upper bound."""
        return self.certificate.upper


@dataclass(frozen=True)
class WindowStatement(Certified):
    """What is certified of one window.

    Attributes
    ----------
    key, start, end
        The window, and the times of its first and last batch.
    batches, rows
        What has come for it; the certificates are about the `n` rows up to the last look.
    certificates
        By statement: that which the state watches, as an attribute too (``window.distance``).
    """

    flat: ClassVar = "certificates"

    key: str
    start: str
    end: str
    batches: int
    rows: int
    certificates: Mapping[str, Certificate]


@dataclass(frozen=True)
class Change:
    """Calibration has changed between two windows: their intervals do not meet.

    Attributes
    ----------
    statement
        Which one, such as "distance".
    earlier, later
        The keys of the windows.
    grown
        True if the error is larger in the later one.
    by
        The distance between the intervals: the error has changed by at least that.
    """

    statement: str
    earlier: str
    later: str
    grown: bool
    by: float


@dataclass(frozen=True)
class Status(Result):
    """What :meth:`calcert.Monitor.status` returns.

    Attributes
    ----------
    confidence
        Each of the three kinds of bounds (lower bounds with the alarm; upper bounds; windows with changes, for each of
        their statements) holds for ever, at all moments together, with this probability.
    statement
        What is watched: "distance", "cutoff" or "perturbed".
    below
        The statement that `lower` and the alarm are about: the same, but "l1", the L1 calibration error of
        unmodified scores, where "perturbed" is watched.
    lower
        Some batch so far had an error of at least this. If the distribution never changed, that is a lower bound for
        the error.
    evidence
        Against perfect calibration, as a power of ten: the factor by which a bet against it has grown.
    upper
        The last look: the error over all rows up to it pooled is at most ``upper.upper``.
    alarm
        None as long as the limit, if one was given, is not proven to be exceeded.
    windows, changes
        Certificates of windows, in order of time, and certified changes between them.
    history, looks
        Lower bounds after every batch, and upper bounds at every look.
    state_fingerprint
        The first 16 hexadecimal digits of the digest of the last batch, which covers its line, its rows and the digest
        before it, down to the settings: it stands for all that the state held.

    Examples
    --------
    >>> import tempfile
    >>> monitor = calcert.Monitor(tempfile.mkdtemp() + "/state.calcert")
    >>> rng = np.random.default_rng(0)
    >>> for day in (2, 3):
    ...     x = rng.random(5_000)
    ...     print(monitor.add(x, rng.random(5_000) < x**2, batch_id=f"day {day}", time=f"2026-03-0{day}", window="day"))
    Added batch 'day 2': 5,000 rows, batch 1 of this state.
    Added batch 'day 3': 5,000 rows, batch 2 of this state.
    >>> status = monitor.status(alarm=0.05)
    >>> status.rows, status.lower > 0.1, status.alarm.batch_id, status.history[0].lower
    (10000, True, 'day 3', 0.0)
    >>> [look.rows for look in status.looks], [window.key for window in status.windows], status.changes
    ([5000, 10000], ['2026-03-02', '2026-03-03'], ())
    """

    kind: ClassVar = "status"
    noun: ClassVar = "the status"
    derived: ClassVar = ("below", "batches", "rows", "first", "last")

    confidence: float
    lower: float
    evidence: float
    upper: Certificate
    limit: float | None
    alarm: Alarm | None
    windows: tuple[WindowStatement, ...]
    changes: tuple[Change, ...]
    history: tuple[BatchPoint, ...]
    looks: tuple[Look, ...]
    statement: str
    state_fingerprint: str

    def __post_init__(self) -> None:
        check_statement(self.statement, WATCHED)
        for window in self.windows:
            check_all_there(window.certificates, self.of_windows)

    @property
    def below(self) -> str:
        """The statement that the lower bound and the alarm are about."""
        return WATCHED[self.statement].below

    @property
    def of_windows(self) -> tuple[str, ...]:
        """The statements that are certified of windows."""
        return WATCHED[self.statement].windows

    @property
    def rows(self) -> int:
        """All rows so far."""
        return sum(point.rows for point in self.history)

    @property
    def batches(self) -> int:
        """How many batches were added."""
        return len(self.history)

    @property
    def first(self) -> str:
        """The earliest time of any batch, which may have been added late."""
        return min(point.time for point in self.history)

    @property
    def last(self) -> str:
        """The latest time of any batch."""
        return max(point.time for point in self.history)

    def _rows(self) -> list[dict[str, Any]]:
        """As a table: a line for every batch, with the lower bound after it."""
        return [dict(vars(point)) for point in self.history]
