"""A kernel run twice on the same input: compiled, and as the Python it was written in."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.as_python import as_python


def both(kernel: Any, *arguments: Any) -> tuple[list[Any], list[Any]]:
    """What a kernel returns and what it made of its arguments, compiled and interpreted."""
    found: list[list[Any]] = []
    for run in (kernel, as_python(kernel)):
        copies = [value.copy() if isinstance(value, np.ndarray) else value for value in arguments]
        with np.errstate(over="ignore"):
            found.append([run(*copies), *copies])
    return found[0], found[1]


def same(one: list[Any], two: list[Any]) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(one, two, strict=True) if a is not None)
