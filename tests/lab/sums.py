"""What sums of score less chance come to in a law: over ranges, under signs that seldom change, and over all scores.

Plain loops over atoms, sharing nothing with the program.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import lru_cache

from tests.lab.distributions import Law


def steps(law: Law) -> list[float]:
    """Weight times score less chance, score by score."""
    return [w * (x - c) for x, w, c in zip(law.score, law.weight, law.chance, strict=True)]


def largest_over(values: Sequence[float]) -> tuple[float, float]:
    """The largest sum over consecutive values, none included, and the largest of their negatives."""
    rise = fall = high = low = 0.0
    for value in values:
        rise, fall = max(rise + value, 0.0), max(fall - value, 0.0)
        high, low = max(high, rise), max(low, fall)
    return high, low


@lru_cache(maxsize=64)
def range_truth(law: Law, side: str = "either") -> float:
    """The largest miscount of a law in a range of scores."""
    high, low = largest_over(steps(law))
    return {"too high": high, "too low": low, "either": max(high, low)}[side]


def most_under_signs(values: Sequence[float], changes: int) -> float:
    """The largest sum of sign times value over signs that change at most so often."""
    best = {(i, sign): 0.0 for i in range(changes + 1) for sign in (1, -1)}
    for value in values:
        best = {
            (i, sign): sign * value + max(best[i, sign], best[i - 1, -sign] if i else best[i, sign]) for i, sign in best
        }
    return max(best.values())


@lru_cache(maxsize=64)
def visible_truth(law: Law, changes: int) -> float:
    """The error of a law that so many crossings can show."""
    return most_under_signs(steps(law), changes)


def crossings_of(law: Law) -> int:
    """How often score less chance changes its sign."""
    signs = [step > 0 for step in steps(law) if step]
    return sum(a != b for a, b in itertools.pairwise(signs))


def gap_truth(law: Law) -> float:
    """How far the mean score is from the base rate."""
    return abs(sum(steps(law)))
