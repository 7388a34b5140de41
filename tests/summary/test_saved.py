"""A saved Summary is loaded again to the last bit, and whatever else a file may hold is refused in words.

A checksum is no seal: whoever writes a file can compute it. So archives are crafted here that are more than they say.
"""

from __future__ import annotations

import io
import os
import re
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import calcert
from calcert import Summary
from calcert.summary import cells
from calcert.summary.saved import FORMAT, MAGIC, MOST, WITH_CLUSTERS
from tests.summary.crafted import HONEST, altered, archive, crafted, members, sealed, unlisted

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
    path.write_bytes(content.replace(b"%s %d " % (MAGIC, FORMAT), b"%s %d " % (MAGIC, WITH_CLUSTERS + 1), 1))
    with pytest.raises(
        ValueError, match=rf"new\.calcert holds a Summary of format {WITH_CLUSTERS + 1}; .* reads format"
    ):
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


def test_a_body_that_is_no_archive_is_damaged_even_with_a_fitting_checksum() -> None:
    with pytest.raises(ValueError, match="is damaged"):
        Summary.from_bytes(sealed(b"not an archive"))


def test_saved_size_depends_on_cells_and_not_on_rows() -> None:
    x = np.tile(np.linspace(0, 1, 100), 1000)
    assert len(calcert.summarize(x, x > 0.5).to_bytes()) < 10_000


def test_a_file_that_an_earlier_version_wrote_is_read() -> None:
    # Written before the content was checked.
    found = Summary.load(Path(__file__).with_name("format_1.calcert"))
    assert found == calcert.summarize([0.1, 0.1, 0.75, 1.0], [0, 1, 1, 0])


def test_a_stray_array_that_numpy_2_0_added_is_not_looked_at() -> None:
    found = Summary.from_bytes(sealed(archive({**members(altered()), "allow_pickle.npy": b"anything"})))
    assert found == HONEST


def test_the_summary_of_no_rows_and_the_largest_are_read() -> None:
    assert Summary.from_bytes(Summary.empty().to_bytes()) == Summary.empty()
    number = np.arange(cells.CELLS)
    count = np.stack([np.ones(cells.CELLS, np.int64), np.full(cells.CELLS, 600_000)], axis=1)
    offset = count * np.maximum(cells.bounds(number)[1] - 1, 0)[:, None]
    full = Summary(number, count, offset, None, None)
    content = full.to_bytes()
    assert Summary.from_bytes(content) == full
    stored = io.BytesIO()
    np.savez(stored, cell=number, count=count, offset=offset)
    assert len(sealed(stored.getvalue())) < MOST
    assert Summary.from_bytes(sealed(stored.getvalue())) == full


def test_either_order_of_bytes_and_of_columns_is_read() -> None:
    summary = spread(20)
    assert summary.distinct is not None
    assert summary.distinct_count is not None
    arrays = {
        "cell": summary.cell.astype(">i8"),
        "count": np.asfortranarray(summary.count),
        "offset": np.asfortranarray(summary.offset.astype(">i8")),
        "distinct": summary.distinct.astype(">i8"),
        "distinct_count": summary.distinct_count,
    }
    found = Summary.from_bytes(crafted(arrays))
    assert found == summary
    assert np.array_equal(found.values, summary.values)


@pytest.mark.parametrize("mask", [0o022, 0o027, 0o077, 0o000])
def test_a_saved_summary_is_as_readable_as_any_new_file(mask: int, tmp_path: Path) -> None:
    before = os.umask(mask)
    try:
        spread(10).save(tmp_path / "day.calcert")
        (tmp_path / "other").write_text("")
    finally:
        os.umask(before)
    assert (tmp_path / "day.calcert").stat().st_mode == (tmp_path / "other").stat().st_mode


def peak_of_refusing(content: bytes, words: str) -> int:
    """Bytes that were allocated at most until the content was refused."""
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=words):
            Summary.from_bytes(content)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


BOMB = b"\x00" * (1 << 28)


@pytest.mark.parametrize("name", ["readme.npy", "cell.npy", "cell"])
def test_a_member_that_would_fill_the_memory_is_refused_before_it_is_decompressed(name: str) -> None:
    content = sealed(archive({**members(altered()), name: BOMB}))
    assert len(content) < 1 << 19
    assert peak_of_refusing(content, "is no part of a Summary|more than that of any Summary|twice") < 1 << 21


def test_a_member_that_lies_about_its_size_is_not_decompressed_beyond_it() -> None:
    body = archive({**members(altered()), "cell.npy": members(altered())["cell.npy"] + BOMB})
    said = len(members(altered())["cell.npy"])
    lying = body.replace((said + len(BOMB)).to_bytes(4, "little"), said.to_bytes(4, "little"))
    assert lying != body
    assert peak_of_refusing(sealed(lying), "is damaged: Bad CRC-32") < 1 << 21


