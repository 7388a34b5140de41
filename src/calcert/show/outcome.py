"""What a gate says, wherever it stands: ``calcert check``, ``assert_calibrated``, the action or MLflow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from calcert.certificates.certificate import Certificate
from calcert.foundation.plain_types import plain
from calcert.foundation.refusal import Argument, worded
from calcert.reports.outcome import PRUDENCE, Outcome
from calcert.show.certificate_words import judged


def outcome_words(found: Outcome, options: Mapping[str, str] | None = None) -> str:
    """The verdict, or why rows do not count; what was judged; what to do next, with `options` for arguments."""
    doubt, overrule = found.refused_as, worded(Argument("fitted_on_other_rows", True), options)
    why_not = doubt.removesuffix(".") or found.too_few
    lines = [f"Not certified: {why_not}." if found.is_small and why_not else found.verdict.sentence]
    lines.append(judged(found.certificate))
    if doubt:
        lines += [] if found.is_small else [f"Warning: {doubt}"]
        lines.append(f"If no score was fitted on these rows, pass {overrule}.")
    elif found.doubt:
        lines.append(f"{overrule} overrules a warning: {found.doubt}")
    return "\n".join([*lines, *([] if found.is_small else [f"Next: {found.verdict.next}"])])


def outcome_facts(found: Outcome, words: str) -> dict[str, str]:
    """What the page of all statements is filed with: what was demanded, and what came of it."""
    return {"verdict": words.split("\n")[0], "statement": found.about}


def _demand(found: Outcome) -> str:
    if found.statement == PRUDENCE:
        return "max_observed"
    return "max" if isinstance(found.certificate, Certificate) else "max_ratio"


def outcome_dict(found: Outcome, words: str, **beside: Any) -> dict[str, Any]:
    """The outcome for programs, in plain types."""
    values: dict[str, Any] = plain(
        {
            "kind": "check",
            "schema": 1,
            "passed": found.passed,
            "verdict": found.verdict,
            "statement": found.about,
            _demand(found): found.max,
            "certificate": found.certificate,
            "rows": found.rows,
            "group": found.group,
            "class": found.class_,
            "warnings": [found.doubt] if found.doubt else [],
            "words": words.split("\n"),
            **beside,
        }
    )
    return values
