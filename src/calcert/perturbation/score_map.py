"""A map from scores to recalibrated scores: a few levels, or a logistic curve; in memory, as JSON and as SQL."""

from __future__ import annotations

import hashlib
import math
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from calcert.foundation.array_types import Floats
from calcert.foundation.validation import check_scores

LEAST = 2.0**-30
"""Scores nearer to 0 or 1 than this are taken for it where log-odds are needed."""

STEEPEST = 700.0
"""Log-odds are cut here: engines refuse larger powers of e."""

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*")
"""A name that every engine reads without quotation marks."""

QUOTES = {"duckdb": '"', "postgres": '"', "spark": "`"}
"""What names are quoted with, by dialect."""


@dataclass(frozen=True)
class ScoreMap:
    """A map that never falls: `values` between `edges`, or the logistic function of a line in ln x and -ln(1 - x).

    Attributes
    ----------
    edges
        Where the levels change, increasing; a score at an edge belongs to the level above it.
    values
        The recalibrated score of each level, increasing, one more than edges; none for a logistic map.
    coefficients
        Intercept, and what ln x and -ln(1 - x) are multiplied by; none for levels.

    Examples
    --------
    >>> from calcert.perturbation.score_map import ScoreMap
    >>> ScoreMap(edges=(0.5,), values=(0.1, 0.7))([0.2, 0.5, 0.9])
    array([0.1, 0.7, 0.7])
    >>> print(ScoreMap(edges=(0.5,), values=(0.1, 0.7)).sql("p"))
    CASE WHEN p >= 0 AND p <= 1 THEN CASE WHEN p < 0.5e0 THEN 0.1e0 ELSE 0.7e0 END END
    """

    edges: tuple[float, ...] = ()
    values: tuple[float, ...] = ()
    coefficients: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        numbers = (*self.edges, *self.values, *self.coefficients)
        if not all(isinstance(value, (int, float)) and math.isfinite(value) for value in numbers):
            raise ValueError(f"a map must have finite numbers; got {self!r}.")
        levels = bool(self.values) and not self.coefficients and len(self.edges) == len(self.values) - 1
        curve = len(self.coefficients) == 3 and not self.values and not self.edges
        if not (levels or curve):
            raise ValueError(f"a map must have values and one edge fewer, or three coefficients; got {self!r}.")
        for name in ("edges", "values"):
            listed = getattr(self, name)
            if list(listed) != sorted({*listed}) or (listed and not 0 <= listed[0] <= listed[-1] <= 1):
                raise ValueError(f"{name} of a map must increase from 0 to 1; got {listed!r}.")
        if curve and min(self.coefficients[1:]) < 0:
            raise ValueError(f"a map must never fall; got the coefficients {self.coefficients!r}.")

    @property
    def fingerprint(self) -> str:
        """A hash of the numbers, by which a certificate knows its map."""
        numbers = [list(map(float, part)) for part in (self.edges, self.values, self.coefficients)]
        return hashlib.sha256(repr(numbers).encode()).hexdigest()[:16]

    def __call__(self, scores: ArrayLike) -> Floats:
        """The recalibrated scores, in the shape of the scores."""
        return self.mapped(check_scores(scores))

    def mapped(self, scores: Floats) -> Floats:
        """The same for scores that were checked."""
        if self.values:
            return np.asarray(np.array(self.values)[np.searchsorted(self.edges, scores, side="right")])
        intercept, low, high = self.coefficients
        rising, falling = features(scores)
        height = np.clip(intercept + low * rising + high * falling, -STEEPEST, STEEPEST)
        return np.asarray(1 / (1 + np.exp(-height)))

    def sql(self, score: str, *, dialect: str | None = None) -> str:
        """The map as one SQL expression; NULL for what is no score.

        Without a dialect (duckdb, postgres or spark) the name of the column must need no quotation marks.
        """
        x = quoted(score, dialect)
        if self.values:
            steps = [f"WHEN {x} < {_real(edge)} THEN {_real(value)}" for edge, value in zip(self.edges, self.values)]  # noqa: B905
            last = _real(self.values[-1])
            found = f"CASE {' '.join(steps)} ELSE {last} END" if steps else last
        else:
            intercept, low, high = map(_real, self.coefficients)
            rising = f"ln(greatest({x}, {_real(LEAST)}))"
            falling = f"ln(1e0 - least({x}, {_real(1 - LEAST)}))"
            height = f"{intercept} + {low} * {rising} - {high} * {falling}"
            found = f"1e0 / (1e0 + exp(-least(greatest({height}, -{_real(STEEPEST)}), {_real(STEEPEST)})))"
        return f"CASE WHEN {x} >= 0 AND {x} <= 1 THEN {found} END"


def features(scores: Floats) -> tuple[Floats, Floats]:
    """ln x and -ln(1 - x), whose sum is the log-odds."""
    return np.log(np.maximum(scores, LEAST)), -np.log(1 - np.minimum(scores, 1 - LEAST))


def quoted(name: Any, dialect: str | None) -> str:
    """The name of a column as SQL: nothing in it can be anything but a name."""
    if not isinstance(name, str) or not name or "\0" in name:
        raise TypeError(f"score must be the name of a column; got {name!r}.")
    if dialect is None:
        if NAME.fullmatch(name):
            return name
        raise ValueError(
            f"score must be a name of letters, digits and _; got {name!r}. For any other name pass "
            f"dialect='...', one of {', '.join(QUOTES)}."
        )
    if dialect not in QUOTES:
        raise ValueError(f"dialect must be one of {', '.join(QUOTES)}; got {dialect!r}.")
    mark = QUOTES[dialect]
    return f"{mark}{name.replace(mark, 2 * mark)}{mark}"


def _real(value: float) -> str:
    """A number as every engine reads it: to the last bit, and as a double where engines know decimals."""
    text = repr(float(value))
    return text if "e" in text else f"{text.removesuffix('.0')}e0"
