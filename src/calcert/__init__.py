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
from calcert.serving.noise import perturb, perturb_logits
from calcert.serving.sql_expression import perturb_sql
from calcert.sources import summarize
from calcert.sources.sql_text import sql
from calcert.summary.counts import Summary

if TYPE_CHECKING:
    from calcert import published as published
    from calcert.certificates.band import calibration_band
    from calcert.certificates.crossings import crossings, visible_error
    from calcert.certificates.mean_gap import mean_gap, observed_over_expected
    from calcert.certificates.monotone_band import monotone_band
    from calcert.certificates.ranges import ranges, worst_range
    from calcert.certificates.score_table import score_table
    from calcert.certificates.sides import finite_sides, sides
    from calcert.monitoring.monitor import Monitor
    from calcert.reports.bandwidths import bandwidth_costs
    from calcert.reports.comparison import compare
    from calcert.reports.p_value import test
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
    "crossings",
    "distance",
    "estimates",
    "finite",
    "finite_sides",
    "lipschitz",
    "mean_gap",
    "monotone_band",
    "observed_over_expected",
    "perturb",
    "perturb_logits",
    "perturb_sql",
    "perturbed",
    "plan",
    "ranges",
    "score_table",
    "sides",
    "sql",
    "squared",
    "summarize",
    "test",
    "visible_error",
    "worst_range",
]


# A third of the time that importing all of it would take: only those who ask for these pay for them.
_LATER = {
    "Monitor": "calcert.monitoring.monitor",
    "bandwidth_costs": "calcert.reports.bandwidths",
    "calibration_band": "calcert.certificates.band",
    "compare": "calcert.reports.comparison",
    "crossings": "calcert.certificates.crossings",
    "finite_sides": "calcert.certificates.sides",
    "mean_gap": "calcert.certificates.mean_gap",
    "monotone_band": "calcert.certificates.monotone_band",
    "observed_over_expected": "calcert.certificates.mean_gap",
    "plan": "calcert.reports.plan",
    "ranges": "calcert.certificates.ranges",
    "score_table": "calcert.certificates.score_table",
    "sides": "calcert.certificates.sides",
    "test": "calcert.reports.p_value",
    "visible_error": "calcert.certificates.crossings",
    "worst_range": "calcert.certificates.ranges",
}


def __dir__() -> list[str]:
    return [*globals(), *_LATER, "published"]


def __getattr__(name: str) -> object:
    if name == "published":
        return import_module("calcert.published")
    if name in _LATER:
        return getattr(import_module(_LATER[name]), name)
    raise AttributeError(f"module 'calcert' has no attribute {name!r}")
