"""Hostile files: what they hold is known to slow readers, and is read so or refused by name, never something else.

Every file is read in both ways, exactly and fast, and copied by ``perturb``, from which all rows must come out. Files
that nothing is wrong with must be read; with the others it is the slow reader that says what they hold, if anything.
"""

from __future__ import annotations

import gzip
import os
import random
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from click.testing import CliRunner

import calcert
from calcert.cli import main
from calcert.foundation.escaped_text import visible
from calcert.sources.files import file_table
from tests.campaign import Counts
from tests.campaign._hostile_text import (
    DEEP,
    LATE_IN_CSV,
    LATE_IN_JSON,
    csv_text,
    delimiter_of,
    is_array,
    json_text,
    packed,
    plain,
    spoiled,
)
from tests.campaign._slow_readers import NoRows, Rows, csv_records, csv_rows, json_objects, json_rows


class Try(NamedTuple):
    """A file: what is tried with it, its name and bytes, its rows (None for none), whether it has to be read.

    `relaxed` are the rows for a reader that bears what is not quite the format.
    """

    kind: str
    name: str
    content: bytes
    rows: Rows | None
    must: bool
    relaxed: Rows | None = None


Kind = Callable[[random.Random, Path, Counts], None]
"""Tries something in a folder, and counts what came of it."""


def run(budget: float, seed: int) -> Counts:
    """Try hostile files for about `budget` seconds, each kind at least once."""
    return run_kinds(KINDS, budget, seed)


def run_kinds(kinds: list[Kind], budget: float, seed: int) -> Counts:
    """Try some kinds by turns."""
    counts, chance = Counts(), random.Random(seed)
    end = time.monotonic() + budget
    number = 0
    with tempfile.TemporaryDirectory(prefix="campaign-") as folder:
        while number < len(kinds) or time.monotonic() < end:
            kind = kinds[number % len(kinds)]
            number += 1
            here = Path(folder) / str(number)
            here.mkdir()
            state = chance.getrandbits(64)
            try:
                kind(random.Random(state), here, counts)
            except Exception as error:
                counts.fail(kind.__name__, f"{type(error).__name__}: {error} (state {state})")
            shutil.rmtree(here)
    return counts


@contextmanager
def reading_fast(fast: bool) -> Iterator[None]:
    before = file_table.SMALL
    file_table.SMALL = -1 if fast else 1 << 40
    try:
        yield
    finally:
        file_table.SMALL = before


def judge(tried: Try, here: Path, counts: Counts) -> None:
    """Read the file in both ways and copy it; count what came of it."""
    path = here / tried.name
    path.write_bytes(tried.content)
    for fast in (False, True):
        with reading_fast(fast):
            judge_reading(f"{tried.kind}, {'fast' if fast else 'exactly'}", tried, path, counts)
    if not tried.name.endswith((".json", ".zst")):
        judge_copy(f"{tried.kind}, copied", tried, path, counts)


def judge_reading(kind: str, tried: Try, path: Path, counts: Counts) -> None:
    shown = f"{tried.content[:300]!r} as {tried.name}"
    try:
        found = calcert.summarize(path, score="p", label="y")
    except (ValueError, TypeError) as error:
        if tried.must:
            counts.fail(kind, f"refused though nothing is wrong: {error}: {shown}")
        elif visible(path.name) not in str(error):
            counts.fail(kind, f"refused without naming the file: {error}: {shown}")
        else:
            counts.add(kind, "refused")
        return
    except Exception as error:
        counts.fail(kind, f"{type(error).__name__}: {error}: {shown}")
        return
    for rows in (tried.rows, tried.relaxed):
        if rows is not None and found == calcert.summarize(*map(list, zip(*rows, strict=True))):
            counts.add(kind, "the same rows")
            return
    counts.fail(kind, f"got {found!r}, expected {'none' if tried.rows is None else len(tried.rows)}: {shown}")


def judge_copy(kind: str, tried: Try, path: Path, counts: Counts) -> None:
    out = path.with_name(f"out.{tried.name}")
    words = ["perturb", str(path), str(out), "--score", "p", "--column", "new", "--seed", "1"]
    done = CliRunner().invoke(main, words, prog_name="calcert")
    if done.exit_code == 2 and not tried.must and not out.exists():
        counts.add(kind, "refused")
    elif done.exit_code != 0:
        counts.fail(kind, f"ended with {done.exit_code}: {done.output}: {tried.content[:300]!r}")
    elif came_out_whole(
        plain(tried.content, tried.name), plain(out.read_bytes(), tried.name), "json" not in tried.name
    ):
        counts.add(kind, "all rows came out")
    else:
        counts.fail(kind, f"other rows came out: {tried.content[:300]!r}")


