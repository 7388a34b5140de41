"""Settings: what is fixed before the rows are seen, checked once, in one order everywhere."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any

from calcert.certificates.several import share
from calcert.foundation.validation import (
    check_confidence,
    check_costs,
    check_crossings,
    check_seed,
    check_threshold,
    check_tolerance,
    check_variation,
    complement,
)
from calcert.perturbation.noise import Noise, choose_noise


@dataclass(frozen=True)
class Settings:
    """The question that is put to the rows, fixed before they are seen; which part matters depends on the statement.

    Attributes
    ----------
    confidence
        Probability with which each bound holds.
    odds, bandwidth
        The noise that is added to scores (:func:`calcert.perturb`), at most one of them. Where one is given,
        ``perturbed`` is certified too; where it is asked for by name alone, `odds` is 1/16.
    crossings
        How often the calibration curve may change sides of the diagonal; what ``l1`` assumes
        unless scores repeat.
    variation
        Bound on the total variation of the calibration function; where it is given, ``l1`` assumes that instead.
    threshold, costs
        The score from which on people act, such as 0.3, and what a false positive and a false negative cost, such as
        ``(30, 70, "EUR")``; either is enough. Where one is given, ``regret`` is certified too.
    seed
        Sets the random split of the rows for the lower bounds.
    tolerance
        The largest L1 calibration error that is acceptable, such as 0.03; the verdict then says whether it is met.
    statements
        Names of the statements to certify, such as "distance"; all that apply where none is named.

    Examples
    --------
    >>> calcert.Settings(confidence=0.9).to_dict()
    {'confidence': 0.9, 'crossings': 3, 'seed': 0}
    """

    confidence: float = 0.95
    odds: float | None = None
    bandwidth: float | None = None
    crossings: int = 3
    variation: float | None = None
    seed: int = 0
    threshold: float | None = None
    costs: tuple[float | str, ...] | None = None
    statements: str | tuple[str, ...] = ()
    tolerance: float | None = None
    together: int = field(default=1, init=False, repr=False, compare=False)
    noise: Noise = field(init=False, repr=False, compare=False)
    delta: float = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        statements = (self.statements,) if isinstance(self.statements, str) else tuple(self.statements)
        noise = choose_noise(self.odds, self.bandwidth)
        asked = self.odds is not None or self.bandwidth is not None or "perturbed" in statements
        self._set(
            confidence=check_confidence(self.confidence),
            crossings=check_crossings(self.crossings),
            variation=None if self.variation is None else check_variation(self.variation),
            seed=check_seed(self.seed),
            threshold=None if self.threshold is None else check_threshold(self.threshold),
            costs=None if self.costs is None else check_costs(self.costs),
            tolerance=None if self.tolerance is None else check_tolerance(self.tolerance),
            statements=statements,
            noise=noise,
            **(noise.parameters if asked else {}),
        )
        self._set(delta=complement(self.confidence))

    @property
    def asks_for_noise(self) -> bool:
        """True where noise is named, or the statement on perturbed scores."""
        return self.odds is not None or self.bandwidth is not None

    @property
    def asks_for_regret(self) -> bool:
        """True where a threshold is named, or what errors cost."""
        return self.threshold is not None or self.costs is not None

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @classmethod
    def of(
        cls,
        settings: Settings | None,
        confidence: float | None = None,
        tolerance: float | None = None,
        threshold: float | None = None,
    ) -> Settings:
        """What was given, or the usual; confidence and tolerance may be given alone, and a threshold beside them."""
        if threshold is not None:
            found = cls.of(settings, confidence, tolerance)
            return replace(found, threshold=threshold).at(found.delta)
        alone = {"confidence": confidence, "tolerance": tolerance}
        alone = {name: value for name, value in alone.items() if value is not None}
        if settings is None:
            return cls(**alone)  # type: ignore[arg-type]
        if not isinstance(settings, Settings):
            raise TypeError(f"settings must be calcert.Settings(...); got {type(settings).__name__}.")
        for name, value in alone.items():
            raise TypeError(
                f"{name} must be said once; got it beside settings, which have their own. Pass "
                f"settings=calcert.Settings({name}={value!r}, ...)."
            )
        return settings

    def shared(self, statements: int) -> Settings:
        """The same for each of so many statements that are to hold together."""
        changed = self.at(share(self.delta, statements))
        changed._set(together=statements)
        return changed

    def at(self, delta: float) -> Settings:
        """The same with bounds that may fail with probability `delta`, kept to the last bit."""
        changed = copy(self)
        changed._set(delta=delta, confidence=complement(delta))
        return changed

    def only(self, statement: str) -> Settings:
        """The same for one statement alone."""
        changed = copy(self)
        changed._set(statements=(statement,))
        return changed

    def to_dict(self) -> dict[str, Any]:
        """Plain types only, by the names of the arguments."""
        names = ("crossings", "variation", "seed", "threshold", "costs", "tolerance", "statements")
        values = {name: getattr(self, name) for name in names}
        return {
            "confidence": self.confidence,
            **(self.noise.parameters if self.asks_for_noise else {}),
            **{name: list(v) if isinstance(v, tuple) else v for name, v in values.items() if v not in (None, ())},
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Settings:
        """The inverse of :meth:`to_dict`."""
        if not isinstance(values, Mapping):
            raise ValueError(f"settings must be an object with named fields; got {values!r}.")
        try:
            return cls(**values)
        except TypeError as error:
            raise ValueError(f"settings must be what calcert.Settings takes; got {dict(values)!r}: {error}") from error
