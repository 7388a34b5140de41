"""Laws of few outcomes: how often lower bounds of the default seed exceed the truth, over the rows alone, exactly.

Lower bounds promise at most delta over the rows and the throws. With the seed fixed the throws are a function of the
rows, and nothing is promised of the rows alone; that no law is known for which it is more than delta is what is tried
here. Laws have one to three scores, most of them one, and positives are rare in most, so that few tables are likely.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.stats import multinomial

from calcert import Summary
from calcert.certificates.crossings import crossings_lower
from calcert.certificates.cutoff import cutoff_lower
from calcert.certificates.distance import distance_lower
from calcert.certificates.perturbed import perturbed_lower
from calcert.certificates.sides import finite_lower
from calcert.certificates.witnesses import random_splits
from calcert.certificates.witnesses.betting import l1_lower
from calcert.perturbation.noise import choose_noise
from tests.campaign import Counts
from tests.lab.distributions import Law, summary_of
from tests.lab.sums import range_truth, visible_truth

DELTA = 0.05
NOISE = choose_noise(None, None)
LEAST = 1e-5
"""Tables less likely than this are left out; what they add up to is added to the probability of a miss."""

MOST_TABLES = 400


class Statement(NamedTuple):
    """A lower bound at a seed, and the truth of a law."""

    lower: Callable[[Summary, int], float]
    truth: Callable[[Law], float]


STATEMENTS = {
    "as it is": Statement(lambda s, seed: l1_lower(s, DELTA, seed).limit, lambda law: law.error),
    "cutoff": Statement(lambda s, seed: cutoff_lower(s, DELTA, seed).limit, range_truth),
    "overcounts": Statement(
        lambda s, seed: cutoff_lower(s, DELTA, seed, "too high").limit, lambda law: range_truth(law, "too high")
    ),
    "crossings": Statement(lambda s, seed: crossings_lower(s, 3, DELTA, seed).limit, lambda law: visible_truth(law, 3)),
    "distance": Statement(
        lambda s, seed: distance_lower(s, DELTA, seed).limit,
        lambda law: law.distance + 2e-5 if len(law.score) > 1 else law.error,
    ),
    "perturbed": Statement(
        lambda s, seed: perturbed_lower(s, NOISE, DELTA, seed).limit, lambda law: law.served_by_odds(NOISE.size)[0]
    ),
    "too high": Statement(
        lambda s, seed: finite_lower(s, "too high", DELTA, seed).limit,
        lambda law: float(np.dot(law.weight, np.maximum(np.subtract(law.score, law.chance), 0.0))),
    ),
}


def laws_and_rows(rng: np.random.Generator) -> tuple[list[Law], int]:
    """Laws on the same scores of which few tables of so many rows are likely: rare positives, or rare scores."""
    scores = int(rng.choice([1, 1, 1, 1, 2, 3]))
    score = tuple(np.sort(rng.choice([0.002, 0.004, 0.008, 0.02, 0.1, 0.5], scores, replace=False)).tolist())
    rows = round(math.exp(rng.uniform(math.log(30), math.log(200_000 if scores == 1 else 20_000))))
    if scores == 1:
        expected = np.arange(1.0, min(26.0, rows))
        return [Law(score, (1.0,), (chance,)) for chance in (expected / rows).tolist()], rows
    weight = np.minimum(rng.exponential(3.0, scores) / rows, 0.3)
    common = rng.integers(scores)
    weight[common] += 1 - weight.sum()
    chance = rng.random(scores)
    chance[common] = min(rng.exponential(4.0) / rows, 1.0)
    return [Law(score, tuple(weight.tolist()), tuple(chance.tolist()))], rows


def likely_tables(law: Law, rows: int) -> list[tuple[int, ...]]:
    """The tables of counts that matter: those that steps of one row lead to from the mode."""
    share = law.probability.ravel()
    pmf = multinomial(rows, share / share.sum()).pmf
    mode = np.floor(rows * share).astype(int)
    mode[np.argmax(share)] += rows - mode.sum()
    found, ahead = set(), [tuple(mode.tolist())]
    while ahead and len(found) <= MOST_TABLES:
        table = ahead.pop()
        if table in found or min(table) < 0 or pmf(table) < LEAST:
            continue
        found.add(table)
        for i, j in itertools.permutations(range(share.size), 2):
            ahead.append(tuple(c + (k == i) - (k == j) for k, c in enumerate(table)))
    return sorted(found)


def judge(counts: Counts, laws: list[Law], rows: int) -> None:
    """Add up, for each law and statement, the probabilities of the tables whose lower bound exceeds the truth."""
    tables = sorted({table for law in laws for table in likely_tables(law, rows)})
    if len(tables) > MOST_TABLES:
        return
    random_splits.splits.cache_clear()
    summaries = [summary_of(laws[0].score, np.array(table).reshape(-1, 2)) for table in tables]
    chances = [law.probability.ravel() / law.probability.sum() for law in laws]
    probability = np.array([multinomial.pmf(tables, rows, chance) for chance in chances]).reshape(len(laws), -1)
    for name, statement in STATEMENTS.items():
        lower = np.array([statement.lower(summary, 0) for summary in summaries])
        for law, chance in zip(laws, probability, strict=True):
            missed = float(chance[lower > statement.truth(law)].sum()) + max(1 - float(chance.sum()), 0.0)
            if missed > DELTA:
                counts.fail(name, f"fails with {missed:.4f} over the rows alone: {law}, {rows:,} rows")
            else:
                counts.add(name, "at most delta / 2" if missed <= DELTA / 2 else "at most delta")


def run(budget: float, seed: int) -> Counts:
    """Try laws of few outcomes for about `budget` seconds; see :mod:`tests.campaign`."""
    end, rng, counts = time.monotonic() + budget, np.random.default_rng(seed), Counts()
    while not counts.tries or time.monotonic() < end:
        judge(counts, *laws_and_rows(rng))
    return counts
