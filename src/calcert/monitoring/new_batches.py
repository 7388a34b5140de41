"""The rows of a batch before it is added: read, without those that were added before, and no earlier batch again."""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from calcert.certificates.limits.share_limits import log_gamma
from calcert.foundation.array_types import Floats, Integers
from calcert.foundation.number_text import rows_text
from calcert.foundation.refusal import Argument, NoRows, WrongValue
from calcert.monitoring.states.checksummed_batches import Batch, digest
from calcert.monitoring.states.state_content import State
from calcert.sources.arrays import summarize_arrays
from calcert.sources.rows import Rows
from calcert.sources.rows_in_memory import IdentifiedRows, identified_rows
from calcert.summary import cells
from calcert.summary.cells import DISTINCT_LIMIT
from calcert.summary.saved import counts_of
from calcert.summary.summary import Summary

LOG = logging.getLogger("calcert")

EARLIER = 16
"""A batch is compared with so many before it, and with one of any age that has the very scores and labels."""

FEWEST, DOUBTFUL = 3, 0.002
"""A batch that contains one of so few rows is remarked on, where that would hardly be so at random."""

MOST_IDS = 1 << 24
"""Ids that a state keeps, at eight bytes each."""


def rows_to_add(scores: Any, labels: Any, score: str | None, label: str | None, ids: Any) -> Summary | IdentifiedRows:
    """The rows of a new batch: counted, as the Summary that was given, or with their ids."""
    given = Rows.of(scores, labels, score=score, label=label)
    if ids is not None:
        if given.sampling.given or given.groups is not None or given.has_classes:
            raise TypeError("ids must come with independent rows of one classifier; got clusters, weights or the like.")
        return identified_rows(given, ids)
    rows = given.summary()
    if not rows.n:
        raise NoRows.of("the Summary")
    if rows.clusters is not None:
        design, ways = rows.clusters.design, []
        if design.clustered:
            ways.append("Keep one row of each cluster, chosen without looking at scores and labels.")
        if design.weighted:
            ways.append("Leave weights out, or keep each row with probability weight / largest possible weight.")
        if design.soft:
            ways.append("Draw a label 0 or 1 of each share.")
        raise ValueError(
            f"a monitor takes independent rows of equal weight with labels 0 and 1; got {rows.rows:,} "
            f"rows{rows.clusters.words}. {' '.join(ways)}"
        )
    return rows


def new_rows(given: Summary | IdentifiedRows, state: State, before: Sequence[Batch]) -> tuple[Summary, bytes, int]:
    """The rows that no batch before has, their ids as a state keeps them, and how many were left out."""
    if isinstance(given, Summary):
        return given, b"", 0
    known = state.ids(before)
    new = ~np.isin(given.ids, known)
    added = int(new.sum())
    if known.size + added > MOST_IDS:
        raise ValueError(
            f"ids of at most {MOST_IDS:,} rows are kept; got {added:,} beside {known.size:,}. Add files that hold new "
            "rows alone, without ids, or start another state. Nothing was changed."
        )
    counted = summarize_arrays(given.scores[new], given.labels[new]) if added else Summary.empty()
    return counted, given.ids[new].astype("<i8").tobytes(), new.size - added


def refuse_mixture(batches: Sequence[Batch], name: str, *, identified: bool) -> None:
    """All batches have ids or none has: rows of a batch without them could not be found again."""
    other = next((batch for batch in batches if (batch.ids_digest != digest(b"")) != identified), None)
    if other is not None:
        have, way = (
            ("none", ("Leave ", Argument("ids"), " out")) if identified else ("ids", ("Pass ", Argument("ids", ...)))
        )
        raise WrongValue(
            Argument("ids"),
            "must come with every batch of a state or with none",
            f"{'them' if identified else 'none'} with {name!r}, and batch {other.id!r} (batch {other.number:,}) has "
            f"{have}: rows that are in both would count twice",
            "",
            (*way, ", or start another state with ids from its first batch on."),
            "Nothing was changed.",
        )


