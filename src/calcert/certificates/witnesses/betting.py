"""Theorem 5: lower bounds with no assumption, by betting with witnesses found on some rows and judged by others.

Any function f into [-1, 1] is a witness: E[f(X)(X - Y)] is at most the L1 calibration error. Rows are split into
batches at random, independently of everything, and each but the first is judged by a witness found on those before it.
If the mean of what the witness earns is at most c, the wealth of a strategy that bets a predictable share on every row
is a nonnegative supermartingale. One split could decide, so the final wealth is averaged over several: its mean is at
most 1, and it reaches 1/delta with probability at most delta (Markov). The lower limit is the largest c rejected that
way. The probability is over the rows and the random splits, which the seed sets: it must not be shopped for.

Rows of a batch are known only to their cell, so a gain is the smallest one that any place inside the cell could give. A
witness may look at the counts of earlier batches and at nothing else: not at offsets or distinct scores.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from calcert.certificates.certificate import Lower
from calcert.certificates.limits.sampling_term import gap_limit
from calcert.certificates.witnesses import random_splits
from calcert.certificates.witnesses.cluster_lower import EVERY, error_patterns, lower_with_bets
from calcert.certificates.witnesses.listed_witnesses import FOR_L1, SimpleWitnesses
from calcert.certificates.witnesses.random_splits import FOR_WITNESSES, middles
from calcert.foundation.array_types import Floats, Integers
from calcert.foundation.rounding import LOG_ROUNDING
from calcert.foundation.validation import refuse_clusters
from calcert.kernels.bets import judged, log_growth
from calcert.kernels.search import crossing
from calcert.kernels.signs import signed_gains
from calcert.summary.summary import Summary

SMALL_ERROR = 0.1
"""Errors below this over the root of n are small: there, what stands beside the bet may have most of delta."""

GAP_ROWS, GAP_SHARE = 20_000, 0.3
"""From so many rows on calibration in the large may refute larger errors, for up to this share of delta."""

PRECISION = 1e-4
"""How far a search may stop below the limit, relatively."""

SMALL_BET = 0.2
"""Up to this bet logarithms are bounded by four terms of their series."""

NOTHING = (0.0,) * 5
"""The series of no bet."""


Witness = Callable[[Integers], Floats]
"""From split rows, shape (splits, batches, points, 2), a guaranteed gain per bet, point and label.

