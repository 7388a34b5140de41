"""Bands for a calibration curve that never falls: calcert's and that of calibrationband, which runs in R.

calibrationband (Dimitriadis, Dümbgen, Henzi, Puke and Ziegel) is a package of R: it is used where `Rscript` finds it,
and named as missing elsewhere. Its `standard` method looks at every pair of scores, in time that grows with the square
of the rows; `round` puts scores of equal digits together, two unless told, three in the example of its README.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

import calcert

Rows = list[tuple[np.ndarray, np.ndarray]]
GRID = np.linspace(0.0, 1.0, 20_001)


@dataclass(frozen=True)
class Band:
    """From edges[i] on the curve is at least lower[i], and up to edges[i] at most upper[i]; edges from 0 to 1."""

    edges: np.ndarray
    lower: np.ndarray
    upper: np.ndarray

    @property
    def width(self) -> float:
        """Mean distance of its sides over [0, 1]; not less than 0 where they cross."""
        return float((np.maximum(self.upper[1:] - self.lower[:-1], 0.0) * np.diff(self.edges)).sum())

    @property
    def crosses(self) -> bool:
        """Whether a lower limit exceeds an upper one: no curve that never falls fits."""
        return bool((self.lower > self.upper).any())

    def leaves_out(self, curve: Callable[[np.ndarray], np.ndarray]) -> bool:
        """Whether the curve is outside at an edge or a point of a fine grid; edges alone decide for one that rises."""
        x = np.concatenate([self.edges, GRID])
        at_least = self.lower[np.searchsorted(self.edges, x, "right") - 1]
        at_most = self.upper[np.searchsorted(self.edges, x, "left")]
        chance = curve(x)
        return bool(((chance < at_least - 1e-12) | (chance > at_most + 1e-12)).any())


def of_calcert(rows: Rows, level: float) -> list[Band]:
    """`calcert.curves.monotone_band`."""
    found = (calcert.curves.monotone_band(calcert.summarize(x, y), confidence=1 - level) for x, y in rows)
    return [Band(band.edges, band.lower, band.upper) for band in found]


@cache
def missing() -> str | None:
    """Why calibrationband cannot be run; None where it can."""
    if shutil.which("Rscript") is None:
        return "calibrationband: there is no Rscript"
    asked = subprocess.run(["Rscript", "-e", "library(calibrationband)"], capture_output=True, text=True, check=False)
    return "calibrationband: " + " ".join(asked.stderr.split())[:100] if asked.returncode else None


def version() -> str:
    """Versions of the package and of R."""
    say = 'cat(paste0("calibrationband ", packageVersion("calibrationband"), " on R ", getRversion()))'
    return subprocess.run(["Rscript", "-e", say], capture_output=True, text=True, check=True).stdout


def of_calibrationband(rows: Rows, level: float, method: str, digits: int = 0) -> list[Band]:
    """`calibration_bands` of the R package; `digits` matter to the method "round"."""
    with tempfile.TemporaryDirectory() as name:
        given, made = Path(name) / "rows", Path(name) / "bands"
        np.concatenate([np.concatenate(pair).astype(float) for pair in rows]).tofile(given)
        script, counts = Path(__file__).with_suffix(".R"), (len(rows), rows[0][0].size)
        command = ["Rscript", script, given, made, *counts, level, method, digits]
        subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True)
        return list(_read(np.fromfile(made)))


def _read(numbers: np.ndarray) -> Iterator[Band]:
    start = 0
    while start < numbers.size:
        size = int(numbers[start])
        yield Band(*numbers[start + 1 : start + 1 + 3 * size].reshape(3, size))
        start += 1 + 3 * size
