"""A saved Summary is loaded again to the last bit, and whatever else a file may hold is refused in words.

A checksum is no seal: whoever writes a file can compute it. So content is crafted here that is more than it says.
"""

from __future__ import annotations

import os
import tracemalloc
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import calcert
from calcert import Summary
from calcert.monitoring.monitor import Monitor
from calcert.summary import cells
from calcert.summary.consistency import ROW_LIMIT
from calcert.summary.saved import FORMAT, HEADER, LISTED, MAGIC, MOST, PAIRED
from tests.summary.crafted import HONEST, body_of, packed, sealed

rows = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 1)), min_size=1, max_size=30)


def spread(n: int, seed: int = 0) -> Summary:
    """A Summary of n different scores."""
    x = (np.arange(n) + 0.5) / n
    return calcert.summarize(x, np.random.default_rng(seed).random(n) < x)


@given(rows)
def test_saving_and_loading_give_the_same_summary(pairs: list[tuple[float, int]]) -> None:
    summary = calcert.summarize(*map(list, zip(*pairs, strict=True)))
    assert Summary.from_bytes(summary.to_bytes()) == summary
    by_cells = Summary(summary.cell, summary.count, summary.offset, None, None)
    assert Summary.from_bytes(by_cells.to_bytes()) == by_cells


def test_a_file_holds_the_summary_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    summary = spread(5000)
    path = tmp_path / "day.calcert"
    summary.save(path)
    summary.save(str(path))
    assert Summary.load(path) == Summary.load(str(path)) == summary
    assert [p.name for p in tmp_path.iterdir()] == ["day.calcert"]


def test_a_failed_save_leaves_the_old_file_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "day.calcert"
    first = spread(10)
    first.save(path)

    def broken(*_: object) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr("os.replace", broken)
    with pytest.raises(OSError, match="no space"):
        spread(20).save(path)
    assert Summary.load(path) == first
    assert [p.name for p in tmp_path.iterdir()] == ["day.calcert"]


def test_a_foreign_file_is_refused_by_name(tmp_path: Path) -> None:
    for content in (b"", b"PAR1 something", b"calcert summary\n", b"calcert summary x abc\n", b"\x00" * 100):
        path = tmp_path / "foreign.bin"
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"foreign\.bin is not a saved Summary"):
            Summary.load(path)


def test_a_file_of_a_newer_format_is_refused_by_number(tmp_path: Path) -> None:
    content = spread(10).to_bytes()
    path = tmp_path / "new.calcert"
    path.write_bytes(content.replace(b"%s %d" % (MAGIC, FORMAT), b"%s %d" % (MAGIC, FORMAT + 1), 1))
    with pytest.raises(ValueError, match=rf"new\.calcert holds a Summary of format {FORMAT + 1}; .* reads format"):
        Summary.load(path)


@settings(max_examples=60)
@given(st.data())
def test_one_flipped_bit_anywhere_is_noticed(data: st.DataObject) -> None:
    content = bytearray(spread(40).to_bytes())
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] ^= 1 << data.draw(st.integers(0, 7))
    with pytest.raises(ValueError, match=r"is damaged|is not a saved Summary|holds a Summary of format"):
        Summary.from_bytes(bytes(content))


