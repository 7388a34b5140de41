"""A packed Summary is the Summary again, to the last bit, and small."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import calcert
from calcert.monitoring.monitor import Monitor
from calcert.summary import cells
from calcert.summary.counts import ROW_LIMIT, Summary
from calcert.summary.packed import pack, unpack

rows = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 1)), min_size=1, max_size=60)


@given(rows)
@settings(max_examples=150, deadline=None)
def test_packing_loses_nothing(pairs: list[tuple[float, int]]) -> None:
    summary = calcert.summarize(*map(list, zip(*pairs, strict=True)))
    assert unpack(pack(summary)) == summary
    unlisted = Summary(summary.cell, summary.count, summary.offset, None, None)
    assert unpack(pack(unlisted)) == unlisted


def test_the_largest_sums_of_offsets_fit() -> None:
    middle, end = cells.LOWER_HALF - 1, 0
    width = cells.bounds(np.array([end, middle, cells.CELL_OF_ONE]))[1]
    count = np.array([[1, 0], [ROW_LIMIT - 4, 1], [0, 2]])
    offset = count * np.maximum(width - 1, 0)[:, None]
    summary = Summary(np.array([end, middle, cells.CELL_OF_ONE]), count, offset, None, None)
    assert unpack(pack(summary)) == summary


def test_the_empty_summary_can_be_packed() -> None:
    assert unpack(pack(Summary.empty())) == Summary.empty()


def test_damage_is_noticed() -> None:
    packed = pack(calcert.summarize(np.linspace(0, 1, 500), np.arange(500) % 2))
    for place in range(0, len(packed), 7):
        damaged = bytearray(packed)
        damaged[place] ^= 4
        with pytest.raises(ValueError, match="checksum"):
            unpack(bytes(damaged))
    for short in (b"", packed[:20], packed[:-1]):
        with pytest.raises(ValueError, match="checksum"):
            unpack(short)


@pytest.mark.parametrize("kind", ["uniform", "logistic", "fraud", "rounded"])
def test_a_batch_of_a_million_rows_grows_the_state_by_at_most_300_kilobytes(kind: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    odds = {"logistic": 1.5, "fraud": 2.0}.get(kind, 1.0) * rng.standard_normal(1_000_000) - 6 * (kind == "fraud")
    scores = rng.random(1_000_000) if kind in ("uniform", "rounded") else 1 / (1 + np.exp(-odds))
    scores = scores.round(3) if kind == "rounded" else scores
    batch = calcert.summarize(scores, rng.random(1_000_000) < scores)
    monitor, sizes = Monitor(tmp_path / "state"), []
    for number in range(4):
        monitor.add(batch, batch_id=str(number))
        sizes.append(monitor.path.stat().st_size)
    assert max(np.diff(sizes)) <= 300_000
