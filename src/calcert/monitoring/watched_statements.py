"""What a state may watch: for each statement, how gamblers learn, and what is certified of all rows and of windows.

A state watches one statement for life. Its lower bounds and its alarm need witnesses that were fixed before each batch
and whose mean gain is at most the quantity (W1); its upper bounds need the statement for drifting laws (W2); its
windows are certified as reports are (W3).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol, Self

from calcert.certificates.certificate import Certificate
from calcert.certificates.drifting_pool import pooled_distance, pooled_ranges, pooled_upper
from calcert.foundation.array_types import Floats
from calcert.monitoring.witness_memory import Memory, PairMemory, RangeMemory
from calcert.reports.settings import Settings
from calcert.summary.summary import Summary


class Learned(Protocol):
    """What earlier batches taught: a witness for each gambler."""

    @classmethod
    def blank(cls) -> Self:
        """Nothing seen yet."""

    @classmethod
    def unpacked(cls, content: bytes) -> Self:
        """The inverse of :meth:`packed`."""

    def packed(self) -> bytes:
        """As a state keeps it."""

    def gains(self, batch: Summary) -> Floats:
        """Per gambler, the histogram of what the rows of the next batch gain."""

    def after(self, batch: Summary) -> Self:
        """What is known once the batch has been judged."""


@dataclass(frozen=True)
class Watched:
    """One statement that a state may watch.

    Attributes
    ----------
    below
        The statement that lower bounds and the alarm are about: of the classifier as it is.
    memory
        How gamblers learn.
    pooled
        The certificate of all rows together at a delta.
    windows
        The statements that are certified of windows.
    """

    below: str
    memory: type[Learned]
    pooled: Callable[[Summary, Settings, float], Certificate]
    windows: tuple[str, ...]


WATCHED: Mapping[str, Watched] = {
    "distance": Watched("distance", PairMemory, lambda rows, s, delta: pooled_distance(rows, delta), ("distance",)),
    "ranges": Watched("ranges", RangeMemory, lambda rows, s, delta: pooled_ranges(rows, delta), ("ranges",)),
    "perturbed": Watched(
        "unmodified", Memory, lambda rows, s, delta: pooled_upper(rows, s.noise, delta), ("unmodified", "perturbed")
    ),
}
"""By the name of the statement that upper bounds are about."""


def certify_pool(pool: Summary, statement: str, settings: Settings, delta: float) -> Certificate:
    """The upper bound of all rows together, for what is watched."""
    return WATCHED[statement].pooled(pool, settings, delta)


USUAL = "distance"
"""What a new state watches: it assumes nothing and asks for nothing."""