def test_a_file_cut_short_is_damaged() -> None:
    content = spread(40).to_bytes()
    for length in (len(content) - 1, len(content) // 2, content.index(b"\n") + 1):
        with pytest.raises(ValueError, match=r"is damaged.*Summarise the rows again"):
            Summary.from_bytes(content[:length])


def test_the_summary_of_no_rows_and_the_largest_are_read() -> None:
    assert Summary.from_bytes(Summary.empty().to_bytes()) == Summary.empty()
    number = np.arange(cells.CELLS)
    count = np.stack([np.ones(cells.CELLS, np.int64), np.full(cells.CELLS, 600_000)], axis=1)
    offset = count * np.maximum(cells.bounds(number)[1] - 1, 0)[:, None]
    full = Summary(number, count, offset, None, None)
    assert Summary.from_bytes(full.to_bytes()) == full
    assert len(full.to_bytes()) < MOST


def test_the_largest_sums_of_offsets_fit() -> None:
    middle, end = cells.LOWER_HALF - 1, 0
    width = cells.bounds(np.array([end, middle, cells.CELL_OF_ONE]))[1]
    count = np.array([[1, 0], [ROW_LIMIT - 4, 1], [0, 2]])
    offset = count * np.maximum(width - 1, 0)[:, None]
    summary = Summary(np.array([end, middle, cells.CELL_OF_ONE]), count, offset, None, None)
    assert Summary.from_bytes(summary.to_bytes()) == summary


def test_saved_size_depends_on_cells_and_not_on_rows() -> None:
    x = np.tile(np.linspace(0, 1, 100), 1000)
    assert len(calcert.summarize(x, x > 0.5).to_bytes()) < 10_000


@pytest.mark.parametrize("mask", [0o022, 0o027, 0o077, 0o000])
def test_a_saved_summary_is_as_readable_as_any_new_file(mask: int, tmp_path: Path) -> None:
    before = os.umask(mask)
    try:
        spread(10).save(tmp_path / "day.calcert")
        (tmp_path / "other").write_text("")
    finally:
        os.umask(before)
    assert (tmp_path / "day.calcert").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_a_file_without_end_is_read_no_further_than_a_summary_goes(tmp_path: Path) -> None:
    path = tmp_path / "long.calcert"
    with path.open("wb") as file:
        file.write(spread(10).to_bytes())
        file.truncate(1 << 40)
    with pytest.raises(ValueError, match="is damaged: its checksum"):
        Summary.load(path)


ONE = bytes([1])
CRAFTED = {
    "no arrays": sealed(b"not a Summary"),
    "too many cells": packed(cells.CELLS + 1, 0, zlib.compress(b"")),
    "too many scores": packed(0, 4097, zlib.compress(ONE + ONE)),
    "nothing deflated": packed(1, 0, b"nothing deflated"),
    "nothing at all": packed(1, 0, zlib.compress(b"")),
    "cut short": packed(2, 0, zlib.compress(ONE + b"\x05")),
    "more than its integers": packed(1, 0, zlib.compress(ONE + b"\x05" + ONE + b"\x01\x00" + b"more")),
    "wide integers": packed(1, 0, zlib.compress(bytes([9]) + bytes(9) + ONE + b"\x01\x00")),
    "a cell without rows": packed(1, 0, zlib.compress(ONE + b"\x05" + ONE + b"\x00\x00")),
    "the same cell twice": packed(2, 0, zlib.compress(ONE + b"\x05\x00" + ONE + b"\x01\x01\x01\x01")),
    "a cell that is none": packed(1, 0, zlib.compress(b"\x03\xff\xff\xff" + ONE + b"\x01\x00"), offsets=bytes(2)),
    "no offsets": packed(1, 0, zlib.compress(ONE + b"\x05" + ONE + b"\x01\x00")),
    "offsets left over": packed(1, 0, zlib.compress(ONE + b"\x05" + ONE + b"\x01\x00"), offsets=bytes(99)),
    "scores not listed": sealed(HEADER.pack(0, 0, 1, 0, 0)),
    "pairs without clusters": sealed(HEADER.pack(PAIRED, 0, 0, 0, 0)),
    "another kind": sealed(HEADER.pack(8, 0, 0, 0, 0)),
    "parts beyond the end": sealed(HEADER.pack(LISTED, 1, 1, 1 << 30, 1 << 31)),
}


@pytest.mark.parametrize("what", CRAFTED)
def test_crafted_content_is_refused_in_words(what: str) -> None:
    with pytest.raises(
        ValueError, match=r"^day.calcert is damaged: .*(fit|more than|must|inflated|64 bits|not list|no Summary)"
    ):
        Summary.from_bytes(CRAFTED[what], "day.calcert")


@pytest.mark.parametrize("part", ["counted", "beside"])
def test_no_more_is_inflated_than_a_summary_has(part: str) -> None:
    bomb, counted = zlib.compress(bytes(1 << 28)), zlib.compress(ONE + b"\x05" + ONE + b"\x01\x00")
    content = packed(3, 0, bomb) if part == "counted" else packed(1, 1, counted, bomb, bytes(4))
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="its length does not fit"):
            Summary.from_bytes(content)
        assert tracemalloc.get_traced_memory()[1] < 1 << 21
    finally:
        tracemalloc.stop()


@settings(max_examples=200)
@given(st.data())
def test_a_flip_under_a_repaired_checksum_yields_rows_or_is_refused(data: st.DataObject) -> None:
    body = bytearray(body_of(HONEST.to_bytes()))
    for _ in range(data.draw(st.integers(1, 3))):
        body[data.draw(st.integers(0, len(body) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    try:
        found = Summary.from_bytes(sealed(bytes(body)))
    except ValueError:
        return
    # Nothing tells a crafted Summary from an honest one but this: there are rows that it is the Summary of.
    assert found == HONEST or found == calcert.summarize(*rows_of(found))


def rows_of(summary: Summary) -> tuple[np.ndarray, np.ndarray]:
    assert summary.distinct_count is not None
    count = summary.distinct_count.ravel()
    return np.repeat(np.repeat(summary.values, 2), count), np.repeat(np.tile([0, 1], summary.values.size), count)


@pytest.mark.parametrize("kind", ["uniform", "logistic", "fraud", "rounded"])
def test_a_batch_of_a_million_rows_grows_the_state_by_at_most_300_kilobytes(kind: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    odds = {"logistic": 1.5, "fraud": 2.0}.get(kind, 1.0) * rng.standard_normal(1_000_000) - 6 * (kind == "fraud")
    scores = rng.random(1_000_000) if kind in ("uniform", "rounded") else 1 / (1 + np.exp(-odds))
    scores = scores.round(3) if kind == "rounded" else scores
    batch = calcert.summarize(scores, rng.random(1_000_000) < scores)
    monitor, sizes = Monitor(tmp_path / "state"), []
    for number in range(4):
        monitor.add(batch, batch_id=str(number), again=True)
        sizes.append(monitor.path.stat().st_size)
    assert max(np.diff(sizes)) <= 300_000
