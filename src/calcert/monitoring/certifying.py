"""Computing what nobody has asked for before: upper bounds at looks and certificates of windows, each once.

Certificates take long next to adding a batch, so they are computed when somebody asks, outside of any transaction, and
kept in the state. That changes no number: when a look is due depends on the sizes of batches alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from calcert.certificates.certificate import Certificate
from calcert.certificates.drifting import pooled_upper, schedule, share
from calcert.monitoring.layout import Batch
from calcert.monitoring.state import LookKey
from calcert.monitoring.status import Look
from calcert.monitoring.windows import Window, WindowStatement, certify_window
from calcert.reports.settings import Settings
from calcert.reports.statements import OF_WINDOWS
from calcert.summary.counts import Summary

EVERYTHING = "all rows"
"""The stretch of rows that the upper bound is about."""

Rows = Callable[[Batch], Summary]


@dataclass
class Certifier:
    """All certificates of a state at one moment: those kept, and those still to be computed.

    Attributes
    ----------
    batches, settings, rows
        The batches, the settings, and how to read the rows of a batch.
    pooled, pool
        How many batches were pooled at the last look that was kept, and their rows.
    known
        Certificates by stretch, look and statement; grows as more are computed.
    """

    batches: Sequence[Batch]
    settings: Settings
    rows: Rows
    pooled: int
    pool: Summary
    known: dict[LookKey, Certificate]
    fresh: dict[LookKey, Certificate] = field(default_factory=dict)

    def looks(self) -> list[Look]:
        """The upper bound at every look at all rows."""
        found = []
        for number, place in enumerate(schedule([batch.rows for batch in self.batches]), start=1):
            key = (EVERYTHING, number, "perturbed")
            if key not in self.known:
                self.pool = sum(map(self.rows, self.batches[self.pooled : place + 1]), self.pool)
                self.pooled = place + 1
                delta = self.settings.delta * share(number)
                self._keep({key: pooled_upper(self.pool, self.settings.noise.size, delta)})
            batch = self.batches[place]
            found.append(Look(batch.number, batch.time, self.known[key]))
        return found

    def window(self, window: Window) -> WindowStatement:
        """The certificates of the last look at a window."""
        stretch = f"window {window.key}"
        keys = {name: (stretch, window.look, name) for name in OF_WINDOWS}
        if not all(key in self.known for key in keys.values()):
            made = certify_window(
                sum(map(self.rows, window.seen), Summary.empty()),
                self.settings.at(window.failure(self.settings.delta)),
            )
            self._keep({key: made[name] for name, key in keys.items()})
        times = [batch.time for batch in window.batches]
        certificates = {name: self.known[key] for name, key in keys.items()}
        return WindowStatement(window.key, min(times), max(times), len(times), window.rows, certificates)

    def _keep(self, made: Mapping[LookKey, Certificate]) -> None:
        self.known |= made
        self.fresh |= made
