"""What this process has read of a state and checked: a state that has lived for years costs what a young one does.

Nothing here is believed because it was read once. A digest stands for all lines up to its own: lines that were checked
are those of the state as long as the state has the digest of the last of them. A certificate is known by the digest of
the last batch that it covers, an answer by the digest of the last batch there was.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from calcert.monitoring.looks import Known, Life
from calcert.monitoring.states.state_content import State, Tip
from calcert.monitoring.status import Status
from calcert.monitoring.windows import Window, WindowStatement

STATES = 8
"""So many states are remembered; five thousand batches take some megabytes."""


@dataclass
class Remembered:
    """What is remembered of one state.

    Attributes
    ----------
    life
        As far as it was read and checked.
    looks, windows
        The certificates of looks at all rows, and those of windows that have not grown since.
    answers
        The last answer, without a limit, by the digest of the last batch.
    """

    life: Life | None = None
    looks: Known = field(default_factory=dict)
    windows: dict[Window, WindowStatement] = field(default_factory=dict)
    answers: dict[bytes, Status] = field(default_factory=dict)

    def read(self, state: State, tip: Tip) -> Life:
        """The life of the state, of which only lines that are not remembered are read."""
        life = self.life
        last = life.batches[-1] if life is not None and life.batches else None
        if life is None or last is None or not state.holds(last):
            life, last = Life(state.chosen(), state.statement()), None
        self.life = life.after(state.batches(tip, last))
        return self.life

    def known(self, state: State, life: Life) -> Known:
        """The certificates of the looks of a life that are remembered or kept, without those of windows done."""
        looks = {due: self.looks[due] for _, due in life.looks if due in self.looks}
        due = [due for _, due in life.looks if due not in looks]
        due += [due for window, due in life.windows.values() if window not in self.windows]
        return looks | state.looks(due)


@lru_cache(maxsize=STATES)
def remembered(path: Path) -> Remembered:
    """What is remembered of the state at an absolute path; ``remembered.cache_clear()`` forgets everything."""
    return Remembered()