def refuse_repetition(
    state: State, batches: Sequence[Batch], name: str, rows: Summary, packed: bytes, *, identified: bool
) -> None:
    """A batch that contains an earlier one is refused; one that may do so by coincidence is remarked on."""
    if identified:
        way: tuple[str | Argument, ...] = ("with ids that rows keep from export to export",)
    else:
        way = ("or start another state with ", Argument("ids", ...), " from its first batch on")
    twin = next((batch for batch in batches if batch.summary_digest == digest(packed)), None)
    new, limit = by_item(rows.cell, rows.count), math.log(1 / ERROR)
    for batch in [*batches[-EARLIER:], *([twin] if twin is not None else [])]:
        if repetition(by_item(*counts_of(state.packed(batch))), new) >= limit:
            raise WrongValue(
                f"batch {name!r}",
                f"must hold rows that were not added before; it holds those of batch {batch.id!r} (batch "
                f"{batch.number:,}, {rows_text(batch.rows)}, of {batch.time}), all or nearly all",
                None,
                "",
                "Rows that count twice void every bound.",
                ("Add the new rows alone, ", *way, "."),
                ("If these are other rows, pass ", Argument("again", True), "."),
                "Nothing was changed.",
            )
    if twin is None:
        small = (batch for batch in batches[: -EARLIER - 1 : -1] if FEWEST <= batch.rows <= DISTINCT_LIMIT)
        twin = next((batch for batch in small if _contains(rows, state.summary(batch))), None)
    if twin is not None:
        LOG.warning(
            "batch %r has the very scores and labels of batch %r (batch %s, of %s), which so few rows may have by "
            "coincidence. If they are the same rows, they count twice now and no bound can be relied on: go back to a "
            "copy of the state from before, or start another.",
            name,
            twin.id,
            f"{twin.number:,}",
            twin.time,
        )


def _contains(new: Summary, earlier: Summary) -> bool:
    """Whether a batch has all rows of an earlier one by score and label, and scores that hardly repeat at random."""
    if new.distinct is None or earlier.distinct is None:
        return False
    counts, fewer = new.points.count, earlier.points.count
    # Of m rows in N equally likely items, about m^2 / 2N repeat an item, and a row elsewhere meets one with m / N.
    repeated = new.n - np.count_nonzero(counts)
    if min(1.0, (2 * repeated + 1) / new.n) ** earlier.n > DOUBTFUL:
        return False
    same = np.isin(new.distinct, earlier.distinct)
    return int(same.sum()) == earlier.distinct.size and bool((counts[same] >= fewer).all())


ERROR = 1e-9
"""The largest probability with which an honest batch is taken for a repetition of one earlier batch."""

LOST = 0.05
"""Prior probability of an item whose rows are not contained, since rows may have been corrected or have expired."""

ITEMS = 4096
"""The most items that are looked at: they tell enough."""

SCALES = (1.0, 1 / 8, 1 / 64, 1 / 1024)
"""How often two equal rows are both new, next to how often they would be if no score were telling: averaged over."""


def by_item(cell: Integers, count: Integers) -> Integers:
    """The rows of a batch for every cell and label, given those of its cells."""
    rows = np.zeros((cells.CELLS, 2), np.int64)
    rows[cell] = count
    return rows.ravel()


def repetition(earlier: Integers, new: Integers) -> float:
    """The logarithm of the evidence that `new` contains `earlier`, both by item, a cell and a label.

    Of an item a rows are in the earlier batch, b in the new one, t = a + b. The evidence compares two explanations of
    a, given t, item by item: that b contains a, and that the batches are independent.

    Guarantee
        Of two independent batches, each of independent rows from any one distribution, the evidence reaches 1/ERROR
        with probability at most ERROR (docs/theory/monitoring.md).
    """
    sizes = int(earlier.sum()), int(new.sum())
    item = np.flatnonzero(earlier + new)
    item = item[:: -(-item.size // ITEMS)]
    a, t = earlier[item], earlier[item] + new[item]
    independent = _log_binomial(a, t, a / t)
    # Where b = a + c, half of the t rows are pairs, but for the rows of c.
    both_new = max(sizes[1] - sizes[0], 1) / (sizes[1] + sizes[0])
    lost = math.log(LOST) - _log_outcomes(t)
    logs = []
    for scale in SCALES:
        pairs = np.where(2 * a <= t, _log_binomial(np.minimum(a, t // 2), t // 2, 1 - scale * both_new), -np.inf)
        logs.append(float((np.logaddexp(math.log(1 - LOST) + pairs, lost) - independent).sum()))
    conditioning = 1.5 * (math.sqrt(3 * sum(sizes)) + 1)
    return float(np.logaddexp.reduce(logs)) - math.log(len(SCALES) * conditioning)


def _log_binomial(a: Integers, t: Integers, probability: Floats | float) -> Floats:
    """The logarithm of the probability of `a` successes in `t` trials."""
    factorial, hit, missed = (log_gamma((rows + 1).astype(np.float64)) for rows in (t, a, t - a))
    ways = factorial - hit - missed
    with np.errstate(divide="ignore", invalid="ignore"):
        hits, misses = a * np.log(probability), (t - a) * np.log1p(-np.asarray(probability))
    return np.asarray(ways + np.where(a > 0, hits, 0.0) + np.where(t > a, misses, 0.0))


def _log_outcomes(t: Integers) -> Floats:
    """The logarithm of how many outcomes t rows of an item have."""
    return np.log((t + 1).astype(np.float64))
