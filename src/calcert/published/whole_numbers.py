"""Whole-number arguments: folds, bins, buckets and shifts."""

from __future__ import annotations

import numbers
from typing import Any


def check_count(name: str, count: Any, least: int, most: int, example: int) -> int:
    """A whole number within [least, most]."""
    if isinstance(count, bool) or not isinstance(count, numbers.Integral):
        raise TypeError(f"{name} must be a whole number, such as {example}; got {count!r}.")
    value = int(count)
    if not least <= value <= most:
        raise ValueError(f"{name} must lie between {least} and {most}, such as {example}; got {value}.")
    return value
