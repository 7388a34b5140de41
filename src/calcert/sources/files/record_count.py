"""How many records a text has, counted from its bytes, quotes understood: a reader that lost one is found out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from calcert.foundation.compiled import compiled

NO_QUOTES = -1
"""The delimiter of text in which quotes are characters like others."""

BETWEEN, BEGIN, PLAIN, QUOTED, CLOSED, UNSOUND = range(6)
"""Where the last byte was: between records, before a value, in one, in one with quotes, after its quote; or astray."""


@compiled(nogil=True)
def count_records(content: NDArray[np.uint8], delimiter: int, state: int) -> tuple[int, int]:
    """The number of records that begin in these bytes, and the state after them."""
    records = 0
    for byte in content:
        if state == QUOTED:
            if byte == 34:
                state = CLOSED
        elif state == UNSOUND:
            break
        elif byte == 10 or byte == 13:
            state = BETWEEN
        elif delimiter == NO_QUOTES:
            records += state == BETWEEN
            state = PLAIN
        elif byte == 34:
            # Where a value begins, quotes open; after a quote that may have closed them, the two are one character.
            records += state == BETWEEN
            state = UNSOUND if state == PLAIN else QUOTED
        elif byte == delimiter:
            records += state == BETWEEN
            state = BEGIN
        else:
            records += state == BETWEEN
            state = UNSOUND if state == CLOSED else PLAIN
    return records, state


class RecordCount:
    """Counts runs of bytes between ends of lines; in CSV, ends of lines inside quotes do not count.

    Quotes are sound where each opens at the beginning of a value and closes at its end: then nothing but RFC 4180 can
    be meant.
    """

    def __init__(self, delimiter: str | None = None) -> None:
        self.records = 0
        self._delimiter = NO_QUOTES if delimiter is None else ord(delimiter)
        self._state = BETWEEN

    @property
    def complete(self) -> bool:
        """True where every quote so far is sound and closed."""
        return self._state not in (QUOTED, UNSOUND)

    def add(self, block: bytes) -> None:
        """Count what begins in these bytes."""
        begun, self._state = count_records(np.frombuffer(block, np.uint8), self._delimiter, self._state)
        self.records += int(begun)
