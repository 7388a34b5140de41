"""The outcome of a check as JUnit XML, which every build server shows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from calcert.foundation.escaped_text import visible
from calcert.foundation.whole_regular_file import replacing

if TYPE_CHECKING:
    from calcert.certificates.certificate import Certificate
    from calcert.certificates.observed_over_expected import Ratio


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
        suite = ElementTree.SubElement(
            suites,
            "testsuite",
            name="calcert",
            tests="1",
            failures=str(int(failed)),
            errors=str(int(found is None)),
            skipped="0",
            time=f"{seconds:.3f}",
        )
        facts: dict[str, object] = {"version": calcert.__version__, "max": self.largest}
        facts |= {} if self.policy is None else {"policy": self.policy}
        if found is not None:
            facts |= {"upper": found.upper, "lower": found.lower, "confidence": found.confidence, "rows": found.n}
            facts |= getattr(found, "parameters", {})
        properties = ElementTree.SubElement(suite, "properties")
        for name, value in facts.items():
            ElementTree.SubElement(properties, "property", name=name, value=str(value))
        case = ElementTree.SubElement(
            suite,
            "testcase",
            classname="calcert.check",
            name=self.name,
            time=f"{seconds:.3f}",
        )
        if found is None or failed:
            ElementTree.SubElement(case, "failure" if failed else "error", message=words).text = words
        else:
            ElementTree.SubElement(case, "system-out").text = words
        with replacing(Path(path)) as unfinished:
            ElementTree.ElementTree(suites).write(unfinished, encoding="utf-8", xml_declaration=True)
