"""Theorem 15: the p-value of perfect calibration, by drawing labels from the scores themselves.

If every score is the probability of its row's label, labels drawn from the scores have the distribution of the labels,
given the scores. So where the labels that were seen rank among such draws is a p-value, at every number of rows and for
every statistic. The statistic here is the plug-in of ranges, Kuiper's (1960) for calibration.

From a Summary, rows are known to their cell: labels are drawn as if all scores of a cell were their mean, which makes
the number of its positives binomial where it is a sum of trials that differ. How far apart the two distributions are
was bounded by Ehm (1991); as much is added to the p-value. Where scores are listed there is nothing to add.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from calcert.certificates.certificate import plain_rows, proved_for
from calcert.foundation.array_types import Floats, Integers
from calcert.foundation.result import Result
from calcert.foundation.validation import check_count
from calcert.summary.points import across_labels
from calcert.summary.summary import Summary

JOINED_BITS = range(6, -1, -1)
"""Neighbouring cells are put together, 2^bits of them, as long as that hides little."""

TOGETHER = 1 << 20
"""About so many numbers of positives are drawn at a time."""

TIES = 1e-9
"""Draws whose statistic is below the one that was seen by less than this share of it count as equal."""

LARGEST = 1_000_000


@dataclass(frozen=True)
class CalibrationTest(Result):
    """The p-value of perfect calibration: at most alpha with probability at most alpha, if E[Y|X] = X.

    Attributes
    ----------
    p_value
        Small where labels drawn from the scores seldom look as bad as the labels that were seen.
    statistic
        The cutoff calibration error, per row of all rows.
    draws
        How often labels were drawn; the p-value is no smaller than one over one more than that.
    hidden
        What was added to the p-value for scores that are known to their cell only; 0 where they are listed.
    n, seed
        The number of rows, and the seed of the draws.
    drawn
        What the statistic was in the draws: 101 quantiles, from the smallest to the largest.

    Examples
    --------
    >>> test = calcert.bounds.calibration_test([0.5] * 20, [1] * 20)
    >>> test.p_value, test.statistic, test.draws, test.hidden
    (0.001, 0.5, 999, 0.0)
    """

    kind: ClassVar = "test"
    noun: ClassVar = "the test"

    p_value: float
    statistic: float
    draws: int
    hidden: float
    n: int
    seed: int
    drawn: tuple[float, ...] = field(repr=False)

    def __post_init__(self) -> None:
        if not (0 < self.p_value <= 1 and self.draws >= 1 and self.n >= 1 and self.drawn):
            raise ValueError(f"a test must have a p-value from above 0 to 1, draws and rows; got {vars(self)}.")

    def _rows(self) -> list[dict[str, Any]]:
        return [{name: value for name, value in vars(self).items() if name != "drawn"}]


@proved_for(plain_rows)
def calibration_test(summary: Summary, *, draws: int = 999, seed: int = 0) -> CalibrationTest:
    """Test whether a classifier is perfectly calibrated: whether every score is the probability of label 1.

    No classifier is, so that with rows enough the answer is always no; :func:`calcert.certify` says by how much. A
    large p-value is no certificate of anything.

    Guarantee
        If E[Y|X] = X, the p-value is at most alpha with probability at most alpha over labels and draws, for every
        alpha, every number of rows and whatever the scores (Theorem 15).
    Assumes
        Of the rows and the arguments, what :func:`calcert.certify` assumes.

    Parameters
    ----------
    draws
        How often labels are drawn from the scores.
    seed
        Of the draws.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(1_000)
    >>> calcert.bounds.calibration_test(x, rng.random(1_000) < x).p_value
    0.766
    >>> calcert.bounds.calibration_test(x, rng.random(1_000) < x**1.5).p_value
    0.001
    """
    draws = check_count("draws", draws, 1, LARGEST)
    trials = _trials(summary, 0.5 / (1 + draws))
    expected = trials.rows * trials.probability
    seen = float(_spread(trials.positives[None, :] - expected)[0])
    rng, drawn = _generator(summary, seed), np.empty(draws)
    together = max(TOGETHER // trials.rows.size, 1)
    for start in range(0, draws, together):
        part = drawn[start : start + together]
        part[:] = _spread(rng.binomial(trials.rows, trials.probability, (part.size, trials.rows.size)) - expected)
    reached = int((drawn >= seen * (1 - TIES)).sum())
    return CalibrationTest(
        p_value=min((1 + reached) / (1 + draws) + trials.hidden, 1.0),
        statistic=seen / summary.n,
        draws=draws,
        hidden=trials.hidden,
        n=summary.n,
        seed=seed,
        drawn=tuple((np.quantile(drawn, np.linspace(0.0, 1.0, 101)) / summary.n).tolist()),
    )


def _generator(summary: Summary, seed: int) -> np.random.Generator:
    """Random numbers for one Summary, seeded by the seed and by a digest of the Summary.

    With the seed alone, data sets that differ a little would see almost the same draws.
    """
    digest = hashlib.sha256(b"".join(a.tobytes() for a in (summary.cell, summary.count, summary.offset))).digest()
    return np.random.default_rng([seed, *np.frombuffer(digest, np.uint32).tolist()])


@dataclass(frozen=True)
class _Trials:
    """Per run of cells or listed score: rows, their mean score, positives; and what taking them for alike hides."""

    rows: Integers
    probability: Floats
    positives: Integers
    hidden: float


def _trials(summary: Summary, allowed: float) -> _Trials:
    """The rows as trials: the fewest runs of cells that hide no more than allowed, or the cells themselves."""
    if summary.distinct_count is not None:
        rows = across_labels(summary.distinct_count)
        return _Trials(rows, summary.values, summary.distinct_count[:, 1], 0.0)
    for bits in JOINED_BITS:
        trials = _joined(summary, bits)
        if trials.hidden <= allowed:
            break
    return trials


def _joined(summary: Summary, bits: int) -> _Trials:
    start = np.flatnonzero(np.diff(summary.cell >> bits, prepend=-1))
    rows, score = across_labels(summary.count), across_labels(summary.score_sum)
    mean = score / rows
    together = np.add.reduceat(rows, start)
    probability = np.clip(np.add.reduceat(score, start) / together, 0.0, 1.0)
    # Rows of a cell of width w whose mean is f w from its left have a variance of at most f (1 - f) w^2; one has none.
    inside = np.clip(mean - summary.left, 0.0, summary.width)
    spread = np.where(rows > 1, rows * inside * (summary.width - inside), 0.0)
    spread += rows * (mean - np.repeat(probability, np.diff(np.append(start, rows.size)))) ** 2
    hidden = mixing_distance(together, probability, np.add.reduceat(spread, start)).sum()
    # Every score may lie 2^-40 higher than it is known to, which moves its probability by as much; charged twice over.
    hidden += 2 * summary.n * summary.resolution
    return _Trials(together, probability, np.add.reduceat(summary.count[:, 1], start), float(hidden))


def _spread(steps: Floats) -> Floats:
    """The range of the running sums of each row of `steps`, 0 among them."""
    sums = np.cumsum(steps, axis=1)
    return np.asarray(np.maximum(sums.max(axis=1), 0.0) - np.minimum(sums.min(axis=1), 0.0))


def mixing_distance(trials: Integers, probability: Floats, spread: Floats) -> Floats:
    """At most the total variation distance of the number of hits of trials that differ from that of trials alike (Ehm).

    `probability` is the mean probability of the trials and `spread` at least the sum of squared distances from it.
    """
    rarer = np.minimum(probability, 1 - probability)
    mixed = -np.expm1((trials + 1) * np.log1p(-rarer)) - rarer ** (trials + 1.0)
    factor = mixed / np.maximum((trials + 1) * rarer * (1 - rarer), 1e-300)
    return np.asarray(np.minimum(factor * spread, 1.0))
