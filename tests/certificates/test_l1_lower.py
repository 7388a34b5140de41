"""Witnesses: what they promise a row is never more than the row gives, and they look at earlier rows only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest import mock

import numpy as np
import pytest
from numpy.typing import NDArray

import calcert
from calcert import Summary
from calcert.certificates import distance, perturbed
from calcert.certificates.witnesses import betting, random_splits
from calcert.certificates.witnesses.random_splits import middles
from calcert.perturbation import sech_kernel
from calcert.perturbation.grids.coordinates import Coordinate, ScoreCoordinate
from calcert.perturbation.grids.grid import missed
from calcert.perturbation.grids.odds_coordinate import OddsCoordinate
from calcert.perturbation.noise import Noise

Floats = NDArray[np.float64]


LOWER: dict[str, Callable[[Summary], float]] = {
    "as it is": lambda s: betting.l1_lower(s, 0.05, 0).limit,
    "perturbed": lambda s: perturbed.perturbed_lower(s, Noise("additive", 0.1), 0.05, 0).limit,
    "perturbed on the odds": lambda s: perturbed.perturbed_lower(s, Noise("odds", 0.25), 0.05, 0).limit,
    "distance": lambda s: distance.distance_lower(s, 0.05, 0).limit,
}


def by_cells(summary: Summary) -> Summary:
    return Summary(summary.cell, summary.count, summary.offset, None, None)


def bets(summary: Summary, batches: NDArray[np.int64], lower: Callable[[Summary], float]) -> list[tuple]:
    """Stake, gain and rows of every round, for rows thrown into the given batches."""
    found: list[tuple] = []

    def note(*arguments: Any) -> betting.Round:
        found.append(arguments[:3])
        return real(*arguments)

    real = betting.Round
    with (
        mock.patch.object(random_splits, "splits", return_value=batches if batches.ndim == 4 else batches[None]),
        mock.patch.object(betting, "Round", note),
    ):
        lower(summary)
    return found


@pytest.mark.parametrize("subject", LOWER)
def test_bets_on_a_batch_do_not_depend_on_the_rows_of_that_batch_or_later_ones(subject: str) -> None:
    rng = np.random.default_rng(0)
    # Far enough apart to have a block each.
    scores = (np.arange(30) + rng.random(30) / 2) / 30
    early = rng.integers(0, 20, (5, 30, 2))
    for form in (lambda s: s, by_cells):
        seen = []
        for future in range(3):
            late = np.random.default_rng(future).multinomial(700, np.full(300, 1 / 300)).reshape(5, 30, 2)
            late[:, ::3] += late[:, 1::3]
            late[:, 1::3] = 0
            batches = np.concatenate([early, late])
            total = batches.sum(axis=0)
            x = np.repeat(scores, total.sum(axis=1))
            y = np.concatenate([np.repeat([0, 1], pair) for pair in total])
            seen.append(bets(form(calcert.summarize(x, y)), batches, LOWER[subject])[:5])
        for other in seen[1:]:
            for (stake, gain, _), (other_stake, other_gain, _) in zip(seen[0], other, strict=True):
                assert stake == other_stake
                assert (gain == other_gain).all()


@pytest.mark.parametrize("subject", LOWER)
def test_bets_of_one_throw_do_not_depend_on_those_of_another(subject: str) -> None:
    rng = np.random.default_rng(0)
    x = rng.random(400)
    summary = calcert.summarize(x, rng.random(400) < x**2)
    joined: dict[str, Coordinate] = {"additive": ScoreCoordinate(0.1), "odds": OddsCoordinate(0.25)}
    if subject.startswith("perturbed"):
        _, cells = joined["odds" if "odds" in subject else "additive"].by_joined_cell(summary)
    else:
        cells = middles(summary)
    throws = random_splits.splits(cells, 0)
    assert len(throws) > 1
    together = iter(bets(summary, throws, LOWER[subject]))
    for throw in throws:
        for (stake, gain, rows), (other_stake, other_gain, other_rows) in zip(
            bets(summary, throw, LOWER[subject]), together, strict=False
        ):
            assert stake == other_stake
            assert (gain == other_gain).all()
            assert (rows == other_rows).all()


@pytest.mark.parametrize("subject", LOWER)
def test_stakes_never_risk_more_than_there_is(subject: str) -> None:
    x = np.array([0.9] * 500 + [0.0] * 3)
    y = np.array([0] * 500 + [1] * 3)
    summary = calcert.summarize(x, y)
    for stake, gain, _ in bets(summary, random_splits.splits(summary.cell_points, 0), LOWER[subject]):
        assert 0 < stake < 0.5
        assert (gain >= -1).all()
        assert (gain <= 1).all()
        assert (1 + stake * (gain - 1) > 0).all()


@pytest.mark.parametrize("h", [2.0**-10, 1 / 64, 0.3, 2.0])
def test_a_witness_for_the_perturbed_classifier_promises_no_more_than_the_integral(h: float) -> None:
    rng = np.random.default_rng(2)
    x = np.clip(np.concatenate([[0.0, 1.0], rng.random(6), h * rng.random(3), 1 - h * rng.random(3)]), 0, 1)
    summary = by_cells(calcert.summarize(x, np.arange(x.size) % 2))
    where = ScoreCoordinate(h)
    points, view, grid = summary.points, where.apart(summary), where.witness_grid(x.size)
    witness = perturbed.PerturbedWitness(where, view, grid)
    f = witness.signs(points.count, perturbed.FREE, 0, grid.size)
    assert np.abs(f).max() <= 1
    promised = witness.gain(points.count)
    hiddens = where.hidden_gain(view, grid) + missed(grid)
    nodes, weights = np.polynomial.legendre.leggauss(4)
    for i in range(points.low.size):
        hidden = hiddens[i, 0]
        gains = []
        for place in np.linspace(points.low[i], points.high[i], 5):
            near = np.abs((np.arange(grid.size) + 0.5) / grid.size - place) < 42 * h + grid.step
            t = (np.flatnonzero(near)[:, None] + (nodes + 1) / 2) / grid.size
            k = sech_kernel.density(t, place, h) * f[near][:, None] * weights / 2 / grid.size
            gains.append([(k * (t - y)).sum() for y in (0, 1)])
        true = np.array(gains)
        assert (promised[i] - hidden <= true.min(axis=0) + 1e-11).all()
        assert np.abs(promised[i] - np.minimum(true[0], true[-1])).max() <= hidden + 1e-9


def test_lower_bounds_find_a_plain_error() -> None:
    rng = np.random.default_rng(4)
    x = rng.random(50_000)
    summary = calcert.summarize(x, rng.random(50_000) < x**2)
    assert 0.15 < betting.l1_lower(summary, 0.05, 0).limit < 1 / 6
    assert 0.15 < perturbed.perturbed_lower(summary, Noise("additive", 1 / 64), 0.05, 0).limit < 1 / 6
    assert 0.15 < distance.distance_lower(summary, 0.05, 0).limit < 1 / 6
