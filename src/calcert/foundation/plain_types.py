"""Frozen results to plain types, ready for JSON, and back; what does not fit is refused in words.

A dataclass becomes its fields by name. Two notes in the class say where JSON differs: ``derived`` names properties that
are written for readers and not read back, ``flat`` a mapping whose entries stand beside the other fields.
A number that is not there (NaN) is null.
"""

from __future__ import annotations

import math
import sys
import types
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

T = TypeVar("T")

UNSAVED = {"saved": False}
"""Metadata of a field that JSON does not hold."""


def plain(value: Any) -> Any:
    """The value in types that JSON has."""
    if isinstance(value, float):
        return None if math.isnan(value) else str(value) if math.isinf(value) else float(value)
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, Mapping):
        return {key: plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if hasattr(value, "to_dict"):
        return value.to_dict()
    return plain_fields(value) if is_dataclass(value) else value


def plain_fields(found: Any) -> dict[str, Any]:
    """The fields of a dataclass, and what is derived from them."""
    values: dict[str, Any] = {}
    for field in fields(found):
        if field.metadata.get("saved", True):
            value = plain(getattr(found, field.name))
            values |= value if field.name == getattr(found, "flat", None) else {field.name: value}
    return values | {name: plain(getattr(found, name)) for name in getattr(found, "derived", ())}


def restored_fields(kind: type[T], values: Any, where: str) -> T:
    """The inverse of :func:`plain_fields`; `where` names what is read."""
    if not isinstance(values, Mapping):
        raise ValueError(f"{where} must be an object with named fields; got {_shown(values)}.")
    left = {name: value for name, value in values.items() if name not in getattr(kind, "derived", ())}
    known, hints, flat = {}, get_type_hints(kind), getattr(kind, "flat", None)
    for field in fields(kind):  # type: ignore[arg-type]
        if field.name in left:
            known[field.name] = restored(hints[field.name], left.pop(field.name), f"{where}, {field.name}")
        elif field.name != flat and field.default is MISSING and field.default_factory is MISSING:
            raise ValueError(f"{where} must have the field {field.name!r}; it has {', '.join(values) or 'none'}.")
    if flat is not None:
        known[flat] = restored(hints[flat], left, where)
    elif left:
        raise ValueError(f"{where} must have no other fields than it is written with; got {', '.join(left)} as well.")
    try:
        return kind(**known)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from error


def restored(kind: Any, value: Any, where: str) -> Any:
    """A value of the type `kind` from plain types."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        if value is None and type(None) in arguments:
            return None
        present = [entry for entry in arguments if entry is not type(None)]
        texts = [entry for entry in present if entry is str]
        return restored(str if isinstance(value, str) and texts else present[0], value, where)
    if origin is Literal:
        if value not in arguments:
            raise ValueError(f"{where} must be one of {', '.join(map(repr, arguments))}; got {_shown(value)}.")
        return value
    if origin is np.ndarray:
        return np.array(restored(tuple[float, ...], value, where))
    if origin is tuple:
        return tuple(
            restored(arguments[0], entry, f"{where}, {place}") for place, entry in enumerate(_of(list, value, where))
        )
    if origin is not None:  # A mapping from names.
        return {
            name: restored(arguments[1], entry, f"{where}, {name}") for name, entry in _of(dict, value, where).items()
        }
    reader = getattr(kind, "from_dict", None)
    if reader is not None:
        return reader(value)
    if is_dataclass(kind):
        return restored_fields(kind, value, where)  # type: ignore[arg-type]
    if kind is float:
        if value is None or value in ("inf", "-inf"):
            return math.nan if value is None else float(value)
        number = _of((int, float), value, where)
        if isinstance(number, int) and abs(number) > sys.float_info.max:
            raise ValueError(f"{where} must be a number that a float can hold; got {_shown(value)}.")
        return number
    return _of(kind, value, where)


def _of(kind: Any, value: Any, where: str) -> Any:
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        wanted = {list: "a list", dict: "an object", str: "text", bool: "true or false"}.get(kind, "a number")
        raise ValueError(f"{where} must be {wanted}; got {_shown(value)}.")
    return value


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
