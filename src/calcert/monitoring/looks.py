"""Looks at all rows and at windows: when they are due, what was certified, and what is still to be certified.

An interim analysis ("look") number l is due at the first batch that brings the rows to 5/4 of those at look l - 1. Its
bound may fail with probability delta / l(l + 1), which add up to delta: a bound for a fixed number of rows may not be
computed again and again. The schedule depends on batch sizes alone, so that it does not matter who asks when, and a
look that nobody asks for is not computed.

Window w, in the order of first appearance, has looks of its own. Each bound of its look l may fail with probability
delta / 2 w(w + 1) l(l + 1): all bounds of a statement, in all windows and at all looks, hold together with probability
at least 1 - delta (W3). Where the intervals of two windows do not meet, calibration has changed between them.

A life grows with its batches: one more batch costs the same after five thousand as after fifty. Certificates take long
next to adding a batch: they are computed once, when somebody asks, outside of any transaction, and kept in the state.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from itertools import accumulate

from calcert.certificates.certificate import Certificate
from calcert.foundation.refusal import Argument, WrongValue
from calcert.monitoring.states.checksummed_batches import Batch
from calcert.monitoring.status import BatchPoint, Change, Look, WindowStatement
from calcert.monitoring.watched_statements import WATCHED, certify_pool
from calcert.reports.settings import Settings
from calcert.reports.statements import certificates_of
from calcert.summary.summary import Summary

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


EVERYTHING = "all rows"
"""The stretch of rows that the upper bound is about."""


@dataclass(frozen=True)
class Due:
    """A look that is due at a stretch of rows; `delta` is the probability with which its bounds may fail."""

    stretch: str
    number: int
    statements: tuple[str, ...]
    covered: bytes  # The digest of the last batch that it covers.
    rows: int
    delta: float


@dataclass(frozen=True)
class Life:
    """The batches of a state, and what follows from them: all rows, and the largest lower bound after any batch.

    Looks at all rows come with the last batch that they cover, windows, in the order of their first appearance, with
    their last look.
    """

    settings: Settings
    statement: str
    batches: tuple[Batch, ...] = ()
    history: tuple[BatchPoint, ...] = ()
    rows: int = 0
    lower: float = 0.0
    looks: tuple[tuple[Batch, Due], ...] = ()
    windows: Mapping[str, tuple[Window, Due]] = field(default_factory=dict)

    def after(self, batches: Sequence[Batch]) -> Life:
        """The life once these batches have come too."""
        if not batches:
            return self
        return replace(
            self,
            batches=(*self.batches, *batches),
            history=(*self.history, *(BatchPoint(b.number, b.id, b.time, b.rows, b.lower) for b in batches)),
            rows=self.rows + sum(batch.rows for batch in batches),
            lower=max([self.lower, *(batch.lower for batch in batches)]),
            looks=(*self.looks, *self._looks_due_with(batches)),
            windows=self._windows_grown_by(batches),
        )

    @property
    def due(self) -> list[Due]:
        """All looks that are due."""
        return [due for _, due in (*self.looks, *self.windows.values())]

    def _looks_due_with(self, batches: Sequence[Batch]) -> list[tuple[Batch, Due]]:
        """The looks at all rows that these batches make due, each with the batch that does."""
        last = self.looks[-1][1].rows if self.looks else 0
        through = list(accumulate((batch.rows for batch in batches), initial=self.rows))[1:]
        looks: list[tuple[Batch, Due]] = []
        for place in schedule([batch.rows for batch in batches], rows=self.rows, last=last):
            number = len(self.looks) + len(looks) + 1
            delta = self.settings.delta * share(number)
            due = Due(EVERYTHING, number, (self.statement,), batches[place].digest, through[place], delta)
            looks.append((batches[place], due))
        return looks

    def _windows_grown_by(self, batches: Sequence[Batch]) -> dict[str, tuple[Window, Due]]:
        """All windows, those of these batches with the look that is their last one now."""
        windows, grown, statements = dict(self.windows), dict[str, list[Batch]](), WATCHED[self.statement].windows
        for batch in batches:
            if batch.window is not None:
                grown.setdefault(batch.window, []).append(batch)
        for key, new in grown.items():
            old = windows[key][0] if key in windows else Window(key, len(windows) + 1, ())
            window = replace(old, batches=(*old.batches, *new))
            rows, delta = sum(batch.rows for batch in window.seen), window.failure(self.settings.delta)
            windows[key] = window, Due(f"window {key}", window.look, statements, window.seen[-1].digest, rows, delta)
        return windows


Known = Mapping[Due, Mapping[str, Certificate]]
"""The certificates of looks, by statement."""


@dataclass
class Certifier:
    """All certificates of a state at one moment: those `known`, to which it adds those still to be computed, `fresh`.

    `rows` reads the rows of a batch, `kept_pool` what the state keeps of the first batches together: how many they are,
    and their rows. So many are `kept` there, and `pooled` in `pool`.
    """

    life: Life
    known: dict[Due, Mapping[str, Certificate]]
    rows: Callable[[Batch], Summary]
    kept_pool: Callable[[], tuple[int, Summary]]
    fresh: dict[Due, Mapping[str, Certificate]] = field(default_factory=dict)
    kept: int = 0
    pooled: int = 0
    pool: Summary = field(default_factory=Summary.empty)

    def certify(self) -> None:
        """Compute what is due and not known."""
        missing = [(batch, due) for batch, due in self.life.looks if due not in self.known]
        if missing:
            self.kept, pool = self.kept_pool()
            # A pool that reaches beyond the first missing look would count its batches twice.
            if self.kept <= missing[0][0].number:
                self.pooled, self.pool = self.kept, pool
        for batch, due in missing:
            self.pool = sum(map(self.rows, self.life.batches[self.pooled : batch.number]), self.pool)
            self.pooled = batch.number
            watched = self.life.statement
            self.fresh[due] = {watched: certify_pool(self.pool, watched, self.life.settings, due.delta)}
        for window, due in self.life.windows.values():
            if due not in self.known:
                rows = sum(map(self.rows, window.seen), Summary.empty())
                self.fresh[due] = certificates_of(rows, self.life.settings.at(due.delta), due.statements)
        self.known |= self.fresh

    def looks(self) -> tuple[Look, ...]:
        """The upper bound at every look at all rows."""
        watched = self.life.statement
        return tuple(Look(batch.number, batch.time, self.known[due][watched]) for batch, due in self.life.looks)

    def windows(self) -> list[WindowStatement]:
        """What is certified of each window at its last look, in order of time."""
        statements = []
        for window, due in self.life.windows.values():
            times = [batch.time for batch in window.batches]
            first, last = min(times), max(times)
            statements.append(WindowStatement(window.key, first, last, len(times), window.rows, self.known[due]))
        return sorted(statements, key=lambda window: (window.start, window.key))


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
