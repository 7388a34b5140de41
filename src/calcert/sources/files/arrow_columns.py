"""Columns of Arrow and masked ones of DuckDB as NumPy arrays, nothing missing in them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from calcert.foundation.validation import Place, missing_message


def numbers_of(array: Any) -> NDArray[Any]:
    """An Arrow array of numbers or truth values, none of them missing, as NumPy; numbers are not copied.

    Arrow's own way imports pandas, which takes a second, and forgets a Ctrl-C that comes meanwhile.
    """
    if str(array.type) == "bool":
        array = array.cast("uint8")
    kind = np.dtype({"double": "float64", "float": "float32"}.get(str(array.type), str(array.type)))
    return np.frombuffer(array.buffers()[1], kind, len(array), array.offset * kind.itemsize)


def arrow_values(name: str, column: Any, place: Place) -> NDArray[Any]:
    """An Arrow column of numbers as NumPy, without a copy."""
    if column.null_count:
        first = next(row for row, value in enumerate(column) if not value.is_valid)
        raise ValueError(missing_message(name, place(first)))
    return numbers_of(column)


def unmasked(name: str, column: NDArray[Any], place: Place) -> NDArray[Any]:
    """A column that DuckDB made for NumPy, of which no value may be missing."""
    if type(column) is np.ndarray:
        # Not even asking spares the import of numpy.ma.
        return column
    missing = np.ma.getmaskarray(column)
    if missing.any():
        raise ValueError(missing_message(name, place(int(np.argmax(missing)))))
    return np.ma.getdata(column)
