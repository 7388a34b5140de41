"""calcert: finite-sample, distribution-free certificates for the calibration error of a classifier."""

from __future__ import annotations

from typing import TYPE_CHECKING

from calcert.certificate import Certificate, Report
from calcert.certificates.bounded_variation import bounded_variation
from calcert.certificates.distance import distance
from calcert.certificates.finite import finite
from calcert.certificates.lipschitz import lipschitz
from calcert.certificates.perturbed import perturbed
from calcert.certificates.squared import squared
from calcert.certification import certify
from calcert.estimates import estimates
from calcert.perturbation import perturb
from calcert.sources import summarize
from calcert.sources.warehouse import sql
from calcert.summary import Summary

if TYPE_CHECKING:
    from calcert.comparison import compare
    from calcert.monitor import Monitor

__version__ = "0.1.0"

__all__ = [
    "Certificate",
    "Monitor",
    "Report",
    "Summary",
    "__version__",
    "bounded_variation",
    "certify",
    "compare",
    "distance",
    "estimates",
    "finite",
    "lipschitz",
    "perturb",
    "perturbed",
    "sql",
    "squared",
    "summarize",
]


def __getattr__(name: str) -> object:
    # A third of the time that importing all of it would take: only those who compare or keep watch pay for that.
    if name == "compare":
        from calcert.comparison import compare

        return compare
    if name == "Monitor":
        from calcert.monitor import Monitor

        return Monitor
    raise AttributeError(f"module 'calcert' has no attribute {name!r}")
