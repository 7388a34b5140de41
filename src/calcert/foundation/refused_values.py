"""Scores and labels that are none: what is wrong with one, and the likely mistake, judged from those around it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calcert.foundation.refusal import Argument, Phrase, Way, WrongValue, reading

Place = Callable[[int], str]
"""Says in words where the row of a number stands, for errors."""

PERCENT = Way(
    "For percentages pass scores / 100.",
    ("If they are percentages, pass ", reading("percent", True), "."),
    "If they are percentages, write score/100 to the file.",
)
PERCENT_SIGNS = Way(
    "For percentages pass scores / 100.",
    (
        "If they are percentages, pass ",
        reading("percent", True),
        "; if some are shares, ",
        reading("mixed_percent", True),
        ".",
    ),
    "If they are percentages, write score/100 to the file.",
)
EXPIT, IN_FILE = "scipy.special.expit(scores).", "1/(1 + exp(-score))"
LOGITS = Way(f"For logits pass {EXPIT}", f"If they are logits, write {IN_FILE} to the file.")
INFINITE = Way(
    f"Infinite scores are not probabilities; for logits pass {EXPIT}",
    f"Infinite scores are not probabilities; if they are logits, write {IN_FILE} to the file.",
)
LOG_PROBABILITIES = Way(
    f"For log-probabilities pass numpy.exp(scores), for logits {EXPIT}",
    f"If they are log-probabilities, write exp(score) to the file; if they are logits, {IN_FILE}.",
)
ROUNDING_NOISE = Way(
    "If this is rounding noise, clip on purpose: numpy.clip(scores, 0, 1).",
    "If this is rounding noise, clip the scores to [0, 1] in the file, on purpose.",
)
REMAINING = ": a certificate applies to the rows that remain."
DROP: Phrase = ("To leave such rows out, on purpose, pass ", reading("drop_missing", True), REMAINING)
MISSING = Way(f"Drop such rows yourself, on purpose{REMAINING}", DROP, f"Drop such rows, on purpose{REMAINING}")
NAN = Way(f"Drop or impute such rows yourself, on purpose{REMAINING}", DROP, f"Drop such rows, on purpose{REMAINING}")
SWAPPED = Way(
    "The scores are all 0 or 1: are the two arguments swapped? Call certify(scores, labels).",
    ("The scores are all 0 or 1: are ", Argument("score"), " and ", Argument("label"), " swapped?"),
    None,
    "The scores are all 0 or 1: are the two arguments swapped? Metrics are called with (y_true, y_prob).",
)
SHARES = "For shares between 0 and 1, as of several annotators, pass "
ONE_AGAINST_THE_REST = Way(
    "For one class against the rest pass labels == positive_class.",
    ("For one label against the rest pass ", reading("positive"), "."),
    "For one label against the rest write 1 for it and 0 for the others.",
    "For one class against the rest pass pos_label=positive_class.",
)


def bad_score(scores: NDArray[Any], row: int, where: str | None = None) -> WrongValue:
    """What is wrong with the score at `row`; `where` says in other words than "at row 12" where it was found."""
    where = where or f"at row {row}"
    value = float(scores[row])
    if math.isnan(value):
        return WrongValue("scores", "must be numbers in [0, 1]", "a missing value (NaN)", where, NAN)
    with np.errstate(invalid="ignore"):
        finite = np.asarray(scores, float)[np.isfinite(np.asarray(scores, float))]
    way = LOGITS
    if math.isinf(value):
        way = INFINITE
    elif finite.min() >= 0 and 5 < finite.max() <= 100:
        way = PERCENT
    elif 0 <= value - 1 < 1e-6 or 0 < -value < 1e-6:
        way = ROUNDING_NOISE
    elif finite.max() <= 0:
        way = LOG_PROBABILITIES
    # Six digits, or all there are where six would make it look right, as 1 + 1e-9 would.
    shown = f"{value:g}" if not 0 <= float(f"{value:g}") <= 1 else repr(value)
    return WrongValue("scores", "must lie in [0, 1]", shown, where, way)


def bad_label(scores: NDArray[Any], labels: NDArray[Any], row: int, where: str | None = None) -> WrongValue:
    """What is wrong with the label at `row`; `where` as in :func:`bad_score`."""
    where = where or f"at row {row}"
    value = labels[row].item()
    way: Way | Phrase = ONE_AGAINST_THE_REST
    if isinstance(value, float) and math.isnan(value):
        way = Way("Drop unlabelled rows first.", DROP)
        return WrongValue("labels", "must be 0 or 1 (or bool)", "a missing value (NaN)", where, way)
    values = np.unique(labels[~np.isnan(labels)] if labels.dtype.kind == "f" else labels)
    if np.isin(scores, (0, 1)).all() and values.min() >= 0 and values.max() <= 1:
        way = SWAPPED
    elif values.min() >= 0 and values.max() <= 1:
        way = (SHARES, Argument("soft_labels", True), ".")
    elif values.size <= 2 and np.isin(values, (-1, 1)).all():
        way = Way("For -1/+1 labels pass labels > 0.", ("For -1/+1 labels pass ", reading("positive", "1"), "."))
    elif values.size == 2:
        of, high = f"For classes {values[0]!s} and {values[1]!s} pass ", values[1]
        way = Way(
            f"{of}labels == {high!s}.", (of, reading("positive", str(high)), "."), None, f"{of}pos_label={high!s}."
        )
    return WrongValue("labels", "must be 0 or 1 (or bool)", repr(value), where, way)


def missing_value(name: str, where: str, value: Any = None) -> WrongValue:
    """That a value is not there; `name` is scores or labels, `value` a text that says so."""
    got = repr(value) if isinstance(value, str) and value.strip() else "one"
    return WrongValue(name, "must have no missing values", got, where, MISSING)


def refuse_bad(x: NDArray[Any], y: NDArray[Any], place: Place = "at row {}".format) -> None:
    """Refuse scores outside [0, 1] and labels that are neither 0 nor 1; `place` says where a row stands."""
    bad = ~((x >= 0) & (x <= 1) & ((y == 0) | (y == 1)))
    if bad.any():
        row = int(np.argmax(bad))
        raise bad_label(x, y, row, place(row)) if 0 <= x[row] <= 1 else bad_score(x, row, place(row))


def checked_scores(scores: NDArray[np.float64], place: Place) -> NDArray[np.float64]:
    """The scores; an invalid one is an error that names its place."""
    bad = ~((scores >= 0) & (scores <= 1))
    if bad.any():
        row = int(np.argmax(bad))
        raise bad_score(scores, row, place(row))
    return scores
