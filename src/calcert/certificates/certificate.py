"""Certificate and Report: frozen results. Nothing here computes a bound."""

from __future__ import annotations

import importlib
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from calcert.summary.counts import Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SCHEMA = 1

TELLING = 0.95
"""Intervals up to this wide are said to say something."""

NOTHING = 0.999
"""An upper bound from here on says nothing; rounding it up to 1 is sound, and honest."""


@dataclass(frozen=True)
class Certificate:
    """One certified statement: `lower` <= the quantity <= `upper`.

    Each bound holds with probability at least 1 - delta over the rows, so both together with at least 1 - 2 delta.

    Attributes
    ----------
    quantity
        What is bounded, in words.
    subject
        Of which classifier.
    assumption
        What must be true for the guarantee; "none" where nothing is assumed beyond independent rows.
    upper, lower
        The bounds. A bound that says nothing is 1.0 or 0.0.
    delta, n
        The probability of failure of each bound, and the number of rows.
    theorem
        Where the proof stands.
    terms
        What the upper bound is made of, by name; the values add up to `upper`.
    parameters
        What was fixed in advance: bandwidth, variation, seed and the like.

    Examples
    --------
    >>> c = calcert.finite(calcert.summarize([0.25, 0.75] * 500, [0, 1] * 500))
    >>> round(c.upper, 3), c.assumption, c.vacuous
    (0.264, 'none', False)
    """

    quantity: str
    subject: str
    assumption: str
    upper: float
    lower: float
    delta: float
    n: int
    theorem: str
    terms: Mapping[str, float]
    parameters: Mapping[str, float] = field(default_factory=dict)

    @property
    def vacuous(self) -> bool:
        """True where the interval is all of [0, 1]: too few rows to say anything."""
        return self.upper >= 1.0 and self.lower <= 0.0

    @property
    def telling(self) -> bool:
        """False where the interval is nearly all of [0, 1]: wider than 0.95, and of no use to anybody."""
        return self.upper - self.lower <= TELLING

    def to_dict(self) -> dict[str, Any]:
        """Plain types only, ready for JSON."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return values | {
            "terms": dict(self.terms),
            "parameters": dict(self.parameters),
            "vacuous": self.vacuous,
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Certificate:
        """The inverse of :meth:`to_dict`."""
        return cls(**{f.name: values[f.name] for f in fields(cls)})

    def __str__(self) -> str:
        from calcert.show.text.report import certificate_text

        return certificate_text(self)


class Paged:
    """A result with a page and a notebook view, both made by the module of ``calcert.show`` that it names."""

    _pages: ClassVar[str]

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
        pages = importlib.import_module(f"calcert.show.{self._pages}")
        from calcert.show.pages.layout import write

        return write(pages.page(self, title=title, command=command), path)

    def _repr_html_(self) -> str | None:
        """For notebooks; None, and thus plain text, where matplotlib or jinja2 is missing."""
        try:
            pages = importlib.import_module(f"calcert.show.{self._pages}")
        except ModuleNotFoundError:
            return None
        view: str = pages.notebook_view(self)
        return view


@dataclass(frozen=True)
class Report(Paged):
    """What :func:`calcert.certify` returns: three certified statements and, named as such, estimates.

    Attributes
    ----------
    perturbed
        L1 calibration error of the classifier served through :func:`calcert.perturb`: no assumption.
    unmodified
        L1 calibration error of the classifier as it is. Its `assumption` is none where a finite score set with many
        rows to each score gives the smaller bound, else total variation; :func:`calcert.finite` never assumes any.
    distance
        Distance from calibration of the classifier as it is: no assumption.
    estimates
        Point estimates without any guarantee (base rate, Brier score, ECE, AUROC).
    advice, warnings
        In plain words: what would tighten the bounds most, and what looks wrong.
    summary
        The rows' Summary, for pictures; absent after a round trip through JSON.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(10_000)
    >>> report = calcert.certify(x, rng.random(10_000) < x)
    >>> for name, c in report.certificates.items():
    ...     print(f"{name}: at most {c.upper:.3f}, assuming {c.assumption}")
    perturbed: at most 0.020, assuming none
    unmodified: at most 0.049, assuming calibration function of total variation at most 1 (as any monotone one)
    distance: at most 0.039, assuming none
    """

    _pages: ClassVar[str] = "pages.report"

    perturbed: Certificate
    unmodified: Certificate
    distance: Certificate
    estimates: Mapping[str, float]
    advice: str
    warnings: tuple[str, ...] = ()
    summary: Summary | None = field(default=None, compare=False, repr=False)

    @property
    def certificates(self) -> dict[str, Certificate]:
        """The three statements by name."""
        return {"perturbed": self.perturbed, "unmodified": self.unmodified, "distance": self.distance}

    def to_dict(self) -> dict[str, Any]:
        """Plain types only, with a schema number; ``json.dumps`` takes it as it is."""
        return {
            "schema": SCHEMA,
            **{name: certificate.to_dict() for name, certificate in self.certificates.items()},
            "estimates": {k: (None if math.isnan(v) else v) for k, v in self.estimates.items()},
            "advice": self.advice,
            "warnings": list(self.warnings),
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Report:
        """The inverse of :meth:`to_dict`; a foreign schema is refused by number."""
        if values.get("schema") != SCHEMA:
            raise ValueError(f"the report has schema {values.get('schema')!r}; this calcert reads schema {SCHEMA}.")
        return cls(
            perturbed=Certificate.from_dict(values["perturbed"]),
            unmodified=Certificate.from_dict(values["unmodified"]),
            distance=Certificate.from_dict(values["distance"]),
            estimates={k: (math.nan if v is None else v) for k, v in values["estimates"].items()},
            advice=values["advice"],
            warnings=tuple(values["warnings"]),
        )

    def __str__(self) -> str:
        from calcert.show.text.report import report_text

        return report_text(self)

    def plot(self, ax: Axes | tuple[Axes, Axes] | None = None) -> Figure:
        """Draw the reliability picture in its certified band and, beside it, what the bounds are made of.

        One `ax` takes the reliability picture alone, a pair of them takes both; without, there is a new figure.
        Needs matplotlib, and the report as :func:`calcert.certify` returned it.

        Examples
        --------
        >>> report = calcert.certify([0.25, 0.75] * 500, [0, 1] * 500)
        >>> import tempfile, pathlib
        >>> report.plot().savefig(pathlib.Path(tempfile.mkdtemp()) / "calibration.pdf")
        """
        from calcert.show.pictures.plot import report_picture

        return report_picture(self, ax)


def total(terms: dict[str, float]) -> tuple[float, dict[str, float]]:
    """The upper bound that `terms` add up to and the terms; one that says nothing is 1, by a term of its own."""
    upper = math.fsum(terms.values())
    if upper < NOTHING:
        return upper, terms
    return 1.0, terms | {"cap at 1": 1.0 - upper}
