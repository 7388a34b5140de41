"""Workbooks, pages of Parquet and names in files that say something else than they seem: read as they are, or refused.

What a file holds is known from the rows that were written; a flipped bit may go unnoticed only where it changes none.
"""

from __future__ import annotations

import json
import random
import re
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq

import calcert
from calcert.sources.groups.grouped import summarize_groups
from tests.campaign import Counts
from tests.campaign._slow_readers import Rows
from tests.campaign.files import Kind, reading_fast, run_kinds

SHEET = "xl/worksheets/sheet1.xml"


def run(budget: float, seed: int) -> Counts:
    """Try them for about `budget` seconds, each kind at least once."""
    return run_kinds(KINDS, budget, seed)


def judge(kind: str, read: Callable[[], Any], truth: Any, name: str, counts: Counts) -> None:
    """What is read must be the truth, where there is one, or be refused by the name of the file."""
    try:
        found = read()
    except (ValueError, TypeError) as error:
        if name in str(error):
            counts.add(kind, "refused")
        else:
            counts.fail(kind, f"refused without naming the file: {error}")
    except Exception as error:
        counts.fail(kind, f"{type(error).__name__}: {error}")
    else:
        if truth is not None and found == truth:
            counts.add(kind, "as it is")
        else:
            counts.fail(kind, f"got {found!r}, expected {truth!r}")


def some_rows(chance: random.Random, number: int) -> Rows:
    # As many digits as every writer keeps.
    return [(chance.randrange(4097) / 4096, float(chance.randrange(2))) for _ in range(number)]


def summary_of(rows: Rows) -> calcert.Summary:
    return calcert.summarize(*map(list, zip(*rows, strict=True)))


def workbook(path: Path, rows: Rows) -> Path:
    book = openpyxl.Workbook()
    for row in [("p", "y"), *rows]:
        book.active.append(row)
    book.save(path)
    return path


