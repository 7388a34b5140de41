"""Results as pages, one self-contained file each, by kind: modules with `page` and `notebook_view`."""

from types import ModuleType

from calcert.show.pages import classes, comparison, groups, monitor, plain, report

PAGES: dict[str, ModuleType] = {
    "report": report,
    "groups": groups,
    "classes": classes,
    "comparison": comparison,
    "plan": plain,
    "bandwidths": plain,
    "band": plain,
    "monotone band": plain,
    "score table": plain,
    "moves": plain,
    "ratio": plain,
    "sides": plain,
    "test": plain,
    "status": monitor,
    "published": plain,
}
