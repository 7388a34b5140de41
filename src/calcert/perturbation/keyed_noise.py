"""Noise that is a function of the row: the same row (or key) and salt give the same number, always and anywhere."""

from __future__ import annotations

import hashlib
import numbers
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from calcert.foundation.array_types import Floats


def uniform_of_rows(salt: int | bytes, rows: Any) -> Floats:
    """A number in (0, 1) for each row of a list, array, data frame or sparse matrix, by the row's values.

    Guarantee
        Distinct rows get numbers that are taken for independent uniform ones: BLAKE2b with the salt as its key, which
        no feasible test is known to tell from random. Equal rows get equal numbers, whatever container and numeric type
        (as float64) they come in, dense and sparse apart. Rows that hold anything but numbers are equal if they print
        alike. What is certified of scores with such noise is in the theory of perturbation, S3. A salt is as secret as
        its
        size: an integer of b bits takes 2^b tries, bytes from ``secrets.token_bytes(32)`` more than anybody has.

    Examples
    --------
    >>> uniform_of_rows(7, [[0.5, 1.0], [2.0, 3.0], [0.5, 1.0]]).round(3)
    array([0.288, 0.939, 0.288])
    """
    return _uniform(salt, _row_bytes(rows))


def uniform_of_keys(salt: int | bytes, keys: Any, n: int) -> Floats:
    """A number in (0, 1) for each of n keys: text, bytes or integers."""
    if len(keys) != n:
        raise ValueError(f"keys must hold one key for each of the {n} rows; got {len(keys)}.")
    return _uniform(salt, _key_bytes(keys))


def _uniform(salt: int | bytes, keys: Iterable[bytes]) -> Floats:
    secret = hashlib.blake2b(b"bytes " + salt if isinstance(salt, bytes) else str(salt).encode()).digest()
    digests = b"".join(hashlib.blake2b(key, digest_size=8, key=secret).digest() for key in keys)
    return np.asarray(((np.frombuffer(digests, "<u8") >> np.uint64(11)) + 0.5) * 2.0**-53)


def _row_bytes(rows: Any) -> Iterator[bytes]:
    if hasattr(rows, "tocsr"):
        matrix = rows.tocsr(copy=True).astype(np.float64)
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
        for start, stop in pairwise(matrix.indptr):
            yield matrix.indices[start:stop].astype(np.int64).tobytes() + matrix.data[start:stop].tobytes()
        return
    values = np.asarray(rows)
    if values.dtype.kind in "biuf":
        for row in values.astype(np.float64) + 0.0:  # -0.0 + 0.0 is 0.0: equal numbers have equal bytes.
            yield row.tobytes()
    else:
        for row in values.tolist():
            yield repr(row).encode()


def _key_bytes(keys: Any) -> Iterator[bytes]:
    for row, key in enumerate(keys):
        if isinstance(key, bytes):
            yield b"bytes " + key
        elif isinstance(key, str):
            yield b"text " + key.encode()
        elif isinstance(key, numbers.Integral):
            yield b"integer %d" % int(key)
        else:
            raise TypeError(f"keys must be text, bytes or integers; got {key!r} at row {row}.")
