"""How many records a text has, counted from its bytes, quotes understood: a reader that lost one is found out."""

from __future__ import annotations

import numpy as np

from calcert.kernels.counting import BETWEEN, NO_QUOTES, QUOTED, UNSOUND, count_records


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
