"""Campaigns against what must not break: thousands of faults, and each has to be refused in words or be harmless.

``python -m tests.campaign`` runs them all for minutes, counts what was tried and what came of it, and ends with code 1
if anything went wrong. A campaign is a module of this package with ``run(budget, seed)``, which tries things for about
`budget` seconds, each kind at least once, and returns :class:`Counts`. The tests run every one for a few seconds.
"""

from __future__ import annotations

import pkgutil
import sys
from collections import Counter
from dataclasses import dataclass, field


@dataclass
class Counts:
    """What was tried and what came of it.

    Attributes
    ----------
    outcomes
        How often each kind of try had each outcome.
    failures
        What went wrong, each with what it takes to try it again.
    """

    outcomes: Counter[tuple[str, str]] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    def add(self, kind: str, outcome: str) -> None:
        """Count a try."""
        self.outcomes[kind, outcome] += 1

    def fail(self, kind: str, words: str) -> None:
        """Count a try that went wrong, and print it."""
        self.add(kind, "WRONG")
        self.failures.append(f"{kind}: {words}")
        # At once: whatever ends the campaign early does not take it along.
        print(self.failures[-1].encode("ascii", "backslashreplace").decode(), file=sys.stderr, flush=True)

    @property
    def tries(self) -> int:
        """How many there were."""
        return self.outcomes.total()


def campaigns() -> list[str]:
    """The names of all campaigns."""
    return [module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_")]
