"""The methods of the paper "Measuring Uncertainty Calibration" (Ciosek et al., ICLR 2026), for comparison: as printed
where there is a formula, as described where there is none.

None of these numbers is called a certificate here. ``total_variation`` with ``validation=`` or ``per_fold=True`` is
proved; the others are not. Each function says what is proved of the statement behind it and what is not, which reading
of cross-fitting it follows, and which constants are ours because the paper gives none. What this library certifies is
in ``calcert`` itself.
"""

from calcert.published.bound import PublishedBound
from calcert.published.buckets import ece, lipschitz_buckets
from calcert.published.compare import Comparison, compare
from calcert.published.perturb_and_smooth import derivative_bounds, perturb_and_smooth
from calcert.published.total_variation import total_variation

__all__ = [
    "Comparison",
    "PublishedBound",
    "compare",
    "derivative_bounds",
    "ece",
    "lipschitz_buckets",
    "perturb_and_smooth",
    "total_variation",
]
