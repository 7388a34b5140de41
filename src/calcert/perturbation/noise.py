"""The noise of a perturbation, on the odds or added to the score: one small object says which, and how much."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike

from calcert.foundation.array_types import Floats
from calcert.foundation.number_text import fraction
from calcert.foundation.validation import check_bandwidth, check_logits, check_odds, check_rng, check_scores
from calcert.perturbation import odds_kernel, sech_kernel
from calcert.perturbation.sech_kernel import SMALLEST_PROBABILITY

Kind = Literal["odds", "additive"]

SMALLEST_PERTURBED, LARGEST_PERTURBED = 2.0**-1074, 1 - 2.0**-53
"""The doubles next to 0 and 1, used where a score inside (0, 1) would be rounded to an end (O5)."""


class _Kernel(Protocol):
    """What :mod:`calcert.perturbation.sech_kernel` and :mod:`calcert.perturbation.odds_kernel` both are."""

    def sample(self, x: Floats, size: float, uniform: Floats, /) -> Floats: ...
    def density(self, t: ArrayLike, x: ArrayLike, size: float, /) -> Floats: ...
    def distribution(self, t: ArrayLike, x: ArrayLike, size: float, /) -> Floats: ...
    def mean(self, x: ArrayLike, size: float, /) -> Floats: ...
    def mean_absolute_shift(self, x: ArrayLike, size: float, /) -> Floats: ...


@dataclass(frozen=True)
class Noise:
    """How a perturbed score is drawn around the classifier's score.

    Attributes
    ----------
    kind
        "odds": the odds are multiplied by tan(pi u/2)^size, u uniform. "additive": the score is drawn from the sech
        kernel of bandwidth `size`, cut to [0, 1].
    size
        b of the one, h of the other.

    Examples
    --------
    >>> from calcert.perturbation.noise import Noise
    >>> Noise("odds", 1 / 16).words, Noise("additive", 1 / 64).words
    ('log-odds noise, scale 1/16', 'bandwidth 1/64')
    """

    derived: ClassVar = ("words",)

    kind: Kind
    size: float

    def __post_init__(self) -> None:
        if self.kind not in ("odds", "additive"):
            raise ValueError(f"kind must be 'odds' or 'additive'; got {self.kind!r}.")
        object.__setattr__(self, "size", (check_odds if self.kind == "odds" else check_bandwidth)(self.size))

    @classmethod
    def named_in(cls, parameters: Mapping[str, float]) -> Noise:
        """The noise that the parameters of a certificate name."""
        if "odds" not in parameters and "bandwidth" not in parameters:
            raise ValueError(f"parameters must name the noise, as odds or bandwidth; got {dict(parameters)!r}.")
        return choose_noise(parameters.get("odds"), parameters.get("bandwidth"))

    @property
    def keyword(self) -> str:
        """The argument that asks for it: odds or bandwidth."""
        return "odds" if self.kind == "odds" else "bandwidth"

    @property
    def parameters(self) -> dict[str, float]:
        """As a certificate names it, and as functions take it: {"odds": b} or {"bandwidth": h}."""
        return {self.keyword: self.size}

    @property
    def shown(self) -> str:
        """The argument as one would write it: odds 1/16, bandwidth 1/64; sizes that are no such fraction in digits."""
        return f"{self.keyword} {fraction(self.size)}"

    @property
    def words(self) -> str:
        """What it does to a score, for people who do not know the argument."""
        return self.shown if self.kind == "additive" else f"log-odds noise, scale {fraction(self.size)}"

    def sample(self, x: Floats, uniform: Floats) -> Floats:
        """The quantile at `uniform`, in [0, 1), of the perturbed score of x; 0 and 1 for 0 and 1 alone (O5)."""
        perturbed = self._kernel.sample(x, self.size, uniform)
        np.copyto(perturbed, SMALLEST_PERTURBED, where=(perturbed <= 0) & (x > 0))
        np.copyto(perturbed, LARGEST_PERTURBED, where=(perturbed >= 1) & (x < 1))
        return perturbed

    def density(self, t: ArrayLike, x: ArrayLike) -> Floats:
        """The density at t of the perturbed score of x; for noise on the odds both lie inside (0, 1)."""
        return self._kernel.density(t, x, self.size)

    def distribution(self, t: ArrayLike, x: ArrayLike) -> Floats:
        """P(S <= t | X = x)."""
        return self._kernel.distribution(t, x, self.size)

    def mean(self, x: ArrayLike) -> Floats:
        """E[S | X = x], the mean perturbed score."""
        return self._kernel.mean(x, self.size)

    def mean_between(self, x: Floats) -> tuple[Floats, Floats]:
        """Bounds for the mean perturbed score, without a quadrature; for additive noise both are the mean itself."""
        if self.kind == "additive":
            mean = self.mean(x)
            return mean, mean
        shift = (odds_kernel.mean_factor(self.size) - 1) * x * (1 - x) * (1 - 2 * x)  # O3
        return np.minimum(x, x + shift), np.maximum(x, x + shift)

    def mean_shift(self, x: ArrayLike) -> Floats:
        """E[|S - x| | X = x], how far a score is moved on average."""
        return self._kernel.mean_absolute_shift(x, self.size)

    @property
    def largest_mean_shift(self) -> float:
        """At least `mean_shift` of every score."""
        if self.kind == "odds":
            return math.nextafter(odds_kernel.relative_shift(self.size), 1.0) / 4  # O3: s(b) x (1 - x)
        return sech_kernel.LARGEST_MEAN_SHIFT * self.size

    @property
    def _kernel(self) -> _Kernel:
        return odds_kernel if self.kind == "odds" else sech_kernel


DEFAULT = Noise("odds", 1 / 16)
"""The noise where nobody says otherwise."""


def choose_noise(odds: float | None = None, bandwidth: float | None = None) -> Noise:
    """The noise that two arguments ask for, of which at most one may be given; the default where none is."""
    if odds is not None and bandwidth is not None:
        raise ValueError(
            f"odds and bandwidth exclude each other; got odds={odds!r} and bandwidth={bandwidth!r}. "
            "Pass odds, such as 1/16, to multiply the odds of a score, or bandwidth, such as 1/64, to add to the score."
        )
    if odds is not None:
        return Noise("odds", odds)
    return DEFAULT if bandwidth is None else Noise("additive", bandwidth)


def perturb_logits(logits: ArrayLike, *, odds: float = 1 / 16, rng: int | np.random.Generator | None = None) -> Floats:
    """Draw the logit to serve of every row: noise on the odds where it is plain addition.

    Guarantee
        Independent draws whose scores, 1 / (1 + exp(-logit)), follow the distribution of :func:`calcert.perturb` with
        the same `odds`; no precision is lost to scores next to 0 and 1. What a band says of scores 0 and 1 is true of
        infinite logits alone: a score in float64 is 1 from a logit of 36.7 on, in the rows and in what is made of
        perturbed logits.

    Parameters
    ----------
    logits
        Logarithms of the odds of label 1, any shape; infinite ones, scores 0 and 1, stay as they are. For K classes
        perturb the largest of a row's K logits and leave the others: that multiplies the odds of its class.
    odds
        b in [1/256, 1/2], the one that is certified.
    rng
        A seed or a NumPy generator; fresh noise when None.

    Examples
    --------
    >>> calcert.perturb_logits([-30.0, 0.0, float("inf")], odds=1/16, rng=0).round(3)
    array([-29.972,  -0.05 ,     inf])
    """
    z, b = check_logits(logits), check_odds(odds)
    return np.asarray(z + b * sech_kernel.standard_noise(check_rng(rng).random(z.shape)))


def perturb(
    scores: ArrayLike,
    *,
    odds: float | None = None,
    bandwidth: float | None = None,
    rng: int | bytes | np.random.Generator | None = None,
) -> Floats:
    """Draw the perturbed score of every row: all that a deployed classifier has to do.

    Guarantee
        The results are independent draws from the distribution that `odds` or `bandwidth` names, so that a certificate
        of :func:`calcert.bounds.perturbed` with the same argument applies to the classifier that returns them.
        Independent within one call: a seed repeats the same noise at every call, so that a server which perturbs row by
        row must leave `rng` out or keep one generator.

    Parameters
    ----------
    scores
        Scores in [0, 1], any shape.
    odds
        b in [1/256, 1/2]: the odds of every score are multiplied by tan(pi u/2)^b, u uniform; at 1/16, the default,
        they move by about 7%. Scores exactly 0 and 1 stay as they are, and no other score becomes 0 or 1.
    bandwidth
        h > 0, such as 1/64, instead of `odds`: the score is drawn from the sech kernel around it, cut to [0, 1]; it
        moves by 1.17 h on average. The published kernel (Ciosek et al., ICLR 2026).
    rng
        None: fresh noise, from the operating system at every call, so that forked processes share none. A seed, or a
        secret of 16 bytes or more: the same noise at every call. A NumPy generator: draws from it in turn; give every
        forked process one of its own.

    Notes
    -----
    Noise does not hide a score. Whoever may ask for the same row m times with fresh noise learns its log-odds to about
    1.6 b / sqrt(m), or the score itself to 1.6 h / sqrt(m); whoever knows a seed can take the noise off. The
    certificate needs neither to be secret, only that nobody chooses rows by their noise.

    Examples
    --------
    >>> calcert.perturb([0.001, 0.5, 0.999], rng=0).round(5)
    array([0.00103, 0.48756, 0.99881])
    >>> calcert.perturb([0.0, 0.5, 1.0], bandwidth=1/64, rng=0).round(4)
    array([0.0192, 0.4876, 0.9463])
    """
    x, noise = check_scores(scores), choose_noise(odds, bandwidth)
    return noise.sample(x, check_rng(rng).random(x.shape))


REALS = {"duckdb": "DOUBLE", "postgres": "DOUBLE PRECISION", "spark": "DOUBLE"}
"""Dialects in which the expression is run against the real engine, and what they call float64."""

UNIFORM = {"duckdb": "random()", "postgres": "random()", "spark": "rand()"}

TEXT = """\
CASE WHEN {x} IN (0, 1) THEN {x}
     WHEN {x} > 0 AND {x} < 1 THEN
       least(1 - 1.1102230246251565e-16,
         1 / (1 + (1 - {x}) / greatest({x}, 1e-300) * power(tan(pi() / 2 * greatest({u}, {least!r})), -{b!r})))
