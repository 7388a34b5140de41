"""Result: what everything that people look at has in common, reached through the one door to ``calcert.show``."""

from __future__ import annotations

import copy
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Self

from calcert.foundation.facts import Facts
from calcert.foundation.plain_types import difference, plain_fields, restored_fields
from calcert.foundation.validation import complement

SCHEMA = 2

KINDS = {
    "report": "calcert.Report",
    "groups": "calcert.reports.groups.GroupReport",
    "classes": "calcert.reports.classes.ClassReport",
    "comparison": "calcert.reports.comparison.Comparison",
    "plan": "calcert.reports.plan.Plan",
    "noise costs": "calcert.reports.noise_costs.NoiseCosts",
    "recalibration": "calcert.reports.recalibrate.Recalibration",
    "band": "calcert.certificates.band.CalibrationBand",
    "monotone band": "calcert.certificates.monotone_band.MonotoneBand",
    "score table": "calcert.certificates.score_table.ScoreTable",
    "transport plan": "calcert.reports.transport_plan.TransportPlan",
    "segments": "calcert.reports.segments.SegmentReport",
    "ratio": "calcert.certificates.observed_over_expected.Ratio",
    "decision curve": "calcert.certificates.decision_curve.DecisionCurve",
    "sides": "calcert.certificates.sides.Sides",
    "test": "calcert.certificates.calibration_test.CalibrationTest",
    "status": "calcert.monitoring.status.Status",
    "published": "calcert.published.compare.Comparison",
}
"""Every kind of result, and the class that reads its JSON."""


class Readable:
    """A frozen dataclass with a `kind` that has words: whoever prints it, or ends a cell with it, reads them."""

    kind: ClassVar[str]

    def __init_subclass__(cls, **named: Any) -> None:
        super().__init_subclass__(**named)
        # At a prompt too; a dataclass would list every field.
        cls.__repr__ = Readable.__str__  # type: ignore[assignment,method-assign]

    def __str__(self) -> str:
        from calcert import show

        return show.as_text(self)

    def _repr_html_(self) -> str | None:
        """For notebooks; None, and thus plain text, where matplotlib or jinja2 is missing."""
        from calcert import show

        try:
            return show.as_notebook(self)
        except ModuleNotFoundError:
            return None

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """The plain text of notebooks and IPython, which would break it up."""
        return {"text/plain": str(self)}


class Result(Readable):
    """What can be printed, drawn, written as a page or a frame, and saved as JSON."""

    noun: ClassVar[str]
    """What errors call it."""

    facts: Facts | None = None
    """What stands beside it on a page that is filed; None where nothing does."""

    @property
    def delta(self) -> float:
        """The probability with which what has a confidence may fail."""
        return complement(self.confidence)  # type: ignore[attr-defined]

    def with_facts(self, facts: Mapping[str, str] | Facts) -> Self:
        """The same result with facts to be filed with it: what people say of the model, by name, and the time.

        Examples
        --------
        >>> report = calcert.certify([0.25, 0.75] * 500, [0, 1] * 500)
        >>> report.with_facts({"model": "PD 7", "owner": "Risk"}).facts.said["owner"]
        'Risk'
        """
        found = copy.copy(self)
        vars(found)["facts"] = facts if isinstance(facts, Facts) else Facts.of(facts)
        return found

    def to_dict(self) -> dict[str, Any]:
        """Plain types only, with its kind and a schema number; ``json.dumps`` takes it as it is."""
        beside = {} if self.facts is None else {"facts": plain_fields(self.facts)}
        return {"kind": self.kind, "schema": SCHEMA} | plain_fields(self) | beside

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """The inverse of :meth:`to_dict`; another kind, a foreign schema and what no result can say are refused."""
        if not isinstance(values, Mapping):
            raise ValueError(f"{cls.noun} must be an object with named fields; got {type(values).__name__}.")
        if values.get("schema") != SCHEMA:
            raise ValueError(f"{cls.noun} has schema {values.get('schema')!r}; this calcert reads schema {SCHEMA}.")
        kind = values.get("kind")
        if kind != cls.kind:
            reader = f" Call {KINDS[kind]}.from_dict." if isinstance(kind, str) and kind in KINDS else ""
            raise ValueError(f"this is no {cls.kind!r} but {kind!r}.{reader}")
        fields = {name: value for name, value in values.items() if name not in ("kind", "schema", "facts")}
        found = restored_fields(cls, fields, cls.noun)
        found._remember(fields)
        if (facts := values.get("facts")) is not None:
            found = found.with_facts(restored_fields(Facts, facts, f"{cls.noun}, facts"))
        if (wrong := difference(values, found.to_dict(), cls.noun)) is not None:
            raise ValueError(wrong)
        found._rows()  # Columns of different lengths are refused.
        return found

    def _remember(self, values: Mapping[str, Any]) -> None:
        """Keep what cannot be derived without the rows, from the JSON that says it."""

    def details(self) -> str:
        """Everything that the text of a report leaves out; of any other result, its text."""
        from calcert import show

        return show.details(self)

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw it (matplotlib), on `ax` or a figure of its own, and return the figure."""
        from calcert import show

        return show.as_picture(self, ax, **options)

    def to_html(self, path: str | os.PathLike[str], *, title: str | None = None, command: str | None = None) -> Path:
        """Write one self-contained page for a reader who was not there, and return its path.

        Needs matplotlib and jinja2. `command` is shown as the exact command that made the result.

        Examples
        --------
        >>> report = calcert.certify([0.25, 0.75] * 500, [0, 1] * 500)
        >>> import tempfile, pathlib
        >>> report.to_html(pathlib.Path(tempfile.mkdtemp()) / "report.html").name
        'report.html'
        """
        from calcert import show

        return show.write_page(self, path, title=title, command=command)

    def to_frame(self, backend: str | None = None) -> Any:
        """The numbers as a data frame of pandas, or of the `backend` named: "polars", "pyarrow" or "modin".

        Left out, it is the first of pandas, polars and pyarrow that is installed.

        Examples
        --------
        >>> report = calcert.certify([0.25, 0.75] * 500, [0, 1] * 500)
        >>> report.to_frame("polars").columns[:4]
        ['statement', 'quantity', 'subject', 'assumption']
        """
        from importlib.util import find_spec

        import narwhals as nw

        rows = self._rows()
        columns = {name: [row[name] for row in rows] for name in rows[0]}
        chosen: Any = backend or next(name for name in ("pandas", "polars", "pyarrow") if find_spec(name) is not None)
        return nw.from_dict(columns, backend=chosen).to_native()

    def _rows(self) -> list[dict[str, Any]]:
        """The lines of the frame, all with the same columns."""
        raise NotImplementedError
