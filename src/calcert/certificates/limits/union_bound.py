"""The union bound: several bounds are computed and the best is kept, or several statements must hold together.

Each of m gets delta/m, so that all hold together with probability at least 1 - delta (union bound); whichever is then
chosen, and by whatever means, holds too. What counts is how many might have been looked at, not how many were: where
the rows decide how many there are, m is the most there can be.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence


def share(delta: float, candidates: int) -> float:
    """What each of so many candidates may fail with."""
    return delta / candidates


def smallest(candidates: Sequence[Mapping[str, float]]) -> int:
    """Which candidate, given by the terms of its upper bound at its Bonferroni level, promises most; the first of ties.

    Examples
    --------
    >>> smallest([{"plug-in": 0.1, "sampling": 0.02}, {"plug-in": 0.1, "sampling": 0.01}])
    1
    """
    return min(range(len(candidates)), key=lambda place: math.fsum(candidates[place].values()))
