"""From a probability for every class to one score a row, and back: what is perturbed and certified of a classifier.

With two classes it is the probability of the second. With more it is the confidence of the most probable class, as a
forecast of that class being right (top-label calibration).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from calcert.foundation.array_types import Floats


def score(proba: Floats) -> Floats:
    """What is perturbed and certified: the probability of the second of two classes, else that of the top class."""
    return np.asarray(proba[:, 1] if proba.shape[1] == 2 else proba.max(axis=1))


def forecast(proba: Floats) -> NDArray[np.int64]:
    """The class whose probability the score is: the second of two, else the top one, the first of those that tie."""
    return np.ones(len(proba), np.int64) if proba.shape[1] == 2 else proba.argmax(axis=1)


def share_out(original: Floats, perturbed: Floats) -> Floats:
    """Probabilities whose top class has `perturbed`, and the others the rest of the mass."""
    rows, top = np.arange(len(original)), forecast(original)
    others = original.copy()
    others[rows, top] = 0
    mass, even = others.sum(axis=1), (1 - perturbed) / (original.shape[1] - 1)
    share = np.where(mass > 0, (1 - perturbed) / np.where(mass > 0, mass, 1), 0)[:, None] * others
    peak = share.max(axis=1)
    # Mixing with equal shares brings the largest one down to just below `perturbed`, if equal shares are below it at
    # all.
    limit = perturbed * (1 - 1e-12)
    needed = (peak > limit) & (even < limit)
    mix = np.where(needed, (peak - limit) / np.where(needed, peak - even, 1), mass <= 0)[:, None]
    share = (1 - mix) * share + mix * even[:, None]
    share[rows, top] = perturbed
    return np.asarray(share)
