"""Moments of the gains of clusters: limits for squares and cubes (Lemmas QU and D3T), and squares from pair sums (PS).

A gain of a class is a function of scores times x - y. Where the function is made of a value at each place, squares add
up to a quadratic form in those values; what it is else is paid for by Minkowski's inequality.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from calcert.certificates.limits.deviations import mean_upper
from calcert.foundation.array_types import Floats
from calcert.kernels.search import SLACK
from calcert.perturbation import sech_kernel
from calcert.perturbation.grids.grid import CURVATURE
from calcert.perturbation.noise import Noise
from calcert.perturbation.odds_kernel import mean_factor, relative_shift
from calcert.summary.clusters import Clusters
from calcert.summary.design import GAIN
from calcert.summary.pair_sums import EDGES, NODES, SHARES, STEP, PairSums
from calcert.summary.summary import Summary

POWERS = (1.0, 1.25, 1.5, 1.75, 2.0)
"""Of the size of a place: how unevenly what places have in common is shared out among them."""

ROUNDED = 1e-10
"""Far more than LAPACK loses of an eigenvalue, or long sums of a table, next to its entries."""


@dataclass(frozen=True)
class Gains:
    """What is known of R, the largest gain of a cluster: sums of R^2 and of R W over the clusters, and a bound on R."""

    squares: float
    mixed: float
    cap: float


def gains_of(summary: Summary, clusters: Clusters, noise: Noise | None = None) -> Gains:
    """Upper limits for the sums over clusters, scores unmodified or perturbed."""
    squares, mixed = clusters.gain_squares / GAIN**2 * (1 + SLACK), clusters.gain_weights / GAIN * (1 + SLACK)
    if noise is None:
        return Gains(squares, mixed, clusters.gain_cap)
    if noise.kind == "odds":
        # O3: |y - E S| is at most |y - x| times the mean factor on the odds.
        factor = mean_factor(noise.size) * (1 + SLACK)
        return Gains(
            min(factor**2 * squares, clusters.squares), factor * mixed, min(factor * clusters.gain_cap, clusters.cap)
        )
    h, low, high = noise.size, summary.left, summary.left + summary.width
    # The mean perturbed score lies farther from x the nearer x is to an end, and grows with x (theory, clusters).
    shift = np.abs(sech_kernel.mean(np.where(low < 0.5, low, high), h) - np.where(low < 0.5, low, high)) + SLACK
    both = clusters.pairs.sum(axis=1)
    moved, moved_weights = float((both * shift**2).sum()), float((both * shift).sum())
    apart = (math.sqrt(squares) + math.sqrt(moved)) ** 2
    return Gains(
        squares=min(apart, perturbed_squares(summary, clusters, h), clusters.squares) * (1 + SLACK),
        mixed=(mixed + moved_weights) * (1 + SLACK),
        cap=min(clusters.cap, clusters.gain_cap + sech_kernel.LARGEST_MEAN_SHIFT * h * clusters.cap),
    )


def perturbed_squares(summary: Summary, clusters: Clusters, h: float = 0.0) -> float:
    """At least the sum over clusters of W times the sum of w (y - E[S|x])^2; without noise, of w (y - x)^2."""
    low, high = summary.left, summary.left + summary.width
    if h > 0:
        low, high = sech_kernel.mean(low, h), sech_kernel.mean(high, h)
    # Where in its cell a row is, nobody knows here: label 0 is farthest from the right end, label 1 from the left.
    return float((clusters.pairs[:, 0] * high**2 + clusters.pairs[:, 1] * (1 - low) ** 2).sum()) * (1 + SLACK) + SLACK


def second_limit(clusters: Clusters, squares: float, delta: float) -> float:
    """Lemma QU: at least the sum of the mean squared gains, if `squares` is at least that of the squares seen."""
    number, whole = clusters.number, float(clusters.number) * float(clusters.largest) ** 2
    # R <= W; the squares are independent, each between 0 and W^2: D1 and Hoeffding, one of which decides.
    chernoff = whole * mean_upper(min(squares / whole, 1.0), number, delta)
    ranges = squares + math.sqrt(math.log(1 / delta) * float(clusters.fourth) / 2)
    return min(chernoff, ranges, float(clusters.squares))


class LargeGains(NamedTuple):
    """At least the sum of the means of (R - share W)_+ R^2."""

    share: float
    beyond: float


def large_gains(clusters: Clusters, delta: float, noise: Noise | None = None) -> list[LargeGains]:
    """Limits for what clusters gain beyond a share of their weight, all at once at 1 - delta (Lemma D3T)."""
    if clusters.pair_sums is None:
        return []
    number, largest, level = clusters.number, float(clusters.largest), delta / SHARES.size
    found = []
    for share, seen in zip(SHARES.tolist(), clusters.pair_sums.beyond.tolist(), strict=True):
        # Each is between 0 and (1 - share) W^3: D1 and Hoeffding, as for the squares.
        top = (1 - share) * largest**3
        chernoff = number * top * mean_upper(min(seen / (number * top), 1.0), number, level)
        spread = (1 - share) * largest * math.sqrt(math.log(1 / level) * float(clusters.fourth) / 2)
        limit = min(chernoff, seen + spread) * (1 + SLACK)
        if noise is None:
            found.append(LargeGains(share, limit))
        elif noise.kind == "odds":
            factor = mean_factor(noise.size) * (1 + SLACK)
            found.append(LargeGains(factor * share, factor**3 * limit))
        else:
            shift = sech_kernel.LARGEST_MEAN_SHIFT * noise.size
            found.append(LargeGains(share + shift, (1 + shift / share) ** 2 * limit))
    return found


def largest_form(table: Floats) -> float:
    """At least the largest f' table f over all f with values in [-1, 1], table a sum of squares: Lemma PS.

    What is off the diagonal is at most its largest eigenvalue, however places are scaled.
    """
    size = np.sqrt(np.diagonal(table))
    there = size > 0
    table, size = table[np.ix_(there, there)], size[there]
    if not size.size:
        return 0.0
    off = table - np.diag(np.diagonal(table))
    best = float(np.abs(table).sum())
    for power in POWERS:
        scale = np.maximum(size / size.max(), 1e-3) ** (power / 2)
        scaled = off / np.outer(scale, scale)
        largest = float(np.linalg.eigvalsh(scaled)[-1]) + ROUNDED * float(np.abs(scaled).sum(axis=1).max())
        best = min(best, float(np.diagonal(table).sum()) + max(largest, 0.0) * float((scale**2).sum()))
    return best * (1 + ROUNDED)


def any_squares(clusters: Clusters) -> float:
    """For all gains: nothing is known of their squares but what their size says."""
    return math.inf


def signs_squares(clusters: Clusters, changes: int) -> float:
    """For signs that change at most so often, anywhere: a bin in which they change is paid for by itself."""
    sums = clusters.pair_sums
    if sums is None:
        return math.inf
    form = float(run_forms(sums.bins)[0, -1]) if changes == 0 else largest_form(sums.bins)
    inside = np.sort(np.sqrt(sums.gains))[::-1][:changes].sum()
    return _square(math.sqrt(form) + float(inside), clusters, 0.5)


def range_squares(clusters: Clusters) -> float:
    """For ranges with any ends: whole bins between two that they may cut."""
    sums = clusters.pair_sums
    if sums is None:
        return math.inf
    inside = np.sqrt(sums.gains)
    between = run_forms(sums.bins)
    # From the first bin that is whole, and up to the first that is not: the bins cut are those before and at it.
    first, stop = np.triu_indices(len(between))
    padded = np.concatenate([[0.0], inside, [0.0]])
    return _square(float((np.sqrt(between[first, stop]) + padded[first] + padded[stop + 1]).max()), clusters, 0.5)


def run_forms(table: Floats) -> Floats:
    """The form of each run of neighbouring places first, ..., stop - 1; one more each way than there are places."""
    total = np.zeros((len(table) + 1, len(table) + 1))
    total[1:, 1:] = table.cumsum(0).cumsum(1)
    own = np.diagonal(total)
    return np.maximum(own[None, :] - 2 * total + own[:, None], 0.0) + ROUNDED * float(np.abs(table).sum())


def grouped_table(sums: PairSums, edges: Floats) -> Floats:
    """Pair sums of groups of bins; the edges are edges of bins."""
    group = np.searchsorted(edges, np.concatenate([[0.0], EDGES]), "right")
    member = np.eye(edges.size + 1)[group]
    return np.asarray(member.T @ sums.bins @ member)


def group_squares(clusters: Clusters, edges: Floats) -> float:
    """For signs of groups."""
    if clusters.pair_sums is None:
        return math.inf
    return _square(math.sqrt(largest_form(grouped_table(clusters.pair_sums, edges))), clusters, 0.5)


def run_squares(clusters: Clusters, edges: Floats) -> float:
    """For runs of neighbouring groups."""
    if clusters.pair_sums is None:
        return math.inf
    return _square(math.sqrt(float(run_forms(grouped_table(clusters.pair_sums, edges)).max())), clusters, 0.5)


def tilt_squares(clusters: Clusters) -> float:
    """For functions of the score into [-1, 1] that change by at most twice as much as the score."""
    if clusters.pair_sums is None:
        return math.inf
    # Between nodes a line through two values of such a function is off by at most their distance.
    apart = float(np.diff(NODES).max()) * math.sqrt(clusters.gain_squares) / GAIN
    return _square(math.sqrt(_nodes_form(clusters.pair_sums)) + apart, clusters, 1.5)


def perturbed_form(summary: Summary, clusters: Clusters, noise: Noise) -> float:
    """For any function of the perturbed score: its mean at a score is smooth, whatever it is."""
    if clusters.pair_sums is None:
        return math.inf
    low, high = summary.left, summary.left + summary.width
    if noise.kind == "additive":
        curvature, moved = np.full(NODES.size - 1, CURVATURE / noise.size**2), np.full(low.size, 1.0)
        moved *= sech_kernel.LARGEST_MEAN_SHIFT * noise.size
    else:
        curvature = _curvature_on_odds(noise.size)
        middle = np.clip(0.5, low, high)
        moved = relative_shift(noise.size) * middle * (1 - middle)
    # Peano: half the product of the distances from two nodes, times the curvature; never more than 2.
    error = np.minimum(np.diff(NODES) ** 2 / 8 * curvature, 2.0)
    first, last = (np.clip(np.searchsorted(NODES, x, "right") - 1, 0, NODES.size - 2) for x in (low, high))
    away = np.where(last - first > 1, 2.0, np.maximum(error[first], error[last]))
    apart = clusters.pairs[:, 0] * (away * high + moved) ** 2 + clusters.pairs[:, 1] * (away * (1 - low) + moved) ** 2
    return _square(math.sqrt(_nodes_form(clusters.pair_sums)) + math.sqrt(float(apart.sum())), clusters, 1.5)


@lru_cache(maxsize=4)
def _nodes_form(sums: PairSums) -> float:
    """Several bandwidths ask for it, and it is the same for each."""
    return largest_form(sums.nodes)


def _curvature_on_odds(b: float) -> Floats:
    """At least the integral of the second derivative of the kernel in x, between neighbouring nodes."""
    with np.errstate(divide="ignore"):
        steep = 1 / (NODES * (1 - NODES))
    steep = np.maximum(steep[:-1], steep[1:])
    return np.asarray(2 / math.pi * steep**2 * (1 / b**2 + 1 / b) * (1 + SLACK))


def _square(root: float, clusters: Clusters, steps: float) -> float:
    """The square of a root, to which rounding of each row by so many steps has added."""
    return (root * (1 + ROUNDED) + steps / STEP * math.sqrt(float(clusters.squares))) ** 2
