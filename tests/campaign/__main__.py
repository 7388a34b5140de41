"""Run campaigns, print counts, and end with code 1 if anything went wrong.

python -m tests.campaign [--short] [--minutes 5] [--seed 0] [NAME ...]
"""

from __future__ import annotations

import argparse
import sys
from importlib import import_module

from rich.console import Console
from rich.table import Table

from tests.campaign import campaigns

SHORT = 5.0
"""Seconds a campaign where time is short."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"all if left out: {', '.join(campaigns())}")
    parser.add_argument("--short", action="store_true", help=f"{SHORT:g} seconds each")
    parser.add_argument("--minutes", type=float, default=5.0, help="for each campaign")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    console, failures = Console(), []
    for name in arguments.names or campaigns():
        counts = import_module(f"tests.campaign.{name}").run(
            SHORT if arguments.short else 60 * arguments.minutes, arguments.seed
        )
        title = f"{name}: {counts.tries:,} tries, {len(counts.failures):,} wrong"
        table = Table("tried", "outcome", "times", title=title)
        for (kind, outcome), times in sorted(counts.outcomes.items()):
            table.add_row(kind, outcome, f"{times:,}")
        console.print(table)
        failures += [f"{name}: {failure}" for failure in counts.failures]
    for failure in failures:
        console.print(failure, style="red", markup=False, highlight=False)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
