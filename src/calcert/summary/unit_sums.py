"""Sums over units as engines add them up, in 64 bits, and what they come to.

Sums of squares and fourth powers of weights need up to 124 bits, which few engines have. So a power is split into a
high and a low part before it is added up, and the parts meet again as Python's integers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calcert.summary.design import CLOSE, Design
from calcert.summary.units import GAIN, GAIN_BITS, HEAVIEST, SQUARES, Units

Integers = NDArray[np.int64]

SUMS = (
    "number",
    "largest",
    "largest_gain",
    "square_high",
    "square_low",
    "fourth_high",
    "fourth_middle",
    "fourth_low",
    "fourth_rest",
    "gain_high",
    "gain_middle",
    "gain_low",
    "gain_rest",
    "mixed_high",
    "mixed_low",
)
"""What engines add up over units: how many, the largest W and R, and sums of the parts of powers that fit 64 bits."""


def parts(weight: Any, gain: Any, shift: Callable[[Any, int], Any]) -> dict[str, Any]:
    """Per unit, from its W below 2^31 and its R, what is added up: all of `SUMS` from `square_high` on.

    `shift` divides by a power of two and rounds to some integer near it: what it leaves is taken by subtraction, so
    that the sums mean the same whatever it does, and an engine may divide doubles.
    """
    square = weight * weight
    high = shift(square, 31)
    low = square - high * (1 << 31)
    lower = shift(low * low, 31)
    whole = shift(gain, GAIN_BITS)
    rest = gain - whole * GAIN
    resting = shift(rest * rest, GAIN_BITS)
    return {
        "square_high": high,
        "square_low": low,
        "fourth_high": high * high,
        "fourth_middle": high * low,
        "fourth_low": lower,
        "fourth_rest": low * low - lower * (1 << 31),
        "gain_high": whole * whole,
        "gain_middle": whole * rest,
        "gain_low": resting,
        "gain_rest": rest * rest - resting * GAIN,
        "mixed_high": whole * weight,
        "mixed_low": rest * weight,
    }


def assembled(sums: dict[str, int], pairs: Integers, rows: int, design: Design) -> Units:
    """Units from what an engine added up; refused where a unit is too heavy, in itself or next to what was declared."""
    refuse_heavy(sums, design)
    s = sums
    units = Units(
        pairs=pairs,
        rows=rows,
        number=s["number"],
        largest=s["largest"],
        fourth=(s["fourth_high"] << 62) + (s["fourth_middle"] << 32) + (s["fourth_low"] << 31) + s["fourth_rest"],
        gain_squares=(s["gain_high"] << 40) + (s["gain_middle"] << 21) + (s["gain_low"] << 20) + s["gain_rest"],
        gain_weights=(s["mixed_high"] << 20) + s["mixed_low"],
        design=design,
    )
    if sum(map(int, pairs.ravel())) != (s["square_high"] << 31) + s["square_low"]:
        raise ValueError(
            "rows and units must be those of one table; got sums of squared weights that differ. The table changed "
            "between two reads, or an engine lost digits: summarise a fixed snapshot."
        )
    return units


def refuse_heavy(sums: dict[str, int], design: Design) -> None:
    """Units whose weights would not fit 64 bits, or exceed what was declared, are refused in words."""
    squares = (sums["square_high"] << 31) + sums["square_low"]
    unit = "clusters" if design.clustered else "rows"
    if sums["largest"] >= HEAVIEST or squares >= SQUARES:
        raise OverflowError(
            f"weights must be small multiples of weight_unit: {unit} below 2^31 and their squares together below 2^62; "
            f"got {unit} of up to {sums['largest']:,} times {design.quantum:g}. Choose a larger weight_unit."
        )
    declared = design.largest_weight
    if declared is not None and sums["largest"] * design.quantum > declared * (1 + CLOSE):
        raise ValueError(
            f"largest_weight must bound the weight of all {unit}, those not seen included; got {declared:g} and "
            f"{unit} of weight {sums['largest'] * design.quantum:g}. It is to be known before the rows are seen: from "
            "how they were chosen, not from the rows."
        )
    gain, promised = sums["largest_gain"] * design.quantum / GAIN, design.largest_gain
    # Each |y - x| was rounded up by at most 2^-20.
    if promised is not None and gain > promised * (1 + CLOSE) + sums["largest"] * design.quantum / GAIN:
        raise ValueError(
            f"largest_gain must bound the sum of weight times |label - score| over {unit}, those not seen included; "
            f"got {promised:g} and {unit} with {gain:g}. Leave it out, or take it from how rows were chosen."
        )
