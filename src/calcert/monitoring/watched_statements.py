"""What a state may watch: per statement, how betting strategies learn, and what is certified of rows and windows.

A state watches one statement for life. Its lower bounds and its alarm need witnesses that were fixed before each batch
and whose mean gain is at most the error (W1); its upper bounds need the statement for drifting distributions (W2); its
windows are certified as reports are (W3).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from calcert.certificates.certificate import Certificate
from calcert.certificates.drifting_pool import pooled_cutoff, pooled_distance, pooled_upper
from calcert.monitoring.witness_memory import L1Memory, Memory, PairMemory, RangeMemory
from calcert.reports.settings import Settings
from calcert.summary.summary import Summary


@dataclass(frozen=True)
class Watched:
    """One statement that a state may watch.

    Attributes
    ----------
    below
        The statement that lower bounds and the alarm are about: of unmodified scores.
    memory
        How betting strategies learn.
    pooled
        The certificate of all rows together at a delta.
    windows
        The statements that are certified of windows.
    """

    below: str
    memory: type[Memory]
    pooled: Callable[[Summary, Settings, float], Certificate]
    windows: tuple[str, ...]


WATCHED: Mapping[str, Watched] = {
    "distance": Watched("distance", PairMemory, lambda rows, s, delta: pooled_distance(rows, delta), ("distance",)),
    "cutoff": Watched("cutoff", RangeMemory, lambda rows, s, delta: pooled_cutoff(rows, delta), ("cutoff",)),
    "perturbed": Watched(
        "l1", L1Memory, lambda rows, s, delta: pooled_upper(rows, s.noise, delta), ("l1", "perturbed")
    ),
}
"""By the name of the statement that upper bounds are about."""

USUAL = "distance"
"""What a new state watches: it assumes nothing and asks for nothing."""


def certify_pool(pool: Summary, statement: str, settings: Settings, delta: float) -> Certificate:
    """The upper bound of all rows together, for what is watched."""
    return WATCHED[statement].pooled(pool, settings, delta)
