"""Run campaigns, print what goes wrong at once and counts at the end, and end with code 1 if anything went wrong.

python -m tests.campaign [--short] [--minutes 5] [--seed 0] [NAME ...]
"""

from __future__ import annotations

import argparse
import sys
import traceback
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
    console, wrong = Console(), 0
    for name in arguments.names or campaigns():
        try:
            counts = import_module(f"tests.campaign.{name}").run(
                SHORT if arguments.short else 60 * arguments.minutes, arguments.seed
            )
        except Exception:  # The other campaigns run all the same.
            traceback.print_exc()
            console.print(f"{name}: ended by an error of its own, seed {arguments.seed}", style="red")
            wrong += 1
            continue
        title = f"{name}: {counts.tries:,} tries, {len(counts.failures):,} wrong"
        table = Table("tried", "outcome", "times", title=title)
        for (kind, outcome), times in sorted(counts.outcomes.items()):
            table.add_row(kind, outcome, f"{times:,}")
        console.print(table)
        wrong += len(counts.failures)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
