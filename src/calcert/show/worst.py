"""What is certified of the worst of many, in words."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from calcert.certificates.certificate import Certificate
from calcert.foundation.numbers import at_most, percent_sure
from calcert.show.words import STATEMENTS

if TYPE_CHECKING:
    from calcert.reports.groups import GroupReport


def worst(one: str, many: str, found: Mapping[str, Certificate], names: Collection[str], why: str = "") -> str:
    """What is certified of the worst group, or class, in a sentence or two; empty where nothing is known of it.

    `why` says why it is not the largest bound by name; left out, because names cost something.
    """
    shown = [name for name in names if name in found]
    if not shown:
        return ""
    if all(found[name].upper >= 1 for name in shown):
        return f"Of the worst {one} nothing is certified: one of them has too few rows."
    bounds = "; ".join(f"{STATEMENTS[name].short} {at_most(found[name].upper)}" for name in shown)
    sure = percent_sure(found[shown[0]].delta)
    cheaper = (
        f"Bounds by name can be larger: they hold for all {many} at once, and pay for their number; these do not say "
        "which is the worst."
    )
    return (
        f"No {one} is worse than: {bounds}. Each with probability at least {sure}, whatever the number of {many}. "
        f"{why or cheaper}"
    )


def worst_group(report: GroupReport, names: Collection[str]) -> str:
    """What is certified of the worst group, which groups that is about, which have no rows, and for which law."""
    law = next(iter(report.groups.values())).distance.subject.removeprefix("as it is").removeprefix(", ")
    of_rows = f" All bounds are {law}." if law else ""
    large = f" of at least {report.smallest:,} rows" if report.smallest > 1 else ""
    if report.empty:
        return f"Of the worst group nothing is certified: no row is of {', '.join(report.empty)}.{of_rows}"
    counted = [group for group in report.groups.values() if group.n >= report.smallest]
    few = any(not any(group.statement(name).telling for name in names) for group in counted)
    why = (
        "That counts groups with too few rows to say anything; a smallest group, fixed before the rows are seen, "
        "leaves them out (smallest_group=, --smallest-group)."
    )
    return worst(f"group{large}", "groups", report.worst, names, why if few else "") + of_rows
