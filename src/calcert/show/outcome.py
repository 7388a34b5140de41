"""What a gate says, wherever it stands (shell, Python, ``assert_calibrated``, the action, MLflow), and as JUnit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from calcert.foundation.escaped_text import visible
from calcert.foundation.plain_types import plain
from calcert.foundation.refusal import Argument, worded
from calcert.foundation.whole_regular_file import replacing
from calcert.show.block import Block, Paragraph, Verdict, Warned
from calcert.show.certificate_words import judged

if TYPE_CHECKING:
    from calcert.certificates.certificate import Certificate
    from calcert.certificates.observed_over_expected import Ratio
    from calcert.reports.gate import Outcome


def outcome_blocks(found: Outcome, options: Mapping[str, str] | None = None) -> list[Block]:
    """The verdict, or why rows do not count; what was judged; what to do next, with `options` for arguments."""
    doubt, overrule = found.refused_as, worded(Argument("fitted_on_other_rows", True), options)
    why_not = doubt.removesuffix(".") or found.too_few
    verdict = f"Not certified: {why_not}." if found.is_small and why_not else found.verdict.sentence
    said: list[Block] = [Verdict(verdict), Paragraph(judged(found.certificate))]
    if doubt:
        said += [] if found.is_small else [Warned(doubt)]
        said.append(Paragraph(f"If no score was fitted on these rows, pass {overrule}."))
    elif found.doubt:
        said.append(Paragraph(f"{overrule} overrules a warning: {found.doubt}"))
    return said if found.is_small else [*said, Paragraph(f"Next: {found.verdict.next}")]


def outcome_words(found: Outcome, options: Mapping[str, str] | None = None) -> str:
    """The blocks in words, each line unbroken, as logs break lines themselves; with `options` for arguments."""
    said: list[Any] = outcome_blocks(found, options)
    return "\n".join(f"Warning: {block.words}" if isinstance(block, Warned) else block.words for block in said)


def outcome_facts(found: Outcome, words: str) -> dict[str, str]:
    """What the page of all statements is filed with: what was demanded, and what came of it."""
    return {"verdict": words.split("\n")[0], "statement": found.about}


def outcome_dict(found: Outcome, words: str, **beside: Any) -> dict[str, Any]:
    """The outcome for programs, in plain types."""
    values: dict[str, Any] = plain(
        {
            "kind": "check",
            "schema": 1,
            "passed": found.passed,
            "verdict": found.verdict,
            "statement": found.about,
            found.demand: found.max,
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


@dataclass(frozen=True)
class JUnitOutcome:
    """One check, by the version of a policy: passed or not or, without a certificate, impossible for a reason."""

    name: str
    largest: float
    certificate: Certificate | Ratio | None = None
    words: str = "interrupted"
    passed: bool = False
    policy: str | None = None

    def write(self, path: str, seconds: float) -> None:
        """Write a test suite of one test, whole or not at all."""
        from xml.etree import ElementTree

        import calcert

        found, words = self.certificate, visible(self.words, keep="\n")
        failed = found is not None and not self.passed
        suites = ElementTree.Element("testsuites")
        numbers = {"tests": 1, "failures": int(failed), "errors": int(found is None), "skipped": 0}
        counted, took = {name: str(number) for name, number in numbers.items()}, f"{seconds:.3f}"
        suite = ElementTree.SubElement(suites, "testsuite", {"name": "calcert", **counted, "time": took})
        facts: dict[str, object] = {"version": calcert.__version__, "max": self.largest}
        facts |= {} if self.policy is None else {"policy": self.policy}
        if found is not None:
            facts |= {"upper": found.upper, "lower": found.lower, "confidence": found.confidence, "rows": found.n}
            facts |= getattr(found, "parameters", {})
        properties = ElementTree.SubElement(suite, "properties")
        for name, value in facts.items():
            ElementTree.SubElement(properties, "property", name=name, value=str(value))
        case = ElementTree.SubElement(suite, "testcase", classname="calcert.check", name=self.name, time=took)
        if found is None or failed:
            ElementTree.SubElement(case, "failure" if failed else "error", message=words).text = words
        else:
            ElementTree.SubElement(case, "system-out").text = words
        with replacing(Path(path)) as unfinished:
            ElementTree.ElementTree(suites).write(unfinished, encoding="utf-8", xml_declaration=True)