def came_out_whole(before: bytes, after: bytes, csv: bool) -> bool:
    """True where a copy is the original with one more value at the end of each record."""
    try:
        if csv:
            delimiter = delimiter_of(before)
            return [row[:-1] for row in csv_records(after, delimiter)] == csv_records(before, delimiter)
        copied = json_objects(after)
        named = all(pairs[-1][0] == "new" for pairs in copied)
        return named and [pairs[:-1] for pairs in copied] == json_objects(before)
    except NoRows:
        return False


def slow(read: Callable[..., Rows], *arguments: Any, **options: Any) -> Rows | None:
    """What a slow reader finds, None where it finds no rows."""
    try:
        return read(*arguments, **options)
    except NoRows:
        return None


def sound_csv(chance: random.Random, here: Path, counts: Counts) -> None:
    content = csv_text(chance, chance.choice([1, 2, 3, 10, 10, 10, 3000])).encode()
    name = chance.choice(["a.csv", "a.tsv", "a.csv.gz", "a.CSV", "a b.csv", "é.csv", "a\x1b.csv"])
    rows = csv_rows(content, delimiter_of(content))
    judge(Try("CSV with nothing wrong", name, packed(chance, content, name), rows, True), here, counts)


def spoiled_csv(chance: random.Random, here: Path, counts: Counts) -> None:
    content = spoiled(chance, csv_text(chance, chance.choice([1, 3, 10, 300])).encode())
    rows = slow(csv_rows, content, delimiter_of(content))
    judge(Try("CSV with bytes changed", "a.csv", content, rows, False), here, counts)


def late_csv(chance: random.Random, here: Path, counts: Counts) -> None:
    """After many ordinary rows, something else: a label that is none, another header, a line that is short."""
    early = chance.choice(["0,1\n", "0.5,1\n", "0.5,true\n", "1,0\n"])
    text = f"p,y\n{early * chance.choice([3, 1000, 25_000])}{chance.choice(LATE_IN_CSV)}{chance.choice(['', early])}"
    judge(Try("CSV that changes late", "a.csv", text.encode(), slow(csv_rows, text.encode(), ","), False), here, counts)


def odd_columns(chance: random.Random, here: Path, counts: Counts) -> None:
    """Columns that are there twice, in capitals, without a name, or no names at all."""
    names = [chance.choice(["p", "P", "y", "Y", "p_1", "", "0.5", "1", "q"]) for _ in range(chance.randrange(1, 6))]
    rows = "".join(",".join(chance.choice(["0.5", "1", "0", "0.25"]) for _ in names) + "\n" for _ in range(3))
    content = (",".join(names) + "\n" + rows).encode()
    judge(Try("CSV with odd columns", "a.csv", content, slow(csv_rows, content, ","), False), here, counts)


def sound_json(chance: random.Random, here: Path, counts: Counts) -> None:
    content = json_text(chance, chance.choice([1, 2, 10, 10, 2000])).encode()
    name = "a.json" if is_array(content) else chance.choice(["a.jsonl", "a.ndjson", "a.jsonl.gz"])
    judge(Try("JSON with nothing wrong", name, packed(chance, content, name), json_rows(content), True), here, counts)


def spoiled_json(chance: random.Random, here: Path, counts: Counts) -> None:
    content = spoiled(chance, json_text(chance, chance.choice([1, 3, 10, 300])).encode())
    rows, relaxed = slow(json_rows, content), slow(json_rows, content, relaxed=True)
    name = "a.json" if is_array(content) else "a.jsonl"
    judge(Try("JSON with bytes changed", name, content, rows, False, relaxed), here, counts)


def late_json(chance: random.Random, here: Path, counts: Counts) -> None:
    early = chance.choice(['{"p": 0, "y": 1}\n', '{"p": 0.5, "y": true}\n', '{"y": 0, "p": 0.25}\n'])
    text = f"{early * chance.choice([3, 1000, 25_000])}{chance.choice(LATE_IN_JSON)}\n{chance.choice(['', early])}"
    content = text.encode()
    # Beside score and label anything may stand, however deep, for a reader that passes over it.
    rows, relaxed = slow(json_rows, content), slow(json_rows, text.replace(DEEP, "0").encode())
    judge(Try("JSON that changes late", "a.jsonl", content, rows, False, relaxed), here, counts)


def archives_cut_short(chance: random.Random, here: Path, counts: Counts) -> None:
    """However many of its rows could be read, half an archive is refused."""
    name = chance.choice(["a.csv.gz", "a.jsonl.gz", "a.csv.zst"])
    text = csv_text(chance, 200) if ".csv" in name else '{"p": 0.5, "y": 1}\n' * 200
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(text.encode())
    content = bytes(sink.getvalue().to_pybytes()) if name.endswith(".zst") else gzip.compress(text.encode())
    judge(Try("archives cut short", name, content[: chance.randrange(1, len(content))], None, False), here, counts)


