"""What is served: one small object says which noise, and how much."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from calcert.foundation.numbers import fraction
from calcert.foundation.validation import check_bandwidth

Kind = Literal["odds", "additive"]


@dataclass(frozen=True)
class Noise:
    """How a served score is drawn around the classifier's score.

    Attributes
    ----------
    kind
        "additive": the score is drawn from the sech kernel of bandwidth `size`, cut to [0, 1].
    size
        The bandwidth h.

    Examples
    --------
    >>> from calcert.serving.noise import Noise
    >>> Noise("additive", 1 / 64).words
    'bandwidth 1/64'
    """

    kind: Kind
    size: float

    def __post_init__(self) -> None:
        if self.kind != "additive":
            raise ValueError(f"kind must be 'additive'; got {self.kind!r}.")
        object.__setattr__(self, "size", check_bandwidth(self.size))

    @property
    def keyword(self) -> str:
        """The argument that asks for it: odds or bandwidth."""
        return "odds" if self.kind == "odds" else "bandwidth"

    @property
    def parameters(self) -> dict[str, float]:
        """As a certificate names it, and as functions take it: {"bandwidth": h}."""
        return {self.keyword: self.size}

    @property
    def shown(self) -> str:
        """The argument as one would write it: bandwidth 1/64."""
        return f"{self.keyword} {fraction(self.size)}"

    @property
    def words(self) -> str:
        """What it does to a score, for people who do not know the argument."""
        return self.shown


DEFAULT = Noise("additive", 1 / 64)
"""What is served where nobody says otherwise."""


def choose_noise(odds: float | None = None, bandwidth: float | None = None) -> Noise:
    """The noise that two arguments ask for, of which at most one may be given; the default where none is."""
    if odds is not None:
        return Noise("odds", odds)
    return DEFAULT if bandwidth is None else Noise("additive", bandwidth)
