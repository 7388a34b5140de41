"""When rows that pile up are looked at, and each look's share of delta: all hold together, however many there are.

Rows pile up, and a bound for a fixed number of rows may not simply be computed again and again: each look is another
chance to fail. Look l is taken at the first batch that brings the rows to 5/4 of those at look l - 1, and may fail with
probability delta / l(l + 1); these add up to delta. The schedule depends on the sizes of the batches alone, so it does
not matter who looks when, and a look that nobody asks for is just not computed.
"""

from __future__ import annotations

from collections.abc import Sequence

GROWTH = 5 / 4
"""Rows at a look over rows at the look before: a bound lags by at most a quarter of the rows."""


def share(number: int) -> float:
    """What statement 1, 2, ... of an endless list gets of a delta: 1 / l(l + 1)."""
    return 1 / (number * (number + 1))


def schedule(sizes: Sequence[int], rows: int = 0, last: int = 0) -> list[int]:
    """The batches (from 0) at which looks are taken, given the rows of all batches.

    `rows` came before these batches, and `last` of them before the last look.

    Examples
    --------
    >>> schedule([100, 100, 100, 100, 100, 100, 100])
    [0, 1, 2, 3, 4, 6]
    """
    looks = []
    for batch, size in enumerate(sizes):
        rows += size
        if rows >= GROWTH * last and rows > last:
            looks.append(batch)
            last = rows
    return looks
