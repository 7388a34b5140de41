"""Any chunking of the rows gives the same Summary, also where packed counts and sums are at their limits."""

from __future__ import annotations

import numpy as np
import pytest

import calcert
from calcert.kernels.counting import CHUNK
from calcert.sources import collector as module
from calcert.sources.collector import Collector

LARGEST_OFFSET = np.nextafter(0.5, 0)
"""The last score of a widest cell: its offset is 2^26 - 1."""


@pytest.mark.parametrize(
    "sizes", [[CHUNK], [CHUNK + 1], [1, CHUNK, 1], [300_000, 300_000, 300_000], [CHUNK - 1, 1, 1], [100_000] * 11]
)
def test_chunks_add_up_without_overflow(sizes: list[int]) -> None:
    collector = Collector()
    for size in sizes:
        collector.add(np.full(size, LARGEST_OFFSET), np.ones(size, np.int64))
    summary = collector.summary()
    assert collector.rows == sum(sizes)
    assert summary.count.tolist() == [[0, sum(sizes)]]
    assert summary.offset.tolist() == [[0, sum(sizes) * (2**26 - 1)]]


def test_a_summary_taken_on_the_way_changes_nothing() -> None:
    rng = np.random.default_rng(11)
    scores, labels = rng.random(1000), rng.integers(0, 2, 1000)
    collector = Collector()
    collector.add(scores[:400], labels[:400])
    assert collector.summary() == calcert.summarize(scores[:400], labels[:400])
    collector.add(scores[400:], labels[400:])
    assert collector.summary() == calcert.summarize(scores, labels)


@pytest.fixture
def short_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads have something to do with few rows, too."""
    monkeypatch.setattr(module, "ENOUGH", 1)
    monkeypatch.setattr(module, "STEP", 500)


ROWS = np.random.default_rng(5)
SCORES = {
    "continuous": ROWS.random(20_000),
    "crowded": ROWS.random(20_000) ** 40,
    "few": np.append(ROWS.choice([0.0, -0.0, 0.3, 1.0], 19_999), 0.7),
    "4,096": ROWS.permutation(np.arange(20_000) % 4096) / 2**13,
    "4,097": ROWS.permutation(np.arange(20_000) % 4097) / 2**13,
}


@pytest.mark.parametrize("kind", SCORES)
@pytest.mark.parametrize("threads", [2, 5])
def test_any_number_of_threads_gives_the_same_bits(short_steps: None, kind: str, threads: int) -> None:
    scores, labels = SCORES[kind], ROWS.integers(0, 2, 20_000)
    one, many = Collector(threads=1), Collector(threads=threads)
    for collector in (one, many):
        for start in range(0, 20_000, 7_000):
            collector.add(scores[start : start + 7_000], labels[start : start + 7_000])
    assert many.rows == one.rows == 20_000
    assert many.summary().to_bytes() == one.summary().to_bytes()
    assert one.summary().is_finite == (kind in ("few", "4,096"))


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("bad", [[13_777], [499, 500], [6_999, 7_000], [19_999], [501, 502, 3_000, 12_000]])
def test_the_first_bad_row_is_named_whatever_the_number_of_threads(
    short_steps: None, threads: int, bad: list[int]
) -> None:
    scores, labels = np.full(20_000, 0.5), np.zeros(20_000, np.int64)
    scores[bad] = 2.0
    collector = Collector(threads=threads)

    def everything() -> None:
        for start in range(0, 20_000, 7_000):
            collector.add(scores[start : start + 7_000], labels[start : start + 7_000])
        collector.settle()

    with pytest.raises(ValueError, match=f"got 2 at row {bad[0]}[.]"):
        everything()
    # What was counted beside it is nobody's Summary, and rows that come later are not counted at all.
    for again in (collector.settle, collector.summary, lambda: collector.add(scores[:1], labels[:1])):
        with pytest.raises(ValueError, match=f"got 2 at row {bad[0]}[.]"):
            again()


def test_words_that_are_nearly_full_are_unpacked_in_time(short_steps: None) -> None:
    # Two cells, one of which takes all rows after scattered ones.
    collector = Collector(threads=1)
    scattered = np.linspace(0, 1, 5_000)
    collector.add(scattered, np.zeros(5_000, np.int64))
    for _ in range(5):
        collector.add(np.full(CHUNK // 2, LARGEST_OFFSET), np.ones(CHUNK // 2, np.int64))
    summary = collector.summary()
    assert summary.n == 5_000 + 5 * (CHUNK // 2)
    assert summary.offset[:, 1].max() == 5 * (CHUNK // 2) * (2**26 - 1)


def test_as_many_threads_count_as_there_are_cores_to_run_on(monkeypatch: pytest.MonkeyPatch) -> None:
    import threading
    import time

    seen: set[int] = set()
    count = module.ThreadCounts.add

    def watched(self: module.ThreadCounts, *rows: np.ndarray) -> int:
        seen.add(threading.get_ident())
        time.sleep(0.01)  # A thread that is done takes the next rows before another one is started.
        return count(self, *rows)

    monkeypatch.setattr(module.ThreadCounts, "add", watched)
    scores = np.random.default_rng(0).random(3_000_000)
    monkeypatch.setattr(module, "cores", lambda: 3)
    calcert.summarize(scores, scores < 0.5)
    assert len(seen - {threading.get_ident()}) == 3
    seen.clear()
    monkeypatch.setattr(module, "cores", lambda: 1)
    calcert.summarize(scores, scores < 0.5)
    assert seen == {threading.get_ident()}
