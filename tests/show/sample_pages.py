"""One page of every kind, with names that try to break out of it."""

from __future__ import annotations

import datetime
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import calcert
from calcert.commands.demo import simulate
from calcert.show import as_page

DAY = datetime.date(2026, 3, 14)
KINDS = ("report", "groups", "classes", "monitor", "comparison")

HOSTILE = "</td></svg><script>alert('x')</script>"
NAMES = (HOSTILE, "$a_{$ and $b", 'id="#0072b2" & [/]', "a name that goes on and on, and on, and on", "tiny")


@cache
def result(kind: str) -> Any:
    """What the page of a kind shows."""
    if kind == "report":
        return calcert.certify(*simulate(20_000, seed=0), settings=calcert.Settings(odds=1 / 16))
    rng = np.random.default_rng(0)
    chance = rng.random(6_000)
    labels = rng.random(6_000) < chance
    if kind == "groups":
        names = np.array(NAMES)[np.r_[np.full(2, 4), rng.choice(4, 5_998, p=[0.4, 0.3, 0.2, 0.1])]]
        return calcert.certify(
            np.where(names == HOSTILE, chance**0.5, chance),
            labels,
            groups=names,
            settings=calcert.Settings(odds=1 / 16),
        )
    if kind == "classes":
        p = rng.dirichlet([2.0, 1.0, 0.5], 6_000)
        return calcert.certify(
            p, (rng.random((6_000, 1)) > p.cumsum(axis=1)).sum(axis=1), settings=calcert.Settings(odds=1 / 16)
        )
    if kind == "comparison":
        return calcert.compare({HOSTILE: chance**2, "plain": chance}, labels)
    watch = calcert.Monitor(Path(tempfile.mkdtemp()) / "state")
    for day in range(6):
        rows = slice(1_000 * day, 1_000 * (day + 1))
        scores = chance[rows] if day < 3 else chance[rows] ** 0.3
        name = HOSTILE if day % 2 else f"day {day}"
        window = "before" if day < 3 else HOSTILE
        watch.add(scores, labels[rows], batch_id=f"{name} {day}", time=f"2026-03-0{day + 1}", window_name=window)
    return watch.status(alarm=0.02)


@cache
def page_of(kind: str) -> str:
    """The page of a kind, as text."""
    return as_page(result(kind), command="calcert a&b.csv --confidence 0.95", date=DAY)
