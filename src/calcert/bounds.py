"""Single theorems, one function each: for those who know which bound they want.

Each takes the rows as :func:`calcert.certify` does, scores and labels, :class:`calcert.Rows`, a table or a
:class:`calcert.Summary`, and returns one result.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from functools import wraps
from importlib import import_module
from inspect import Parameter
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from calcert.certificates.calibration_test import CalibrationTest
    from calcert.certificates.certificate import Certificate
    from calcert.certificates.cutoff import WorstRange
    from calcert.certificates.observed_over_expected import Ratio
    from calcert.certificates.sides import Sides

    bounded_variation: Callable[..., Certificate]
    calibration_test: Callable[..., CalibrationTest]
    crossings: Callable[..., Certificate]
    cutoff: Callable[..., Certificate]
    distance: Callable[..., Certificate]
    finite: Callable[..., Certificate]
    in_the_large: Callable[..., Certificate]
    lipschitz: Callable[..., Certificate]
    observed_over_expected: Callable[..., Ratio]
    perturbed: Callable[..., Certificate]
    regret: Callable[..., Certificate]
    sides: Callable[..., Sides]
    squared: Callable[..., Certificate]
    worst_range: Callable[..., WorstRange]

Answer = TypeVar("Answer")

_LATER = {
    "bounded_variation": "calcert.certificates.bounded_variation",
    "calibration_test": "calcert.certificates.calibration_test",
    "crossings": "calcert.certificates.crossings",
    "cutoff": "calcert.certificates.cutoff",
    "distance": "calcert.certificates.distance",
    "finite": "calcert.certificates.finite",
    "in_the_large": "calcert.certificates.in_the_large",
    "lipschitz": "calcert.certificates.lipschitz",
    "observed_over_expected": "calcert.certificates.observed_over_expected",
    "perturbed": "calcert.certificates.perturbed",
    "regret": "calcert.certificates.regret",
    "sides": "calcert.certificates.sides",
    "squared": "calcert.certificates.squared",
    "worst_range": "calcert.certificates.cutoff",
}

__all__ = [*_LATER]

SHARED = {
    "scores, labels": "The rows: all that :func:`calcert.summarize` takes, or what it returned.",
    "odds, bandwidth": "Which noise is added, as in :func:`calcert.perturb`; one of them at most, else `odds` 1/16.",
    "confidence": "Probability 1 - delta with which each bound holds.",
    "seed": "Sets the random split of the rows for the lower bound; to be fixed before the rows are seen.",
}
"""Parameters that theorems share; a theorem explains its others, and those of which it has more to say."""


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> object:
    if name in _LATER:
        return globals().setdefault(name, of_rows(getattr(import_module(_LATER[name]), name)))
    raise AttributeError(f"module 'calcert.bounds' has no attribute {name!r}")


def of_rows(theorem: Callable[..., Answer]) -> Callable[..., Answer]:
    """A function of a Summary and delta as one of rows and a confidence."""
    _, *options = inspect.signature(theorem).parameters.values()
    confidence = Parameter("confidence", Parameter.KEYWORD_ONLY, default=0.95, annotation="float")
    rows = [
        Parameter("scores", Parameter.POSITIONAL_OR_KEYWORD, annotation="Any"),
        Parameter("labels", Parameter.POSITIONAL_OR_KEYWORD, default=None, annotation="Any"),
    ]
    public = [confidence if option.name == "delta" else option for option in options]
    signature = inspect.signature(theorem).replace(parameters=rows + public)

    @wraps(theorem)
    def of(*given: Any, **named: Any) -> Answer:
        from calcert.foundation.validation import check_confidence, complement
        from calcert.sources.rows import Rows

        try:
            said = signature.bind(*given, **named).arguments
        except TypeError as error:
            raise TypeError(f"{theorem.__name__}(): {error}") from None
        if "confidence" in said:
            said["delta"] = complement(check_confidence(said.pop("confidence")))
        return theorem(Rows.of(said.pop("scores"), said.pop("labels", None)).summary(), **said)

    del of.__wrapped__  # Its source has other arguments, which tools would read.
    of.__signature__ = signature  # type: ignore[attr-defined]
    of.__doc__ = _with_parameters(theorem.__doc__ or "", list(signature.parameters))
    return of


def _with_parameters(text: str, names: list[str]) -> str:
    """The docstring of a theorem with all its parameters explained, in their order."""
    before, examples, after = text.partition("    Examples\n")
    before, _, own = before.partition("    Parameters\n    ----------\n")
    said = {name: f"        {shared}\n" for name, shared in SHARED.items() if name.partition(",")[0] in names}
    said |= dict(re.findall(r"^ {4}(\w.*)\n((?: {8}.*\n)+)", own, re.MULTILINE))
    listed = sorted(said, key=lambda name: names.index(name.partition(",")[0]))
    section = "".join(f"    {name}\n{said[name]}" for name in listed)
    return f"{before}    Parameters\n    ----------\n{section}\n{examples}{after}"
