"""A packed Summary is the Summary again, to the last bit, and small."""

from __future__ import annotations

import hashlib
import tracemalloc
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import calcert
from calcert.monitoring.monitor import Monitor
from calcert.summary import cells
from calcert.summary.consistency import ROW_LIMIT
from calcert.summary.packed import DIGEST, HEADER, VERSION, pack, unpack
from calcert.summary.summary import Summary

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


def sealed(body: bytes) -> bytes:
    """A body with the checksum that fits it."""
    return body + hashlib.blake2b(body, digest_size=DIGEST).digest()


def crafted(size: int, distinct: int, whole: bytes, values: bytes = b"", offsets: bytes = b"") -> bytes:
    header = HEADER.pack(VERSION, bool(values), size, distinct, len(whole), len(values))
    return sealed(header + whole + values + offsets)


ONE = bytes([1])
CRAFTED = {
    "too many cells": crafted(cells.CELLS + 1, 0, zlib.compress(b"")),
    "too many scores": crafted(0, 4097, zlib.compress(ONE + ONE), zlib.compress(b"")),
    "nothing deflated": crafted(1, 0, b"nothing deflated"),
    "nothing at all": crafted(1, 0, zlib.compress(b"")),
    "cut short": crafted(2, 0, zlib.compress(ONE + b"\x05")),
    "more than its integers": crafted(1, 0, zlib.compress(ONE + b"\x05" + ONE + b"\x01\x00" + b"more")),
    "wide integers": crafted(1, 0, zlib.compress(bytes([9]) + bytes(9) + ONE + b"\x01\x00")),
    "a cell without rows": crafted(1, 0, zlib.compress(ONE + b"\x05" + ONE + b"\x00\x00")),
    "the same cell twice": crafted(2, 0, zlib.compress(ONE + b"\x05\x00" + ONE + b"\x01\x01\x01\x01")),
    "a cell that is none": crafted(1, 0, zlib.compress(b"\x03\xff\xff\xff" + ONE + b"\x01\x00"), offsets=bytes(2)),
    "no offsets": crafted(1, 0, zlib.compress(ONE + b"\x05" + ONE + b"\x01\x00")),
    "offsets left over": crafted(1, 0, zlib.compress(ONE + b"\x05" + ONE + b"\x01\x00"), offsets=bytes(99)),
    "scores not listed": sealed(
        pack(calcert.summarize([0.5], [1]))[:1] + b"\0" + pack(calcert.summarize([0.5], [1]))[2:-DIGEST]
    ),
    "parts beyond the end": sealed(HEADER.pack(VERSION, True, 1, 1, 1 << 30, 1 << 31)),
}


@pytest.mark.parametrize("what", CRAFTED)
def test_crafted_content_is_refused_in_words(what: str) -> None:
    with pytest.raises(ValueError, match=r"fit|more than|must|inflated|64 bits|does not list"):
        unpack(CRAFTED[what])


def test_no_more_is_inflated_than_a_summary_has() -> None:
    bomb = crafted(3, 0, zlib.compress(bytes(1 << 28)))
    tracemalloc.start()
    with pytest.raises(ValueError):
        unpack(bomb)
    assert tracemalloc.get_traced_memory()[1] < 1 << 21
    tracemalloc.stop()


@settings(max_examples=200)
@given(st.data())
def test_a_flip_under_a_repaired_checksum_yields_rows_or_is_refused(data: st.DataObject) -> None:
    honest = calcert.summarize([0.2, 0.2, 0.5, 0.500000001, 0.9, 1.0], [0, 1, 1, 0, 1, 1])
    body = bytearray(pack(honest)[:-DIGEST])
    body[data.draw(st.integers(0, len(body) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    try:
        found = unpack(sealed(bytes(body)))
    except ValueError:
        return
    # Nothing tells a crafted Summary from an honest one but this: there are rows that it is the Summary of.
    assert found == honest or found == calcert.summarize(*rows_of(found))


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
