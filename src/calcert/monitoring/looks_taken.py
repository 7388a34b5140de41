"""Computing what nobody has asked for before: upper bounds at looks and certificates of windows, each once.

Certificates take long next to adding a batch, so they are computed when somebody asks, outside of any transaction, and
kept in the state. That changes no number: when a look is due depends on the sizes of batches alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from calcert.certificates.certificate import Certificate
from calcert.monitoring.looks_due import Due, Life
from calcert.monitoring.state_layout import Batch
from calcert.monitoring.status import Look
from calcert.monitoring.watching import certify_pool
from calcert.monitoring.windows import Window, WindowStatement, certify_window
from calcert.summary.counts import Summary

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

    def looks(self) -> tuple[Look, ...]:
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
        return tuple(Look(batch.number, batch.time, self._of(due)[watched]) for batch, due in self.life.looks)

    def windows(self) -> dict[Window, WindowStatement]:
        """The certificates of the last look at each window."""
        return {one: self.done.get(one) or self._window(one, due) for one, due in self.life.windows.values()}

    def _window(self, window: Window, due: Due) -> WindowStatement:
        if due not in self.known:
            rows = sum(map(self.rows, window.seen), Summary.empty())
            self.fresh[due] = certify_window(rows, self.life.settings.at(due.delta), due.statements)
        times = [batch.time for batch in window.batches]
        return WindowStatement(window.key, min(times), max(times), len(times), window.rows, self._of(due))

    def at_looks(self) -> Known:
        """The certificates of all looks at all rows."""
        return {due: self._of(due) for _, due in self.life.looks}

    def _of(self, due: Due) -> Mapping[str, Certificate]:
        return self.known[due] if due in self.known else self.fresh[due]
