"""Folders that name a column and its value, ``y=1/part.parquet``, as Hive, Spark and others write them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from urllib.parse import unquote

from calcert.foundation.visible import visible
from calcert.sources.columns import Column
from calcert.sources.values_in_text import WORDS, kind_of

NO_VALUE = "__HIVE_DEFAULT_PARTITION__"


def keys_of(path: str) -> dict[str, str]:
    """The columns in the names of the folders of a path, with their values; nothing where a value is missing."""
    found: dict[str, str] = {}
    for part in os.path.dirname(path).split(os.sep):
        name, sign, value = part.partition("=")
        if not (name and sign):
            continue
        if found.setdefault(unquote(name), value) != value:
            raise ValueError(f"folders must name a column once; got {unquote(name)!r} twice in {visible(path)}.")
    return {name: "" if value == NO_VALUE else unquote(value) for name, value in found.items()}


def columns_of_folders(paths: Sequence[str]) -> list[Column]:
    """The columns that the folders of the first of some files name, and what they hold as far as all folders tell."""
    every = [keys_of(path) for path in paths]
    kinds = {name: kind_of([keys.get(name) for keys in every]) for name in every[0]}
    return [Column(name, kind, f"{WORDS[kind]} in the names of folders") for name, kind in kinds.items()]


def constant(path: str, name: str, own: Sequence[str]) -> str | None:
    """The value that the folders of a file give to a column; None where they are silent.

    A column that the file has itself is refused: one of the two would be believed, and nobody said which. Likewise one
    that neither has.
    """
    found = keys_of(path).get(name)
    if found is None and name not in own:
        known = ", ".join(map(repr, own[:20]))
        raise ValueError(f"all files must have the column {name!r}; {visible(path)} has {known or 'none'}.")
    if found is not None and any(column.lower() == name.lower() for column in own):
        raise ValueError(
            f"{name!r} must be one column; got one in {visible(path)} and another in the name of its folder, "
            f"{visible(f'{name}={found}')!r}. Rename the folder, or the column."
        )
    return found
