"""What every bound is charged for rounding."""

ROUNDING = 1e-12 + 2.0**-40
"""For the rounding of sums of shares, far above what it can be, and of scores to 2^-40."""

LOG_ROUNDING = 1e-6
"""Taken off every logarithm of wealth, with a little more for very many rows."""
