"""calcert: finite-sample, distribution-free certificates for the calibration error of a classifier."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from calcert import bounds as bounds
    from calcert import curves as curves
    from calcert import published as published
    from calcert import sql as sql
    from calcert.certificates.certificate import Certificate
    from calcert.monitoring.monitor import Monitor
    from calcert.monitoring.status import Status
    from calcert.perturbation.noise import perturb, perturb_logits
    from calcert.reports.certify import certify
    from calcert.reports.classes import ClassReport
    from calcert.reports.comparison import Comparison, compare
    from calcert.reports.estimates import estimates
    from calcert.reports.gate import check
    from calcert.reports.groups import GroupReport
    from calcert.reports.noise_costs import noise_costs
    from calcert.reports.outcome import Outcome
    from calcert.reports.plan import Plan, plan
    from calcert.reports.recalibrate import Recalibration, recalibrate
    from calcert.reports.report import Report
    from calcert.reports.rows_to_label import sample_for_labelling
    from calcert.reports.settings import Settings
    from calcert.sources import summarize
    from calcert.sources.parsed_values import Reading
    from calcert.sources.rows import Rows
    from calcert.summary.summary import Summary

__version__ = "0.1.0"

__all__ = [
    "Certificate",
    "ClassReport",
    "Comparison",
    "GroupReport",
    "Monitor",
    "Outcome",
    "Plan",
    "Reading",
    "Recalibration",
    "Report",
    "Rows",
    "Settings",
    "Status",
    "Summary",
    "__version__",
    "certify",
    "check",
    "compare",
    "estimates",
    "noise_costs",
    "perturb",
    "perturb_logits",
    "plan",
    "recalibrate",
    "sample_for_labelling",
    "summarize",
]


# Only those who ask for a name pay for it, and a library that is missing is missed where somebody can say so.
_LATER = {
    "Certificate": "calcert.certificates.certificate",
    "ClassReport": "calcert.reports.classes",
    "Comparison": "calcert.reports.comparison",
    "GroupReport": "calcert.reports.groups",
    "Monitor": "calcert.monitoring.monitor",
    "Outcome": "calcert.reports.outcome",
    "Plan": "calcert.reports.plan",
    "Reading": "calcert.sources.parsed_values",
    "Recalibration": "calcert.reports.recalibrate",
    "Report": "calcert.reports.report",
    "Rows": "calcert.sources.rows",
    "Settings": "calcert.reports.settings",
    "Status": "calcert.monitoring.status",
    "Summary": "calcert.summary.summary",
    "certify": "calcert.reports.certify",
    "check": "calcert.reports.gate",
    "compare": "calcert.reports.comparison",
    "estimates": "calcert.reports.estimates",
    "noise_costs": "calcert.reports.noise_costs",
    "perturb": "calcert.perturbation.noise",
    "perturb_logits": "calcert.perturbation.noise",
    "plan": "calcert.reports.plan",
    "recalibrate": "calcert.reports.recalibrate",
    "sample_for_labelling": "calcert.reports.rows_to_label",
    "summarize": "calcert.sources",
}
_MODULES = {
    "bounds": "calcert.bounds",
    "curves": "calcert.curves",
    "published": "calcert.published",
    "sql": "calcert.sql",
}


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_MODULES})


def __getattr__(name: str) -> object:
    if name in _MODULES:
        return import_module(_MODULES[name])
    if name in _LATER:
        return globals().setdefault(name, getattr(import_module(_LATER[name]), name))
    raise AttributeError(f"module 'calcert' has no attribute {name!r}")