def rewritten(path: Path, change: Callable[[str], str]) -> None:
    """The workbook with another text of its sheet, and sound checksums."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts[SHEET] = change(parts[SHEET].decode()).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)


def stale_dimensions(chance: random.Random, here: Path, counts: Counts) -> None:
    """What a sheet says of its size must not matter."""
    rows = some_rows(chance, chance.choice([1, 5, 40]))
    path, last = workbook(here / "a.xlsx", rows), chance.randrange(1, 60)
    said = chance.choice([f"A1:B{last}", f"A1:A{last}", f"B2:B{last}", "A1", f"A1:ZZ{last}"])
    rewritten(path, lambda xml: re.sub(r'<dimension ref="[^"]*"', f'<dimension ref="{said}"', xml))
    read = partial(calcert.summarize, path, score="p", label="y")
    judge("stale dimensions", read, summary_of(rows), path.name, counts)


def numbers_of_rows(chance: random.Random, here: Path, counts: Counts) -> None:
    """Rows that are numbered twice, backwards, or from far away: all of them are read, or none."""
    rows = some_rows(chance, 12)
    path, wrong = workbook(here / "a.xlsx", rows), chance.randrange(2, 14)
    number = chance.choice([wrong - 1, wrong, wrong + 1, 0, 1, 99, 10**6, 10**7, 10**12])

    def change(xml: str) -> str:
        cells = chance.random() < 0.5
        found = xml.replace(f'<row r="{wrong}"', f'<row r="{number}"')
        return found.replace(f' r="A{wrong}"', "").replace(f' r="B{wrong}"', "") if cells else found

    rewritten(path, change)
    read = partial(calcert.summarize, path, score="p", label="y")
    judge("numbers of rows", read, summary_of(rows), path.name, counts)


def flipped_workbooks(chance: random.Random, here: Path, counts: Counts) -> None:
    rows = some_rows(chance, chance.choice([5, 500]))
    path = workbook(here / "a.xlsx", rows)
    flip(chance, path)
    read = partial(calcert.summarize, path, score="p", label="y")
    judge("workbooks with a bit flipped", read, summary_of(rows), path.name, counts)


def flipped_pages(chance: random.Random, here: Path, counts: Counts) -> None:
    """Where pages have checksums, no flip in one of them goes unnoticed."""
    rows = some_rows(chance, chance.choice([5, 500, 5000]))
    scores, labels = map(list, zip(*rows, strict=True))
    pq.write_table(
        pa.table({"p": scores, "y": labels}),
        here / "a.parquet",
        write_page_checksum=True,
        compression=chance.choice(["none", "snappy", "zstd"]),
        use_dictionary=chance.random() < 0.5,
        row_group_size=chance.choice([7, 1000, 10_000]),
    )
    data = pq.read_metadata(here / "a.parquet")
    column = data.row_group(chance.randrange(data.num_row_groups)).column(chance.randrange(2))
    first = column.dictionary_page_offset or column.data_page_offset
    flip(chance, here / "a.parquet", first, column.total_compressed_size)
    read = partial(calcert.summarize, here / "a.parquet", score="p", label="y")
    judge("pages with checksums and a bit flipped", read, summary_of(rows), "a.parquet", counts)


def flip(chance: random.Random, path: Path, first: int = 0, size: int | None = None) -> None:
    content = bytearray(path.read_bytes())
    content[first + chance.randrange(len(content) if size is None else size)] ^= 1 << chance.randrange(8)
    path.write_bytes(content)


def names_with_dots(chance: random.Random, here: Path, counts: Counts) -> None:
    """A key with a dot, a key inside an object, or both: one of them is read, and both are refused."""
    rows = some_rows(chance, chance.choice([3, 50]))
    lines: list[dict[str, Any]] = [
        {"a.b": score, "y": label} if chance.random() < 0.5 else {"a": {"b": score}, "y": label}
        for score, label in rows
    ]
    both = chance.random() < 0.5
    if both:
        lines[chance.randrange(len(lines))].update({"a.b": 0.5, "a": {"b": chance.choice([0.5, 0.25])}})
    path = here / "a.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    for fast in (False, True):
        with reading_fast(fast):
            read = partial(calcert.summarize, path, score="a.b", label="y")
            judge("names with dots", read, None if both else summary_of(rows), path.name, counts)


NAMES = ["a", "b", " a", "a ", "b\u00a0", "a a", "\tb", "A", "missing", "'missing'", "NA", "0", "00", "é", "é "]


def clusters_and_groups(chance: random.Random, here: Path, counts: Counts) -> None:
    """The same names in every format are the same clusters and groups, or are refused in all of them."""
    rows = some_rows(chance, 40)
    names = chance.sample(NAMES, chance.randrange(1, 6))
    column = [chance.choice(names) for _ in rows]
    table = pa.table({"p": [x for x, _ in rows], "y": [y for _, y in rows], "u": column})
    pq.write_table(table, here / "a.parquet")
    (here / "a.csv").write_text(
        "p,y,u\n" + "".join(f"{x!r},{y:g},{u}\n" for (x, y), u in zip(rows, column, strict=True))
    )
    (here / "a.jsonl").write_text("".join(json.dumps(line) + "\n" for line in table.to_pylist()))
    used = sorted(set(column))
    apart = len({name.strip() for name in used}) == len(used)
    scores, labels = table["p"].to_pylist(), table["y"].to_pylist()
    clustered = calcert.summarize(scores, labels, clusters=[used.index(u) for u in column]) if apart else None
    grouped = summarize_groups(scores, labels, column)
    if len(grouped) != len(used):
        counts.fail("groups in every format", f"{len(used)} groups became {list(grouped)}")
    for name in ("a.parquet", "a.csv", "a.jsonl"):
        for fast in (False, True):
            with reading_fast(fast):
                path = here / name
                read = partial(calcert.summarize, path, score="p", label="y", clusters="u")
                judge("clusters in every format", read, clustered, name, counts)
                grouping = partial(summarize_groups, path, None, "u", score="p", label="y")
                judge("groups in every format", grouping, grouped, name, counts)


KINDS: list[Kind] = [
    stale_dimensions,
    numbers_of_rows,
    flipped_workbooks,
    flipped_pages,
    names_with_dots,
    clusters_and_groups,
]
