"""How many rows of some files are bad, for whoever is told of the first of them."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from calcert.foundation.number_text import rows_text
from calcert.sources.files.file_table import FileTable
from calcert.sources.files.value_columns import coded
from calcert.sources.parsed_values import Reader, Unreadable

MOST_LOOKED_AT = 1_000_000
"""Rows that are read again."""


def bad_rows(table: FileTable, score: str, label: str, *, shares: bool) -> str:
    """How many scores and labels are not there, or none, in words; nothing where that cannot be told."""
    found: dict[str, Counter[str]] = {f"{what} {name}": Counter() for name in ("scores", "labels") for what in FAULTS}
    total = 0
    try:
        for batch in table.exact_batches([score, label]):
            size = min(len(batch.lines), MOST_LOOKED_AT - total)
            total += size
            readers = table.readers(batch.file, score, label)
            for name, values, read in zip(
                ("scores", "labels"), batch.values, (readers.score, readers.label), strict=True
            ):
                column = coded(values)
                times = np.bincount(column.codes[:size], minlength=len(column.values)).tolist()
                for value, rows in zip(column.values, times, strict=True):
                    what = _fault(value, read, shares or name == "scores")
                    if what and rows:
                        found[f"{what} {name}"][repr(value)] += rows
            if total == MOST_LOOKED_AT:
                break
    except ValueError:
        return ""
    beginning = "" if total < MOST_LOOKED_AT else "the first "
    told = []
    for what, seen in found.items():
        if seen and not (table.reading.drop_missing and what.startswith("missing")):
            such = " and ".join(value for value, _ in seen.most_common(2))
            told.append(f"{seen.total():,} {what}" + ("" if what.startswith("missing") else f" such as {such}"))
    if sum(seen.total() for seen in found.values()) == 1:
        return f"It is the only bad value in {beginning}{total:,} rows." if total > 1 else ""
    return f"In {beginning}{rows_text(total)}: {', '.join(told)}." if told else ""


FAULTS = ("missing", "unusable")


def _fault(value: Any, read: Reader, shares: bool) -> str:
    """What is wrong with a value, in a word; nothing where nothing is."""
    try:
        found = read(value)
    except Unreadable as error:
        return "missing" if error.missing else "unusable"
    good = 0 <= found <= 1 if shares else found in (0, 1)
    return "" if good else "missing" if found != found else "unusable"
