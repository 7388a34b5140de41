"""Files as one table of DuckDB, the database that runs inside this process."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal

from calcert.sources.columns import Column
from calcert.sources.paths import COMPRESSED, Format, literal

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


def connect(*, limited: bool) -> duckdb.DuckDBPyConnection:
    """A database in memory that never writes to disk and, where `limited`, holds little in memory."""
    import duckdb

    engine = duckdb.connect()
    threads = min(THREADS, os.cpu_count() or 1)
    # Rows are read once, so there is nothing to cache; the progress settings let query_progress answer at once.
    engine.execute(
        f"SET threads = {threads}; SET temp_directory = ''; SET enable_external_file_cache = false; "
        "SET enable_progress_bar = true; SET enable_progress_bar_print = false; SET progress_bar_time = 0"
    )
    if limited:
        engine.execute(f"SET memory_limit = '{threads * MEGABYTES}MB'")
    return engine


class Table:
    """Files of one format, rows in the order of the files."""

    def __init__(self, engine: duckdb.DuckDBPyConnection, files: list[str], form: Format) -> None:
        self.name = files[0] if len(files) == 1 else f"{files[0]} and {len(files) - 1} more"
        self._engine = engine
        self._paths = files
        self._files = [literal(file) for file in files]
        self._form = form
        self._partitioned = all("=" in os.path.basename(os.path.dirname(file)) for file in files)

    def columns(self) -> list[Column]:
        """What the table has, as DuckDB sees it in the first file or, for text, in a sample of the rows."""
        table = self._query("*")
        types = [str(found) for found in table.types]
        return [Column(name, kind(found), found) for name, found in zip(table.columns, types, strict=True)]

    def first(self, name: str) -> Any:
        """An example of what a column holds."""
        return self._query(quoted(name), more="LIMIT 1").fetchall()[0][0]

    def is_empty(self) -> bool:
        """True where there is no row at all."""
        return not self._query("1", more="LIMIT 1").fetchall()

    def batches(self, score: Column, label: Column, rows: int) -> Any:
        """Scores and labels as an iterator of Arrow batches, in types that the kernel takes."""
        return self._query(f"{_score(score)}, {_label(label)}", self._types(score, label)).to_arrow_reader(rows)

    def with_groups(self, score: Column, label: Column, group: str) -> Any:
        """Scores, labels and groups, lazily, under these names."""
        columns = f'{_score(score)} AS score, {_label(label)} AS label, {quoted(group)} AS "group"'
        return self._query(columns, self._types(score, label))

    def is_small(self) -> bool:
        """True where all scores and labels fit well into memory."""
        if self._form == "parquet":
            counted = self._engine.execute("SELECT sum(num_rows) FROM parquet_file_metadata(?)", [self._files])
            return int(counted.fetchall()[0][0]) <= FEW_ROWS
        # A row of text has ten bytes or more; compressed it may have next to none.
        plain = all(os.path.splitext(path)[1] not in COMPRESSED and os.path.isfile(path) for path in self._paths)
        return plain and sum(map(os.path.getsize, self._paths)) <= 10 * FEW_ROWS

    def whole(self, score: Column, label: Column) -> list[Any]:
        """All scores and all labels as NumPy arrays, masked where values are missing.

        Without Arrow, whose import takes longer than so few rows take.
        """
        found = self._query(f"{_score(score)}, {_label(label)}", self._types(score, label)).fetchnumpy()
        return list(found.values())

    def share_read(self) -> float:
        """How much of the table has been read, between 0 and 1."""
        return max(self._engine.query_progress(), 0.0) / 100

    def check_same_types(self, score: Column, label: Column) -> None:
        """Parquet files must agree: DuckDB would squeeze later files into the types of the first."""
        if self._form != "parquet" or len(self._files) == 1:
            return
        found = self._engine.execute(
            "SELECT file_name, list(name || ' ' || coalesce(duckdb_type, type) ORDER BY name) FROM parquet_schema(?) "
            "WHERE name IN (?, ?) AND type IS NOT NULL GROUP BY file_name ORDER BY file_name",
            [self._files, score.name, label.name],
        ).fetchall()
        for file, columns in found[1:]:
            if columns != found[0][1]:
                raise ValueError(
                    f"all files must have the same columns and types; got {', '.join(found[0][1])} in {found[0][0]} "
                    f"and {', '.join(columns)} in {file}. Summarise them apart and add the summaries with +."
                )

    def place(self, row: int) -> str:
        """File and row in that file, in words, of a row of the table."""
        if len(self._files) == 1:
            return f"at row {row} of {self.name}"
        # A second connection, because the first is in the middle of reading.
        aside = Table(self._engine.cursor(), self._paths, self._form)
        file = aside._query("filename", more=f"LIMIT 1 OFFSET {row}").fetchall()[0][0]
        earlier = aside._query("filename", more=f"LIMIT {row}").filter(f"filename = {quoted(file, chr(39))}")
        return f"at row {len(earlier)} of {file}"

    def _query(self, select: str, types: str = "", more: str = "") -> Any:
        option = {"parquet": "", "csv": f", types = {types}", "json": f", columns = {types}"}[self._form]
        partitions = ", hive_partitioning = true" if self._partitioned else ""
        source = f"read_{self._form}(?{partitions}{option if types else ''})"
        return self._engine.sql(f"SELECT {select} FROM {source} {more}", params=[self._files])

    def _types(self, score: Column, label: Column) -> str:
        """In text files scores are doubles, even if those at the beginning look like integers."""
        if self._form == "csv":
            return f"{{{quoted(score.name, chr(39))}: 'DOUBLE'}}"
        if self._form == "json" and not self._partitioned:
            return f"{{{quoted(score.name, chr(39))}: 'DOUBLE', {quoted(label.name, chr(39))}: '{label.type}'}}"
        return ""


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


def _score(column: Column) -> str:
    name = quoted(column.name)
    return name if column.type in REAL else f"CAST({name} AS DOUBLE)"


def _label(column: Column) -> str:
    name = quoted(column.name)
    if column.kind == "boolean":
        # Not a cast: DuckDB would have its CSV reader make the integer, which cannot read "true" as one.
        return f"CASE WHEN {name} THEN CAST(1 AS UTINYINT) WHEN NOT {name} THEN CAST(0 AS UTINYINT) END"
    return name if column.type in REAL or column.type in SMALL_INTEGER else f"CAST({name} AS DOUBLE)"
