"""Theorem 5: lower bounds, with no assumption at all.

Any function f into [-1, 1] is a witness: E[f(X)(X - Y)] is at most the L1 calibration error. One found on some rows and
judged on others gives a lower confidence limit; `betting` does the judging. Rows of a batch are known only to their
cell, so a gain is the smallest one that any place inside the cell could give. A witness may look at the counts of
earlier batches and at nothing else: not at offsets or distinct scores, which know of all rows. The witness for the
perturbed classifier is in `perturbed_witness`.
"""

from __future__ import annotations

import math

import numpy as np

from calcert.certificates.certificate import Lower
from calcert.certificates.clusters.cluster_bets import EVERY, lower_with_bets
from calcert.certificates.clusters.cluster_gain_lists import error_patterns
from calcert.certificates.witnesses import random_splits
from calcert.certificates.witnesses.betting import in_turn, lower_limit
from calcert.certificates.witnesses.joined_cells import FOR_WITNESSES, middles
from calcert.certificates.witnesses.listed_witnesses import FOR_L1
from calcert.kernels.signs import signed_gains
from calcert.summary.summary import Summary

SCALES = np.array([1, 8, 64, 512, 4096])
"""Numbers of groups in which a witness for the unmodified classifier may be constant."""

PART = 0.07
"""Blocks are as wide as this times the root of x over n: not knowing where in them rows are costs a fiftieth of what
so many rows leave open."""


def l1_lower(summary: Summary, delta: float, seed: int) -> Lower:
    """A lower bound for E|X - E[Y|X]| at confidence 1 - delta: signs of groups, at the scale that did best so far."""
    if summary.clusters is not None:
        return lower_with_bets(summary, error_patterns(summary), EVERY, delta)
    points = middles(summary, min(FOR_WITNESSES, PART / math.sqrt(summary.n)))
    return lower_limit(
        summary,
        delta,
        seed,
        in_turn(lambda known, last: signed_gains(points.low, points.high, known, last, SCALES)),
        beside=FOR_L1,
        splits=random_splits.splits(points, seed, random_splits.TRIED),
    )
