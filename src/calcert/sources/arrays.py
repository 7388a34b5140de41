"""Two columns in memory: lists, NumPy, pandas, polars, pyarrow and torch, read in one pass."""

from __future__ import annotations

import numbers
from decimal import Decimal
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calcert.foundation.long_work import RowProgress
from calcert.foundation.refusal import NoRows, WrongType
from calcert.foundation.refused_values import missing_value, refuse_bad
from calcert.sources.collector import Collector
from calcert.sources.parsed_values import text_label_ways
from calcert.sources.signs_of_dependence import RowOrder
from calcert.summary.summary import Summary

WANTED = {"scores": "numbers in [0, 1]", "labels": "0/1"}
STRIDE = 1 << 24
"""Rows between two looks at the clock, about a tenth of a second."""

SUM_TOLERANCE = 1e-3
"""How far from 1 the probabilities of a row may add up: half-precision softmax stays within."""


def summarize_arrays(scores: Any, labels: Any, order: RowOrder | None = None) -> Summary:
    """The Summary of two one-dimensional columns of equal length; `order` looks at the rows as they come."""
    x, y = _equally_long(scores, labels)
    collector = Collector()
    with RowProgress("summarising", total=x.size) as progress:
        for start in range(0, x.size, STRIDE):
            stop = start + STRIDE
            collector.add(x[start:stop], y[start:stop])
            progress.advance_to(min(stop, x.size))
    if order is not None:
        order.add(x, y)
    return collector.summary()


def checked_pair(scores: Any, labels: Any) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """Two checked columns as float64 scores and int8 labels, for methods that need the rows themselves."""
    x, y = _equally_long(scores, labels)
    refuse_bad(x, y)
    return np.ascontiguousarray(x, np.float64), np.ascontiguousarray(y, np.int8)


def second_column(scores: Any) -> Any:
    """Of the two columns of a ``predict_proba``, which must add up to 1, the second; anything else unchanged."""
    shape: tuple[int, ...] = getattr(scores, "shape", ())
    if len(shape) != 2 or shape[1] != 2:
        return scores
    both = as_numpy("scores", scores)
    wrong = ~(np.abs(both.sum(axis=1, dtype=np.float64) - 1) <= SUM_TOLERANCE)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(
            "scores of two columns must be the probabilities of label 0 and label 1, which add up to 1; got "
            f"{both[row, 0]!s} and {both[row, 1]!s} at row {row}. Pass the column of label 1 alone."
        )
    return both[:, 1]


def checked_array(name: str, values: Any) -> NDArray[Any]:
    """A one-dimensional numeric or boolean NumPy view of `values`, without missing values.

    Raises TypeError or ValueError that names the argument, the requirement, what it was and where.
    """
    wanted = f"a one-dimensional array of {WANTED.get(name, 'numbers')}"
    if isinstance(values, (str, bytes)):
        raise TypeError(f"{name} must be {wanted}; got the string {values!r}.")
    if values is None or np.isscalar(values):
        raise TypeError(f"{name} must be {wanted}; got {values!r}.")
    array = as_numpy(name, values)
    if array.ndim != 1:
        hint = ""
        if array.ndim == 0:
            raise TypeError(f"{name} must be {wanted}; got {type(values).__name__}. Pass a list or an array.")
        if array.ndim == 2 and array.shape[1] == 2 and name == "scores":
            hint = " For predict_proba output in a list pass numpy.asarray(scores)."
        elif array.ndim == 2 and array.shape[1] > 2 and name == "scores":
            hint = (
                " For the most probable of several classes pass scores.max(axis=1) and scores.argmax(axis=1) == labels;"
                " for all of them pass calcert.certify an array, and no groups."
            )
        elif array.ndim == 2 and 1 in array.shape:
            hint = f" Pass {name}.ravel()."
        raise ValueError(f"{name} must be {wanted}; got shape {array.shape}.{hint}")
    if array.size == 0:
        raise NoRows.of(name)
    if array.dtype.kind == "O":
        array = _from_objects(name, wanted, array)
    if array.dtype.kind == "c":
        raise TypeError(f"{name} must be {wanted}; got complex numbers. Pass the real parts on purpose.")
    if array.dtype.kind not in "fiub":
        ways = text_label_ways(array[0]) if name == "labels" else ()
        got = f"dtype {array.dtype}, such as {array[0].item()!r}"
        raise WrongType(name, f"must be {wanted}", got, "at row 0", *ways)
    refuse_rounding(name, array)
    return array


def refuse_rounding(name: str, array: NDArray[Any]) -> None:
    """Numbers that no double is, as longer ones may be; whether they are numbers at all is asked elsewhere."""
    if array.dtype.kind != "f" or array.dtype.itemsize <= 8:
        return
    rounded = (array.astype(np.float64) != array) & (array == array)
    if rounded.any():
        place = np.unravel_index(int(np.argmax(rounded)), array.shape)
        raise ValueError(
            f"{name} must be numbers in double precision; got {array[place]!s} of dtype {array.dtype} at row "
            f"{place[0]}, which would be rounded. Round on purpose: {name}.astype(float)."
        )


