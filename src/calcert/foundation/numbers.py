"""Numbers as people read them."""

from __future__ import annotations

import math


def number(value: float) -> str:
    """Four decimals, or three significant digits below 0.01.

    Examples
    --------
    >>> number(0.0415), number(0.00123)
    ('0.0415', '0.00123')
    """
    if math.isnan(value):
        return "none"
    if math.isinf(value):
        return "infinite"
    return f"{value:.4f}" if abs(value) >= 0.01 or value == 0 else f"{value:.3g}"


def at_most(bound: float) -> str:
    """An upper bound; one that says nothing says so.

    Examples
    --------
    >>> at_most(0.0415), at_most(1.0)
    ('0.0415', '1 (says nothing)')
    """
    return "1 (says nothing)" if bound >= 1.0 else number(bound)


def at_least(bound: float) -> str:
    """A lower bound."""
    return number(bound)


def percent(share: float) -> str:
    """A probability as a percentage, with as many digits as it has."""
    return f"{100 * share:.6g}%"


def fraction(size: float) -> str:
    """A bandwidth as people write it: 1/64 where it is one over a whole number.

    Examples
    --------
    >>> fraction(1 / 64), fraction(0.3)
    ('1/64', '0.3')
    """
    whole = round(1 / size) if size < 1 else 0
    return f"1/{whole}" if whole and 1 / whole == size else f"{size:.4g}"


def rows_about(rows: int) -> str:
    """Two digits of a number of rows, upwards: more would pretend to know more.

    Examples
    --------
    >>> rows_about(41_234)
    '42,000'
    """
    unit = 10 ** max(len(str(rows)) - 2, 0)
    return f"{-(-rows // unit) * unit:,}"
