"""The status of a monitor as text that Prometheus reads."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from calcert.foundation.escaped_text import visible
from calcert.foundation.number_text import given
from calcert.show.certificate_words import MEASURE

if TYPE_CHECKING:
    from calcert.monitoring.status import Status


def prometheus_text(status: Status, model: str | None = None) -> str:
    """Gauges with help lines, in the text format 0.0.4; the last window only, so that series do not pile up.

    `model` is a label of every series, which tells those of several monitors apart.
    """
    named = {} if model is None else {"model": model}
    below, perturbed = MEASURE[status.below], " of perturbed scores" if status.statement == "perturbed" else ""
    last = datetime.fromisoformat(status.last).replace(tzinfo=UTC).timestamp()
    gauges: list[tuple[str, str, list[tuple[dict[str, str], float]]]] = [
        ("rows", "Labelled rows added so far.", [({}, status.rows)]),
        ("batches", "Batches added so far.", [({}, len(status.history))]),
        ("last_batch_timestamp_seconds", "Latest time of any batch.", [({}, int(last))]),
        ("confidence", "Probability with which each kind of bound holds at all times.", [({}, status.confidence)]),
        (
            "error_lower",
            f"Certified: in the worst batch so far the {below} was at least this.",
            [({"statement": status.below}, status.lower)],
        ),
        (
            "error_upper",
            f"Certified: over all rows pooled the {MEASURE[status.statement]}{perturbed} is at most this.",
            [({"statement": status.statement}, status.upper.upper)],
        ),
    ]
    if status.limit is not None:
        raised = int(status.alarm is not None)
        gauges.append(
            (
                "alarm",
                f"1 if the {below} is proven to have exceeded the limit.",
                [({"limit": f"{given(status.limit)}", "statement": status.below}, raised)],
            )
        )
    if status.windows:
        window = status.windows[-1]
        for name, words in (("lower", "at least"), ("upper", "at most")):
            values = [
                ({"window": window.key, "statement": statement}, float(getattr(certificate, name)))
                for statement, certificate in window.certificates.items()
            ]
            told = f"Certified: error of the last window, {words}, by statement; l1 may assume something."
            gauges.append((f"window_error_{name}", told, values))
    lines = []
    for name, words, values in gauges:
        lines += [f"# HELP calcert_{name} {words}", f"# TYPE calcert_{name} gauge"]
        lines += [f"calcert_{name}{_labels(named | labels)} {value!r}" for labels, value in values]
    return "\n".join(lines) + "\n"


def _labels(labels: dict[str, str]) -> str:
    if not labels:
        return ""
    escaped = {k: visible(v).replace("\\", "\\\\").replace('"', '\\"') for k, v in labels.items()}
    return "{" + ",".join(f'{name}="{value}"' for name, value in escaped.items()) + "}"
