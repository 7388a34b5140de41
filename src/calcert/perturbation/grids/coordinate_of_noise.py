"""Where noise is the same everywhere: on the score for additive noise, on its log-odds for noise on the odds.

A coordinate says how rows go to a Grid on [0, 1], which score stands at each place of it, and what that may hide.
Certificates ask for nothing else, so that a theorem is written once for both kinds of noise.
"""

from __future__ import annotations

from functools import lru_cache

from calcert.perturbation.grids.odds_coordinate import OddsCoordinate
from calcert.perturbation.grids.score_coordinate import ScoreCoordinate
from calcert.perturbation.noise import Noise

Coordinate = ScoreCoordinate | OddsCoordinate


@lru_cache
def coordinate_of(noise: Noise) -> Coordinate:
    """The coordinate in which the noise is the same everywhere."""
    return OddsCoordinate(noise.size) if noise.kind == "odds" else ScoreCoordinate(noise.size)
