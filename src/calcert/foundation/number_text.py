"""Numbers as people read them: bounds are rounded outward, so that what is printed is certified too."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal

MOST = 1e15
"""Larger numbers are shown as they are."""

NARROW = 0.05
"""An interval of ratios up to this wide deserves three decimals."""

TINY = 1e-5
"""A lower bound below this is told as above 0: its digits tell nobody anything."""

ALMOST_SURE = 1e-9
"""A smaller delta is shown as itself: nobody counts nines."""


def number(value: float) -> str:
    """An estimate: four decimals, or three significant digits below 0.01."""
    return _rounded(value, ROUND_HALF_EVEN)


def at_most(bound: float) -> str:
    """An upper bound, rounded up; one that says nothing says so."""
    return "1 (says nothing)" if bound >= 1.0 else _rounded(bound, ROUND_CEILING)


def at_least(bound: float) -> str:
    """A lower bound, rounded down."""
    return _rounded(bound, ROUND_FLOOR)


def short_at_most(bound: float) -> str:
    """An upper bound for a first screen: three decimals, or two significant digits below 0.01, rounded up."""
    return _bare(_rounded(bound, ROUND_CEILING, 3))


def short_at_least(bound: float) -> str:
    """A lower bound likewise, rounded down."""
    return _bare(_rounded(bound, ROUND_FLOOR, 3))


def span(lower: float, upper: float, *, ratio: bool = False) -> str:
    """Two bounds, rounded outward for a first screen; a ratio has two decimals, or three next to a narrow interval."""
    if not ratio:
        low, high = ">0" if 0 < lower < TINY else short_at_least(lower), short_at_most(upper)
        decimals = [len(text.partition(".")[2]) for text in (low, high)]
        # Both ends have as many decimals, as columns of numbers do; 0 and 1 are exact.
        if min(decimals) == 0 or max(decimals) > 4:
            return f"{low} - {high}"
        return f"{_to(lower, max(decimals), ROUND_FLOOR)} - {_to(upper, max(decimals), ROUND_CEILING)}"
    digits = 3 if upper - lower < NARROW else 2
    low, high = (f"{_to(value, digits, side)}" for value, side in ((lower, ROUND_FLOOR), (upper, ROUND_CEILING)))
    return f"{low} - {high}"


def e_value(value: float) -> str:
    """Evidence, two digits and rounded down."""
    if value < 1e-3:
        return "0"
    power = math.floor(math.log10(value))
    digits = math.floor(value / 10.0 ** (power - 1)) / 10
    return f"{digits:g}e{power}" if power >= 3 else f"{digits * 10.0**power:g}"


def rounded_up(value: float) -> str:
    """Any number, rounded up: a p-value, or a ratio that may exceed 1."""
    return _rounded(value, ROUND_CEILING)


def confidence(delta: float) -> str:
    """The probability 1 - delta, rounded down."""
    fails = _fails(delta)
    return f"1 - {fails:g}" if fails < ALMOST_SURE else f"{1 - fails:f}"


def percent_sure(delta: float) -> str:
    """The same as a percentage."""
    fails = _fails(delta)
    return f"1 - {fails:g}" if fails < ALMOST_SURE else f"{(100 * (1 - fails)).normalize():f}%"


def percent(share: float) -> str:
    """A share as a percentage, with as many digits as it has."""
    return f"{100 * share:.6g}%"


def given(value: float) -> str:
    """A number that somebody chose, with all its digits."""
    return f"{value:g}" if float(f"{value:g}") == value else repr(value)


def fraction(size: float) -> str:
    """A bandwidth as people write it: 1/64 where it is one over a whole number."""
    whole = round(1 / size) if size < 1 else 0
    return f"1/{whole}" if whole and 1 / whole == size else f"{size:.4g}"


def rows_text(rows: int) -> str:
    """A number of rows."""
    return "1 row" if rows == 1 else f"{rows:,} rows"


def rows_about(rows: int) -> str:
    """Two digits of a number of rows, upwards: more would pretend to know more."""
    unit = 10 ** max(len(str(rows)) - 2, 0)
    return f"{-(-rows // unit) * unit:,}"


def _bare(digits: str) -> str:
    """Without zeros at the end of decimals."""
    return digits if "e" in digits or "." not in digits else digits.rstrip("0").rstrip(".")


def _rounded(value: float, direction: str, digits: int = 4) -> str:
    """So many decimals, or one digit fewer below 0.01; what is printed is never on the wrong side as a double."""
    exact = Decimal(repr(float(value)))
    if not abs(value) < MOST or abs(exact) >= Decimal("0.01") or exact == 0:
        return _to(value, digits, direction)
    return f"{float(exact.quantize(Decimal(1).scaleb(exact.adjusted() - digits + 2), direction)):.{digits - 1}g}"


def _to(value: float, decimals: int, direction: str) -> str:
    """So many decimals."""
    if not abs(value) < MOST:
        return "none" if math.isnan(value) else "infinite" if value == math.inf else repr(float(value))
    return f"{Decimal(repr(float(value))).quantize(Decimal(1).scaleb(-decimals), direction):f}"


def _fails(delta: float) -> Decimal:
    """Three digits of delta, rounded up, of the number that was written; at most 1."""
    if not 0 <= delta <= 1:  # Nothing is promised then.
        return Decimal(1)
    exact = Decimal(repr(float(delta)))
    return min(exact.quantize(Decimal(1).scaleb(exact.adjusted() - 2), ROUND_CEILING).normalize(), Decimal(1))
