"""What synthetic.csv says: gaps between bound and truth, and how fast they fall with the number of rows."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
ByMethod = dict[str, dict[int, Floats]]

NO_GAP = ("ECE", "distance")
"""ECE bounds nothing, and the true distance from calibration of these distributions is not known in closed form."""


def gaps(lines: list[dict[str, str]]) -> dict[str, ByMethod]:
    """distribution -> method -> n -> upper minus truth per repeat (for ECE, which bounds nothing, its distance)."""
    found: dict[str, dict[str, dict[int, list[float]]]] = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    for line in lines:
        gap = float(line["value"]) - float(line["truth"])
        if line["method"].startswith("ECE"):
            gap = abs(gap)
        found[line["distribution"]][line["method"]][int(line["n"])].append(gap)
    return {
        distribution: {method: {n: np.array(v) for n, v in sorted(by_n.items())} for method, by_n in by_method.items()}
        for distribution, by_method in found.items()
    }


def slopes(lines: list[dict[str, str]]) -> dict[str, dict[str, float]]:
    """distribution -> method -> slope of log mean gap against log rows, by least squares; NaN with fewer than 3 sizes.

    A size counts if the bound says something there: if its mean is below 1.
    """
    said: dict[tuple[str, str, int], list[float]] = defaultdict(list)
    for line in lines:
        said[line["distribution"], line["method"], int(line["n"])].append(float(line["value"]))
    table: dict[str, dict[str, float]] = defaultdict(dict)
    for name, by_method in gaps(lines).items():
        for method, by_n in by_method.items():
            if method.startswith(NO_GAP):
                continue
            kept = [(n, v.mean()) for n, v in by_n.items() if np.mean(said[name, method, n]) < 1 and v.mean() > 0]
            x, y = np.log10(np.array(kept)).reshape(-1, 2).T
            table[name][method] = float(np.polyfit(x, y, 1)[0]) if len(kept) >= 3 else float("nan")
    return dict(table)