def parquet(chance: random.Random, here: Path, counts: Counts) -> None:
    """Columns of every type, twice, in capitals, inside of others, folders of their name, missing values."""
    rows = chance.choice([1, 5, 50])
    number = chance.choice(["f8", "f4", "f2", "decimal", "long decimal", "integer", "boolean"])
    labels: list[Any] = [chance.randrange(2) for _ in range(rows)]
    doubles = [chance.choice([0.0, 1.0, 0.5, chance.random(), chance.random() ** 20]) for _ in range(rows)]
    if "decimal" in number:
        digits = [Decimal(repr(x)).quantize(Decimal("1e-20")) for x in doubles]
        scores = pa.array(digits, pa.decimal128(38, 20) if number == "decimal" else pa.decimal256(60, 45))
    elif number in ("integer", "boolean"):
        scores = pa.array(labels).cast(pa.int64() if number == "integer" else pa.bool_())
    else:
        scores = pa.array(np.array(doubles, number))
    exact = [float(value) for value in scores.to_pylist()]
    wrong = chance.random() < 0.3
    if wrong:
        labels[chance.randrange(rows)] = chance.choice([None, 2, 255])
    kind = chance.choice([pa.uint8(), pa.int64(), pa.uint64(), pa.float32(), pa.float64(), pa.int16()])
    columns = [("p", scores), ("y", pa.array(labels, kind))]
    odd = chance.choice(["", "", "P", "p_1", "p", "s"])
    if odd:
        other = [{"p": 7.0, "y": {"p": 9}}] * rows if odd == "s" else [0.123] * rows
        columns.insert(chance.randrange(3), (odd, pa.array(other)))
    folder = here / chance.choice(["", "", "z=1", "p=1", "Y=0"])
    folder.mkdir(exist_ok=True)
    table = pa.Table.from_arrays([values for _, values in columns], [name for name, _ in columns])
    pq.write_table(table, folder / "a.parquet", row_group_size=chance.choice([1, 7, 1000]))
    if chance.random() < 0.1:
        content = (folder / "a.parquet").read_bytes()
        (folder / "a.parquet").write_bytes(content[: chance.randrange(1, len(content))])
        wrong = True
    refused = wrong or odd in ("P", "p") or folder.name in ("p=1", "Y=0") or number == "long decimal"
    truth = None if refused else list(zip(exact, map(float, labels), strict=True))
    shown = repr((number, odd, folder.name, str(kind), labels)).encode()
    judge_reading("Parquet", Try("Parquet", "a.parquet", shown, truth, not refused), folder / "a.parquet", counts)


def trees_with_links(chance: random.Random, here: Path, counts: Counts) -> None:
    """Folders with links to files and folders, also to themselves: every row is counted once, or all are refused."""
    folders, kept = [here], [here / "first.csv"]
    kept[0].write_text("p,y\n0.99,1\n")
    for number in range(chance.randrange(1, 9)):
        folder = chance.choice(folders) / chance.choice([f"f{number}", f"_f{number}", f".f{number}", f"k{number}=1"])
        file = folder.with_name(f"{folder.name}.csv")
        what = chance.choice(["folder", "file", "file", "file", "link", "link to folder", "hard link", "odd"])
        if what == "folder":
            folder.mkdir()
            folders.append(folder)
        elif what == "file":
            file.write_text(f"p,y\n0.{number + 1},{number % 2}\n")
            kept.append(file)
        elif what == "link":
            file.symlink_to(chance.choice(kept))
        elif what == "hard link":
            os.link(chance.choice(kept), file)
        elif what == "link to folder":
            folder.symlink_to(chance.choice(folders))
        elif chance.random() < 0.3:
            chance.choice([os.mkfifo, lambda path: path.symlink_to("nowhere")])(file)
    parts = [file.relative_to(here).parts for file in kept]
    inside = sum(not any(part.startswith((".", "_")) for part in path) for path in parts)
    meant = chance.choice([str(here), f"{here}/**/*.csv", f"{here}/*"])
    tree = f"{meant} of {sorted(str(path.relative_to(here)) for path in here.glob('**/*'))}"
    try:
        found = calcert.summarize(meant, score="p", label="y")
    except (ValueError, OSError) as error:
        if str(here) in str(error):
            counts.add("trees with links", "refused")
        else:
            counts.fail("trees with links", f"refused without naming the place: {error}: {tree}")
        return
    if found.distinct_count is None or (found.distinct_count.sum(axis=1) > 1).any():
        counts.fail("trees with links", f"counted twice: {tree}")
    elif meant == str(here) and found.n < inside:
        counts.fail("trees with links", f"{found.n} of {inside} rows: {tree}")
    else:
        counts.add("trees with links", "every row once")


KINDS: list[Kind] = [
    sound_csv,
    spoiled_csv,
    late_csv,
    odd_columns,
    sound_json,
    spoiled_json,
    late_json,
    archives_cut_short,
    parquet,
    trees_with_links,
]
