"""Batches that repeat an earlier one are noticed, and independent ones, whatever their distributions, are not."""

from __future__ import annotations

import math
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom, multinomial

import calcert
from calcert.monitoring import new_batches
from calcert.monitoring.monitor import Monitor
from calcert.monitoring.new_batches import ERROR, by_item, repetition
from calcert.monitoring.states.state_content import remembered
from calcert.summary import cells

Rows = tuple[NDArray[np.float64], NDArray[np.bool_]]

LIMIT = math.log(1 / ERROR)


def outcomes(rows: int, law: list[float]) -> list[tuple[NDArray[np.int64], float]]:
    """Every batch of so many rows over a few items, with its probability."""
    counts = [np.array(c) for c in product(range(rows + 1), repeat=len(law)) if sum(c) == rows]
    return [(count, float(multinomial.pmf(count, rows, law))) for count in counts]


def dense(count: NDArray[np.int64]) -> NDArray[np.int64]:
    items = np.zeros(2 * cells.CELLS, np.int64)
    items[: count.size] = count
    return items


def mean_evidence(sizes: tuple[int, int], laws: tuple[list[float], list[float]]) -> float:
    """The mean of the evidence over all outcomes of two independent batches."""
    pairs = product(outcomes(sizes[0], laws[0]), outcomes(sizes[1], laws[1]))
    return sum(p * q * math.exp(repetition(dense(a), dense(b))) for (a, p), (b, q) in pairs if p * q > 0)


LAWS = [
    ([0.4, 0.3, 0.3], [0.4, 0.3, 0.3]),
    ([0.98, 0.01, 0.01], [0.5, 0.25, 0.25]),
    ([0.0, 0.5, 0.5], [0.3, 0.4, 0.3]),
    ([0.1, 0.1, 0.8], [0.2, 0.2, 0.6]),
]


@pytest.mark.parametrize("sizes", [(1, 1), (2, 3), (4, 4), (3, 6)])
@pytest.mark.parametrize("laws", LAWS)
def test_the_evidence_against_independent_batches_has_a_mean_of_at_most_one(
    sizes: tuple[int, int], laws: tuple[list[float], list[float]]
) -> None:
    assert mean_evidence(sizes, laws) <= 1


def test_negative_control_evidence_that_any_outcome_earns_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    # As if items that are not contained had probability 1 each, where all outcomes together have it.
    monkeypatch.setattr(new_batches, "LOST", 1 - 1e-9)
    monkeypatch.setattr(new_batches, "_log_outcomes", lambda rows: np.zeros(np.shape(rows)))
    assert max(mean_evidence((6, 14), laws) for laws in LAWS) > 1


def drawn(rng: np.random.Generator, rows: int, kind: str, *, steady: bool = False) -> Rows:
    """An honest batch; but for `steady` ones, its distribution is another one than that of the batch before."""
    truth = rng.beta(2, 3, rows) if steady else rng.beta(rng.uniform(1, 3), rng.uniform(1, 5), rows)
    if kind == "lump":
        truth = np.where(rng.random(rows) < rng.uniform(0.5, 0.99), 0.02, truth)
    decimals = {"one decimal": 1, "two decimals": 2, "three decimals": 3}.get(kind, 8)
    scores = (truth * (rng.random() < 0.2) if kind == "constant" else truth).round(decimals)
    return scores, rng.random(rows) < truth


def items(rows: Rows) -> NDArray[np.int64]:
    summary = calcert.summarize(*rows)
    return by_item(summary.cell, summary.count)


@pytest.mark.parametrize("kind", ["floats", "three decimals", "two decimals", "one decimal", "lump", "constant"])
def test_honest_batches_of_any_size_are_not_taken_for_repetitions(kind: str) -> None:
    rng, runs, evidence = np.random.default_rng(7), 400, []
    for _ in range(runs):
        earlier = int(rng.choice([1, 2, 5, 30, 300, 2000]))
        later = int(earlier * rng.choice([1, 1.5, 2, 10, 100])) if earlier < 2000 else 3000
        evidence.append(repetition(items(drawn(rng, earlier, kind)), items(drawn(rng, later, kind))))
    assert max(evidence) < LIMIT
    # Markov's inequality at a level that 400 runs can judge.
    assert np.mean(np.array(evidence) >= math.log(20)) <= binom.isf(1e-6, runs, 1 / 20) / runs


def joined(days: list[Rows]) -> Rows:
    scores, labels = zip(*days, strict=True)
    return np.concatenate(scores), np.concatenate(labels)


