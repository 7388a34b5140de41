"""Whether a batch repeats an earlier one: an export may hold all labels so far, and rows that count twice void bounds.

Both batches are counted by item, a cell and a label: a rows of the earlier one, b of the new one, t = a + b. The
evidence compares two explanations of a, given t, item by item: that b contains a, and that the batches are independent.

Guarantee
    Of two independent batches, each of independent rows from any one distribution, the evidence reaches 1/ERROR with
    probability at most ERROR.
Proof
    Given all t, the a_i are independent binomial variables of t_i rows, with probabilities that the two distributions
    decide, given their sum (docs/theory/monitoring.md). Their probabilities may be chosen such that the sum has its
    mean, which is its mode: it has probability at least 1 / CONDITIONING, below. So the true probability of the a_i is
    at most CONDITIONING times the product of the largest binomial probabilities, and the mean of what another
    distribution of the a_i gives them, over that, is at most 1. Markov's inequality. QED.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import gammaln, xlog1py, xlogy

from calcert.foundation.array_types import Floats, Integers
from calcert.summary import cells

ERROR = 1e-9
"""The largest probability with which an honest batch is taken for a repetition of one earlier batch."""

LOST = 0.05
"""Prior probability of an item whose rows are not contained, since rows may have been corrected or have expired."""

ITEMS = 4096
"""The most items that are looked at: they tell enough."""

SCALES = (1.0, 1 / 8, 1 / 64, 1 / 1024)
"""How often two equal rows are both new, next to how often they would be if no score were telling: averaged over."""


def by_item(cell: Integers, count: Integers) -> Integers:
    """The rows of a batch for every cell and label, given those of its cells."""
    rows = np.zeros((cells.CELLS, 2), np.int64)
    rows[cell] = count
    return rows.ravel()


def repetition(earlier: Integers, new: Integers) -> float:
    """The logarithm of the evidence that `new` contains `earlier`, both by item."""
    sizes = int(earlier.sum()), int(new.sum())
    item = np.flatnonzero(earlier + new)
    item = item[:: -(-item.size // ITEMS)]
    a, t = earlier[item], earlier[item] + new[item]
    independent = _log_binomial(a, t, a / t)
    # Where b = a + c, half of the t rows are pairs, but for the rows of c.
    both_new = max(sizes[1] - sizes[0], 1) / (sizes[1] + sizes[0])
    lost = math.log(LOST) - np.log(t + 1.0)
    logs = []
    for scale in SCALES:
        pairs = np.where(2 * a <= t, _log_binomial(np.minimum(a, t // 2), t // 2, 1 - scale * both_new), -np.inf)
        logs.append(float((np.logaddexp(math.log(1 - LOST) + pairs, lost) - independent).sum()))
    conditioning = 1.5 * (math.sqrt(3 * sum(sizes)) + 1)
    return float(np.logaddexp.reduce(logs)) - math.log(len(SCALES) * conditioning)


def _log_binomial(a: Integers, t: Integers, probability: Floats | float) -> Floats:
    """The logarithm of the probability of `a` successes in `t` trials."""
    ways = gammaln(t + 1) - gammaln(a + 1) - gammaln(t - a + 1)
    return np.asarray(ways + xlogy(a, probability) + xlog1py(t - a, -probability))
