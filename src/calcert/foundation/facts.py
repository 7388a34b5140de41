"""Facts: what a page is filed with: what people say of the model, where its rows came from, when, by which calcert."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import calcert


@dataclass(frozen=True)
class ReadFile:
    """A file whose rows were read: its name, the SHA-256 of its bytes, and how many rows it gave; None if not known."""

    name: str
    sha256: str
    rows: int | None = None


@dataclass(frozen=True)
class Facts:
    """What stands beside a result and is no part of it."""

    said: Mapping[str, str] = field(default_factory=dict)  # Title, model, version, owner, note, whatever, by name.
    columns: Mapping[str, str] = field(default_factory=dict)  # Which column was what.
    files: tuple[ReadFile, ...] = ()
    reading: tuple[str, ...] = ()  # What was made of the values in them: sentences.
    left_out: str = ""  # How many rows were left out and why.
    time: str = ""  # With its zone, in ISO 8601.
    calcert: str = ""  # The version that computed it.

    @classmethod
    def of(cls, said: Mapping[str, Any], **found: Any) -> Facts:
        """Facts of now."""
        if not isinstance(said, Mapping):
            raise TypeError(f"facts must be a mapping, such as {{'model': 'PD 7'}}; got {type(said).__name__}.")
        for name, value in said.items():
            if not isinstance(name, str) or not isinstance(value, str):
                raise TypeError(f"facts must be text by name, such as {{'model': 'PD 7'}}; got {name!r}: {value!r}.")
        now = datetime.datetime.now(datetime.UTC).astimezone().isoformat(timespec="seconds")
        return cls(dict(said), time=now, calcert=calcert.__version__, **found)
