"""calcert: finite-sample, distribution-free certificates for the calibration error of a classifier."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from calcert import published as published
    from calcert.certificates.band import calibration_band
    from calcert.certificates.bounded_variation import bounded_variation
    from calcert.certificates.certificate import Certificate
    from calcert.certificates.crossings import crossings
    from calcert.certificates.distances.distance import distance
    from calcert.certificates.finite import finite
    from calcert.certificates.lipschitz import lipschitz
    from calcert.certificates.mean_gap_and_ratio import mean_gap, observed_over_expected
    from calcert.certificates.monotone_band import monotone_band
    from calcert.certificates.perturbed import perturbed
    from calcert.certificates.ranges import ranges, worst_range
    from calcert.certificates.score_table import score_table
    from calcert.certificates.sides import finite_sides, sides
    from calcert.certificates.squared import squared
    from calcert.monitoring.monitor import Monitor
    from calcert.reports.bandwidths import bandwidth_costs
    from calcert.reports.certify import certify, test
    from calcert.reports.comparison import compare
    from calcert.reports.estimates import estimates
    from calcert.reports.plan import plan
    from calcert.reports.report import Report
    from calcert.reports.rows_to_label import choose_rows
    from calcert.reports.settings import Settings
    from calcert.serving.noise import perturb, perturb_logits
    from calcert.serving.sql_expression import perturb_sql
    from calcert.sources import summarize
    from calcert.sources.engines.sql_query import sql
    from calcert.sources.parsed_values import Reading
    from calcert.sources.rows import Rows
    from calcert.summary.summary import Summary

__version__ = "0.1.0"

__all__ = [
    "Certificate",
    "Monitor",
    "Reading",
    "Report",
    "Rows",
    "Settings",
    "Summary",
    "__version__",
    "bandwidth_costs",
    "bounded_variation",
    "calibration_band",
    "certify",
    "choose_rows",
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
    "worst_range",
]


# Only those who ask for a name pay for it, and a library that is missing is missed where somebody can say so.
_LATER = {
    "Certificate": "calcert.certificates.certificate",
    "Monitor": "calcert.monitoring.monitor",
    "Reading": "calcert.sources.parsed_values",
    "Report": "calcert.reports.report",
    "Rows": "calcert.sources.rows",
    "Settings": "calcert.reports.settings",
    "Summary": "calcert.summary.summary",
    "bandwidth_costs": "calcert.reports.bandwidths",
    "bounded_variation": "calcert.certificates.bounded_variation",
    "calibration_band": "calcert.certificates.band",
    "certify": "calcert.reports.certify",
    "choose_rows": "calcert.reports.rows_to_label",
    "compare": "calcert.reports.comparison",
    "crossings": "calcert.certificates.crossings",
    "distance": "calcert.certificates.distances.distance",
    "estimates": "calcert.reports.estimates",
    "finite": "calcert.certificates.finite",
    "finite_sides": "calcert.certificates.sides",
    "lipschitz": "calcert.certificates.lipschitz",
    "mean_gap": "calcert.certificates.mean_gap_and_ratio",
    "monotone_band": "calcert.certificates.monotone_band",
    "observed_over_expected": "calcert.certificates.mean_gap_and_ratio",
    "perturb": "calcert.serving.noise",
    "perturb_logits": "calcert.serving.noise",
    "perturb_sql": "calcert.serving.sql_expression",
    "perturbed": "calcert.certificates.perturbed",
    "plan": "calcert.reports.plan",
    "ranges": "calcert.certificates.ranges",
    "score_table": "calcert.certificates.score_table",
    "sides": "calcert.certificates.sides",
    "sql": "calcert.sources.engines.sql_query",
    "squared": "calcert.certificates.squared",
    "summarize": "calcert.sources",
    "test": "calcert.reports.certify",
    "worst_range": "calcert.certificates.ranges",
}


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "published"})


def __getattr__(name: str) -> object:
    if name == "published":
        return import_module("calcert.published")
    if name in _LATER:
        return globals().setdefault(name, getattr(import_module(_LATER[name]), name))
    raise AttributeError(f"module 'calcert' has no attribute {name!r}")
