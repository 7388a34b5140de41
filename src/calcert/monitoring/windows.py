"""Windows: which day, week or month a batch is from, and what is certified of the rows of each.

Window w, in the order of first appearance, is looked at as its rows grow.
Each bound of look l may fail with probability delta / 2 w(w + 1) l(l + 1), so that all bounds of a statement, lower and
upper, in all windows and at all looks, hold together with probability at least 1 - delta. Whatever follows from them
holds too: where the intervals of two windows do not meet, calibration has changed between them.

Rows pile up, and a bound for a fixed number of rows may not simply be computed again and again: each look is another
chance to fail. Look l is taken at the first batch that brings the rows to 5/4 of those at look l - 1, and may fail with
probability delta / l(l + 1); these add up to delta. The schedule depends on the sizes of the batches alone, so it does
not matter who looks when, and a look that nobody asks for is just not computed.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, ClassVar

from calcert.certificates.certificate import Certificate
from calcert.foundation.plain_types import plain_fields
from calcert.monitoring.states.checksummed_batches import Batch
from calcert.reports.settings import Settings
from calcert.reports.statements import Certified, certificates_of
from calcert.summary.summary import Summary

GROWTH = 5 / 4
"""Rows at a look over rows at the look before: a bound lags by at most a quarter of the rows."""


def share(number: int) -> float:
    """What statement 1, 2, ... of an endless list gets of a delta: 1 / l(l + 1)."""
    return 1 / (number * (number + 1))


def schedule(sizes: Sequence[int], rows: int = 0, last: int = 0) -> list[int]:
    """The batches (from 0) at which looks are taken, given the rows of all batches.

    `rows` came before these batches, and `last` of them before the last look.

    Examples
    --------
    >>> schedule([100, 100, 100, 100, 100, 100, 100])
    [0, 1, 2, 3, 4, 6]
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
    """A window of batches, and where to look at it.

    Attributes
    ----------
    key, number
        Its name, and its place in the order of first appearance, from 1.
    batches
        Its batches in the order in which they came.
    """

    key: str
    number: int
    batches: tuple[Batch, ...]

    @property
    def rows(self) -> int:
        """All rows of the window."""
        return sum(batch.rows for batch in self.batches)

    @cached_property
    def _looked_at(self) -> list[int]:
        """The batches of the window (from 0) after which it is looked at."""
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


def certify_window(rows: Summary, settings: Settings, statements: Collection[str]) -> dict[str, Certificate]:
    """Some statements of one look at one window, each bound at the delta of the settings.

    Guarantee
        That of the statements, as in a Report, for the law of the window.
    Assumes
        Given how many they are, the rows of the window are independent draws from one law: neither which rows are in
        it nor the sizes of its batches respond to the rows, to labels or to scores. The law need not stay the same
        within the window if rows come at random times: given their number, rows of a Poisson process are independent
        draws from the law of the whole window.
    """
    return certificates_of(rows, settings, statements)


@dataclass(frozen=True)
class WindowStatement(Certified):
    """What is certified of one window.

    Attributes
    ----------
    key, start, end
        The window, and the times of its first and last batch.
    batches, rows
        What has come for it; the certificates speak of the `n` rows up to the last look.
    certificates
        By statement: that which the state watches, as an attribute too (``window.distance``).

    Examples
    --------
    >>> import tempfile
    >>> monitor = calcert.Monitor(tempfile.mkdtemp() + "/state.calcert")
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(5_000)
    >>> _ = monitor.add(x, rng.random(5_000) < x, batch_id="1", time="2026-03-01", window="month")
    >>> window = monitor.status().windows[0]
    >>> window.key, window.rows, round(window.distance.upper, 2)
    ('2026-03', 5000, 0.03)
    """

    flat: ClassVar = "certificates"

    key: str
    start: str
    end: str
    batches: int
    rows: int
    certificates: Mapping[str, Certificate]

    def to_dict(self) -> dict[str, Any]:
        """Plain types only."""
        return plain_fields(self)


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

    Examples
    --------
    >>> from calcert.monitoring.windows import Change
    >>> Change("distance", earlier="2026-01", later="2026-02", grown=True, by=0.03).to_dict()["by"]
    0.03
    """

    statement: str
    earlier: str
    later: str
    grown: bool
    by: float

    def to_dict(self) -> dict[str, Any]:
        """Plain types only."""
        return dict(vars(self))


def changes(windows: Sequence[WindowStatement]) -> tuple[Change, ...]:
    """For each statement and window, the change from the earlier window whose interval is farthest away, if any."""
    found = []
    for statement in windows[0].certificates if windows else ():
        # Of the earlier intervals, the one that ends first is the farthest below, the one that begins last above.
        end, begin, ends, begins = math.inf, -math.inf, "", ""
        for later in windows:
            now = later.certificates[statement]
            lower, upper = now.lower, now.upper
            rise, fall = lower - end, begin - upper
            if rise > 0 or fall > 0:
                earlier, grown = (ends, True) if rise >= fall else (begins, False)
                found.append(Change(statement, earlier, later.key, grown, max(rise, fall)))
            if upper < end:
                end, ends = upper, later.key
            if lower > begin:
                begin, begins = lower, later.key
    return tuple(found)


PERIODS = {"day": "%Y-%m-%d", "week": "%G-W%V", "month": "%Y-%m"}
"""Windows of the calendar, and how they are called."""


def window_key(window: str | None, name: str | None, time: datetime) -> str | None:
    """The key of a window: that of the day, ISO week or month of `time`, or the name that was given.

    Examples
    --------
    >>> window_key("week", None, datetime(2026, 3, 1))
    '2026-W09'
    """
    if window is not None and window not in PERIODS:
        raise ValueError(
            f"window must be day, week or month; got {window!r}. For a window of your own pass "
            f"window_name={window!r} (--window-name)."
        )
    if window is not None and name is not None:
        raise ValueError(f"window and window_name must not come together; got {window!r} and {name!r}.")
    if name is not None and (not isinstance(name, str) or not name.strip()):
        raise ValueError(f"window_name must be a string that is not empty; got {name!r}.")
    return name if window is None else time.strftime(PERIODS[window])