Its shape is (splits, batches - 1, points, 2). Bet b of a split judges the rows of batch b + 1: the witness may look at
batches 0 to b of that split for it, and at nothing else. What it learnt from another split would be later rows.
"""


def lower_limit(
    summary: Summary,
    delta: float,
    seed: int,
    witness: Witness,
    beside: SimpleWitnesses | None = None,
    splits: Integers | None = None,
) -> Lower:
    """The largest c at which the final wealth, averaged over splits, reaches 1/delta.

    Beside it the e-value: the final wealth of the bets against an error of 0, from a wealth of 1.

    Guarantee
        If `witness` returns at most the true gain of each row, and no gain's mean exceeds the error, the result is at
        most the error with probability at least 1 - delta over the rows and the random splits. If the error is 0, the
        mean of the e-value is at most 1: it reaches 20 with probability at most 1/20.

    The witness is told and judged by counts per cell, or by `splits` that were made already. Where there is something
    `beside`, the error must be at least |E X - E Y|. Errors below a number that depends on n alone may be refuted by
    `beside` or by what is left of delta for the bet, larger ones by calibration in the large or the bet: every error
    has one test of level delta (theory, "Near calibration").
    """
    game = play(summary, delta, seed, witness, splits)
    return Lower.of(_limit(game, summary, delta, beside), game.log_wealth(0.0))


def _limit(game: Game, summary: Summary, delta: float, beside: SimpleWitnesses | None) -> float:
    if beside is None:
        return game.limit(delta)
    small = SMALL_ERROR / math.sqrt(summary.n)
    refuted = game.limit((1 - beside.share) * delta)
    if refuted < small:
        refuted = max(refuted, beside.limit(summary, delta, small))
    if refuted < small:
        return refuted
    if summary.n < GAP_ROWS:
        return max(small, game.limit(delta))
    refuted = max(small, game.limit(delta, lambda c: math.log1p(-_gap_share(c, summary.n))))
    for _ in range(4):  # Larger errors have no smaller shares: what the gap refutes with one, it refutes with theirs.
        refuted = max(refuted, gap_limit(summary, _gap_share(refuted, summary.n) * delta))
    return refuted


def _gap_share(c: float, n: int) -> float:
    """The share of delta for calibration in the large to refute an error of c: the bet loses about 2% at most."""
    return min(-math.expm1(-0.1 * c * math.sqrt(n)), GAP_SHARE)


def play(summary: Summary, delta: float, seed: int, witness: Witness, splits: Integers | None = None) -> Game:
    """All bets of all splits, with sizes that suit a limit at `delta`."""
    refuse_clusters(summary)  # Rows of one cluster would be witness and judge.
    if splits is None:
        splits = random_splits.splits(summary.cell_points, seed)
    gain = witness(splits)
    bets = judged(gain, splits, summary.n, delta).tolist()
    return Game(
        tuple(
            tuple(
                Round(bet, gain[t, b], splits[t, b + 1], tuple(moments))
                for b, (bet, *moments) in enumerate(of_split)
                if bet > 0
            )
            for t, of_split in enumerate(bets)
        )
    )


def in_turn(witness: Callable[[Integers, Integers], Floats]) -> Witness:
    """A witness that is asked for one bet after the other, with the counts of all earlier batches and of the last."""

    def gains(splits: Integers) -> Floats:
        found = np.zeros((len(splits), splits.shape[1] - 1, *splits.shape[2:]))
        for t, batches in enumerate(splits):
            known = np.zeros_like(batches[0])
            for b, last in enumerate(batches[:-1]):
                known = known + last
                if known.any():
                    found[t, b] = witness(known, last)
        return found

    return gains


@dataclass(frozen=True)
class Game:
    """The bets of all splits; wealth against every error c."""

    splits: tuple[tuple[Round, ...], ...]

    def log_wealth(self, c: float) -> float:
        """The logarithm of the final wealth, averaged over splits."""
        final = [_series_at(c, *sums) + math.fsum(r.log_wealth(c) for r in large) for sums, large in self._final]
        largest = max(final)
        return largest + math.log(math.fsum(math.exp(w - largest) for w in final) / len(final)) - self._rounding

    @cached_property
    def _rounding(self) -> float:
        """More than any logarithm of wealth is off (theory, "The logarithm")."""
        return LOG_ROUNDING + sum(r.rounding for rounds in self.splits for r in rounds)

    @cached_property
    def _final(self) -> list[tuple[tuple[float, ...], list[Round]]]:
        """For each split the series of all rounds with small bets, added up, and the other rounds."""
        return [
            (
                tuple(math.fsum(each) for each in zip(NOTHING, *(r.series for r in rounds if r.small), strict=True)),
                [r for r in rounds if not r.small],
            )
            for rounds in self.splits
        ]

    def limit(self, delta: float, left: Callable[[float], float] = lambda c: 0.0) -> float:
        """The largest c that is rejected at `delta`, or at what is left of it at c: a logarithm that falls with c."""

        def evidence(c: float) -> float:
            return self.log_wealth(c) + math.log(delta) + left(c)

        # Bets do not depend on c, so wealth falls with c and the rejected values form an interval.
        if evidence(0.0) <= 0:
            return 0.0
        earned = max(r.moments[1] / max(r.moments[0], 1) for rounds in self.splits for r in rounds)
        # At the mean of what was earned wealth has seldom grown, and at 1 never.
        return crossing(evidence, 0.0, earned if 0 < earned < 1 and evidence(earned) <= 0 else 1.0, PRECISION)[0]


@dataclass(frozen=True)
class Round:
    """One batch judged: the bet, the gain per point and label, and the rows of the batch.

    `moments` are sums over the rows of the powers 0..4 of their gains.
    """

    bet: float
    gain: Floats
    rows: Integers
    moments: tuple[float, ...]

    @property
    def small(self) -> bool:
        """True where the bet is so small that the series will do."""
        return self.bet <= SMALL_BET

    @property
    def rounding(self) -> float:
        """More than the logarithm is off for sums over points being rounded, of few powers or of many logarithms."""
        return (2.0**-42 if self.small else 2.0**-32) * self.bet * self.moments[0]

    @cached_property
    def series(self) -> tuple[float, ...]:
        """What bounds the logarithm for a small bet, as coefficients of the powers 0..4 of -c."""
        m0, m1, m2, m3, m4 = self.moments
        first, second, third = self.bet, -(self.bet**2) / 2, self.bet**3 / 3
        fourth = -(self.bet**4) / (4 * (1 - 2 * self.bet))
        return (
            first * m1 + second * m2 + third * m3 + fourth * m4,
            first * m0 + 2 * second * m1 + 3 * third * m2 + 4 * fourth * m3,
            second * m0 + 3 * third * m1 + 6 * fourth * m2,
            third * m0 + 4 * fourth * m1,
            fourth * m0,
        )

    def log_wealth(self, c: float) -> float:
        """The sum over rows of log(1 + bet (gain - c)), or a little less.

        With z >= -a > -1, log(1 + z) >= z - z^2/2 + z^3/3 - z^4 / 4(1 - a); for small bets that is as good and needs
        five sums instead of a logarithm a point.
        """
        if self.small:
            return _series_at(c, *self.series)
        return float(log_growth(self.bet, self.gain, self.rows, c))


def _series_at(c: float, a0: float, a1: float, a2: float, a3: float, a4: float) -> float:
    return a0 - c * (a1 - c * (a2 - c * (a3 - c * a4)))


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
