"""The status of a monitor as text that Prometheus reads."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from calcert.foundation.numbers import given
from calcert.foundation.visible import visible

if TYPE_CHECKING:
    from calcert.monitoring.status import Status


def prometheus_text(status: Status) -> str:
    """Gauges with help lines, in the text format 0.0.4; the last window only, so that series do not pile up."""
    last = datetime.fromisoformat(status.history[-1].time).replace(tzinfo=UTC).timestamp()
    gauges: list[tuple[str, str, list[tuple[dict[str, str], float]]]] = [
        ("rows", "Labelled rows added so far.", [({}, status.rows)]),
        ("batches", "Batches added so far.", [({}, len(status.history))]),
        ("last_batch_timestamp_seconds", "Time of the last batch.", [({}, int(last))]),
        ("delta", "Probability with which each statement may ever fail.", [({}, status.delta)]),
        (
            "error_lower",
            "Certified: some batch had an L1 calibration error (as it is) of at least this.",
            [({}, status.lower)],
        ),
        (
            "error_upper",
            "Certified: the L1 calibration error (perturbed, all rows pooled) is at most this.",
            [({}, status.upper.upper)],
        ),
    ]
    if status.limit is not None:
        raised = int(status.alarm is not None)
        gauges.append(
            (
                "alarm",
                "1 if the error is proven to have exceeded the limit.",
                [({"limit": f"{given(status.limit)}"}, raised)],
            )
        )
    if status.windows:
        window = status.windows[-1]
        for name, words in (("lower", "at least"), ("upper", "at most")):
            values = [
                ({"window": window.key, "statement": statement}, float(getattr(certificate, name)))
                for statement, certificate in window.certificates.items()
            ]
            gauges.append(
                (f"window_error_{name}", f"Certified: L1 calibration error of the last window, {words}.", values)
            )
    lines = []
    for name, words, values in gauges:
        lines += [f"# HELP calcert_{name} {words}", f"# TYPE calcert_{name} gauge"]
        lines += [f"calcert_{name}{_labels(labels)} {value!r}" for labels, value in values]
    return "\n".join(lines) + "\n"


def _labels(labels: dict[str, str]) -> str:
    if not labels:
        return ""
    escaped = {k: visible(v).replace("\\", "\\\\").replace('"', '\\"') for k, v in labels.items()}
    return "{" + ",".join(f'{name}="{value}"' for name, value in escaped.items()) + "}"