END"""
"""No score inside (0, 1) is rounded to 0 or 1 (O5), and no odds are too large for an engine that refuses infinity."""


def perturb_sql(score: str, *, dialect: str, odds: float = 1 / 16) -> str:
    """The score to deploy as a SQL expression: fresh noise on the odds for every row, each time it is computed.

    Guarantee
        Draws of the distribution of :func:`calcert.perturb` with the same `odds`, as good as the database's random
        numbers. Scores 0 and 1 stay as they are, no other score becomes one of them, and what is no score becomes NULL.

    Parameters
    ----------
    score
        The column of scores in [0, 1], or an expression that gives the same each time it is read.
    dialect
        duckdb, postgres or spark.
    odds
        b in [1/256, 1/2], the one that is certified.

    Examples
    --------
    >>> import duckdb
    >>> perturbed = calcert.sql.perturb_sql("p", dialect="duckdb", odds=1/16)
    >>> _ = duckdb.execute("CREATE OR REPLACE TABLE scored AS SELECT 0.25 AS p FROM range(1000)")
    >>> duckdb.execute(f"SELECT count(DISTINCT {perturbed}) FROM scored").fetchone()
    (1000,)
    """
    if not isinstance(score, str) or not score.strip():
        raise TypeError(f"score must be SQL text, such as a name; got {score!r}.")
    if ";" in score or "--" in score:
        raise ValueError(f"score must be one name or expression, without ';' and '--'; got {score!r}.")
    if dialect not in REALS:
        raise ValueError(f"dialect must be one of {', '.join(REALS)}; got {dialect!r}.")
    x = f"CAST({score} AS {REALS[dialect]})"
    return TEXT.format(x=x, u=UNIFORM[dialect], least=SMALLEST_PROBABILITY, b=Noise("odds", odds).size)
