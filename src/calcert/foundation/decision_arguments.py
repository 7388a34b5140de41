"""A threshold to act at, and what errors cost: checked where they enter."""

from __future__ import annotations

import math
from typing import Any

from calcert.foundation.validation import real


def check_threshold(threshold: float) -> float:
    """A score from which on somebody acts: between 0 and 1, where acting and not acting both make sense."""
    value = real("threshold", threshold, "a number strictly between 0 and 1, such as 0.3")
    if not 0 < value < 1:
        hint = f" For {value:g}% pass {value / 100:g}." if 1 <= value < 100 else ""
        raise ValueError(f"threshold must lie strictly between 0 and 1; got {value:g}.{hint}")
    return value


def check_costs(costs: Any) -> tuple[float, float, str]:
    """What a false positive and a false negative cost, and the currency, "" where none is named."""
    wanted = 'costs must be those of a false positive and a false negative, such as (30, 70) or (30, 70, "EUR")'
    if isinstance(costs, str) or not hasattr(costs, "__len__") or len(costs) not in (2, 3):
        raise TypeError(f"{wanted}; got {costs!r}.")
    false_positive, false_negative, *currency = costs
    values = [real("costs", cost, "two positive numbers") for cost in (false_positive, false_negative)]
    if not all(0 < value < math.inf for value in values) or not all(isinstance(word, str) for word in currency):
        raise ValueError(f"{wanted}, both positive; got {costs!r}.")
    return values[0], values[1], currency[0] if currency else ""
