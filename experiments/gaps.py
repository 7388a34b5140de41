"""What synthetic.csv says: gaps between bound and truth, and how fast they fall with the number of rows."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
ByMethod = dict[str, dict[int, Floats]]

NO_GAP = ("ECE", "distance")
"""ECE bounds nothing, and the true distance from calibration of these laws is not known in closed form."""


def gaps(lines: list[dict[str, str]]) -> dict[str, ByMethod]:
    """law -> method -> n -> upper minus truth, one number a repeat (for ECE, which bounds nothing, its distance)."""
    found: dict[str, dict[str, dict[int, list[float]]]] = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    for line in lines:
        gap = float(line["value"]) - float(line["truth"])
        if line["method"].startswith("ECE"):
            gap = abs(gap)
        found[line["law"]][line["method"]][int(line["n"])].append(gap)
    return {
        law: {method: {n: np.array(v) for n, v in sorted(by_n.items())} for method, by_n in by_method.items()}
        for law, by_method in found.items()
    }


def slopes(lines: list[dict[str, str]]) -> dict[str, dict[str, float]]:
    """law -> method -> slope of log mean gap against log rows, by least squares; NaN with fewer than 3 sizes.

    A size counts if the bound says something there: if its mean is below 1.
    """
    said: dict[tuple[str, str, int], list[float]] = defaultdict(list)
    for line in lines:
        said[line["law"], line["method"], int(line["n"])].append(float(line["value"]))
    table: dict[str, dict[str, float]] = defaultdict(dict)
    for law, by_method in gaps(lines).items():
        for method, by_n in by_method.items():
            if method.startswith(NO_GAP):
                continue
            kept = [(n, v.mean()) for n, v in by_n.items() if np.mean(said[law, method, n]) < 1 and v.mean() > 0]
            x, y = np.log10(np.array(kept)).reshape(-1, 2).T
            table[law][method] = float(np.polyfit(x, y, 1)[0]) if len(kept) >= 3 else float("nan")
    return dict(table)
