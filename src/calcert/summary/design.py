"""How rows make clusters, and what was declared of their weights: the part of a Summary fixed before the rows."""

from __future__ import annotations

from dataclasses import dataclass

CLOSE = 1e-9
"""Weights are whole multiples of the quantum up to this share: doubles are not exact."""

GAIN_BITS = 20
"""R is known to 2^-20 of a quantum."""

GAIN = 1 << GAIN_BITS


@dataclass(frozen=True)
class Design:
    """How rows make clusters, and what was declared of their weights before they were seen.

    `soft` says that labels are shares, `paired` that pair sums are kept; weights are multiples of `quantum`. Declared
    bounds on W and R are in the user's own weights, None where nothing was declared.
    """

    clustered: bool = False
    weighted: bool = False
    soft: bool = False
    quantum: float = 1.0
    largest_weight: float | None = None
    largest_gain: float | None = None
    paired: bool = False

    @property
    def only_soft(self) -> bool:
        """True where every row is a cluster of the same weight, with a share for a label."""
        return self.soft and not self.clustered and not self.weighted

    @property
    def population(self) -> bool:
        """True where bounds apply to the population that the weights stand for: a largest weight was declared."""
        return self.largest_weight is not None

    @property
    def arguments(self) -> str:
        """How :func:`calcert.certify` was told, as its keywords."""
        given = {
            "clusters": "clusters" if self.clustered else None,
            "weights": "weights" if self.weighted else None,
            "weight_unit": self.quantum if self.weighted else None,
            "largest_weight": self.largest_weight,
            "largest_gain": self.largest_gain,
            "soft_labels": True if self.soft else None,
            "pair_sums": True if self.paired else None,
        }
        return ", ".join(f"{name}={value}" for name, value in given.items() if value is not None)

    @property
    def words(self) -> str:
        """The distribution that bounds apply to; continues "of the current scores, "."""
        if self.population:
            return f"in the population that the weights stand for, none above {self.largest_weight:g}"
        if self.only_soft:
            return "for labels drawn with the shares given"
        if self.clustered:
            drawn = "by weight" if self.weighted else "at random"
            return f"for a row drawn {drawn} from clusters of these sizes"
        return "for a row drawn by its weight"
