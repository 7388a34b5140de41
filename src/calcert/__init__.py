"""calcert: finite-sample, distribution-free certificates for the calibration error of a classifier."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from calcert import bounds as bounds
    from calcert import curves as curves
    from calcert import published as published
    from calcert import sql as sql
    from calcert.certificates.certificate import Certificate as Certificate
    from calcert.monitoring.monitor import Monitor as Monitor
    from calcert.monitoring.status import Status as Status
    from calcert.perturbation.noise import perturb as perturb
    from calcert.perturbation.noise import perturb_logits as perturb_logits
    from calcert.reports.certify import certify as certify
    from calcert.reports.classes import ClassReport as ClassReport
    from calcert.reports.comparison import Comparison as Comparison
    from calcert.reports.comparison import compare as compare
    from calcert.reports.estimates import estimates as estimates
    from calcert.reports.gate import Outcome as Outcome
    from calcert.reports.gate import check as check
    from calcert.reports.groups import GroupReport as GroupReport
    from calcert.reports.noise_costs import noise_costs as noise_costs
    from calcert.reports.plan import Plan as Plan
    from calcert.reports.plan import plan as plan
    from calcert.reports.recalibrate import Recalibration as Recalibration
    from calcert.reports.recalibrate import recalibrate as recalibrate
    from calcert.reports.report import Report as Report
    from calcert.reports.rows_to_label import sample_for_labelling as sample_for_labelling
    from calcert.reports.settings import Settings as Settings
    from calcert.sources import summarize as summarize
    from calcert.sources.parsed_values import Reading as Reading
    from calcert.sources.rows import Rows as Rows
    from calcert.summary.summary import Summary as Summary

__version__ = "0.1.0"

# Only those who ask for a name pay for it, and a library that is missing is missed where somebody can say so.
_LATER = {
    "Certificate": "calcert.certificates.certificate",
    "ClassReport": "calcert.reports.classes",
    "Comparison": "calcert.reports.comparison",
    "GroupReport": "calcert.reports.groups",
    "Monitor": "calcert.monitoring.monitor",
    "Outcome": "calcert.reports.gate",
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
__all__ = sorted([*_LATER, "__version__"])
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
