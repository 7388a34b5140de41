"""Report: the statements that :func:`calcert.certify` makes of one set of rows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from calcert.certificates.certificate import Certificate
from calcert.reports.result import Paged
from calcert.summary.counts import Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SCHEMA = 1


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
