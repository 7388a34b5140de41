"""Text read fast, by engines that are told everything and asked to guess nothing; in doubt they give up.

Arrow reads CSV and DuckDB JSON lines: which columns, one way of quoting, and what is written in them as it stands.
Beside them all bytes are counted into records, by another program, and the rows must be as many. Whatever is unusual (a
value that is missing or of another kind, a quote in a strange place, a count that differs) is a Doubt, as is DuckDB
that is not installed, and the file is read exactly instead.
"""

from __future__ import annotations

import glob
import json
from collections.abc import Generator, Sequence
from importlib.util import find_spec
from typing import IO, Any, Literal, NoReturn

import numpy as np

from calcert.foundation.long_work import load
from calcert.kernels.counting import BETWEEN, NO_QUOTES, QUOTED, UNSOUND, count_records
from calcert.sources.files.csv_file import CsvFile
from calcert.sources.files.json_file import JsonFile
from calcert.sources.files.paths import keys_in_folders, real
from calcert.sources.files.text_bytes import UTF_8, TextBytes
from calcert.sources.files.value_columns import Values, coded

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


Fast = Generator[tuple[list[Values], range]]
"""Columns of some rows, and places for these."""


def fast_csv(file: CsvFile, names: Sequence[str], kinds: Sequence[Kind]) -> Fast:
    """Some columns of all rows."""
    arrow, csv = load("pyarrow"), load("pyarrow.csv")
    header, kind_of = file.header(), dict(zip(names, kinds, strict=True))
    called = [str(place) for place in range(len(header.names))]
    own = file.own_columns(names, header.names)
    places = [called[header.names.index(name)] for name in own]
    words = arrow.dictionary(arrow.int32(), arrow.string())
    types = {"numbers": arrow.float64(), "words": words, "names": arrow.string()}
    wanted = {place: types[kind_of[name]] for place, name in zip(places, own, strict=True)}
    with TextBytes(file.path, file.encoding, file.digests) as file.content:
        above = header.text.encode("utf-8", "surrogateescape")
        while above:
            found = file.content.read(len(above))
            if not found or not above.startswith(found):
                raise Doubt
            above = above[len(found) :]
        counted = CountedRecords(file.content, header.delimiter)
        try:
            for batch in csv.open_csv(
                counted,
                csv.ReadOptions(column_names=called, block_size=BLOCK),
                csv.ParseOptions(delimiter=header.delimiter, newlines_in_values=True),
                csv.ConvertOptions(include_columns=list(wanted) or called[:1], column_types=wanted, null_values=[""]),
            ):
                counted.rows += batch.num_rows
                yield [batch.column(place) for place in places], range(batch.num_rows)
        except arrow.ArrowException as error:
            raise Doubt from error
    counted.settle()


def fast_json(file: JsonFile, names: Sequence[str], kinds: Sequence[Kind]) -> Fast:
    """Some columns of JSON lines, likewise."""
    # A name with a dot may be that of a key, or of one inside another object: in one file it must not be both.
    in_folders = keys_in_folders(file.path).keys() & set(names)
    if type(file) is not JsonFile or file.is_array() or file.encoding != UTF_8 or in_folders or "." in "".join(names):
        raise Doubt
    if find_spec("duckdb") is None:
        raise Doubt
    duckdb = load("duckdb")
    load("pyarrow")  # DuckDB would import it by itself, and forget a Ctrl-C that comes meanwhile.
    with TextBytes(file.path, digests=file.digests) as content:
        counted = CountedRecords(content)
        while counted.read(BLOCK):
            pass
    columns = ", ".join(f"{quoted(name, chr(39))}: 'JSON'" for name in names)
    texts = ", ".join(f"CAST({quoted(name)} AS VARCHAR)" for name in names)
    query = f"SELECT {texts} FROM read_json(?, format = 'newline_delimited', columns = {{{columns}}})"
    try:
        with duckdb.connect(config=OFFLINE) as engine:
            # DuckDB reads every path as a glob or an address: this pattern matches nothing else.
            for batch in engine.sql(query, params=[[glob.escape(real(file.path))]]).to_arrow_reader(ROWS):
                counted.rows += batch.num_rows
                values = [_json_values(*pair) for pair in zip(batch.columns, kinds, strict=True)]
                yield values, range(batch.num_rows)
    except (duckdb.Error, OSError, RuntimeError) as error:  # On its way through Arrow, it becomes an OSError.
        # Ctrl-C is what it always is, also where DuckDB hears it first and has a name of its own for it.
        if "interrupted" in str(error).lower():
            raise KeyboardInterrupt from None
        if isinstance(error, RuntimeError) and not isinstance(error, duckdb.Error):
            raise
        raise Doubt from error
    counted.settle()


def _json_values(texts: Any, kind: Kind) -> Values:
    """A column of JSON, each value a text; a text that is JSON has quotes, so that it is no number."""
    if kind == "numbers" and not texts.null_count:
        try:
            return texts.cast("double")
        except load("pyarrow").ArrowException:
            pass
    return coded(texts, json.loads)


def quoted(name: str, mark: str = '"') -> str:
    """A name as SQL writes it, whatever is in it."""
    return mark + name.replace(mark, mark + mark) + mark


class CountedRecords:
    """Bytes on their way to a reader, counted into records: runs between ends of lines, in CSV outside quotes.

    Quotes are sound where each opens at the beginning of a value and closes at its end: then nothing but RFC 4180 can
    be meant.
    """

    closed = False

    def __init__(self, content: IO[bytes] | TextBytes, delimiter: str | None = None) -> None:
        self.records = self.rows = 0
        self._content = content
        self._delimiter = NO_QUOTES if delimiter is None else ord(delimiter)
        self._state = BETWEEN

    def readable(self) -> bool:
        return True

    def read(self, size: int) -> bytes:
        found = self._content.read(size)
        begun, self._state = count_records(np.frombuffer(found, np.uint8), self._delimiter, self._state)
        self.records += int(begun)
        return found

    @property
    def complete(self) -> bool:
        """True where every quote so far is sound and closed."""
        return self._state not in (QUOTED, UNSOUND)

    def settle(self) -> None:
        """Every record must be one of the rows that the reader gave."""
        if self.rows != self.records or not self.complete:
            raise Doubt
