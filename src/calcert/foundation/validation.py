"""The border: every argument is checked here, once, and the core trusts its types.

An error names the argument, what it must be, what it was, where, and the way out.
"""

from __future__ import annotations

import math
import numbers
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calcert.foundation.refusal import Argument, WrongType, WrongValue
from calcert.foundation.refused_values import bad_score

SMALLEST_DELTA, LARGEST_DELTA = 1e-100, 0.5
SHORTEST_SECRET = 16
SMALLEST_BANDWIDTH, LARGEST_BANDWIDTH = 1e-9, 1e6
SMALLEST_ODDS, LARGEST_ODDS = 2.0**-8, 2.0**-1


def check_delta(delta: float) -> float:
    """delta, the probability with which a bound may fail: below 1/2, as one that fails more often says nothing."""
    value = real("delta", delta, "a number strictly between 0 and 0.5, such as 0.05")
    if not 0 < value < LARGEST_DELTA:
        raise WrongValue("delta", "must lie strictly between 0 and 0.5", f"{value:g}")
    if value < SMALLEST_DELTA:
        raise WrongValue("delta", f"must be at least {SMALLEST_DELTA:g}, below which it cannot be shared", f"{value:g}")
    return value


def check_confidence(confidence: float) -> float:
    """The probability with which a bound holds: above 1/2, as a bound that mostly fails says nothing."""
    value = real("confidence", confidence, "a number strictly between 0.5 and 1, such as 0.95")
    if 1 - LARGEST_DELTA < value < 1:
        return value
    hint = ""
    if 0 < value < 1 - LARGEST_DELTA:  # The probability of failure, not its complement.
        hint = f"For bounds that may fail with probability {value:g} pass {complement(value):g}."
    elif 50 < value < 100:
        hint = f"For a confidence of {value:g}% pass {value / 100:g}."
    elif 1 <= value < 50:
        hint = f"For bounds that may fail with probability {value:g}% pass {complement(value / 100):g}."
    raise WrongValue(Argument("confidence"), "must lie strictly between 0.5 and 1", f"{value:g}", "", hint)


def complement(probability: float) -> float:
    """1 minus a probability, in decimals as people write it, and never 1: 0.05 for 0.95, not 0.050000000000000044."""
    return min(float(1 - Decimal(repr(float(probability)))), math.nextafter(1.0, 0.0))


def check_bandwidth(bandwidth: float) -> float:
    """The bandwidth h of the perturbation, in the range where draws and certificates are exact."""
    h = _positive("bandwidth", bandwidth, "1/64")
    if not SMALLEST_BANDWIDTH <= h <= LARGEST_BANDWIDTH:
        limits = f"{SMALLEST_BANDWIDTH:g} and {LARGEST_BANDWIDTH:g}"
        why = "Far above 1 all perturbed scores are alike; below, double precision cannot tell them apart."
        raise WrongValue(Argument("bandwidth"), f"must lie between {limits}, such as 1/64", f"{h:g}", "", why)
    return h


def check_odds(odds: float) -> float:
    """b of the noise on the odds, in the range where certificates are worth having."""
    b = _positive("odds", odds, "1/16")
    if not SMALLEST_ODDS <= b <= LARGEST_ODDS:
        why = "Above, odds would double; below, the cells of a Summary are too wide to tell scores apart."
        raise WrongValue(Argument("odds"), "must lie between 1/256 and 1/2, such as 1/16", f"{b:g}", "", why)
    return b


def check_variation(variation: float) -> float:
    """The bound V on the total variation of the calibration function."""
    return _positive("variation", variation, "1.0 (a monotone calibration function)")


def check_tolerance(tolerance: float) -> float:
    """The largest acceptable error: between 0 and 1."""
    value = _positive("tolerance", tolerance, "0.03")
    if value >= 1:
        raise WrongValue("tolerance", "must be below 1, such as 0.03", no_secret(tolerance))
    return value


def check_constant(constant: float) -> float:
    """The Lipschitz constant L of the calibration function."""
    return _positive("constant", constant, "2.0")


def check_seed(seed: Any) -> int:
    """A seed: a non-negative integer."""
    if isinstance(seed, bool) or not isinstance(seed, numbers.Integral) or int(seed) < 0:
        raise WrongValue(Argument("seed"), "must be a non-negative integer, such as 0", no_secret(seed))
    return int(seed)


