"""Results as pages, one self-contained file each, by kind: modules with `page` and `notebook_view`."""

from types import ModuleType

from calcert.show.pages import classes, comparison, groups, monitor, report, table_and_picture

PAGES: dict[str, ModuleType] = {
    "report": report,
    "groups": groups,
    "classes": classes,
    "comparison": comparison,
    "plan": table_and_picture,
    "bandwidths": table_and_picture,
    "band": table_and_picture,
    "monotone band": table_and_picture,
    "score table": table_and_picture,
    "moves": table_and_picture,
    "ratio": table_and_picture,
    "sides": table_and_picture,
    "test": table_and_picture,
    "status": monitor,
    "published": table_and_picture,
}
