"""Text read fast, by engines that are told everything and asked to guess nothing; in doubt they give up.

Arrow reads CSV and DuckDB JSON lines: which columns, one way of quoting, and what is written in them as it stands.
Beside them all bytes are counted into records, by another program, and the rows must be as many. Whatever is unusual (a
value that is missing or of another kind, a quote in a strange place, a count that differs) is a Doubt, as is DuckDB
that is not installed, and the file is read exactly instead.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Sequence
from importlib.util import find_spec
from typing import Any, Literal, NoReturn

import numpy as np

from calcert.foundation.interruption import load
from calcert.kernels.counting import BETWEEN, NO_QUOTES, QUOTED, UNSOUND, count_records
from calcert.sources.files.csv_file import CsvFile
from calcert.sources.files.json_file import JsonFile
from calcert.sources.files.paths import keys_in_folders, literal
from calcert.sources.files.text_bytes import UTF_8, TextBytes
from calcert.sources.files.value_columns import Values, coded, coded_list

BLOCK = 1 << 20
"""Bytes that Arrow parses at a time."""

ROWS = 1 << 17
"""Rows that DuckDB gives at a time."""

OFFLINE = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "allow_persistent_secrets": "false",
    "temp_directory": "",
    "threads": 4,
    "enable_external_file_cache": "false",
}
"""Nothing is fetched from a network, and nothing is written, neither to the home folder nor anywhere else."""


Kind = Literal["numbers", "words", "names"]
"""What a column is read as: plain numbers, or text, of which words come again and names need not."""


class Doubt(ValueError):
    """The file is to be read exactly."""


def left_to_the_exact_reader(row: int) -> NoReturn:
    """Where a row stands is not known here, and need not be: a row that is refused here is read again."""
    raise Doubt


def fast_csv(file: CsvFile, names: Sequence[str], kinds: Sequence[Kind]) -> Generator[list[Values]]:
    """Some columns of all rows."""
    arrow, csv = load("pyarrow"), load("pyarrow.csv")
    header = file.header()
    called = [str(place) for place in range(len(header.names))]
    places, added = file.places(header, names)
    words = arrow.dictionary(arrow.int32(), arrow.string())
    types = {"numbers": arrow.float64(), "words": words, "names": arrow.string()}
    wanted = {called[place]: types[kind] for place, kind in zip(places, kinds, strict=True) if place < len(called)}
    count, rows = RecordCount(header.delimiter), 0
    with TextBytes(file.path, file.encoding) as file.content:
        _skip(file.content, len(header.text.encode("utf-8", "surrogateescape")))
        try:
            for batch in csv.open_csv(
                _Watched(file.content, count),
                csv.ReadOptions(column_names=called, block_size=BLOCK),
                csv.ParseOptions(delimiter=header.delimiter, newlines_in_values=True),
                csv.ConvertOptions(include_columns=list(wanted) or called[:1], column_types=wanted, null_values=[""]),
            ):
                rows += batch.num_rows
                yield [
                    batch.column(called[place])
                    if place < len(called)
                    else coded_list([added[place - len(called)]] * batch.num_rows)
                    for place in places
                ]
        except arrow.ArrowException as error:
            raise Doubt from error
    _settle(count, rows)


class _Watched:
    """Bytes on their way to Arrow, counted into records."""

    closed = False

    def __init__(self, content: TextBytes, count: RecordCount) -> None:
        self._content = content
        self._count = count

    def read(self, size: int) -> bytes:
        found = self._content.read(size)
        self._count.add(found)
        return found

    def readable(self) -> bool:
        return True


def fast_json(file: JsonFile, names: Sequence[str], kinds: Sequence[Kind]) -> Generator[list[Values]]:
    """Some columns of JSON lines, likewise."""
    # A name with a dot may be that of a key, or of one inside another object: in one file it must not be both.
    in_folders = keys_in_folders(file.path).keys() & set(names)
    if type(file) is not JsonFile or file.is_array() or file.encoding != UTF_8 or in_folders or "." in "".join(names):
        raise Doubt
    if find_spec("duckdb") is None:
        raise Doubt
    duckdb, rows = load("duckdb"), 0
    load("pyarrow")  # DuckDB would import it by itself, and forget a Ctrl-C that comes meanwhile.
    count = RecordCount()
    with TextBytes(file.path) as content:
        while block := content.read(BLOCK):
            count.add(block)
    columns = ", ".join(f"{quoted(name, chr(39))}: 'JSON'" for name in names)
    texts = ", ".join(f"CAST({quoted(name)} AS VARCHAR)" for name in names)
    query = f"SELECT {texts} FROM read_json(?, format = 'newline_delimited', columns = {{{columns}}})"
    try:
        with duckdb.connect(config=OFFLINE) as engine:
            for batch in engine.sql(query, params=[[literal(file.path)]]).to_arrow_reader(ROWS):
                rows += batch.num_rows
                yield [_json_values(*pair) for pair in zip(batch.columns, kinds, strict=True)]
    except (duckdb.Error, OSError, RuntimeError) as error:  # On its way through Arrow, it becomes an OSError.
        # Ctrl-C is what it always is, also where DuckDB hears it first and has a name of its own for it.
        if "interrupted" in str(error).lower():
            raise KeyboardInterrupt from None
        if isinstance(error, RuntimeError) and not isinstance(error, duckdb.Error):
            raise
        raise Doubt from error
    _settle(count, rows)


def _json_values(texts: Any, kind: Kind) -> Values:
    """A column of JSON, each value a text; a text that is JSON has quotes, so that it is no number."""
    if kind == "numbers" and not texts.null_count:
        try:
            return texts.cast("double")
        except load("pyarrow").ArrowException:
            pass
    return coded(texts, json.loads)


def _skip(content: TextBytes, size: int) -> None:
    while size > 0:
        size -= len(content.read(size))


def _settle(count: RecordCount, rows: int) -> None:
    """Every record of the file must be a row that was given."""
    if rows != count.records or not count.complete:
        raise Doubt


def quoted(name: str, mark: str = '"') -> str:
    """A name as SQL writes it, whatever is in it."""
    return mark + name.replace(mark, mark + mark) + mark


class RecordCount:
    """Counts runs of bytes between ends of lines; in CSV, ends of lines inside quotes do not count.

    Quotes are sound where each opens at the beginning of a value and closes at its end: then nothing but RFC 4180 can
    be meant.
    """

    def __init__(self, delimiter: str | None = None) -> None:
        self.records = 0
        self._delimiter = NO_QUOTES if delimiter is None else ord(delimiter)
        self._state = BETWEEN

    @property
    def complete(self) -> bool:
        """True where every quote so far is sound and closed."""
        return self._state not in (QUOTED, UNSOUND)

    def add(self, block: bytes) -> None:
        """Count what begins in these bytes."""
        begun, self._state = count_records(np.frombuffer(block, np.uint8), self._delimiter, self._state)
        self.records += int(begun)
