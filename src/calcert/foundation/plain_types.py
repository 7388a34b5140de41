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

LARGEST = 2**63 - 1

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
        return _array(arguments[1] == np.dtype[np.int64], value, where)
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


def _array(whole: bool, value: Any, where: str) -> np.ndarray[Any, Any]:
    """The numbers of a result: of rows, or else shares, null where one is not known."""
    for place, entry in enumerate(_of(list, value, where)):
        number = _of(int if whole else (int, float), entry, f"{where}, {place}") if whole or entry is not None else 0
        if number < 0 or (number > 1 and not whole):
            raise ValueError(f"{where}, {place} must not be negative, nor a share above 1; got {_shown(entry)}.")
    return np.array(value, np.int64 if whole else np.float64)


def difference(given: Any, said: Any, where: str) -> str | None:
    """The first place at which a result that was read says something else than was given, in words; None if none is."""
    if isinstance(given, Mapping) and isinstance(said, Mapping):
        if given.keys() != said.keys():
            return f"{where} must have the fields {', '.join(said)}; got {', '.join(map(str, given)) or 'none'}."
        parts = [(given[name], said[name], f"{where}, {name}") for name in said]
    elif isinstance(given, list) and isinstance(said, list) and len(given) == len(said):
        parts = [(*pair, f"{where}, {place}") for place, pair in enumerate(zip(given, said, strict=True))]
    else:
        return None if given == said else f"{where} must be {_shown(said)}, as the rest says; got {_shown(given)}."
    return next((found for part in parts if (found := difference(*part)) is not None), None)


def _of(kind: Any, value: Any, where: str) -> Any:
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        wanted = {list: "a list", dict: "an object", str: "text", bool: "true or false"}.get(kind, "a number")
        raise ValueError(f"{where} must be {wanted}; got {_shown(value)}.")
    if isinstance(value, int) and kind is int and abs(value) > LARGEST:
        raise ValueError(f"{where} must be an integer of 64 bits; got {_shown(value)}.")
    return value


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
