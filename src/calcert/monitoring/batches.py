"""Batches of a state: one is judged by what earlier ones taught, learned from and written down; all are checked."""

from __future__ import annotations

from collections.abc import Sequence

from calcert.monitoring.gamblers import latest_start
from calcert.monitoring.looks import Life
from calcert.monitoring.state import State, Tip
from calcert.monitoring.state_layout import Batch, digest
from calcert.monitoring.status import Alarm, Checked
from calcert.monitoring.watched_statements import WATCHED
from calcert.summary.summary import Summary


def append(
    state: State, tip: Tip, name: str, time: str, window: str | None, rows: Summary, packed: bytes
) -> tuple[Batch, Tip]:
    """Write the batch after `tip` into the state, and return it with the new tip; `packed` are its rows."""
    # The order matters: witnesses must be fixed before the batch is learned from (see betting).
    histograms = tip.memory.gains(rows)
    wealth = tip.wealth.after(histograms)
    batch = Batch(
        number=tip.number + 1,
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
    batch = batch._replace(digest=batch.chained(tip.digest))
    after = Tip(batch.number, batch.digest, tip.memory.after(rows), wealth)
    state.append(batch, histograms, packed, after)
    return batch, after


def first_alarm(state: State, batches: Sequence[Batch], limit: float, delta: float) -> Alarm | None:
    """The first batch after which the lower bound exceeded the limit, and the shortest stretch that proves it."""
    proof = next((batch for batch in batches if batch.lower > limit), None)
    if proof is None:
        return None
    start = batches[latest_start(proof.number, state.gains(batches[: proof.number]), limit, delta) - 1]
    below = WATCHED[state.statement()].below
    return Alarm(limit, proof.time, proof.id, proof.number, start.time, start.number, below)


def check(state: State) -> Checked:
    """Check every page, line, histogram and Summary, and that rows add up; raises where something is damaged."""
    state.check_pages()
    tip = state.tip()
    batches = state.batches(tip)
    for _ in state.gains(batches):
        pass
    pooled, pool = state.pool(batches)
    together = Summary.empty()
    for batch in batches:
        rows = state.summary(batch)
        if (rows.n, rows.positives) != (batch.rows, batch.positives):
            raise state.damaged(f"batch {batch.number} has other rows than its line says")
        if batch.number <= pooled:
            together += rows
    if together != pool:
        raise state.damaged("the rows of all batches together are not those of the batches")
    if not batches:
        return Checked(0, 0, 0, 0)
    life = Life(state.chosen(), state.statement()).after(batches)
    return Checked(len(batches), life.rows, len(life.due), len(state.looks(life.due)))
