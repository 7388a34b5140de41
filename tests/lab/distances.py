"""Distances from calibration by linear programs that share nothing with the program: joint laws, pairs, rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def by_joint_laws(score: Floats, probability: Floats, grid: Floats) -> float:
    """The least E|U - X| over joint laws of score, label and a calibrated score U on the grid."""
    shape = (score.size, 2, grid.size)
    kept, calibrated = [], []
    for i in range(score.size):
        for y in (0, 1):
            one = np.zeros(shape)
            one[i, y] = 1.0
            kept.append(one.ravel())
    for j, u in enumerate(grid):
        one = np.zeros(shape)
        one[:, 0, j], one[:, 1, j] = -u, 1 - u
        calibrated.append(one.ravel())
    moved = np.broadcast_to(np.abs(score[:, None, None] - grid), shape)
    found = linprog(
        moved.ravel(),
        A_eq=np.array(kept + calibrated),
        b_eq=np.concatenate([probability.ravel(), np.zeros(grid.size)]),
    )
    assert found.success
    return float(found.fun)


def by_pairs(score: Floats, probability: Floats, grid: Floats, boxed: bool) -> float:
    """The largest E g_Y(X) over pairs that are 1-Lipschitz and admissible on the grid, which holds the scores."""
    size = grid.size
    step = np.eye(size)[1:] - np.eye(size)[:-1]
    none, wide = np.zeros_like(step), np.diff(grid)
    rises = np.block([[step, none], [none, step]])
    tied = np.hstack([np.diag(1 - grid), np.diag(grid)])
    gain = np.zeros((2, size))
    gain[:, np.searchsorted(grid, score)] = probability.T
    floors = np.concatenate([-grid, grid - 1])
    found = linprog(
        -gain.ravel(),
        A_ub=np.vstack([rises, -rises, tied]),
        b_ub=np.concatenate([wide, wide, wide, wide, np.zeros(size)]),
        bounds=[(low, -low) if boxed else (None, None) for low in floors],
    )
    assert found.success
    return -float(found.fun)


def of_rows(scores: Floats, labels: Integers, grid: int = 512) -> tuple[float, float]:
    """The distance of the rows' own law, or up to so much more: the calibrated score lies at rows or on the grid.

    The earth mover's form: mass M of the calibrated score, and what flows past each point for either label.
    """
    at = np.unique(np.concatenate([scores, np.linspace(0, 1, grid + 1)]))
    place, wide = np.searchsorted(at, scores), np.diff(at)
    rows = [np.bincount(place[labels == y], minlength=at.size) / scores.size for y in (0, 1)]
    out = sparse.diags([np.ones(at.size - 1), -np.ones(at.size - 1)], [0, -1], shape=(at.size, at.size - 1))
    balance = sparse.bmat([[sparse.diags(1 - at), out, -out, None, None], [sparse.diags(at), None, None, out, -out]])
    price = np.concatenate([np.zeros(at.size), wide, wide, wide, wide])
    found = linprog(price, A_eq=balance, b_eq=np.concatenate(rows), method="highs")
    assert found.success
    return float(found.fun), 0.5 / grid**2


def smooth_error(score: Floats, probability: Floats) -> float:
    """The largest E f(X)(Y - X) over f into [-1, 1] that is 1-Lipschitz on the scores."""
    weight = probability[:, 1] - score * probability.sum(axis=1)
    step = np.eye(score.size)[1:] - np.eye(score.size)[:-1]
    wide = np.diff(score)
    found = linprog(-weight, A_ub=np.vstack([step, -step]), b_ub=np.concatenate([wide, wide]), bounds=(-1, 1))
    assert found.success
    return -float(found.fun)
