"""Batches as a state writes them down, each with a checksum that is chained to the one before it, down to the settings.

The digest of a line covers the line, the digests of what is kept of the batch, and the digest before it. So the digest
of a batch stands for all that was known when it was added.
"""

from __future__ import annotations

import hashlib
from typing import NamedTuple

from calcert.monitoring.batch_times import is_written


class Batch(NamedTuple):
    """What a state says of one batch, with checksums of what is kept of it and of the chain up to here.

    `positives` are rows of label 1, `window` the key of its window, `lower` the lower bound certified after it.
    """

    number: int
    id: str
    rows: int
    positives: int
    time: str
    window: str | None
    lower: float
    gains_digest: bytes
    summary_digest: bytes
    ids_digest: bytes
    digest: bytes

    @property
    def possible(self) -> bool:
        """Whether a monitor can have written this line: SQLite takes any value in any column."""
        kinds = (int, str, int, int, str, str if self.window is not None else type(None), float)
        return (
            tuple(map(type, self[: len(kinds)])) == kinds
            and 0 <= self.positives <= self.rows > 0
            and 0 <= self.lower < 1
            and is_written(self.time)
        )

    def chained(self, before: bytes) -> bytes:
        """What `digest` must be after a batch whose digest is `before`."""
        line = (self.number, self.id, self.rows, self.positives, self.time, self.window, self.lower)
        return digest(before, line, self.gains_digest, self.summary_digest, self.ids_digest)


def digest(*parts: object) -> bytes:
    """A checksum of several parts, in which no part can borrow from the next; what is not bytes is taken as written."""
    total = bytearray()
    for part in parts:
        content = part if isinstance(part, bytes) else repr(part).encode()
        total += len(content).to_bytes(8, "little")
        total += content
    return hashlib.blake2b(total, digest_size=16).digest()
