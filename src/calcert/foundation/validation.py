"""The border: every argument is checked here, once, and the core trusts its types.

An error names the argument, what it must be, what it was, where, and the way out.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Place = Callable[[int], str]
"""Says in words where the row of a number stands, for errors."""


class NoRows(ValueError):
    """There is a source of rows, and it holds none, or none that was not left out."""

    def __init__(self, source: str, left_out: str = "", way: str = "") -> None:
        self.source, self.left_out = source, left_out
        super().__init__(f"{source} must hold at least one row; got none{self._lack}.{way and ' '}{way}")

    @property
    def said(self) -> str:
        """The same where it is no error."""
        return f"{self.source} holds no rows{self._lack}."

    @property
    def _lack(self) -> str:
        return f": {self.left_out}" if self.left_out else ""


SMALLEST_DELTA, LARGEST_DELTA = 1e-100, 0.5
SHORTEST_SECRET = 16
SMALLEST_BANDWIDTH, LARGEST_BANDWIDTH = 1e-9, 1e6
SMALLEST_ODDS, LARGEST_ODDS = 2.0**-8, 2.0**-1


def check_delta(delta: float) -> float:
    """delta, the probability with which a bound may fail: below 1/2, as one that fails more often says nothing."""
    value = real("delta", delta, "a number strictly between 0 and 0.5, such as 0.05")
    if not 0 < value < LARGEST_DELTA:
        raise ValueError(f"delta must lie strictly between 0 and 0.5; got {value:g}.")
    if value < SMALLEST_DELTA:
        raise ValueError(f"delta must be at least {SMALLEST_DELTA:g}, below which it cannot be shared; got {value:g}.")
    return value


def check_confidence(confidence: float) -> float:
    """The probability with which a bound holds: above 1/2, as a bound that mostly fails says nothing."""
    value = real("confidence", confidence, "a number strictly between 0.5 and 1, such as 0.95")
    if not 1 - LARGEST_DELTA < value < 1:
        raise ValueError(
            f"confidence must lie strictly between 0.5 and 1; got {value:g}.{confidence_hint(value, 'pass')}"
        )
    return value


def confidence_hint(value: float, verb: str) -> str:
    """What somebody who gives this confidence probably means, and how to say it; nothing where there is no telling."""
    if 0 < value < 1 - LARGEST_DELTA:  # The probability of failure, not its complement.
        return f" For bounds that may fail with probability {value:g} {verb} {complement(value):g}."
    if 50 < value < 100:
        return f" For a confidence of {value:g}% {verb} {value / 100:g}."
    if 1 <= value < 50:
        return f" For bounds that may fail with probability {value:g}% {verb} {complement(value / 100):g}."
    return ""


def complement(probability: float) -> float:
    """1 minus a probability, in decimals as people write it, and never 1: 0.05 for 0.95, not 0.050000000000000044."""
    return min(float(1 - Decimal(repr(float(probability)))), math.nextafter(1.0, 0.0))


def check_bandwidth(bandwidth: float) -> float:
    """The bandwidth h of the perturbation, in the range where draws and certificates are exact."""
    h = _positive("bandwidth", bandwidth, "1/64")
    if not SMALLEST_BANDWIDTH <= h <= LARGEST_BANDWIDTH:
        raise ValueError(
            f"bandwidth must lie between {SMALLEST_BANDWIDTH:g} and {LARGEST_BANDWIDTH:g}, such as 1/64; got {h:g}. "
            "Far above 1 all perturbed scores are alike; below, double precision cannot tell them apart."
        )
    return h


def check_odds(odds: float) -> float:
    """b of the noise on the odds, in the range where certificates are worth having."""
    b = _positive("odds", odds, "1/16")
    if not SMALLEST_ODDS <= b <= LARGEST_ODDS:
        raise ValueError(
            f"odds must lie between 1/256 and 1/2, such as 1/16; got {b:g}. "
            "Above, odds would double; below, the cells of a Summary are too wide to tell scores apart."
        )
    return b


def check_variation(variation: float) -> float:
    """The bound V on the total variation of the calibration function."""
    return _positive("variation", variation, "1.0 (a monotone calibration function)")


def check_tolerance(tolerance: float) -> float:
    """The largest acceptable error: between 0 and 1."""
    value = _positive("tolerance", tolerance, "0.03")
    if value >= 1:
        raise ValueError(f"tolerance must be below 1, such as 0.03; got {no_secret(tolerance)}.")
    return value


def check_constant(constant: float) -> float:
    """The Lipschitz constant L of the calibration function."""
    return _positive("constant", constant, "2.0")


def check_seed(seed: Any) -> int:
    """A seed: a non-negative integer."""
    if isinstance(seed, bool) or not isinstance(seed, numbers.Integral) or int(seed) < 0:
        raise ValueError(f"seed must be a non-negative integer, such as 0; got {no_secret(seed)}.")
    return int(seed)


def check_count(name: str, value: Any, least: int, most: int) -> int:
    """A whole number between two others."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or not least <= int(value) <= most:
        raise ValueError(f"{name} must be a whole number between {least:,} and {most:,}; got {value!r}.")
    return int(value)