def check_count(name: str, value: Any, least: int, most: int) -> int:
    """A whole number between two others."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or not least <= int(value) <= most:
        raise WrongValue(Argument(name), f"must be a whole number between {least:,} and {most:,}", repr(value))
    return int(value)


def check_crossings(crossings: Any) -> int:
    """How often a curve changes sides: a whole number; more than the largest would certify next to nothing."""
    return check_count("crossings", crossings, 0, 1_000)


def check_one_of(name: str, value: Any, allowed: tuple[str, ...]) -> None:
    """A word out of a short list."""
    if value not in allowed:
        listed = ", ".join(repr(word) for word in allowed[:-1])
        raise WrongValue(Argument(name), f"must be {listed} or {allowed[-1]!r}", repr(value))


def check_threshold(threshold: float) -> float:
    """A score from which on somebody acts: between 0 and 1, where acting and not acting both make sense."""
    value = real("threshold", threshold, "a number strictly between 0 and 1, such as 0.3")
    if not 0 < value < 1:
        hint = f"For {value:g}% pass {value / 100:g}." if 1 <= value < 100 else ""
        raise WrongValue(Argument("threshold"), "must lie strictly between 0 and 1", f"{value:g}", "", hint)
    return value


def check_costs(costs: Any) -> tuple[float, float, str]:
    """What a false positive and a false negative cost, and the currency, "" where none is named."""
    wanted = 'must be those of a false positive and a false negative, such as (30, 70) or (30, 70, "EUR")'
    if isinstance(costs, str) or not hasattr(costs, "__len__") or len(costs) not in (2, 3):
        raise WrongType(Argument("costs"), wanted, repr(costs))
    false_positive, false_negative, *currency = costs
    values = [real("costs", cost, "two positive numbers") for cost in (false_positive, false_negative)]
    if not all(0 < value < math.inf for value in values) or not all(isinstance(word, str) for word in currency):
        raise WrongValue(Argument("costs"), f"{wanted}, both positive", repr(costs))
    return values[0], values[1], currency[0] if currency else ""


def check_rng(rng: Any) -> np.random.Generator:
    """A NumPy generator from a seed, a secret, a generator or None.

    None takes its seed from the operating system at every call: nothing is kept that forked processes could share.
    """
    if isinstance(rng, np.random.Generator):
        return rng
    if rng is None:
        return np.random.default_rng()
    if isinstance(rng, bytes):
        return np.random.default_rng(int.from_bytes(check_secret("rng", rng), "little"))
    if not isinstance(rng, bool) and isinstance(rng, numbers.Integral) and int(rng) >= 0:
        return np.random.default_rng(int(rng))
    raise TypeError(
        f"rng must be a non-negative integer, bytes, a numpy.random.Generator or None; got {no_secret(rng)}."
    )


def no_secret(value: Any) -> str:
    """A value as an error shows it; of text and bytes, which may be meant as a secret, the type alone."""
    return type(value).__name__ if isinstance(value, (str, bytes, bytearray, memoryview)) else repr(value)


def check_secret(name: str, secret: bytes) -> bytes:
    """Bytes that nobody can try out."""
    if len(secret) < SHORTEST_SECRET:
        raise ValueError(
            f"{name} must have at least {SHORTEST_SECRET} bytes to be a secret, such as secrets.token_bytes(32); "
            f"got {len(secret)}."
        )
    return secret


def check_scores(scores: ArrayLike) -> NDArray[np.float64]:
    """Scores in [0, 1] of any shape, as float64."""
    x = np.asarray(scores)
    if x.dtype.kind not in "fiub":
        raise TypeError(f"scores must be numbers in [0, 1]; got {_kind(x)}.")
    x = x.astype(np.float64, copy=False)
    bad = ~((x >= 0) & (x <= 1))
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise bad_score(x.ravel(), row)
    return x


def check_logits(logits: ArrayLike) -> NDArray[np.float64]:
    """Logits of any shape, as float64; infinite ones are scores 0 and 1."""
    z = np.asarray(logits)
    if z.dtype.kind not in "fiub":
        raise TypeError(f"logits must be numbers; got {_kind(z)}.")
    z = z.astype(np.float64, copy=False)
    bad = np.isnan(z)
    if bad.any():
        raise ValueError(
            f"logits must be numbers; got a missing value (NaN) at row {int(np.flatnonzero(bad)[0])}. "
            "Drop or impute such rows yourself, on purpose."
        )
    return z


def _positive(name: str, value: float, example: str) -> float:
    number = real(name, value, f"a positive finite number, such as {example}")
    if not (math.isfinite(number) and number > 0):
        raise WrongValue(Argument(name), f"must be positive and finite, such as {example}", f"{number:g}")
    return number


def is_real(value: Any) -> bool:
    """True for real numbers of any library; a truth value is none."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def real(name: str, value: Any, requirement: str) -> float:
    if not is_real(value):
        raise WrongType(Argument(name), f"must be {requirement}", f"{value!r} of type {type(value).__name__}")
    try:
        return float(value)
    except OverflowError:
        got = f"{str(value)[:20]}..., which is too large"
        raise WrongValue(Argument(name), f"must be {requirement}", got) from None


def _kind(array: NDArray[Any]) -> str:
    return {"U": "strings", "S": "bytes", "O": "Python objects", "c": "complex numbers"}.get(
        array.dtype.kind, f"dtype {array.dtype}"
    )


def check_summary(summary: Any, *, clusters: bool = False) -> None:
    """A Summary with at least one row; of plain rows, unless what follows is proved for `clusters`."""
    if type(summary).__name__ != "Summary" or not hasattr(type(summary), "points"):
        raise TypeError(
            f"summary must be a calcert.Summary; got {type(summary).__name__}. Pass calcert.summarize(scores, labels)."
        )
    if summary.n == 0:
        raise ValueError("summary must hold at least one row; got none.")
    if not clusters:
        refuse_clusters(summary)


def refuse_clusters(summary: Any) -> None:
    """What is proved for plain rows alone is not computed as if rows in clusters or with weights were such."""
    if summary.clusters is not None:
        raise ValueError(
            f"summary must be of independent rows of equal weight; got {summary.rows:,} rows{summary.clusters.words}. "
            "What is proved for them: all statements of certify, distance, cutoff, crossings, in_the_large, finite, "
            "perturbed, bounded_variation and calibration_band."
        )
