"""Windows: which day, week or month a batch is from, and what is certified of the rows of each.

An interim analysis ("look") number l is due at the first batch that brings the rows to 5/4 of those at look l - 1. Its
bound may fail with probability delta / l(l + 1), which add up to delta: a bound for a fixed number of rows may not be
computed again and again. The schedule depends on batch sizes alone, so that it does not matter who asks when, and a
look that nobody asks for is not computed.

Window w, in the order of first appearance, has looks of its own. Each bound of its look l may fail with probability
delta / 2 w(w + 1) l(l + 1): all bounds of a statement, in all windows and at all looks, hold together with probability
at least 1 - delta (W3). Where the intervals of two windows do not meet, calibration has changed between them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import ClassVar

from calcert.certificates.certificate import Certificate
from calcert.foundation.refusal import Argument, WrongValue
from calcert.monitoring.states.checksummed_batches import Batch
from calcert.reports.statements import Certified

GROWTH = 5 / 4
"""Rows at a look over rows at the look before: a bound lags by at most a quarter of the rows."""


def share(number: int) -> float:
    """The part of delta for look, or window, 1, 2, ... of an endless list: 1 / l(l + 1)."""
    return 1 / (number * (number + 1))


def schedule(sizes: Sequence[int], rows: int = 0, last: int = 0) -> list[int]:
    """The batches (from 0) at which looks are due, given the rows of all batches.

    `rows` came before these batches, and `last` of them before the last look.
    """
    looks = []
    for batch, size in enumerate(sizes):
        rows += size
        if rows >= GROWTH * last:
            looks.append(batch)
            last = rows
    return looks


@dataclass(frozen=True, eq=False)
class Window:
    """A window of batches, in the order in which they came; `number` is its place in that of first appearance."""

    key: str
    number: int
    batches: tuple[Batch, ...]

    @property
    def rows(self) -> int:
        """All rows of the window."""
        return sum(batch.rows for batch in self.batches)

    @cached_property
    def _looked_at(self) -> list[int]:
        """The batches of the window (from 0) at which looks are due."""
        return schedule([batch.rows for batch in self.batches])

    @property
    def look(self) -> int:
        """The number of the last look, from 1."""
        return len(self._looked_at)

    @property
    def seen(self) -> tuple[Batch, ...]:
        """The batches up to the last look."""
        return self.batches[: self._looked_at[-1] + 1]

    def failure(self, delta: float) -> float:
        """The probability with which each bound of the last look may fail."""
        return delta / 2 * share(self.number) * share(self.look)


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


def changes(windows: Sequence[WindowStatement]) -> tuple[Change, ...]:
    """For each statement and window, the change from the earlier window whose interval is farthest away, if any."""
    proven = []
    for statement in windows[0].certificates if windows else ():
        # Of the earlier intervals, the one that ends first is the farthest below, the one that begins last above.
        end, begin, ends, begins = math.inf, -math.inf, "", ""
        for later in windows:
            now = later.certificates[statement]
            lower, upper = now.lower, now.upper
            rise, fall = lower - end, begin - upper
            if rise > 0 or fall > 0:
                earlier, grown = (ends, True) if rise >= fall else (begins, False)
                proven.append(Change(statement, earlier, later.key, grown, max(rise, fall)))
            if upper < end:
                end, ends = upper, later.key
            if lower > begin:
                begin, begins = lower, later.key
    return tuple(proven)


PERIODS = {"day": "%Y-%m-%d", "week": "%G-W%V", "month": "%Y-%m"}
"""Windows of the calendar, and how they are called."""


def window_key(window: str | None, name: str | None, time: datetime) -> str | None:
    """The key of a window: that of the day, ISO week or month of `time`, or the name that was given."""
    if window is not None and window not in PERIODS:
        own = ("For a window of your own pass ", Argument("window_name", window), ".")
        raise WrongValue(Argument("window"), "must be day, week or month", repr(window), "", own)
    if window is not None and name is not None:
        raise ValueError(f"window and window_name must not come together; got {window!r} and {name!r}.")
    if name is not None and (not isinstance(name, str) or not name.strip()):
        raise ValueError(f"window_name must be a string that is not empty; got {name!r}.")
    return name if window is None else time.strftime(PERIODS[window])