@pytest.mark.parametrize(
    ("kind", "rows", "noticed"),
    [
        ("floats", 20, 2),
        ("floats", 50, 1),
        ("floats", 1500, 1),
        ("floats", 20_000, 1),
        ("three decimals", 200, 1),
        ("three decimals", 1500, 2),
        ("two decimals", 50, 2),
        ("two decimals", 1500, 2),
        ("two decimals", 20_000, 2),
    ],
)
def test_a_cumulative_export_is_noticed(kind: str, rows: int, noticed: int) -> None:
    rng = np.random.default_rng(3)
    days = [drawn(rng, rows, kind, steady=True) for _ in range(noticed + 2)]
    files = [items(joined(days[: number + 1])) for number in range(len(days))]
    found = [repetition(files[number], files[number + 1]) >= LIMIT for number in range(len(files) - 1)]
    assert found[noticed - 1 :] == [True, True]


def test_corrected_labels_and_rows_that_expire_do_not_hide_a_repetition() -> None:
    rng = np.random.default_rng(4)
    days = [drawn(rng, 200, "floats") for _ in range(31)]
    assert repetition(items(joined(days[:30])), items(joined(days[1:]))) >= LIMIT
    scores, labels = joined(days[:2])
    corrected = labels ^ (rng.random(labels.size) < 0.05)
    assert repetition(items((scores, labels)), items((scores, corrected))) >= LIMIT


def test_rows_told_apart_by_nothing_are_never_evidence() -> None:
    assert repetition(items((np.full(50, 0.5), np.zeros(50, bool))), items((np.full(90, 0.5), np.zeros(90, bool)))) < 0


@pytest.fixture
def days() -> list[Rows]:
    rng = np.random.default_rng(5)
    return [drawn(rng, 300, "floats") for _ in range(4)]


def test_a_batch_that_contains_an_earlier_one_is_refused_by_name_and_changes_nothing(
    tmp_path: Path, days: list[Rows]
) -> None:
    monitor = Monitor(tmp_path / "state")
    for number in range(2):
        monitor.add(*days[number], batch_id=f"day {number}", time="2026-03-02")
    before = monitor.path.read_bytes()
    for rows in (joined(days[:3]), days[1]):
        with pytest.raises(
            ValueError, match=r"batch 'all' must hold rows .*those of batch 'day [01]' \(batch [12], 300"
        ):
            monitor.add(*rows, batch_id="all")
    assert monitor.path.read_bytes() == before
    assert monitor.add(*joined(days[:3]), batch_id="all", again=True).rows == 900
    assert monitor.add(*days[3], batch_id="new").number == 4


def test_the_very_rows_of_a_batch_long_ago_are_refused_too(
    tmp_path: Path, days: list[Rows], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("calcert.monitoring.new_batches.EARLIER", 1)
    monitor = Monitor(tmp_path / "state")
    for number, rows in enumerate(days):
        monitor.add(*rows, batch_id=str(number))
    with pytest.raises(ValueError, match="those of batch '0'"):
        monitor.add(*days[0], batch_id="again")


def test_few_rows_that_are_alike_by_chance_are_added_with_a_remark(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    monitor = Monitor(tmp_path / "state")
    monitor.add([0.25, 0.5], [0, 1], batch_id="one")
    assert monitor.add([0.25, 0.5], [0, 1], batch_id="two").number == 2
    assert "has the very scores and labels of batch 'one'" in caplog.text
    remembered.cache_clear()
    assert monitor.status().rows == 4


@pytest.mark.parametrize("sizes", [(3, 8, 200), (5, 30), (8, 9)])
def test_small_exports_that_hold_all_rows_so_far_are_remarked_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, sizes: tuple[int, ...]
) -> None:
    rng = np.random.default_rng(sizes)
    scores, monitor = rng.random(200).round(6), Monitor(tmp_path / "state")
    labels = rng.random(200) < scores
    for size, earlier in zip(sizes, (None, *sizes), strict=False):
        caplog.clear()
        monitor.add(scores[:size], labels[:size], batch_id=f"{size} rows")
        assert (f"has the very scores and labels of batch '{earlier} rows'" in caplog.text) == (earlier is not None)


def test_few_rows_whose_scores_coincide_by_chance_are_not_remarked_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rng, monitor = np.random.default_rng(8), Monitor(tmp_path / "state")
    for batch, size in enumerate((4, 30, 100, 500)):
        scores = rng.choice([0.1, 0.5, 0.9], size)
        monitor.add(scores, rng.random(size) < scores, batch_id=f"{batch}")
    assert not caplog.text


@pytest.mark.parametrize(
    ("said", "way"),
    [
        ({"clusters": [1, 1, 2]}, "Keep one row of each cluster"),
        ({"weights": [1, 1, 2]}, r"rows with weights\. Leave weights out, or keep each row with probability"),
        ({"soft_labels": True}, r"rows with shares for labels\. Draw a label 0 or 1 of each share\.$"),
    ],
)
def test_rows_that_a_monitor_cannot_take_are_refused_with_the_way_out_that_fits(
    tmp_path: Path, said: dict[str, Any], way: str
) -> None:
    with pytest.raises(ValueError, match=way):
        Monitor(tmp_path / "state").add(calcert.Rows([0.5, 0.25, 0.75], [0, 1, 1], **said), batch_id="one")
