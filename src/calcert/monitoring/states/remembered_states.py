"""What this process has read of a state and checked: a state that has lived for years costs what a young one does.

Nothing here is believed because it was read once. A digest stands for all lines up to its own: lines that were checked
are those of the state as long as the state has the digest of the last of them. A certificate is known by the digest of
the last batch that it covers, an answer by the digest of the last batch there was.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from calcert.certificates.certificate import Certificate
from calcert.monitoring.looks import Due, Known, Life
from calcert.monitoring.states.state_content import State, Tip
from calcert.monitoring.status import Status

STATES = 8
"""So many states are remembered; five thousand batches take some megabytes."""


@dataclass
class Remembered:
    """What is remembered of one state: its life as far as it was read and checked, certificates, and the last answer.

    Answers are without a limit, by the digest of the last batch.
    """

    life: Life | None = None
    certificates: Known = field(default_factory=dict)
    answers: dict[bytes, Status] = field(default_factory=dict)

    def read(self, state: State, tip: Tip) -> Life:
        """The life of the state, of which only lines that are not remembered are read."""
        life = self.life
        last = life.batches[-1] if life is not None and life.batches else None
        if life is None or last is None or not state.holds(last):
            life, last = Life(state.chosen(), state.statement()), None
        self.life = life.after(state.batches(tip, last))
        return self.life

    def known(self, state: State, life: Life) -> dict[Due, Mapping[str, Certificate]]:
        """The certificates of the looks of a life that are remembered, or kept in the state."""
        certificates = {due: self.certificates[due] for due in life.due if due in self.certificates}
        return certificates | state.looks([due for due in life.due if due not in certificates])


@lru_cache(maxsize=STATES)
def remembered(path: Path) -> Remembered:
    """What is remembered of the state at an absolute path; ``remembered.cache_clear()`` forgets everything."""
    return Remembered()
