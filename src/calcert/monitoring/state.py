"""What a state holds, as Python values: reads are checked against their checksums, writes are whole batches.

A batch is one transaction, acknowledged when SQLite has synced it to the disk (rollback journal, synchronous=EXTRA): a
process killed at any instant loses at most the batch that was not acknowledged, and the state is one file whenever
nobody is writing. Writers queue for the write lock before they read, so that none works on stale numbers.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import astuple
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from calcert.certificates.certificate import Certificate
from calcert.monitoring.betting import LIMITS, NODES, STAKES, Wealth
from calcert.monitoring.connection import DamagedState
from calcert.monitoring.layout import Batch, digest
from calcert.monitoring.memory import BLOCKS, HALF_LIVES, SCALES, Memory
from calcert.summary.counts import Summary
from calcert.summary.packed import pack, unpack

Floats = NDArray[np.float64]

LookKey = tuple[str, int, str]
"""Stretch of rows, number of the look in it, statement."""


class State:
    """The content of a state, inside one transaction of :mod:`calcert.monitoring.connection`."""

    def __init__(self, database: sqlite3.Connection, path: Path) -> None:
        self._database = database
        self._path = path

    def settings(self) -> dict[str, float]:
        """What was fixed when the state was started; empty for a new one."""
        return dict(self._database.execute("SELECT name, value FROM settings").fetchall())

    def set(self, settings: Mapping[str, float]) -> None:
        """Fix the settings of a new state."""
        self._database.executemany("INSERT INTO settings VALUES (?, ?)", settings.items())

    def origin(self) -> bytes:
        """What the first batch is chained to: the settings."""
        return digest(repr(sorted(self.settings().items(), key=repr)).encode())

    def batches(self) -> list[Batch]:
        """All batches in order, with the chain of their digests checked."""
        batches = [Batch(*line) for line in self._database.execute("SELECT * FROM batches ORDER BY number")]
        before = self.origin()
        for number, batch in enumerate(batches, start=1):
            if batch.number != number or batch.chained(before) != batch.digest:
                raise self._damaged(f"the line of batch {number} does not fit its checksum")
            before = batch.digest
        kept = self._database.execute("SELECT batches FROM learned").fetchall()
        if kept != ([(len(batches),)] if batches else []):
            raise self._damaged(f"it has the lines of {len(batches)} batches, and there were more or fewer")
        return batches

    def learned(self, batches: Sequence[Batch]) -> tuple[Memory, Wealth]:
        """What betting knows after all batches."""
        if not batches:
            return Memory.blank(), Wealth.blank()
        *known, checksum = self._database.execute("SELECT memory, wealth, digest FROM learned").fetchone()
        if checksum != digest(batches[-1].digest, *known):
            raise self._damaged("what earlier batches taught does not fit its checksum")
        memory, wealth = (np.frombuffer(content) for content in known)
        size = len(HALF_LIVES) * 3 * BLOCKS
        return (
            Memory(memory[:size].reshape(-1, 3, BLOCKS), memory[size:].reshape(-1, len(SCALES))),
            Wealth(len(batches), wealth.reshape(-1, STAKES.size, LIMITS.size)),
        )

    def append(self, batch: Batch, gains: Floats, packed: bytes, memory: Memory, wealth: Wealth) -> None:
        """Write the next batch, and what betting knows after it."""
        line = astuple(batch)
        self._database.execute(f"INSERT INTO batches VALUES ({', '.join('?' * len(line))})", line)
        self._database.execute("INSERT INTO contents VALUES (?, ?, ?)", (batch.number, gains.tobytes(), packed))
        known = (memory.seen.tobytes() + memory.earned.tobytes(), wealth.logarithm.tobytes())
        self._database.execute("DELETE FROM learned")
        self._database.execute(
            "INSERT INTO learned VALUES (?, ?, ?, ?)", (batch.number, *known, digest(batch.digest, *known))
        )

    def gains(self, batches: Sequence[Batch]) -> Floats:
        """The histograms of gains of the first batches."""
        found = self._database.execute(
            "SELECT gains FROM contents WHERE number <= ? ORDER BY number", (len(batches),)
        ).fetchall()
        if [digest(gains) for (gains,) in found] != [batch.gains_digest for batch in batches]:
            raise self._damaged("the gains of a batch do not fit their checksum")
        return np.array([np.frombuffer(gains) for (gains,) in found]).reshape(-1, len(HALF_LIVES), NODES.size)

    def summary(self, batch: Batch) -> Summary:
        """The rows of one batch."""
        found = self._database.execute("SELECT summary FROM contents WHERE number = ?", (batch.number,)).fetchone()
        if found is None or digest(found[0]) != batch.summary_digest:
            raise self._damaged(f"the rows of batch {batch.number} do not fit their checksum")
        return unpack(found[0])

    def looks(self) -> dict[LookKey, Certificate]:
        """Certificates computed so far."""
        found = self._database.execute("SELECT stretch, number, statement, certificate, digest FROM looks").fetchall()
        if any(digest(self.origin(), repr(line).encode()) != checksum for *line, checksum in found):
            raise self._damaged("a certificate does not fit its checksum")
        return {(line[0], line[1], line[2]): Certificate.from_dict(json.loads(line[3])) for line in found}

    def keep_looks(self, looks: Mapping[LookKey, Certificate]) -> None:
        """Keep certificates, so that none is computed twice."""
        for key, certificate in looks.items():
            line = [*key, json.dumps(certificate.to_dict())]
            checksum = digest(self.origin(), repr(line).encode())
            self._database.execute("INSERT OR REPLACE INTO looks VALUES (?, ?, ?, ?, ?)", (*line, checksum))

    def pool(self, batches: Sequence[Batch]) -> tuple[int, Summary]:
        """How many of the first batches are pooled, those up to the last look at all rows, and their rows together."""
        found = self._database.execute("SELECT batches, summary, digest FROM pool").fetchone()
        if found is None:
            return 0, Summary.empty()
        size, packed, checksum = found
        if not 0 < size <= len(batches) or digest(batches[size - 1].digest, packed) != checksum:
            raise self._damaged("the rows of all batches together do not fit their checksum")
        return size, unpack(packed)

    def keep_pool(self, last: Batch, pool: Summary) -> None:
        """Keep the rows of all batches up to `last` together, unless more are kept already."""
        kept = self._database.execute("SELECT batches FROM pool").fetchone()
        if kept is None or kept[0] < last.number:
            packed = pack(pool)
            self._database.execute("DELETE FROM pool")
            self._database.execute(
                "INSERT INTO pool VALUES (?, ?, ?)", (last.number, packed, digest(last.digest, packed))
            )

    def _damaged(self, what: str) -> DamagedState:
        return DamagedState(f"{self._path} is damaged: {what}. Nothing was changed; restore the file from a copy.")
