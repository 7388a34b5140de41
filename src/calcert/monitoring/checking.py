"""Reading all of a state, and checking all of it."""

from __future__ import annotations

from calcert.monitoring.looks_due import Life
from calcert.monitoring.state import State
from calcert.monitoring.status import Checked
from calcert.summary.counts import Summary


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
