"""calcert: finite-sample, distribution-free certificates for the calibration error of a classifier."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from calcert.foundation.uninterrupted import load

# Interrupted in the middle, NumPy would say that it is broken, and a command would end with a code that means another
# thing: Ctrl-C waits until it is there.
load("numpy")

from calcert.certificates.bounded_variation import bounded_variation
from calcert.certificates.certificate import Certificate
from calcert.certificates.distance import distance
from calcert.certificates.finite import finite
from calcert.certificates.lipschitz import lipschitz
from calcert.certificates.perturbed import perturbed
from calcert.certificates.squared import squared
from calcert.reports.certify import certify
from calcert.reports.estimates import estimates
from calcert.reports.report import Report
from calcert.serving.kernel import perturb
from calcert.sources import summarize
from calcert.sources.sql_text import sql
from calcert.summary.counts import Summary

if TYPE_CHECKING:
    from calcert.certificates.band import calibration_band
    from calcert.monitoring.monitor import Monitor
    from calcert.reports.bandwidths import bandwidth_costs
    from calcert.reports.comparison import compare
    from calcert.reports.plan import plan

__version__ = "0.1.0"

__all__ = [
    "Certificate",
    "Monitor",
    "Report",
    "Summary",
    "__version__",
    "bandwidth_costs",
    "bounded_variation",
    "calibration_band",
    "certify",
    "compare",
    "distance",
    "estimates",
    "finite",
    "lipschitz",
    "perturb",
    "perturbed",
    "plan",
    "sql",
    "squared",
    "summarize",
]


# A third of the time that importing all of it would take: only those who ask for these pay for them.
_LATER = {
    "Monitor": "calcert.monitoring.monitor",
    "bandwidth_costs": "calcert.reports.bandwidths",
    "calibration_band": "calcert.certificates.band",
    "compare": "calcert.reports.comparison",
    "plan": "calcert.reports.plan",
}


def __getattr__(name: str) -> object:
    if name in _LATER:
        return getattr(import_module(_LATER[name]), name)
    raise AttributeError(f"module 'calcert' has no attribute {name!r}")
