"""Adding a batch: judged by what earlier ones taught, learned from, written down. And finding the first alarm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from calcert.monitoring.betting import gains, latest_start
from calcert.monitoring.layout import Batch, digest
from calcert.monitoring.state import State
from calcert.monitoring.status import Alarm
from calcert.summary.counts import Summary


def append(
    state: State, batches: Sequence[Batch], name: str, time: str, window: str | None, rows: Summary, packed: bytes
) -> Batch:
    """Write the batch after `batches` into the state; `packed` are its rows."""
    memory, wealth = state.learned(batches)
    # The order matters: witnesses must be fixed before the batch is learned from (see betting).
    histograms = gains(rows, memory.witnesses())
    memory, wealth = memory.after(rows), wealth.after(histograms)
    batch = Batch(
        number=len(batches) + 1,
        id=name,
        rows=rows.n,
        positives=rows.positives,
        time=time,
        window=window,
        lower=wealth.lower(state.settings()["delta"]),
        gains_digest=digest(histograms.tobytes()),
        summary_digest=digest(packed),
        digest=b"",
    )
    batch = replace(batch, digest=batch.chained(batches[-1].digest if batches else state.origin()))
    state.append(batch, histograms, packed, memory, wealth)
    return batch


def first_alarm(state: State, batches: Sequence[Batch], limit: float, delta: float) -> Alarm | None:
    """The first batch after which the lower bound exceeded the limit, and the shortest stretch that proves it."""
    proof = next((batch for batch in batches if batch.lower > limit), None)
    if proof is None:
        return None
    start = batches[latest_start(state.gains(batches[: proof.number]), limit, delta) - 1]
    return Alarm(limit, proof.time, proof.id, proof.number, start.time, start.number)