def check_crossings(crossings: Any) -> int:
    """How often a curve changes sides: a whole number; more than the largest would certify next to nothing."""
    return check_count("crossings", crossings, 0, 1_000)


def check_one_of(name: str, value: Any, allowed: tuple[str, ...]) -> None:
    """A word out of a short list."""
    if value not in allowed:
        listed = ", ".join(repr(word) for word in allowed[:-1])
        raise ValueError(f"{name} must be {listed} or {allowed[-1]!r}; got {value!r}.")


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
        raise ValueError(score_message(x.ravel(), row))
    return x


def checked_scores(scores: NDArray[np.float64], place: Place) -> NDArray[np.float64]:
    """The scores; an invalid one is an error that names its place."""
    bad = ~((scores >= 0) & (scores <= 1))
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(score_message(scores, row, place(row)))
    return scores


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


def score_message(scores: NDArray[Any], row: int, where: str | None = None) -> str:
    """What is wrong with the score at `row`, and the likely mistake, judged from the scores around it.

    `where` says in other words than "at row 12" where the score was found.
    """
    where = where or f"at row {row}"
    value = float(scores[row])
    head = f"scores must lie in [0, 1]; got {_shown(value)} {where}."
    if math.isnan(value):
        return (
            f"scores must be numbers in [0, 1]; got a missing value (NaN) {where}. "
            "Drop or impute such rows yourself, on purpose: a certificate speaks of the rows that remain."
        )
    with np.errstate(invalid="ignore"):
        finite = np.asarray(scores, float)[np.isfinite(np.asarray(scores, float))]
    if math.isinf(value):
        return f"{head} Infinite scores are not probabilities; for logits pass scipy.special.expit(scores)."
    if finite.min() >= 0 and 5 < finite.max() <= 100:
        return f"{head} For percentages pass scores / 100."
    if 0 <= value - 1 < 1e-6 or 0 < -value < 1e-6:
        return f"{head} If this is rounding noise, clip on purpose: numpy.clip(scores, 0, 1)."
    if finite.max() <= 0:
        return f"{head} For log-probabilities pass numpy.exp(scores), for logits scipy.special.expit(scores)."
    return f"{head} For logits pass scipy.special.expit(scores)."


def label_message(scores: NDArray[Any], labels: NDArray[Any], row: int, where: str | None = None) -> str:
    """What is wrong with the label at `row`, and the likely mistake; `where` as in :func:`score_message`."""
    where = where or f"at row {row}"
    value = labels[row].item()
    head = f"labels must be 0 or 1 (or bool); got {value!r} {where}."
    if isinstance(value, float) and math.isnan(value):
        return f"labels must be 0 or 1 (or bool); got a missing value (NaN) {where}. Drop unlabelled rows first."
    values = np.unique(labels[~np.isnan(labels)] if labels.dtype.kind == "f" else labels)
    if np.isin(scores, (0, 1)).all() and values.min() >= 0 and values.max() <= 1:
        return f"{head} The scores are all 0 or 1: are the two arguments swapped? Call certify(scores, labels)."
    if values.min() >= 0 and values.max() <= 1:
        return f"{head} For shares between 0 and 1, as of several annotators, pass soft_labels=True."
    if values.size <= 2 and np.isin(values, (-1, 1)).all():
        return f"{head} For -1/+1 labels pass labels > 0."
    if values.size == 2:
        return f"{head} For classes {values[0]!s} and {values[1]!s} pass labels == {values[1]!s}."
    return f"{head} For one class against the rest pass labels == positive_class."


def refuse_bad(x: NDArray[Any], y: NDArray[Any], place: Place = "at row {}".format) -> None:
    """Scores outside [0, 1] and labels that are neither 0 nor 1, in words; `place` says where a row stands."""
    bad = ~((x >= 0) & (x <= 1) & ((y == 0) | (y == 1)))
    if bad.any():
        row = int(np.argmax(bad))
        if 0 <= x[row] <= 1:
            raise ValueError(label_message(x, y, row, place(row)))
        raise ValueError(score_message(x, row, place(row)))


def missing_message(name: str, where: str, value: Any = None) -> str:
    """What to say of a value that is not there; `name` is scores or labels, `value` a text that says so."""
    got = repr(value) if isinstance(value, str) and value.strip() else "one"
    return (
        f"{name} must have no missing values; got {got} {where}. "
        "Drop such rows yourself, on purpose: a certificate speaks of the rows that remain."
    )


def _positive(name: str, value: float, example: str) -> float:
    number = real(name, value, f"a positive finite number, such as {example}")
    if not (math.isfinite(number) and number > 0):
        raise ValueError(f"{name} must be positive and finite, such as {example}; got {number:g}.")
    return number


def is_real(value: Any) -> bool:
    """True for real numbers of any library; a truth value is none."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def real(name: str, value: Any, requirement: str) -> float:
    if not is_real(value):
        raise TypeError(f"{name} must be {requirement}; got {value!r} of type {type(value).__name__}.")
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"{name} must be {requirement}; got {str(value)[:20]}..., which is too large.") from None


def _shown(value: float) -> str:
    """A wrong number in six digits, or in all it has where six would make it look right, as 1 + 1e-9 would."""
    return f"{value:g}" if not 0 <= float(f"{value:g}") <= 1 else repr(value)


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