def test_a_header_that_promises_more_than_there_is_allocates_nothing() -> None:
    honest = members(unlisted())
    huge = honest["cell.npy"].replace(b"(4,), }     ", b"(999999,), }")
    assert huge != honest["cell.npy"]
    assert (
        peak_of_refusing(sealed(archive({**honest, "cell.npy": huge})), "4 values, and its header promises") < 1 << 20
    )


@pytest.mark.parametrize(
    "header",
    [
        b"{'descr': '|O', 'fortran_order': False, 'shape': (4,), }",
        b"{'descr': [('a', '<i8')], 'fortran_order': False, 'shape': (4,), }",
        b"{'descr': '<i8', 'fortran_order': False, 'shape': (2, 2, 1), }",
        b"{'descr': '<i8', 'fortran_order': False, 'shape': (-1,), }",
        b"{'descr': '<i8', 'fortran_order': False, 'shape': (), }",
        b"{'descr': '<i8', 'fortran_order': False, 'shape': (4, 1), }",
        b"__import__('os').getcwd()",
        b"(" * 500,
        b"",
    ],
)
def test_headers_of_other_arrays_are_refused_without_being_evaluated(header: bytes) -> None:
    line = header + b"\n"
    cell = b"\x93NUMPY\x01\x00" + len(line).to_bytes(2, "little") + line + HONEST.cell.tobytes()
    with pytest.raises(ValueError, match="is damaged: cell is not an array of 64-bit integers"):
        Summary.from_bytes(sealed(archive({**members(unlisted()), "cell.npy": cell})))


def test_members_compressed_or_named_otherwise_are_refused() -> None:
    for compression in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        content = sealed(archive(members(altered()), compress_type=compression))
        with pytest.raises(ValueError, match="compressed in a way that Summaries are not"):
            Summary.from_bytes(content)
    for name in ("cell", "cell.npy.npy", "folder/cell.npy", "../cell.npy", "CELL.npy"):
        with pytest.raises(ValueError, match=r"is no part of a Summary|twice"):
            Summary.from_bytes(sealed(archive({**members(unlisted()), name: b""})))


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_an_array_twice_is_refused() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for name, content in [*members(altered()).items(), *members(unlisted()).items()]:
            file.writestr(name, content)
    with pytest.raises(ValueError, match="it holds an array twice"):
        Summary.from_bytes(sealed(buffer.getvalue()))


def test_an_encrypted_member_is_refused() -> None:
    body = bytearray(archive(members(unlisted())))
    for mark, flag in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = body.find(mark)
        while at >= 0:
            body[at + flag] |= 1
            at = body.find(mark, at + 4)
    with pytest.raises(ValueError, match=r"is damaged: .*encrypted"):
        Summary.from_bytes(sealed(bytes(body)))


@pytest.mark.parametrize("entry", [0, 1, 2, 3])
def test_a_member_that_hides_in_the_remark_of_another_is_missed(entry: int) -> None:
    """The length of its remark makes an entry of the directory swallow the next ones, which Python's reader accepts."""
    body = bytearray(archive(members(altered())))
    starts = [found.start() for found in re.finditer(b"PK\x01\x02", body)]
    body[starts[entry] + 32 : starts[entry] + 34] = (body.find(b"PK\x05\x06") - starts[entry + 1]).to_bytes(2, "little")
    with zipfile.ZipFile(io.BytesIO(body)) as readable:
        assert len(readable.infolist()) == entry + 1
    with pytest.raises(ValueError, match="it does not hold as many arrays as it says"):
        Summary.from_bytes(sealed(bytes(body)))


def test_bytes_behind_the_archive_are_refused() -> None:
    with pytest.raises(ValueError, match="is damaged"):
        Summary.from_bytes(sealed(archive(members(altered())) + b"more"))


@settings(max_examples=200)
@given(st.data())
def test_a_flip_under_a_repaired_checksum_is_refused_or_changes_nothing(data: st.DataObject) -> None:
    content = HONEST.to_bytes()
    body = bytearray(content[content.index(b"\n") + 1 :])
    for _ in range(data.draw(st.integers(1, 3))):
        body[data.draw(st.integers(0, len(body) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    try:
        found = Summary.from_bytes(sealed(bytes(body)))
    except ValueError:
        return
    assert found == HONEST


def test_a_file_without_end_is_read_no_further_than_a_summary_goes(tmp_path: Path) -> None:
    path = tmp_path / "long.calcert"
    with path.open("wb") as file:
        file.write(spread(10).to_bytes())
        file.truncate(1 << 40)
    with pytest.raises(ValueError, match="is damaged: its checksum"):
        Summary.load(path)
