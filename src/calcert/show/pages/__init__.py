"""Results as pages, one self-contained file each, by kind: modules with `page` and `notebook_view`."""

from types import ModuleType

from calcert.show.pages import classes, groups, monitor, other_results, report

PAGES: dict[str, ModuleType] = {
    "report": report,
    "groups": groups,
    "classes": classes,
    "comparison": other_results,
    "plan": other_results,
    "noise costs": other_results,
    "recalibration": other_results,
    "band": other_results,
    "monotone band": other_results,
    "score table": other_results,
    "transport plan": other_results,
    "ratio": other_results,
    "segments": other_results,
    "decision curve": other_results,
    "sides": other_results,
    "test": other_results,
    "status": monitor,
    "published": other_results,
}
