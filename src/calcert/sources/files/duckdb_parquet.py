"""Parquet files as one table of DuckDB, the database that runs inside this process."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from itertools import accumulate, groupby, pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from calcert.foundation.escaped_text import visible
from calcert.foundation.interruption import load
from calcert.sources.columns import Column, check_alone
from calcert.sources.files.paths import columns_of_folders, literal, real, title, value_in_folders
from calcert.sources.parsed_values import Unreadable, label_in_text, score_in_text

if TYPE_CHECKING:
    import duckdb

THREADS = 4
"""Decoding on more threads than this only waits for the one that counts."""

FEW_ROWS = 1 << 21
"""Up to so many rows are fetched at once."""

MEGABYTES = 50
"""Memory per thread that is enough for Parquet row groups of ordinary size."""

REAL = ("DOUBLE", "FLOAT")
SMALL_INTEGER = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT")
LARGE_INTEGER = ("HUGEINT", "UHUGEINT", "BIGNUM")
"""Types of numbers, as DuckDB calls them; NumPy has all of them but large integers."""

EXACT_DIGITS = 38
"""Decimals with more digits are read as doubles that may be off by a bit."""

OFFLINE = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "allow_persistent_secrets": "false",
    "temp_directory": "",
}
"""Nothing is fetched from a network, and nothing is written, neither to the home folder nor anywhere else."""


def connect(*, limited: bool) -> duckdb.DuckDBPyConnection:
    """A database in memory that never writes to disk and, where `limited`, holds little in memory."""
    engine: duckdb.DuckDBPyConnection = load("duckdb").connect(config=OFFLINE)
    threads = min(THREADS, os.cpu_count() or 1)
    # Rows are read once, so there is nothing to cache; the progress settings let query_progress answer at once.
    engine.execute(
        f"SET threads = {threads}; SET enable_external_file_cache = false; "
        "SET enable_progress_bar = true; SET enable_progress_bar_print = false; SET progress_bar_time = 0"
    )
    if limited:
        engine.execute(f"SET memory_limit = '{threads * MEGABYTES}MB'")
    return engine


@contextmanager
def interruptible() -> Iterator[None]:
    """Ctrl-C is what it always is, also where DuckDB hears it first and has a name of its own for it."""
    try:
        yield
    except (load("duckdb").InterruptException, RuntimeError) as error:
        if "interrupted" in str(error).lower():
            raise KeyboardInterrupt from None
        raise


@contextmanager
def parquet_table(files: list[str], *, limited: bool) -> Iterator[ParquetTable]:
    """Parquet files as a table; whatever the engine cannot read is told in our words."""
    duckdb = load("duckdb")
    try:
        with connect(limited=limited) as engine, interruptible():
            yield ParquetTable(engine, files)
    except (duckdb.Error, OSError) as error:
        words = " ".join(str(error).strip().split("\n\n")[0].split())
        if "Out of Memory" in words:
            raise MemoryError(f"{title(files)} needs more memory than there is: {words}") from error
        raise ValueError(
            f"{title(files)} must be complete parquet with the same columns throughout; DuckDB says: {words} "
            "If the file was copied, copy it again; if there are several, summarise them apart."
        ) from error


class ParquetTable:
    """Parquet files, rows in the order of the files."""

    def __init__(self, engine: duckdb.DuckDBPyConnection, files: list[str]) -> None:
        self.name = title(files)
        self._engine = engine
        self._files = {literal(file): file for file in files}
        self._schemas = self._read_schemas()
        counted = engine.execute("SELECT file_name, num_rows FROM parquet_file_metadata(?)", [list(self._files)])
        rows = dict(counted.fetchall())
        # How many rows there are up to and including each file.
        self._ends = list(accumulate(int(rows[real(file)]) for file in files))

    @property
    def rows(self) -> int:
        """The number of rows of all files, as these say themselves."""
        return self._ends[-1]

    @property
    def rows_by_file(self) -> dict[str, int]:
        """Likewise, of every file."""
        return {
            file: rows - before
            for file, (before, rows) in zip(self._files.values(), pairwise([0, *self._ends]), strict=True)
        }

    def columns(self) -> list[Column]:
        """What the first file has, and what the names of folders add."""
        first = next(iter(self._files.values()))
        own = [Column(name, kind(of), of) for name, of in self._schemas[first]]
        return own + columns_of_folders(list(self._files.values()))

    def first(self, name: str) -> Any:
        """An example of what a column holds, for a column that all files have."""
        found = self._query(list(self._files), self._named(name), "LIMIT 1").fetchall()
        return found[0][0] if found else None

    def examples(self, name: str, rows: int) -> list[Any]:
        """The first values of a column of the first file; none where the name of a folder gives it."""
        pattern, file = next(iter(self._files.items()))
        if name not in (own for own, _ in self._schemas[file]):
            return []
        return [value for (value,) in self._query([pattern], self._named(name), f"LIMIT {rows}").fetchall()]

    def check_same(self, *names: str) -> None:
        """All files must have the columns, once and of one type: DuckDB would squeeze them into what the first has."""
        (first, schema), *others = self._schemas.items()
        for path, found in self._schemas.items() if others else ():
            here, there = ([f"{n} {of}" for n, of in sorted(columns) if n in names] for columns in (schema, found))
            if here != there:
                raise ValueError(
                    f"all files must have the same columns and types; got {', '.join(here)} in {visible(first)} "
                    f"and {', '.join(there)} in {visible(path)}. Summarise them apart and add the summaries with +."
                )
            times = Counter(name.lower() for name, _ in found)
            alike = next((name for name, _ in found if times[name.lower()] > 1), None)
            if alike is not None:
                # Which of them it takes from which file is DuckDB's secret, and it renames some to names of others.
                check_alone([Column(name, kind(of), of) for name, of in found], "every name", alike, visible(path))

    def check_complete(self, rows: int) -> None:
        """So many rows were found; there must be as many as the files say."""
        if rows != self.rows:
            raise ValueError(
                f"{self.name} must be complete parquet; it says that it has {self.rows:,} rows, and {rows:,} were "
                "found. Write it again."
            )

    def batches(
        self, score: Column, label: Column, rows: int, others: Mapping[str, Column] = MappingProxyType({})
    ) -> Iterator[Any]:
        """Scores, labels and others as Arrow batches: numbers in types that the kernel takes, and names of clusters."""
        # DuckDB would import it by itself, and forget a Ctrl-C that comes meanwhile.
        load("pyarrow")
        for files, given in self._runs(score.name, label.name, *(column.name for column in others.values())):
            more = [self._other(*other, text) for other, text in zip(others.items(), given[2:], strict=True)]
            selected = [self._score(score, given[0]), self._label(label, given[1]), *more]
            yield from self._query(files, ", ".join(selected)).to_arrow_reader(rows)

    def classes(self, scores: Sequence[Column], label: Column, rows: int) -> Iterator[Any]:
        """Columns of scores, or of lists of them, and labels of any kind, as Arrow batches."""
        load("pyarrow")
        for files, (*given, text) in self._runs(*(column.name for column in scores), label.name):
            selected = [
                self._named(column.name) if column.type.endswith("[]") else self._score(column, value)
                for column, value in zip(scores, given, strict=True)
            ]
            # Labels are names, as those of clusters are.
            selected.append(self._other("clusters", label, text))
            yield from self._query(files, ", ".join(selected)).to_arrow_reader(rows)

    def with_others(self, score: Column, label: Column, others: Mapping[str, str]) -> Any:
        """Scores, labels and other columns, lazily, under these names."""
        found = None
        for files, given in self._runs(score.name, label.name, *others.values()):
            columns = [f"{self._score(score, given[0])} AS score", f"{self._label(label, given[1])} AS label"]
            for (name, column), value in zip(others.items(), given[2:], strict=True):
                columns.append(f"{self._named(column) if value is None else quoted(value, chr(39))} AS {quoted(name)}")
            part = self._query(files, ", ".join(columns))
            found = part if found is None else found.union(part)
        return found

    def is_small(self) -> bool:
        """True where all scores and labels fit well into memory, and one query gets them."""
        return self.rows <= FEW_ROWS

    def whole(self, score: Column, label: Column) -> list[Any]:
        """All scores and all labels as NumPy arrays, masked where values are missing.

        Without Arrow, whose import takes longer than so few rows take.
        """
        load("numpy.ma")  # As above.
        runs = self._runs(score.name, label.name)
        parts = [list(self._pair(files, score, label, given).fetchnumpy().values()) for files, given in runs]
        joined: Any = np.ma.concatenate
        return parts[0] if len(parts) == 1 else [joined(part) for part in zip(*parts, strict=True)]

    def share_read(self) -> float:
        """How much of the table has been read, between 0 and 1."""
        return max(self._engine.query_progress(), 0.0) / 100

    def place(self, row: int) -> str:
        """File and row in that file, in words, of a row of the table."""
        file = bisect_right(self._ends, row)
        before = self._ends[file - 1] if file else 0
        return f"at row {row - before} of {visible(list(self._files.values())[file])}"

    def _read_schemas(self) -> dict[str, list[tuple[str, str]]]:
        """Name and type of every column of every file; columns inside of columns are none of them."""
        found = self._engine.execute(
            "SELECT file_name, name, coalesce(num_children, 0), CASE WHEN precision > ? "
            "THEN precision || ' decimal digits, too many to be read exactly' ELSE coalesce(duckdb_type, type) END "
            "FROM parquet_schema(?)",
            [EXACT_DIGITS, list(self._files)],
        ).fetchall()
        lines = {file: list(group) for file, group in groupby(found, key=lambda line: line[0])}
        return {file: _outermost(lines[real(file)]) for file in self._files.values()}

    def _named(self, name: str) -> str:
        """What DuckDB calls a column: where names differ by case alone, it has some of its own."""
        return quoted(self._names_in_duckdb[[own for own, _ in next(iter(self._schemas.values()))].index(name)])

    @cached_property
    def _names_in_duckdb(self) -> list[str]:
        """The columns of the first file, as DuckDB calls them, in their order."""
        names: list[str] = self._query(list(self._files)[:1], "*").columns
        return names

    def _runs(self, *names: str) -> list[tuple[list[str], list[str | None]]]:
        """Consecutive files that get the same values from the names of their folders, with these values."""
        found = [
            (pattern, [value_in_folders(file, name, [own for own, _ in self._schemas[file]]) for name in names])
            for pattern, file in self._files.items()
        ]
        return [([pattern for pattern, _ in run], given) for given, run in groupby(found, key=lambda pair: pair[1])]

    def _pair(self, files: list[str], score: Column, label: Column, given: list[str | None]) -> Any:
        return self._query(files, f"{self._score(score, given[0])}, {self._label(label, given[1])}")

    def _query(self, files: list[str], select: str, more: str = "") -> Any:
        source = "read_parquet(?, hive_partitioning = false)"
        return self._engine.sql(f"SELECT {select} FROM {source} {more}", params=[files])

    def _score(self, column: Column, given: str | None) -> str:
        """Scores as SQL, from a column or from the text that the name of a folder gives."""
        if given is not None:
            return self._constant("scores", given, score_in_text)
        name = self._named(column.name)
        return name if column.type in REAL else f"CAST({name} AS DOUBLE)"

    def _label(self, column: Column, given: str | None) -> str:
        """Labels as SQL, likewise."""
        if given is not None:
            return self._constant("labels", given, label_in_text)
        name = self._named(column.name)
        if column.kind == "boolean":
            return f"CASE WHEN {name} THEN CAST(1 AS UTINYINT) WHEN NOT {name} THEN CAST(0 AS UTINYINT) END"
        return name if column.type in REAL or column.type in SMALL_INTEGER else f"CAST({name} AS DOUBLE)"

    def _other(self, argument: str, column: Column, given: str | None) -> str:
        """Groups as they are; clusters, weights or counts."""
        if given is not None:
            text = quoted(given, "'")
            return text if argument in ("clusters", "groups") else self._constant(argument, given, score_in_text)
        name = self._named(column.name)
        if column.type in SMALL_INTEGER or argument == "groups":
            return name
        if argument != "clusters" or column.type in REAL:
            return f"CAST({name} AS DOUBLE)"
        if column.type.endswith(("]", ")")) and not column.type.startswith(("DECIMAL", "ENUM")):
            raise TypeError(f"clusters must be named by text or numbers; got {column.name!r} of type {column.type}.")
        # Values that differ are different texts, which cannot be said of lists of texts.
        return f"CAST({name} AS VARCHAR)"

    def _constant(self, name: str, text: str, read: Callable[[str], float]) -> str:
        try:
            return f"CAST('{float(read(text))!r}' AS DOUBLE)"
        except Unreadable as error:
            raise ValueError(error.message(name, f"in the name of a folder of {self.name}")) from None


def _outermost(lines: list[Any]) -> list[tuple[str, str]]:
    """The columns that are in no other, from a tree that is written depth first."""
    found, at = [], 1
    while at < len(lines):
        _, name, inside, of = lines[at]
        found.append((name, of))
        at += 1
        while inside:
            inside += lines[at][2] - 1
            at += 1
    return found


def kind(type_name: str) -> Literal["real", "integer", "boolean", "other"]:
    """What a column of one of DuckDB's types holds."""
    if type_name in REAL or type_name.startswith("DECIMAL"):
        return "real"
    if type_name in SMALL_INTEGER or type_name in LARGE_INTEGER:
        return "integer"
    return "boolean" if type_name == "BOOLEAN" else "other"


def quoted(name: str, mark: str = '"') -> str:
    """A name as SQL writes it, whatever is in it."""
    return mark + name.replace(mark, mark + mark) + mark
