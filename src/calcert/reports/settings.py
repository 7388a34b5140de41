"""Settings: what is fixed before the rows are seen, checked once, in one order everywhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from calcert.certificates.limits.union_bound import share
from calcert.foundation.validation import check_crossings, check_delta, check_seed, check_variation
from calcert.serving.noise import DEFAULT, Noise, choose_noise


@dataclass(frozen=True)
class Settings:
    """What every statement is certified with; which of it matters is the statement's affair.

    Attributes
    ----------
    delta
        Probability with which each bound may fail.
    noise
        What is added to scores that are served.
    crossings
        How often the calibration curve may change sides of the diagonal.
    variation
        Bound on the total variation of the calibration function.
    seed
        Throws the rows into batches for the lower bounds.

    Examples
    --------
    >>> from calcert.reports.settings import Settings
    >>> Settings.of(delta=0.1).to_dict()
    {'delta': 0.1, 'odds': 0.0625, 'crossings': 3, 'variation': 1.0, 'seed': 0}
    """

    delta: float = 0.05
    noise: Noise = DEFAULT
    crossings: int = 3
    variation: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "delta", check_delta(self.delta))
        object.__setattr__(self, "crossings", check_crossings(self.crossings))
        object.__setattr__(self, "variation", check_variation(self.variation))
        object.__setattr__(self, "seed", check_seed(self.seed))

    @classmethod
    def of(cls, *, bandwidth: float | None = None, odds: float | None = None, **others: Any) -> Settings:
        """Settings as functions and commands take them: the noise by its own name."""
        return cls(noise=choose_noise(odds, bandwidth), **others)

    def shared(self, statements: int) -> Settings:
        """The same for each of so many statements that are to hold together."""
        return self.at(share(self.delta, statements))

    def at(self, delta: float) -> Settings:
        """The same with another delta."""
        return replace(self, delta=delta)

    def to_dict(self) -> dict[str, Any]:
        """Plain types only, by the names of the arguments of :func:`calcert.certify`."""
        return {
            "delta": self.delta,
            **self.noise.parameters,
            "crossings": self.crossings,
            "variation": self.variation,
            "seed": self.seed,
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Settings:
        """The inverse of :meth:`to_dict`."""
        if not isinstance(values, Mapping):
            raise ValueError(f"settings must be an object with named fields; got {values!r}.")
        try:
            return cls.of(**values)
        except TypeError as error:
            raise ValueError(f"settings must be what calcert.certify takes; got {dict(values)!r}: {error}") from error
