"""Looks: when all rows are certified together, what was certified, and what is still to be certified.

When a look is due depends on the sizes of batches alone, so that everything here follows from the lines, whoever looked
when. A life grows with its batches: one more batch costs the same after five thousand as after fifty.

Upper bounds at looks and certificates of windows are computed once each, when nobody has before. Certificates take long
next to adding a batch, so they are computed when somebody asks, outside of any transaction, and kept in the state.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate

from calcert.certificates.certificate import Certificate
from calcert.monitoring.states.checksummed_batches import Batch
from calcert.monitoring.status import BatchPoint, Look
from calcert.monitoring.watched_statements import WATCHED, certify_pool
from calcert.monitoring.windows import Window, WindowStatement, certify_window, schedule, share
from calcert.reports.settings import Settings
from calcert.summary.summary import Summary

EVERYTHING = "all rows"
"""The stretch of rows that the upper bound is about."""


@dataclass(frozen=True)
class Due:
    """A look that is due: what it is about, and what tells it from one about other rows.

    Attributes
    ----------
    stretch, number
        A stretch of rows, and the number of the look at it.
    statements
        The names of its certificates.
    covered
        The digest of the last batch that it covers.
    rows, delta
        The rows that it must speak of, and the probability of failure that its bounds must have.
    """

    stretch: str
    number: int
    statements: tuple[str, ...]
    covered: bytes
    rows: int
    delta: float


@dataclass(frozen=True)
class Life:
    """The batches of a state, and what follows from them.

    Attributes
    ----------
    settings, statement, batches
        Its settings, what it watches, and all batches.
    history
        The batches as a status shows them.
    rows, lower
        All rows, and the largest lower bound after any batch.
    looks
        The looks at all rows, each with the last batch that it covers.
    windows
        The windows in the order of their first appearance, by key, each with its last look.
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
        found: list[tuple[Batch, Due]] = []
        for place in schedule([batch.rows for batch in batches], rows=self.rows, last=last):
            number = len(self.looks) + len(found) + 1
            delta = self.settings.delta * share(number)
            due = Due(EVERYTHING, number, (self.statement,), batches[place].digest, through[place], delta)
            found.append((batches[place], due))
        return found

    def _windows_grown_by(self, batches: Sequence[Batch]) -> dict[str, tuple[Window, Due]]:
        """All windows, those of these batches with the look that is their last one now."""
        found, more, statements = dict(self.windows), dict[str, list[Batch]](), WATCHED[self.statement].windows
        for batch in batches:
            if batch.window is not None:
                more.setdefault(batch.window, []).append(batch)
        for key, new in more.items():
            number, old = (found[key][0].number, found[key][0].batches) if key in found else (len(found) + 1, ())
            window = Window(key, number, (*old, *new))
            rows, delta = sum(batch.rows for batch in window.seen), window.failure(self.settings.delta)
            found[key] = window, Due(f"window {key}", window.look, statements, window.seen[-1].digest, rows, delta)
        return found


Known = Mapping[Due, Mapping[str, Certificate]]
"""The certificates of looks, by statement."""


@dataclass
class Certifier:
    """All certificates of a state at one moment: those kept, and those still to be computed.

    Attributes
    ----------
    life, known, done
        The life of the state; the certificates of looks that are known; and the windows that are done already.
    rows, kept_pool
        How to read the rows of a batch, and what the state keeps of the first batches together: how many they are, and
        their rows.
    fresh
        What was computed.
    kept, pooled, pool
        How many batches are pooled in the state, and how many, with their rows, for the last look that was computed.
    """

    life: Life
    known: Known
    done: Mapping[Window, WindowStatement]
    rows: Callable[[Batch], Summary]
    kept_pool: Callable[[], tuple[int, Summary]]
    fresh: dict[Due, Mapping[str, Certificate]] = field(default_factory=dict)
    kept: int = 0
    pooled: int = 0
    pool: Summary = field(default_factory=Summary.empty)

    def certified_looks(self) -> tuple[Look, ...]:
        """The upper bound at every look at all rows."""
        watched = self.life.statement
        missing = [(batch, due) for batch, due in self.life.looks if due not in self.known]
        if missing:
            self.kept, pool = self.kept_pool()
            # A pool that reaches beyond the first missing look would count its batches twice.
            if self.kept <= missing[0][0].number:
                self.pooled, self.pool = self.kept, pool
        for batch, due in missing:
            self.pool = sum(map(self.rows, self.life.batches[self.pooled : batch.number]), self.pool)
            self.pooled = batch.number
            self.fresh[due] = {watched: certify_pool(self.pool, watched, self.life.settings, due.delta)}
        return tuple(
            Look(batch.number, batch.time, self._certificates_at(due)[watched]) for batch, due in self.life.looks
        )

    def certified_windows(self) -> dict[Window, WindowStatement]:
        """The certificates of the last look at each window."""
        return {one: self.done.get(one) or self._certified_window(one, due) for one, due in self.life.windows.values()}

    def _certified_window(self, window: Window, due: Due) -> WindowStatement:
        """What is certified of a window at the look that is due, computed if it is not known."""
        if due not in self.known:
            rows = sum(map(self.rows, window.seen), Summary.empty())
            self.fresh[due] = certify_window(rows, self.life.settings.at(due.delta), due.statements)
        times = [batch.time for batch in window.batches]
        return WindowStatement(window.key, min(times), max(times), len(times), window.rows, self._certificates_at(due))

    def at_looks(self) -> Known:
        """The certificates of all looks at all rows."""
        return {due: self._certificates_at(due) for _, due in self.life.looks}

    def _certificates_at(self, due: Due) -> Mapping[str, Certificate]:
        """The certificates of a look, known before or computed now."""
        return self.known[due] if due in self.known else self.fresh[due]
