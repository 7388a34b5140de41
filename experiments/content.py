"""What a table says, as one number that does not depend on who wrote the file.

Two Parquet files have the same content if they have the same columns by name and order, and in each the same kind of
values, row by row: whole numbers whatever their width, numbers as doubles, texts and bytes, a dictionary's values in
place of its codes. NaN counts as null, since pandas knows no difference. Compression, row groups, statistics, and
metadata such as pandas' index do not count.
"""

from __future__ import annotations

import json
from hashlib import sha256

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


def content(table: pa.Table) -> str:
    """SHA-256 over the rows' number and, column by column: name and kind, which rows are null, and the values."""
    digest = sha256(f"{table.num_rows} rows\n".encode())
    for name, column in zip(table.column_names, table.columns, strict=True):
        kind, values = canonical(name, column)
        digest.update(f"{json.dumps([name, kind])}\n".encode())
        digest.update(values.is_valid().to_numpy(zero_copy_only=False).astype(np.uint8))
        if kind in ("text", "bytes"):
            filled = values.fill_null(b"")
            digest.update(pc.binary_length(filled).to_numpy().astype("<i8"))
            offsets = np.frombuffer(filled.buffers()[1], dtype=np.int64)[filled.offset :][: len(filled) + 1]
            if len(filled):
                digest.update(memoryview(filled.buffers()[2] or b"")[offsets[0] : offsets[-1]])
        else:
            digest.update(values.fill_null(0).to_numpy().astype("<i8" if kind == "whole" else "<f8", copy=False))
    return digest.hexdigest()


def canonical(name: str, column: pa.ChunkedArray) -> tuple[str, pa.Array]:
    """The kind of a column, and its values in one piece and in the type of that kind."""
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if pa.types.is_integer(kind) or pa.types.is_boolean(kind):
        return "whole", whole(column.cast(kind).cast(pa.int64()))
    if pa.types.is_floating(kind):
        numbers = whole(column.cast(kind).cast(pa.float64()))
        return "number", pc.if_else(pc.is_nan(numbers), pa.scalar(None, pa.float64()), numbers)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return "text", whole(column.cast(kind).cast(pa.large_binary()))
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return "bytes", whole(column.cast(kind).cast(pa.large_binary()))
    raise TypeError(f"column {name!r} is of type {column.type}: content is defined for numbers, texts and bytes")


def whole(column: pa.ChunkedArray) -> pa.Array:
    """All chunks as one array."""
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