def as_numpy(name: str, values: Any) -> NDArray[Any]:
    """A column of any library as a NumPy array of whatever it holds, nothing missing."""
    if isinstance(values, np.ma.MaskedArray):
        masked = np.ma.getmaskarray(values)
        if masked.any():
            raise missing_value(name, f"at row {int(np.argmax(masked.ravel()))}")
        values = values.data
    elif type(values).__module__.partition(".")[0] == "torch":
        values = _from_torch(name, values)
    elif not isinstance(values, (np.ndarray, list, tuple)):
        values = _from_frame_library(name, values)
    try:
        return np.asarray(values)
    except ValueError as error:
        wanted = f"a one-dimensional array of {WANTED.get(name, 'values')}"
        raise ValueError(f"{name} must be {wanted}; got nested values of unequal lengths.") from error


def array_of_any_shape(values: Any) -> NDArray[Any]:
    """A tensor, wherever it is, or an array of more than one column as NumPy; nothing is checked."""
    if type(values).__module__.partition(".")[0] == "torch":
        values = values.detach().cpu().numpy()
    return np.asarray(values)


def _from_torch(name: str, values: Any) -> Any:
    if getattr(values, "device", None) is not None and values.device.type != "cpu":
        raise ValueError(f"{name} must be on the CPU; got a tensor on {values.device}. Pass {name}.cpu().")
    values = values.detach()
    return values.float().numpy() if str(values.dtype) == "torch.bfloat16" else values.numpy()


def _from_frame_library(name: str, values: Any) -> Any:
    """A pandas, polars or pyarrow column as NumPy; anything else is left to NumPy."""
    if type(values).__module__.partition(".")[0] == "pyarrow" and not hasattr(values, "chunks"):
        import pyarrow

        values = pyarrow.chunked_array([values])
    # Half of the time that importing calcert would take: only those who bring such columns pay for it.
    import narwhals as nw

    series = nw.from_native(values, series_only=True, pass_through=True)
    if not isinstance(series, nw.Series):
        if hasattr(values, "columns"):
            raise TypeError(f"{name} must be one column; got a whole data frame. Name the column: frame['score'].")
        return values
    if series.null_count():
        raise missing_value(name, f"at row {int(series.is_null().arg_true()[0])}")
    if series.dtype == nw.Decimal:
        # By way of text, because Arrow's own cast of a decimal is off by one bit for one in ten two-digit numbers.
        series = series.cast(nw.String).cast(nw.Float64)
    return series.to_numpy()


def _from_objects(name: str, wanted: str, array: NDArray[Any]) -> NDArray[Any]:
    """Decimals as float64; all else is refused, with the first thing that is wrong."""
    for row, value in enumerate(array):
        if value is None or (isinstance(value, float) and np.isnan(value)) or str(value) in ("<NA>", "NaT"):
            raise missing_value(name, f"at row {row}")
        if not isinstance(value, (bool, int, float, Decimal, np.number, np.bool_)):
            ways = text_label_ways(value) if name == "labels" else ()
            got, convert = f"{value!r} of type {type(value).__name__}", f"Convert on purpose first, for example {name}"
            raise WrongType(name, f"must be {wanted}", got, f"at row {row}", *(ways or (f"{convert}.astype(float).",)))
    if all(isinstance(value, Decimal) for value in array):
        return array.astype(np.float64)
    raise TypeError(f"{name} must be {wanted}; got an object array. Pass {name}.astype(float).")


def _equally_long(scores: Any, labels: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    x, y = checked_array("scores", scores), checked_array("labels", labels)
    if x.size != y.size:
        raise ValueError(f"scores and labels must have the same length; got {x.size} scores and {y.size} labels.")
    check_indexes(scores=scores, labels=labels)
    return x, y


def check_indexes(**columns: Any) -> None:
    """Columns that say which row is which, as pandas does, must say the same: they are paired by position."""
    indexes = [(name, values.index) for name, values in columns.items() if hasattr(values, "index")]
    # Lists have an index, too, but it is a function.
    indexes = [(name, index) for name, index in indexes if hasattr(index, "equals")]
    for (one, first), (two, second) in pairwise(indexes):
        if len(first) != len(second) or first.equals(second):
            continue
        pairs = zip(first.tolist(), second.tolist(), strict=True)
        for row, (a, b) in enumerate(pairs):
            if a != b:
                raise ValueError(
                    f"{one} and {two} must have the same index; got {a!r} and {b!r} at row {row}. Align them first "
                    f"or, if rows belong together by position, pass {one}.to_numpy() and {two}.to_numpy()."
                )


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
