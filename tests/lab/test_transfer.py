"""F4: carrying a mean from rows to the population costs total variation times the gap of distribution functions.

The paper pays another term for a possible atom at score 0. Here atoms at 0 are everywhere and nothing is missing.
"""

from __future__ import annotations

import numpy as np


def test_total_variation_times_the_largest_gap_of_distribution_functions_is_enough() -> None:
    rng = np.random.default_rng(0)
    closest = 0.0
    for _ in range(2000):
        size = rng.integers(1, 8)
        place = np.sort(np.append(rng.random(size), 0.0))
        mass = rng.dirichlet(np.ones(size + 1)) - rng.dirichlet(np.ones(size + 1))
        g = rng.choice([0.0, 0.3, 1.0], size + 1)
        assert place[0] == 0
        moved, allowed = abs(g @ mass), np.abs(np.diff(g)).sum() * np.abs(np.cumsum(mass)).max()
        assert moved <= allowed + 1e-12
        closest = max(closest, moved / max(allowed, 1e-300))
    # The bound is attained, by a single jump.
    assert closest > 1 - 1e-9
