"""Which labels are the positive one, where these are any two values and a caller names it."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calcert.foundation.refused_values import missing_value
from calcert.sources.arrays import as_numpy


def complete_labels(name: str, labels: Any) -> NDArray[Any]:
    """Labels of any type in one dimension; a missing one is an error."""
    found = as_numpy(name, labels).ravel()
    for row, label in enumerate(found.tolist()):
        # pandas has a value that is neither equal to itself nor different.
        if label is None or str(label) in ("<NA>", "NaT") or (isinstance(label, numbers.Number) and label != label):
            raise missing_value(name, f"at row {row}")
    return found


def positives(name: str, labels: Any, pos_label: Any) -> NDArray[np.bool_]:
    """Which labels are `pos_label`; beside it there may be one other, which may stand alone."""
    values = complete_labels(name, labels).tolist()
    others = list(dict.fromkeys(label for label in values if label != pos_label))
    alone = len(others) == 1 and isinstance(others[0], str) == isinstance(pos_label, str)
    if pos_label not in values and not alone:
        listed = ", ".join(sorted(map(repr, others))[:3]) + (", ..." if len(others) > 3 else "")
        raise ValueError(f"pos_label must be one of the labels of {name}, {listed}; got {pos_label!r}.")
    if len(others) > 1:
        raise ValueError(
            f"{name} must have two labels, pos_label={pos_label!r} and one other; got {others[0]!r} and {others[1]!r} "
            f"beside it. Pass one class against the rest: {name} == the class, and its column of probabilities."
        )
    return np.array([label == pos_label for label in values])
